// SPDX-License-Identifier: Apache-2.0
// How do layers run that fill a tensor by place? Trilu copies a part of each row and zeroes the
// rest, ReverseSequence copies places in another order, OneHot fills rows with one value and sets
// the other, or compares whole pieces of rows where its axis is not the last.
//
//   kernel k = make(op::trilu{.input = {1, 128, 128}}, job);
#pragma once

#include "../number.hpp"
#include "detail/copy.hpp"
#include "detail/job.hpp"

namespace benanza::backend::host {

inline bool runs(const op::trilu&, dtype) {
  return true;
}
inline bool runs(const op::reverse_sequence&, dtype) {
  return true;
}
inline bool runs(const op::one_hot& p, dtype) {
  return p.depth < std::int64_t{1} << 31;
}

inline detail::kernel make(const op::trilu& p, const detail::job& j) {
  const std::int64_t width = j.width(), rows = p.rows(), columns = p.columns();
  const std::int64_t all = columns == 0 ? 0 : elements(p.input) / columns;
  const int threads = detail::team_for(j.threads, 2 * elements(p.input) * width);
  return {"copy", [=, k = p.k, lower = p.lower, from = j.inputs[0], to = j.output] {
            detail::share(threads, all, 1, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t r = begin; r < end; ++r) {
                const std::int64_t diagonal = r % rows + k + (lower ? 1 : 0);
                const std::int64_t edge = std::clamp<std::int64_t>(diagonal, 0, columns) * width;
                const std::int64_t length = columns * width, at = r * length;
                const std::int64_t first = lower ? 0 : edge, last = lower ? edge : length;
                std::memset(to + at, 0, static_cast<std::size_t>(first));
                detail::copy_bytes(to + at + first, from + at + first, last - first);
                std::memset(to + at + last, 0, static_cast<std::size_t>(length - last));
              }
            });
          }};
}

inline detail::kernel make(const op::reverse_sequence& p, const detail::job& j) {
  const std::int64_t batch = p.batch(), steps = p.steps(), width = j.width();
  const std::int64_t inner = elements(p.input, 2, p.input.size) * width;
  const int threads = detail::team_for(j.threads, 2 * elements(p.input) * width);
  const auto* lengths = reinterpret_cast<const std::int64_t*>(j.inputs[1]);
  const bool batch_first = p.batch_first;
  return {"copy", [=, from = j.inputs[0], to = j.output] {
            const auto source = [&](std::int64_t b, std::int64_t t) {
              const std::int64_t n = std::clamp<std::int64_t>(lengths[b], 0, steps);
              return t < n ? n - 1 - t : t;
            };
            if (inner > 0)
              detail::share(threads, batch * steps, 1, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                  const std::int64_t b = batch_first ? r / steps : r % batch;
                  const std::int64_t t = source(b, batch_first ? r % steps : r / batch);
                  const std::int64_t at = batch_first ? b * steps + t : t * batch + b;
                  detail::copy_bytes(to + r * inner, from + at * inner, inner);
                }
              });
          }};
}

namespace detail {
/// Rows of a OneHot of elements of type `E`; `number(i)` is the place that index i has.
template <class E, class Number>
void one_hot_rows(const op::one_hot& p, const E* values, E* to, int threads, const Number& number) {
  const std::int64_t inner = elements(p.indices, p.axis, p.indices.size), depth = p.depth;
  const std::int64_t outer = elements(p.indices, 0, p.axis);
  const E off = values[0], on = values[1];
  if (depth == 0 || inner == 0) return;
  if (inner == 1)
    return share(threads, outer, 1, [&](std::int64_t begin, std::int64_t end) {
      std::fill(to + begin * depth, to + end * depth, off);
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = number(r);
        if (at >= 0 && at < depth) to[r * depth + at] = on;
      }
    });
  constexpr std::int64_t piece = 512;
  const std::int64_t pieces = (inner + piece - 1) / piece;
  share(threads, outer * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    std::int32_t places[piece];
    for (; begin < end; ++begin) {
      const std::int64_t o = begin / pieces, column = begin % pieces * piece;
      const std::int64_t n = std::min(piece, inner - column);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = number(o * inner + column + i);
        places[i] = at >= 0 && at < depth ? static_cast<std::int32_t>(at) : -1;
      }
      for (std::int64_t d = 0; d < depth; ++d) {
        E* row = to + (o * depth + d) * inner + column;
        const auto place = static_cast<std::int32_t>(d);
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i)
          row[i] = places[i] == place ? on : off;
      }
    }
  });
}
} // namespace detail

inline detail::kernel make(const op::one_hot& p, const detail::job& j) {
  const int threads = detail::team_for(j.threads, elements(p.output()) * j.width());
  detail::kernel made{p.axis == p.indices.size ? "rows" : "planes", {}};
  const dtype index =
      p.index_type() == dtype::real && !j.shapes.empty() ? j.shapes[0].type : p.index_type();
  detail::with_width(j.width(), [&](auto e) {
    using element = decltype(e);
    const auto* values = reinterpret_cast<const element*>(j.inputs[2]);
    auto* to = reinterpret_cast<element*>(j.output);
    const auto with = [&](auto read) {
      made.run = [p, threads, values, to, read] {
        detail::one_hot_rows(p, values, to, threads, [&](std::int64_t i) {
          const std::int64_t at = read(i);
          return at < 0 ? at + p.depth : at;
        });
      };
    };
    if (index == dtype::s64)
      with([from = reinterpret_cast<const std::int64_t*>(j.inputs[0])](std::int64_t i) {
        return from[i];
      });
    else if (index == dtype::s32)
      with([from = reinterpret_cast<const std::int32_t*>(j.inputs[0])](std::int64_t i) {
        return static_cast<std::int64_t>(from[i]);
      });
    else
      with([from = j.inputs[0], index](std::int64_t i) {
        const double v = load(index, from, i);
        return std::fabs(v) < 0x1p62 ? static_cast<std::int64_t>(v) : std::int64_t{1} << 62;
      });
  });
  return made;
}

} // namespace benanza::backend::host
