// SPDX-License-Identifier: Apache-2.0
// How do layers run that find elements? ArgMax looks for a place only in pieces of a row that beat
// those before; TopK keeps the elements that beat the k-th so far and thins them out when they are
// too many; NonZero counts before it writes; Unique sorts. Elements are compared as order keys.
//
//   kernel k = make(op::top_k{.input = {1, 8400}, .axis = 1, .k = 100}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/copy.hpp"
#include "detail/functions.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"
#include "detail/order_key.hpp"

#include <numeric>

namespace benanza::backend::host {

/// Places are counted in 32 bits.
inline bool runs(const op::arg& p, dtype element) {
  const bool known = element <= dtype::bf16 || element >= dtype::s8;
  return known && p.input[p.axis] < std::int64_t{1} << 31;
}
inline bool runs(const op::top_k& p, dtype) {
  return p.input[p.axis] < std::int64_t{1} << 31;
}
inline bool runs(const op::non_zero&, dtype) {
  return true;
}
inline bool runs(const op::compress&, dtype) {
  return true;
}
inline bool runs(const op::unique& p, dtype) {
  return p.size() < std::int64_t{1} << 31;
}

namespace detail {

/// A line of the input: its first element, and how far its others are apart.
struct line_of {
  std::int64_t first, step;
};
inline line_of line_at(std::int64_t line, std::int64_t size, std::int64_t inner) {
  return {line / inner * size * inner + line % inner, inner};
}

/// Places of the largest of lines of `T`, compared as such: integers, order keys, floats.
template <class T, bool Smallest, bool Last>
struct arg_plan {
  static constexpr std::int64_t piece = 512;
  std::int64_t size, inner, outer, width;
  caster widens; ///< from what is stored; null: it is `T`
  const std::byte* x;
  std::int64_t* y;
  int threads;

  [[gnu::always_inline]] static bool better(T a, T b) {
    return Smallest ? (Last ? a <= b : a < b) : (Last ? a >= b : a > b);
  }
  void run() const {
    if (inner == 1)
      return share(threads, outer, 1, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin)
          y[begin] = place_in_row(begin * size);
      });
    const std::int64_t pieces = (inner + piece - 1) / piece;
    share(threads, outer * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin)
        run_columns(begin / pieces, begin % pieces * piece);
    });
  }

private:
  const T* read(std::int64_t at, std::int64_t n, T* room) const {
    if (widens == nullptr) return reinterpret_cast<const T*>(x) + at;
    widens(x + width * at, reinterpret_cast<std::byte*>(room), n);
    return room;
  }
  static T best_of(const T* from, std::int64_t n) {
    T best = from[0];
    if constexpr (Smallest) {
#pragma omp simd reduction(min : best)
      for (std::int64_t i = 0; i < n; ++i)
        best = from[i] < best ? from[i] : best;
    } else {
#pragma omp simd reduction(max : best)
      for (std::int64_t i = 0; i < n; ++i)
        best = from[i] > best ? from[i] : best;
    }
    return best;
  }
  std::int64_t place_in_row(std::int64_t first) const {
    alignas(64) T room[piece];
    std::int64_t place = 0;
    T best{};
    for (std::int64_t k = 0; k < size; k += piece) {
      const std::int64_t n = std::min(piece, size - k);
      const T* from = read(first + k, n, room);
      const T most = best_of(from, n);
      if (k > 0 && !better(most, best)) continue;
      best = most;
      std::int64_t i = 0;
      while (i + 1 < n && from[Last ? n - 1 - i : i] != most)
        ++i;
      place = k + (Last ? n - 1 - i : i);
    }
    return place;
  }
  void run_columns(std::int64_t plane, std::int64_t column) const {
    alignas(64) T best[piece], room[piece];
    alignas(64) std::int32_t where[piece];
    const std::int64_t n = std::min(piece, inner - column);
    for (std::int64_t k = 0; k < size; ++k) {
      const T* from = read((plane * size + k) * inner + column, n, room);
      const auto here = static_cast<std::int32_t>(k);
      if (k == 0) {
        std::copy_n(from, n, best);
        std::fill_n(where, n, 0);
        continue;
      }
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) {
        const bool wins = better(from[i], best[i]);
        best[i] = wins ? from[i] : best[i];
        where[i] = wins ? here : where[i];
      }
    }
    std::copy_n(where, n, y + plane * inner + column);
  }
};

/// Whole numbers as wider ones with a sign, which order alike.
template <class From, class To>
void order_as(const std::byte* from, std::byte* to, std::int64_t n) {
  constexpr From turn =
      sizeof(From) == sizeof(To) ? From(From{1} << (8 * sizeof(From) - 1)) : From{};
  const auto* x = reinterpret_cast<const From*>(from);
  auto* y = reinterpret_cast<To*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = static_cast<To>(static_cast<From>(x[i] ^ turn));
}

template <class T>
task arg_task(const op::arg& p, const job& j, caster widens = nullptr) {
  const auto with = [&](auto smallest, auto last) -> task {
    const arg_plan<T, smallest, last> plan{.size = p.input[p.axis],
                                           .inner = elements(p.input, p.axis + 1, p.input.size),
                                           .outer = elements(p.input, 0, p.axis),
                                           .width = j.width(),
                                           .widens = widens,
                                           .x = j.inputs[0],
                                           .y = reinterpret_cast<std::int64_t*>(j.output),
                                           .threads =
                                               team_for(j.threads, elements(p.input) * j.width())};
    return [plan] { plan.run(); };
  };
  constexpr std::true_type yes;
  constexpr std::false_type no;
  if (p.smallest) return p.last ? with(yes, yes) : with(yes, no);
  return p.last ? with(no, yes) : with(no, no);
}
} // namespace detail

inline detail::kernel make(const op::arg& p, const detail::job& j) {
  const bool rows = elements(p.input, p.axis + 1, p.input.size) == 1;
  detail::kernel made{rows ? "rows" : "columns", {}};
  using namespace detail;
  using s32 = std::int32_t;
  using s64 = std::int64_t;
  switch (j.element) {
  case dtype::f64: made.run = arg_task<double>(p, j); break;
  case dtype::f16: made.run = arg_task<float>(p, j, from_half); break;
  case dtype::bf16: made.run = arg_task<float>(p, j, from_bfloat); break;
  case dtype::s8: made.run = arg_task<std::int8_t>(p, j); break;
  case dtype::boolean:
  case dtype::u8: made.run = arg_task<std::uint8_t>(p, j); break;
  case dtype::s16: made.run = arg_task<s32>(p, j, order_as<std::int16_t, s32>); break;
  case dtype::u16: made.run = arg_task<s32>(p, j, order_as<std::uint16_t, s32>); break;
  case dtype::s32: made.run = arg_task<s32>(p, j); break;
  case dtype::u32: made.run = arg_task<s32>(p, j, order_as<std::uint32_t, s32>); break;
  case dtype::s64: made.run = arg_task<s64>(p, j); break;
  case dtype::u64: made.run = arg_task<s64>(p, j, order_as<std::uint64_t, s64>); break;
  default: made.run = arg_task<float>(p, j);
  }
  return made;
}

namespace detail {

/// TopK of lines of elements whose bits are `Bits`.
template <class Bits, order_kind Kind>
struct top_plan {
  using both = keyed_place<Bits>;
  std::int64_t size, inner, lines, k, most; ///< so many are kept before they are thinned out
  bool smallest;
  const Bits* x;
  Bits* values;
  std::int64_t* places;
  int threads;
  scratch room;

  void run() const {
    if (k == 0) return;
    share(threads, lines, 1, [&](std::int64_t begin, std::int64_t end) {
      auto* kept = reinterpret_cast<both*>(room.mine());
      for (; begin < end; ++begin)
        find(line_at(begin, size, inner), kept), write(begin, kept);
    });
  }

private:
  static constexpr std::uint64_t last_place =
      place_bits<Bits> == 64 ? ~std::uint64_t{0} : 0xffffffffu;
  [[gnu::always_inline]] both candidate(Bits bits, std::int64_t i) const {
    const Bits key = order_key<Kind>(bits);
    return joined<Bits>(smallest ? static_cast<Bits>(~key) : key,
                        last_place - static_cast<std::uint64_t>(i));
  }
  void find(line_of line, both* kept) const {
    const Bits* from = x + line.first;
    std::int64_t count = 0;
    both least = 0; // that a new one must beat
    for (std::int64_t i = 0; i < size; ++i) {
      const both c = candidate(from[i * line.step], i);
      kept[count] = c;
      count += c > least;
      if (count < most) continue;
      std::nth_element(kept, kept + k - 1, kept + count, std::greater<>{});
      least = kept[k - 1];
      count = k;
    }
    std::partial_sort(kept, kept + k, kept + count, std::greater<>{});
  }
  void write(std::int64_t line, const both* kept) const {
    const line_of from = line_at(line, size, inner), to = line_at(line, k, inner);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto place = static_cast<std::int64_t>(
          last_place - static_cast<std::uint64_t>(place_in<Bits>(kept[i])));
      values[to.first + i * to.step] = x[from.first + place * from.step];
      places[to.first + i * to.step] = place;
    }
  }
};
} // namespace detail

inline detail::kernel make(const op::top_k& p, const detail::job& j) {
  detail::kernel made{"thinned", {}};
  detail::with_order(j.element, [&](auto bits, auto kind) {
    using plan_type = detail::top_plan<decltype(bits), decltype(kind)::value>;
    plan_type plan{.size = p.input[p.axis],
                   .inner = elements(p.input, p.axis + 1, p.input.size),
                   .lines = elements(p.input) / std::max<std::int64_t>(p.input[p.axis], 1),
                   .k = p.k,
                   .most = 2 * p.k + 256,
                   .smallest = p.smallest,
                   .x = reinterpret_cast<const decltype(bits)*>(j.inputs[0]),
                   .values = reinterpret_cast<decltype(bits)*>(j.result_at(0)),
                   .places = reinterpret_cast<std::int64_t*>(j.result_at(1)),
                   .threads = detail::team_for(j.threads, 4 * elements(p.input) * j.width()),
                   .room = {}};
    const std::int64_t words = sizeof(typename plan_type::both) / sizeof(float);
    if (j.output != nullptr)
      plan.room = detail::scratch(j.threads, (std::min(plan.most, plan.size) + 1) * words);
    made.run = [plan] { plan.run(); };
  });
  return made;
}

/// Each thread counts in its part, and writes behind those that were found before it.
inline detail::kernel make(const op::non_zero& p, const detail::job& j) {
  const std::int64_t count = elements(p.input);
  const int parts = detail::team_for(j.threads, (1 + p.input.size) * 8 * count);
  detail::kernel made{"counted", {}};
  detail::with_order(j.element, [&](auto bits, auto kind) {
    using element = decltype(bits);
    constexpr bool real = decltype(kind)::value == detail::order_kind::real;
    const auto found =
        std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(parts) + 1);
    made.run = [=, from = reinterpret_cast<const element*>(j.inputs[0]),
                to = reinterpret_cast<std::int64_t*>(j.output)] {
      const auto set = [](element e) { return (real ? static_cast<element>(e << 1) : e) != 0; };
      const auto each_part = [&](const auto& see) {
        detail::share(parts, parts, 1, [&](std::int64_t begin, std::int64_t end) {
          for (; begin < end; ++begin)
            see(begin, count * begin / parts, count * (begin + 1) / parts);
        });
      };
      std::vector<std::int64_t>& ends = *found;
      each_part([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
        std::int64_t n = 0;
        for (std::int64_t i = begin; i < end; ++i)
          n += set(from[i]);
        ends[static_cast<std::size_t>(part) + 1] = n;
      });
      for (std::size_t i = 1; i < ends.size(); ++i)
        ends[i] += ends[i - 1];
      const int rank = p.input.size;
      const std::int64_t columns = p.input[rank - 1];
      each_part([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
        // A place is written before it is known whether it counts: no branch waits for elements.
        std::int64_t at = ends[static_cast<std::size_t>(part)];
        const std::int64_t last = ends[static_cast<std::size_t>(part) + 1];
        for (std::int64_t i = begin; i < end && at < last;) {
          std::int64_t place[8];
          for (std::int64_t d = rank, rest = i; d-- > 0; rest /= p.input[static_cast<int>(d)])
            place[d] = rest % p.input[static_cast<int>(d)];
          std::int64_t column = place[rank - 1];
          const std::int64_t stop = std::min(end, i + columns - column);
          for (; i < stop && at < last; ++i, ++column) {
            for (int d = 0; d < rank - 1; ++d)
              to[d * count + at] = place[d];
            to[(rank - 1) * count + at] = column;
            at += set(from[i]);
          }
        }
      });
      for (int d = 0; d < rank; ++d)
        std::fill(to + d * count + ends.back(), to + (d + 1) * count, 0);
    };
  });
  return made;
}

inline detail::kernel make(const op::compress& p, const detail::job& j) {
  const std::int64_t width = j.width(), kept = p.kept, size = p.size();
  const std::int64_t outer = p.axis < 0 ? 1 : elements(p.input, 0, p.axis);
  const std::int64_t run = (p.axis < 0 ? 1 : elements(p.input, p.axis + 1, p.input.size)) * width;
  const int threads = detail::team_for(j.threads, 2 * outer * kept * run);
  const auto places = std::make_shared<std::vector<std::int64_t>>();
  places->reserve(static_cast<std::size_t>(j.output == nullptr ? 0 : kept));
  return {"copy", [=, choices = std::min(p.length, size), from = j.inputs[0],
                   holds = reinterpret_cast<const std::uint8_t*>(j.inputs[1]), to = j.output] {
            places->clear();
            for (std::int64_t i = 0; i < choices && std::ssize(*places) < kept; ++i)
              if (holds[i] != 0) places->push_back(i);
            const std::int64_t found = std::ssize(*places);
            if (run > 0)
              detail::share(threads, outer * kept, 1, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                  const std::int64_t k = r % kept;
                  if (k >= found) {
                    std::memset(to + r * run, 0, static_cast<std::size_t>(run));
                    continue;
                  }
                  const std::int64_t at = r / kept * size + (*places)[static_cast<std::size_t>(k)];
                  detail::copy_bytes(to + r * run, from + at * run, run);
                }
              });
          }};
}

namespace detail {

/// Unique of elements whose bits are `Bits`. What it sorts is allocated once.
template <class Bits, order_kind Kind>
struct unique_plan {
  using both = keyed_place<Bits>;
  struct group {
    std::int64_t first, begin, end; ///< its members among the sorted ones
  };
  op::unique p;
  std::int64_t size, inner, outer;
  const Bits* x;
  Bits* values;
  std::int64_t *first, *inverse, *counts; ///< null where they are not wanted
  std::vector<both> keyed{};
  std::vector<std::int64_t> order{};
  std::vector<group> groups{};

  void prepare() {
    if (p.axis < 0) keyed.resize(static_cast<std::size_t>(size));
    order.resize(static_cast<std::size_t>(size));
    groups.reserve(order.size());
  }
  void run() {
    p.axis < 0 ? sort_elements() : sort_slices();
    find_groups();
    if (p.unsorted)
      std::sort(groups.begin(), groups.end(),
                [](const group& a, const group& b) { return a.first < b.first; });
    write();
  }

private:
  void sort_elements() {
    for (std::int64_t i = 0; i < size; ++i)
      keyed[static_cast<std::size_t>(i)] =
          joined<Bits>(order_key<Kind>(x[i]), static_cast<std::uint64_t>(i));
    std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = place_in<Bits>(keyed[i]);
  }
  void sort_slices() {
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](std::int64_t a, std::int64_t b) {
      const int c = compared(a, b);
      return c != 0 ? c < 0 : a < b;
    });
  }
  int compared(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < outer; ++o) {
      const Bits *s = x + (o * size + a) * inner, *t = x + (o * size + b) * inner;
      for (std::int64_t i = 0; i < inner; ++i) {
        const Bits u = order_key<Kind>(s[i]), v = order_key<Kind>(t[i]);
        if (u != v) return u < v ? -1 : 1;
      }
    }
    return 0;
  }
  bool same(std::int64_t a, std::int64_t b) const {
    return p.axis < 0 ? order_key<Kind>(x[a]) == order_key<Kind>(x[b]) : compared(a, b) == 0;
  }
  void find_groups() {
    groups.clear();
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = order[static_cast<std::size_t>(i)];
      if (i == 0 || !same(order[static_cast<std::size_t>(i) - 1], at)) groups.push_back({at, i, i});
      groups.back().end = i + 1;
    }
  }
  void write() const {
    const std::int64_t found = std::ssize(groups);
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < size; ++k) {
        Bits* to = values + (o * size + k) * inner;
        if (k < found)
          std::copy_n(x + (o * size + groups[static_cast<std::size_t>(k)].first) * inner, inner,
                      to);
        else
          std::fill_n(to, inner, Bits{0});
      }
    for (std::int64_t k = 0; k < size; ++k) {
      const bool there = k < found;
      const group g = there ? groups[static_cast<std::size_t>(k)] : group{};
      if (first != nullptr) first[k] = g.first;
      if (counts != nullptr) counts[k] = g.end - g.begin;
      for (std::int64_t i = g.begin; inverse != nullptr && i < g.end; ++i)
        inverse[order[static_cast<std::size_t>(i)]] = k;
    }
  }
};
} // namespace detail

inline detail::kernel make(const op::unique& p, const detail::job& j) {
  detail::kernel made{"sorted", {}};
  detail::with_order(j.element, [&](auto bits, auto kind) {
    using plan_type = detail::unique_plan<decltype(bits), decltype(kind)::value>;
    const auto places = [&](int k) {
      return k < p.wanted
                 ? reinterpret_cast<std::int64_t*>(j.result_at(static_cast<std::size_t>(k)))
                 : nullptr;
    };
    const auto plan = std::make_shared<plan_type>(
        plan_type{.p = p,
                  .size = p.size(),
                  .inner = p.axis < 0 ? 1 : elements(p.input, p.axis + 1, p.input.size),
                  .outer = p.axis < 0 ? 1 : elements(p.input, 0, p.axis),
                  .x = reinterpret_cast<const decltype(bits)*>(j.inputs[0]),
                  .values = reinterpret_cast<decltype(bits)*>(j.output),
                  .first = places(1),
                  .inverse = places(2),
                  .counts = places(3)});
    if (j.output != nullptr) plan->prepare();
    made.run = [plan] { plan->run(); };
  });
  return made;
}

} // namespace benanza::backend::host
