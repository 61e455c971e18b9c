// SPDX-License-Identifier: Apache-2.0
// How does Resize run? From tables made when the layer is prepared: for each position of a resized
// dim the input positions it takes and their weights. Nearest copies rows and, along the last dim,
// picks elements; linear and cubic blend whole input rows first, then neighbours within the blended
// row. Crops, and dims that take all that an output covers, go dim by dim through memory.
//
//   kernel k = make(op::resize{.input = {1, 64, 28, 28}, .sizes = {1, 64, 56, 56}}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/copy.hpp"
#include "detail/job.hpp"
#include "detail/taps.hpp"

namespace benanza::backend::host {

namespace detail {

/// The tables of a resize, with dims at the end that stay as they are joined into one.
struct resize_plan {
  int rank = 0; // of the outer dims: all but the last
  std::int64_t in[9]{}, out[9]{};
  resize_table table[9];
  std::int64_t in_row = 1, out_row = 1, run = 1; // elements; `run` of them move as one
  bool row_resized = false, doubles = false, alternates = false;
  std::int64_t rows = 1;

  explicit resize_plan(const op::resize& p) {
    int last = p.input.size - 1;
    while (last > 0 && p.input[last] == p.sizes[last])
      run *= p.input[last--];
    if (last < 0) return;
    const bool kept = run > 1; // rows are runs of what stays; otherwise the last dim is a row
    rank = kept ? last + 1 : last;
    for (int i = 0; i < rank; ++i) {
      in[i] = p.input[i];
      out[i] = p.sizes[i];
      table[i] = table_of(p, i);
      rows *= out[i];
    }
    in_row = out_row = run;
    if (kept) return;
    in_row = p.input[last];
    out_row = p.sizes[last];
    table[rank] = table_of(p, last);
    row_resized = in_row != out_row;
    doubles = out_row == 2 * in_row && table[rank].taps == 1;
    for (std::int64_t i = 0; doubles && i < out_row; ++i)
      doubles = table[rank].from[static_cast<std::size_t>(i)] == i / 2;
    const bool centred = p.coordinates == op::sampling::half_pixel ||
                         p.coordinates == op::sampling::pytorch_half_pixel;
    alternates = out_row == 2 * in_row && in_row > 1 && table[rank].taps == 2 && centred;
  }

  /// Steps through output rows from `begin` on.
  class row_walker {
  public:
    row_walker(const resize_plan& plan, std::int64_t begin)
        : plan_(plan) {
      for (int i = plan.rank - 1; i >= 0; --i) {
        place_[i] = begin % plan.out[i];
        begin /= plan.out[i];
      }
      take_outer();
    }
    void next() {
      for (int i = plan_.rank - 1; i >= 0; --i) {
        if (++place_[i] < plan_.out[i]) {
          if (i + 1 < plan_.rank) take_outer();
          return;
        }
        place_[i] = 0;
      }
      take_outer();
    }
    /// What the row takes.
    void taken(taken_rows& all) const {
      if (plan_.rank == 0)
        all = outer_;
      else
        multiply(outer_, all, plan_.rank - 1, plan_.in_row);
    }

  private:
    /// All dims but the innermost of the walk stay the same for many rows.
    [[gnu::noinline]] void take_outer() {
      taken_rows before;
      outer_.count = 1;
      outer_.offset[0] = 0;
      outer_.weight[0] = 1;
      for (int i = 0; i + 1 < plan_.rank; ++i) {
        before = outer_;
        multiply(before, outer_, i, 1);
      }
    }
    /// Each of the rows becomes as many as the dim has taps; offsets end in units of `unit`.
    void multiply(const taken_rows& from, taken_rows& to, int dim, std::int64_t unit) const {
      const resize_table& own = plan_.table[dim];
      const auto taps = static_cast<int>(own.taps);
      const std::int32_t* at = own.from.data() + place_[dim] * taps;
      const float* weight = own.weight.data() + place_[dim] * taps;
      to.count = 0;
      for (int c = 0; c < from.count; ++c) {
        const std::int64_t base = from.offset[c] * plan_.in[dim];
        for (int t = 0; t < taps; ++t, ++to.count) {
          to.offset[to.count] = (base + at[t]) * unit;
          to.weight[to.count] = from.weight[c] * weight[t];
        }
      }
    }
    const resize_plan& plan_;
    std::int64_t place_[9]{};
    taken_rows outer_;
  };

  template <class E>
  void nearest(const E* from, E* to, std::int64_t begin, std::int64_t end) const {
    std::int64_t before = -1;
    taken_rows rows_taken;
    for (row_walker at(*this, begin); begin < end; ++begin, at.next()) {
      E* row = to + begin * out_row;
      at.taken(rows_taken);
      const std::int64_t offset = rows_taken.offset[0];
      const E* source = from + offset;
      const auto bytes = out_row * static_cast<std::int64_t>(sizeof(E));
      if (!row_resized)
        copy_bytes(reinterpret_cast<std::byte*>(row), reinterpret_cast<const std::byte*>(source),
                   bytes);
      else if (offset == before)
        copy_bytes(reinterpret_cast<std::byte*>(row),
                   reinterpret_cast<const std::byte*>(row - out_row), bytes);
      else
        pick(source, row);
      before = offset;
    }
  }

  /// `room` holds `held` rows and what they are narrowed from. Rows are resized along the last dim
  /// first and kept while the following output rows take them too; then they are blended.
  void blend(const std::byte* from, std::byte* to, std::int64_t begin, std::int64_t end,
             float* room, widener widen, narrower narrow, std::int64_t width, float scale) const {
    const bool floats = width == 4;
    std::int64_t kept[held], used[held]{}, turn = 0, sum = 0;
    std::fill_n(kept, held, -1);
    float *rows_kept = room, *sums = rows_kept + held * out_row, *wide = sums + out_row;
    const auto resized = [&](std::int64_t at) -> const float* {
      if (floats && !row_resized) return reinterpret_cast<const float*>(from) + at;
      for (std::int64_t k = 0; k < held; ++k)
        if (kept[k] == at) {
          used[k] = sum;
          return rows_kept + k * out_row;
        }
      while (used[turn] == sum)
        turn = (turn + 1) % held;
      float* row = rows_kept + turn * out_row;
      const float* source = reinterpret_cast<const float*>(from) + at;
      if (!floats) {
        widen(from + at * width, row_resized ? wide : row, in_row);
        source = wide;
      }
      if (row_resized) within(source, row);
      kept[turn] = at;
      used[turn] = sum;
      return row;
    };
    taken_rows rows_taken;
    for (row_walker at(*this, begin); begin < end; ++begin, at.next()) {
      at.taken(rows_taken);
      float* target = floats ? reinterpret_cast<float*>(to) + begin * out_row : sums;
      for (int c = 0; c < rows_taken.count; c += 4) {
        const int count = std::min(rows_taken.count - c, 4);
        const float* source[4]{};
        ++sum;
        for (int k = 0; k < count; ++k)
          source[k] = resized(rows_taken.offset[c + k]);
        add(source, rows_taken.weight + c, count, target, c == 0);
      }
      if (!floats) narrow(sums, to + begin * out_row * width, out_row, scale);
    }
  }
  static constexpr std::int64_t held = 8; // more than the four that one sum reads at once

private:
  template <class E>
  void pick(const E* __restrict from, E* __restrict to) const {
    if (doubles) {
      for (std::int64_t i = 0; i < in_row; ++i)
        to[2 * i] = to[2 * i + 1] = from[i];
      return;
    }
    const std::int32_t* at = table[rank].from.data();
    for (std::int64_t i = 0; i < out_row; ++i)
      to[i] = from[at[i]];
  }

  /// sums = (or +=) the weighted sum of up to four rows.
  void add(const float* const (&source)[4], const float* weight, int count, float* sums,
           bool first) const {
    const float *a = source[0], *b = count > 1 ? source[1] : a;
    const float *c = count > 2 ? source[2] : a, *d = count > 3 ? source[3] : a;
    const float u = weight[0], v = count > 1 ? weight[1] : 0.f;
    const float w = count > 2 ? weight[2] : 0.f, x = count > 3 ? weight[3] : 0.f;
    if (!first) {
#pragma omp simd
      for (std::int64_t i = 0; i < out_row; ++i)
        sums[i] += (a[i] * u + b[i] * v) + (c[i] * w + d[i] * x);
    } else if (count > 2) {
#pragma omp simd
      for (std::int64_t i = 0; i < out_row; ++i)
        sums[i] = (a[i] * u + b[i] * v) + (c[i] * w + d[i] * x);
    } else {
#pragma omp simd
      for (std::int64_t i = 0; i < out_row; ++i)
        sums[i] = a[i] * u + b[i] * v;
    }
  }

  void within(const float* __restrict from, float* __restrict to) const {
    const std::int32_t* at = table[rank].from.data();
    const float* weight = table[rank].weight.data();
    if (alternates) {
      // Twice as many: each inner pair of outputs blends the same two neighbours, in mirrored
      // shares.
      const float near = weight[2], far = weight[3];
      const std::int64_t pairs = in_row - 1;
      to[0] = from[0];
      to[out_row - 1] = from[in_row - 1];
      for (std::int64_t i = 0; i < pairs; ++i) {
        to[2 * i + 1] = from[i] * near + from[i + 1] * far;
        to[2 * i + 2] = from[i] * far + from[i + 1] * near;
      }
      return;
    }
    if (table[rank].taps == 2)
      for (std::int64_t i = 0; i < out_row; ++i)
        to[i] = from[at[2 * i]] * weight[2 * i] + from[at[2 * i + 1]] * weight[2 * i + 1];
    else
      for (std::int64_t i = 0; i < out_row; ++i) {
        const std::int32_t* a = at + 4 * i;
        const float* w = weight + 4 * i;
        to[i] = from[a[0]] * w[0] + from[a[1]] * w[1] + from[a[2]] * w[2] + from[a[3]] * w[3];
      }
  }
};

/// One dim resized by itself: of `in` rows of `inner` numbers `out` are made, `outer` times.
struct resize_pass {
  int dim;
  std::int64_t outer, in, out, inner;

  void rows(const resize_table& table, const float* from, float* to, std::int64_t begin,
            std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* source = from + row / out * in * inner;
      float* target = to + row * inner;
      const std::int32_t* at = table.from.data() + row % out * table.taps;
      const float* weight = table.weight.data() + row % out * table.taps;
      if (inner == 1) {
        float sum = 0;
        for (std::int64_t k = 0; k < table.taps; ++k)
          sum += weight[k] * source[at[k]];
        *target = sum;
        continue;
      }
      std::fill_n(target, inner, 0.f);
      for (std::int64_t k = 0; k < table.taps; ++k) {
        const float* taken = source + at[k] * inner;
        const float share = weight[k];
        if (share == 0) continue;
#pragma omp simd
        for (std::int64_t i = 0; i < inner; ++i)
          target[i] += share * taken[i];
      }
    }
  }
};

/// A resize dim by dim.
class resize_passes {
public:
  resize_passes(const op::resize& p, const job& j)
      : p_(p)
      , job_(j)
      , threads_(team_for(j.threads, 2 * (elements(p.input) + elements(p.sizes)) * 4)) {
    shape now = p.input;
    std::int64_t most = 0;
    for (int d = 0; d < p.input.size; ++d) {
      if (p.input[d] == p.sizes[d] && p.bound_of(d) < 0) continue;
      passes_.push_back(
          {d, elements(now, 0, d), p.input[d], p.sizes[d], elements(now, d + 1, now.size)});
      tables_.push_back(p.bound_of(d) < 0 ? table_of(p, d) : resize_table{});
      now[d] = p.sizes[d];
      most = std::max(most, elements(now));
    }
    if (j.output == nullptr) return;
    floats_ = j.element == dtype::f32 && j.result == dtype::f32 && j.scale == 1;
    for (auto& b : buffers_)
      b = std::make_shared<buffer>(4 * most);
    if (!floats_) widened_ = std::make_shared<buffer>(4 * elements(p.input));
  }

  void run() const {
    const float* from = reinterpret_cast<const float*>(job_.inputs[0]);
    if (!floats_) {
      share(threads_, elements(p_.input), block, [&](std::int64_t begin, std::int64_t end) {
        widen_as(job_.element)(job_.inputs[0] + begin * job_.width(), floats(widened_) + begin,
                               end - begin);
      });
      from = floats(widened_);
    }
    for (std::size_t k = 0; k < passes_.size(); ++k) {
      const resize_pass& pass = passes_[k];
      float* to = floats_ && k + 1 == passes_.size() ? reinterpret_cast<float*>(job_.output)
                                                     : floats(buffers_[k % 2]);
      const int bound = p_.bound_of(pass.dim);
      const resize_table cropped =
          bound < 0 ? resize_table{}
                    : cropped_table(p_, pass.dim, at(bound), at(bound + p_.bounds() / 2));
      const resize_table& table = bound < 0 ? tables_[k] : cropped;
      share(threads_, pass.outer * pass.out, 1,
            [&](std::int64_t begin, std::int64_t end) { pass.rows(table, from, to, begin, end); });
      from = to;
    }
    if (floats_ && !passes_.empty()) return;
    share(threads_, elements(p_.sizes), block, [&](std::int64_t begin, std::int64_t end) {
      narrow_as(job_.result)(from + begin, job_.output + begin * size_bytes(job_.result),
                             end - begin, job_.scale);
    });
  }

private:
  static float* floats(const std::shared_ptr<buffer>& b) {
    return reinterpret_cast<float*>(b->bytes());
  }
  double at(std::int64_t bound) const {
    return static_cast<double>(reinterpret_cast<const float*>(job_.inputs[1])[bound]);
  }

  op::resize p_;
  job job_;
  int threads_;
  bool floats_ = true;
  std::vector<resize_pass> passes_{};
  std::vector<resize_table> tables_{};
  std::shared_ptr<buffer> buffers_[2]{}, widened_{};
};
} // namespace detail

/// True where there is a kernel: nearest of any storage, the others of f32, bf16 and codes.
inline bool runs(const op::resize& p, dtype element) {
  int resized = 0;
  for (int i = 0; i < p.input.size; ++i)
    resized += p.input[i] != p.sizes[i];
  if (p.crops() || p.antialias) return detail::computes_in_f32(element);
  if (p.mode == op::interpolation::cubic && resized > 4) return false;
  return p.mode == op::interpolation::nearest || detail::computes_in_f32(element);
}

inline detail::kernel make(const op::resize& p, const detail::job& j) {
  if (p.crops() || p.antialias) {
    auto passes = std::make_shared<const detail::resize_passes>(p, j);
    return {"passes", [passes] { passes->run(); }};
  }
  auto plan = std::make_shared<const detail::resize_plan>(p);
  const std::int64_t width = j.width();
  const int threads = detail::team_for(j.threads, (elements(p.input) + elements(p.sizes)) * width);
  if (p.mode == op::interpolation::nearest) {
    detail::kernel made{"table", {}};
    detail::with_width(width, [&](auto e) {
      using element = decltype(e);
      made.run = [=, from = reinterpret_cast<const element*>(j.inputs[0]),
                  to = reinterpret_cast<element*>(j.output)] {
        detail::share(threads, plan->rows, 1, [&](std::int64_t begin, std::int64_t end) {
          plan->nearest(from, to, begin, end);
        });
      };
    });
    return made;
  }
  const detail::scratch room(threads, (plan->held + 1) * plan->out_row + plan->in_row);
  return {"table", [=, widen = detail::widen_as(j.element), narrow = detail::narrow_as(j.result),
                    from = j.inputs[0], to = j.output, scale = j.scale] {
            detail::share(threads, plan->rows, 1, [&](std::int64_t begin, std::int64_t end) {
              plan->blend(from, to, begin, end, room.mine(), widen, narrow, width, scale);
            });
          }};
}

} // namespace benanza::backend::host
