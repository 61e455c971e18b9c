// SPDX-License-Identifier: Apache-2.0
// How do layers that move data run at the speed of memory? Slice, Transpose, DepthToSpace and
// SpaceToDepth are strided copies; Concat and Split copy runs; Pad copies rows and fills next to
// them; Gather copies the rows its indices name. All for elements of one, two, four or eight bytes.
//
//   kernel k = make(op::transpose{.input = {8, 12, 128, 64}, .order = {0, 2, 1, 3}}, job);
#pragma once

#include "detail/copy.hpp"
#include "detail/job.hpp"
#include "detail/padding.hpp"

namespace benanza::backend::host {

namespace detail {

/// A prepared strided copy as a kernel.
inline kernel copied(const loops<2>& l, std::int64_t offset, const job& j) {
  strided_copy copy(l, offset, j.width());
  std::string way = copy.way();
  const int threads = team_for(j.threads, 2 * l.count(0, l.rank) * j.width());
  return {std::move(way),
          [copy, threads, from = j.inputs[0], to = j.output] { copy.run(threads, from, to); }};
}

/// One operand's run in every row of the whole, for Concat and Split.
struct run_of_bytes {
  std::byte* part;
  std::int64_t length, first; // bytes, and where they begin in a row of the whole
};

/// `sizes` along the axis; empty: the parts are as equal as they can be.
inline std::vector<run_of_bytes> runs_of(const shape& whole, int axis, std::int64_t parts,
                                         std::int64_t width,
                                         const std::vector<std::int64_t>& sizes = {}) {
  std::vector<run_of_bytes> runs;
  const std::int64_t inner = elements(whole, axis + 1, whole.size) * width;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t size = sizes.empty() ? op::part_of(whole, axis, parts, i)[axis]
                                            : sizes[static_cast<std::size_t>(i)];
    const std::int64_t length = size * inner;
    runs.push_back({nullptr, length, first});
    first += length;
  }
  return runs;
}

/// The same where a row of the whole has one unit of each of `Parts` parts.
template <bool ToWhole, int Parts, class Unit>
void interleave(const std::vector<run_of_bytes>& runs, std::byte* all, std::int64_t r,
                std::int64_t end) {
  auto* const whole = reinterpret_cast<Unit*>(all);
  Unit* part[Parts];
  for (int k = 0; k < Parts; ++k)
    part[k] = reinterpret_cast<Unit*>(runs[static_cast<std::size_t>(k)].part);
#pragma omp simd
  for (std::int64_t i = r; i < end; ++i)
    for (int k = 0; k < Parts; ++k)
      if constexpr (ToWhole)
        whole[i * Parts + k] = part[k][i];
      else
        part[k][i] = whole[i * Parts + k];
}

/// True where rows are that short: a copy for each run would be mostly finding the way.
inline bool interleaves(const std::vector<run_of_bytes>& runs) {
  const std::int64_t unit = runs[0].length;
  return runs.size() >= 2 && runs.size() <= 4 &&
         (unit == 1 || unit == 2 || unit == 4 || unit == 8) &&
         std::all_of(runs.begin(), runs.end(),
                     [unit](const run_of_bytes& r) { return r.length == unit; });
}

/// Copies between a whole and its parts, `ToWhole` or back. Each thread takes a range of the whole.
template <bool ToWhole>
void copy_runs(const std::vector<run_of_bytes>& runs, std::byte* whole, std::int64_t rows,
               int threads) {
  if (interleaves(runs))
    return with_width(runs[0].length, [&](auto unit) {
      using element = decltype(unit);
      const auto run = runs.size() == 2   ? interleave<ToWhole, 2, element>
                       : runs.size() == 3 ? interleave<ToWhole, 3, element>
                                          : interleave<ToWhole, 4, element>;
      share(threads, rows, 64,
            [&](std::int64_t begin, std::int64_t end) { run(runs, whole, begin, end); });
    });
  const std::int64_t row = runs.back().first + runs.back().length;
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    std::size_t k = 0;
    std::int64_t r = begin / row;
    while (runs[k].first + runs[k].length <= begin % row)
      ++k;
    for (std::int64_t at = begin; at < end;) {
      const run_of_bytes& run = runs[k];
      const std::int64_t skipped = at - r * row - run.first;
      const std::int64_t n = std::min(run.length - skipped, end - at);
      std::byte* part = run.part + r * run.length + skipped;
      if constexpr (ToWhole)
        copy_bytes(whole + at, part, n);
      else
        copy_bytes(part, whole + at, n);
      at += n;
      if (++k == runs.size()) k = 0, ++r;
    }
  };
  share(threads, rows * row, 64, range);
}

} // namespace detail

inline detail::kernel make(const op::slice& p, const detail::job& j) {
  const shape in = packed(p.input), out = packed(p.sizes);
  detail::loops<2> l;
  std::int64_t offset = 0;
  for (int i = 0; i < p.input.size; ++i) {
    l.push(p.sizes[i], {out[i], in[i] * p.step(i)});
    offset += in[i] * p.start(i);
  }
  return detail::copied(l, offset, j);
}

inline detail::kernel make(const op::transpose& p, const detail::job& j) {
  const shape in = packed(p.input), out = packed(p.output());
  detail::loops<2> l;
  for (int i = 0; i < p.order.size; ++i) {
    const int from = static_cast<int>(p.order[i]);
    l.push(p.input[from], {out[i], in[from]});
  }
  return detail::copied(l, 0, j);
}

/// DepthToSpace and SpaceToDepth: a transposition of six dims.
inline detail::kernel make(const op::depth_to_space& p, const detail::job& j) {
  const std::int64_t b = p.block, n = p.input[0];
  const std::int64_t c = p.inverse ? p.input[1] : p.input[1] / (b * b);
  const std::int64_t h = p.inverse ? p.input[2] / b : p.input[2];
  const std::int64_t w = p.inverse ? p.input[3] / b : p.input[3];
  op::transpose t;
  if (p.inverse) {
    t.input = {n, c, h, b, w, b};
    t.order = p.column_row_depth ? shape{0, 1, 3, 5, 2, 4} : shape{0, 3, 5, 1, 2, 4};
  } else if (p.column_row_depth) {
    t.input = {n, c, b, b, h, w};
    t.order = {0, 1, 4, 2, 5, 3};
  } else {
    t.input = {n, b, b, c, h, w};
    t.order = {0, 3, 4, 1, 5, 2};
  }
  return make(t, j);
}

inline detail::kernel make(const op::concat& p, const detail::job& j) {
  std::vector<std::int64_t> sizes; // of the operands that are really there
  for (const tensor& t : j.shapes)
    sizes.push_back(t.dims[p.axis]);
  auto runs = detail::runs_of(p.whole, p.axis, p.parts, j.width(), sizes);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].part = const_cast<std::byte*>(j.inputs[i]);
  const std::int64_t rows = elements(p.whole, 0, p.axis);
  const int threads = detail::team_for(j.threads, 2 * elements(p.whole) * j.width());
  return {"copy", [runs, rows, threads, to = j.output] {
            detail::copy_runs<true>(runs, to, rows, threads);
          }};
}

inline detail::kernel make(const op::split& p, const detail::job& j) {
  auto runs = detail::runs_of(p.whole, p.axis, p.parts, j.width(), j.parts);
  const std::int64_t rows = elements(p.whole, 0, p.axis);
  for (auto& run : runs)
    run.part = j.output + rows * run.first;
  const int threads = detail::team_for(j.threads, 2 * elements(p.whole) * j.width());
  return {"copy", [runs, rows, threads, from = const_cast<std::byte*>(j.inputs[0])] {
            detail::copy_runs<false>(runs, from, rows, threads);
          }};
}

inline detail::kernel make(const op::pad& p, const detail::job& j) {
  const std::int64_t out = elements(p.output());
  if (p.input.size == 0) return detail::copied({}, 0, j);
  const int threads = detail::team_for(j.threads, 2 * out * j.width());
  const std::int64_t bytes = out * j.width();
  return {"copy", [plan = detail::plan_of(p, j.width()), threads, bytes, from = j.inputs[0],
                   to = j.output] {
            if (bytes == 0) return;
            detail::share(threads, bytes / plan.row, 1, [&](std::int64_t begin, std::int64_t end) {
              plan.rows(from, to, begin, end);
            });
          }};
}

namespace detail {
/// Output row r * count + k is the input row that index k names, of `run` elements.
template <class Index, class E>
void gather_rows(const E* data, const Index* indices, E* to, std::int64_t count, std::int64_t size,
                 std::int64_t run, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin / count, k = begin % count; begin < end; ++r, k = 0) {
    const std::int64_t stop = std::min(count, k + end - begin);
    const E* from = data + r * size * run;
    E* out = to + (r * count + k) * run;
    begin += stop - k;
    if (run == 1) {
      for (std::int64_t i = k; i < stop; ++i) {
        const auto at = static_cast<std::int64_t>(indices[i]);
        out[i - k] = from[at < 0 ? at + size : at];
      }
      continue;
    }
    for (; k < stop; ++k, out += run) {
      const auto at = static_cast<std::int64_t>(indices[k]);
      copy_bytes(reinterpret_cast<std::byte*>(out),
                 reinterpret_cast<const std::byte*>(from + (at < 0 ? at + size : at) * run),
                 run * static_cast<std::int64_t>(sizeof(E)));
    }
  }
}
} // namespace detail

/// Gather reads its indices on every execution.
inline detail::kernel make(const op::gather& p, const detail::job& j) {
  const std::int64_t count = elements(p.indices), size = p.data[p.axis];
  const std::int64_t outer = elements(p.data, 0, p.axis);
  const std::int64_t run = elements(p.data, p.axis + 1, p.data.size);
  const int threads = detail::team_for(j.threads, 2 * outer * count * run * j.width());
  detail::kernel made{run == 1 ? "table" : "copy", {}};
  detail::with_width(j.width(), [&](auto e) {
    using element = decltype(e);
    const auto with = [&](auto index) {
      made.run = [=, data = reinterpret_cast<const element*>(j.inputs[0]),
                  indices = reinterpret_cast<const decltype(index)*>(j.inputs[1]),
                  to = reinterpret_cast<element*>(j.output)] {
        detail::share(threads, outer * count, 1, [&](std::int64_t begin, std::int64_t end) {
          detail::gather_rows(data, indices, to, count, size, run, begin, end);
        });
      };
    };
    if (p.index == dtype::s32)
      with(std::int32_t{});
    else
      with(std::int64_t{});
  });
  return made;
}

} // namespace benanza::backend::host
