// SPDX-License-Identifier: Apache-2.0
// How does a transposed convolution run without a library? Outputs that are a stride apart are a
// phase: within one, each tap reads the input at one fixed shift, so that a phase is a product of
// its weights with shifted rows of the input. Phases with the same shifts (all of them where the
// stride is the kernel) share one product. A block's sums are interleaved while they are in cache.
//
//   kernel k = make(op::conv_transpose{.input = {1, 24, 160, 160}, .outputs = 24, .kernel = {2, 2},
//   .strides = {2, 2}}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/job.hpp"
#include "detail/product.hpp"
#include "grid_sample.hpp"

#include <array>
#include <map>

namespace benanza::backend::host {

namespace detail {

/// Along three spatial dims; where there are fewer, the last ones.
using spot = std::array<std::int64_t, 3>;

/// Phases of the output that read the input at the same shifts.
struct phase_group {
  std::vector<spot> shifts{};                    ///< of each tap
  std::vector<std::int64_t> phases{};            ///< their numbers
  std::vector<std::vector<std::int64_t>> taps{}; ///< of each phase: which tap has which shift
  std::int64_t weights = 0;                      ///< where they begin, in floats
};

class phases_of {
public:
  spot in{1, 1, 1}, out{1, 1, 1}, stride{1, 1, 1}, grid{1, 1, 1}; // `grid`: outputs of a phase
  std::int64_t channels, outputs, groups, images, taps = 1, phases = 1;
  std::vector<phase_group> sets{};

  explicit phases_of(const op::conv_transpose& p)
      : channels(p.input[1] / p.groups)
      , outputs(p.outputs / p.groups)
      , groups(p.groups)
      , images(p.input[0]) {
    const shape results = p.output();
    spot kernel{1, 1, 1}, begin{}, dilation{1, 1, 1};
    for (int i = 0; i < p.kernel.size; ++i) {
      const auto to = static_cast<std::size_t>(3 - p.kernel.size + i);
      in[to] = p.input[i + 2];
      out[to] = results[i + 2];
      kernel[to] = p.kernel[i];
      stride[to] = op::entry(p.strides, i, 1);
      begin[to] = op::entry(p.pads, i, 0);
      dilation[to] = op::entry(p.dilations, i, 1);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      grid[d] = (out[d] + stride[d] - 1) / stride[d];
      taps *= kernel[d];
      phases *= stride[d];
    }
    std::map<std::vector<spot>, phase_group> by_shifts;
    for (std::int64_t f = 0; f < phases; ++f) {
      std::vector<std::pair<spot, std::int64_t>> read;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const spot at = phase(f), k = place(tap, kernel);
        spot shift{};
        bool reads = true;
        for (std::size_t d = 0; d < 3; ++d) {
          const std::int64_t from = at[d] + begin[d] - k[d] * dilation[d];
          reads = reads && from % stride[d] == 0;
          shift[d] = from / stride[d];
        }
        if (reads) read.emplace_back(shift, tap);
      }
      std::sort(read.begin(), read.end());
      std::vector<spot> shifts;
      std::vector<std::int64_t> which;
      for (const auto& [shift, tap] : read)
        shifts.push_back(shift), which.push_back(tap);
      phase_group& g = by_shifts[shifts];
      g.shifts = std::move(shifts);
      g.phases.push_back(f);
      g.taps.push_back(std::move(which));
    }
    std::int64_t at = 0;
    for (auto& [shifts, g] : by_shifts) {
      g.weights = at;
      at += static_cast<std::int64_t>(g.phases.size()) * outputs * depth(g);
      sets.push_back(std::move(g));
    }
  }

  static spot place(std::int64_t flat, const spot& dims) {
    return {flat / (dims[1] * dims[2]), flat / dims[2] % dims[1], flat % dims[2]};
  }
  static std::int64_t count(const spot& dims) { return dims[0] * dims[1] * dims[2]; }
  spot phase(std::int64_t f) const { return place(f, stride); }
  std::int64_t depth(const phase_group& g) const {
    return static_cast<std::int64_t>(g.shifts.size()) * channels;
  }
  /// Of one group of channels: each tap is in one phase.
  std::int64_t weights() const { return taps * channels * outputs; }
};

/// The longest part of a sum that is made at once.
inline constexpr std::int64_t phase_depth = 256;

/// `Stride` rows of sums become one row of results.
template <int Stride, class T>
void interleave(const std::array<const float*, 4>& rows, T* __restrict to, std::int64_t n) {
  const float* __restrict a = rows[0];
  const float* __restrict b = rows[1 % Stride];
  const float* __restrict c = rows[2 % Stride];
  const float* __restrict d = rows[3 % Stride];
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    put(a[i], to[i * Stride]);
    if constexpr (Stride > 1) put(b[i], to[i * Stride + 1]);
    if constexpr (Stride > 2) put(c[i], to[i * Stride + 2]);
    if constexpr (Stride > 3) put(d[i], to[i * Stride + 3]);
  }
}

template <class T>
class phase_plan {
public:
  phase_plan(const op::conv_transpose& p, const job& j)
      : f_(p)
      , x_(reinterpret_cast<const T*>(j.inputs[0]))
      , y_(reinterpret_cast<T*>(j.output))
      , rows_(std::min(f_.outputs, std::max<std::int64_t>(1, 64 / f_.phases) * tile_rows))
      , columns_(std::clamp<std::int64_t>(
                     std::min((24 << 10) / (f_.phases * rows_),
                              (16 << 10) / std::min(phase_depth, f_.taps * f_.channels)) /
                         tile_columns,
                     2, 16) *
                 tile_columns) {
    order_.resize(static_cast<std::size_t>(f_.phases));
    std::int64_t next = 0;
    for (const phase_group& g : f_.sets)
      for (const std::int64_t f : g.phases)
        order_[static_cast<std::size_t>(f)] = next++;
  }

  std::int64_t units() const {
    return f_.images * f_.groups * blocks(f_.outputs, rows_) *
           blocks(phases_of::count(f_.grid), columns_);
  }
  /// Of scratch memory for one thread: the sums of all phases, and columns.
  std::int64_t floats() const { return (f_.phases * rows_ + phase_depth) * columns_; }

  /// A block of outputs of all phases, by its number.
  void run(std::int64_t unit, const float* weights, float* room) const {
    const std::int64_t parts = blocks(phases_of::count(f_.grid), columns_);
    const std::int64_t first = unit % parts * columns_;
    const std::int64_t row = unit / parts % blocks(f_.outputs, rows_) * rows_;
    const std::int64_t image = unit / parts / blocks(f_.outputs, rows_); // and group of channels
    const std::int64_t n = std::min(columns_, phases_of::count(f_.grid) - first);
    const std::int64_t rows = std::min(rows_, f_.outputs - row);
    const std::int64_t wide = (n + tile_columns - 1) / tile_columns * tile_columns;
    const std::int64_t group = image % f_.groups;
    const float* bias = weights + f_.groups * f_.weights() + group * f_.outputs + row;
    for (std::int64_t r = 0; r < f_.phases * rows; ++r)
      std::fill_n(room + r * columns_, wide, bias[r % rows]);
    float* columns = room + f_.phases * rows_ * columns_;
    std::int64_t sums = 0; // before those of a set
    for (const phase_group& g : f_.sets) {
      const std::int64_t depth = f_.depth(g), its = std::ssize(g.phases);
      const float* a = weights + group * f_.weights() + g.weights;
      for (std::int64_t k = 0; k < depth; k += phase_depth) {
        const std::int64_t length = std::min(phase_depth, depth - k);
        const float* b = columns;
        std::int64_t b_row = columns_;
        if (const float* plain = in_place(g, f_.phases * rows); plain && n == wide) {
          b_row = phases_of::count(f_.in);
          b = plain + (image * f_.channels + k) * b_row + first;
        } else
          for (std::int64_t i = 0; i < length; ++i)
            see(image, g.shifts[static_cast<std::size_t>((k + i) / f_.channels)],
                (k + i) % f_.channels, first, n, wide, columns + i * columns_);
        const bool all = rows == f_.outputs; // then phases follow each other in weights and sums
        for (std::int64_t i = 0; i < (all ? 1 : its); ++i)
          add_product(a + (i * f_.outputs + row) * depth + k, depth, b, b_row,
                      room + (sums + i * rows) * columns_, columns_, all ? its * rows : rows, wide,
                      length);
      }
      sums += its * rows;
    }
    write(image, row, rows, first, n, room);
  }

private:
  static std::int64_t blocks(std::int64_t n, std::int64_t each) { return (n + each - 1) / each; }

  /// The input, where a product of few rows can read it in place; each number is read once.
  const float* in_place(const phase_group& g, std::int64_t rows) const {
    if constexpr (std::is_same_v<T, float>)
      if (rows <= tile_rows && g.shifts.size() == 1 && g.shifts[0] == spot{} && f_.grid == f_.in)
        return x_;
    return nullptr;
  }

  /// What `n` outputs of a phase from `first` on read of a channel; nothing outside of it.
  void see(std::int64_t image, const spot& shift, std::int64_t channel, std::int64_t first,
           std::int64_t n, std::int64_t wide, float* to) const {
    const T* plane = x_ + (image * f_.channels + channel) * phases_of::count(f_.in);
    for (std::int64_t i = n; i < wide; ++i)
      to[i] = 0;
    for (const std::int64_t end = first + n; first < end;) {
      const spot at = phases_of::place(first, f_.grid);
      const std::int64_t run = std::min(f_.grid[2] - at[2], end - first);
      const std::int64_t z = at[0] + shift[0], y = at[1] + shift[1], x = at[2] + shift[2];
      const bool inside = z >= 0 && z < f_.in[0] && y >= 0 && y < f_.in[1];
      const std::int64_t low = inside ? std::clamp<std::int64_t>(-x, 0, run) : run;
      const std::int64_t high = inside ? std::clamp(f_.in[2] - x, low, run) : run;
      const T* from = plane + (z * f_.in[1] + y) * f_.in[2] + x;
      std::fill_n(to, low, 0.f);
#pragma omp simd
      for (std::int64_t i = low; i < high; ++i)
        to[i] = number_of(from[i]);
      std::fill_n(to + high, run - high, 0.f);
      to += run;
      first += run;
    }
  }

  /// Sums to their places, the phases of a row side by side.
  void write(std::int64_t image, std::int64_t row, std::int64_t rows, std::int64_t first,
             std::int64_t n, const float* room) const {
    const std::int64_t across = f_.stride[2], plane = phases_of::count(f_.out);
    for (std::int64_t done = 0, run = 0; done < n; done += run) {
      const spot at = phases_of::place(first + done, f_.grid);
      run = std::min(f_.grid[2] - at[2], n - done);
      for (std::int64_t line = 0; line < f_.phases / across; ++line) {
        const spot of = f_.phase(line * across);
        const std::int64_t z = at[0] * f_.stride[0] + of[0], y = at[1] * f_.stride[1] + of[1];
        if (z >= f_.out[0] || y >= f_.out[1]) continue;
        const std::int64_t place = (z * f_.out[1] + y) * f_.out[2] + at[2] * across;
        const std::int64_t whole = std::min(run, (f_.out[2] - at[2] * across) / across);
        for (std::int64_t r = 0; r < rows; ++r) {
          T* to = y_ + (image * f_.outputs + row + r) * plane + place;
          const auto sums = [&](std::int64_t s) {
            return room +
                   (order_[static_cast<std::size_t>(line * across + s)] * rows + r) * columns_ +
                   done;
          };
          std::array<const float*, 4> from{};
          for (std::int64_t s = 0; s < std::min<std::int64_t>(4, across); ++s)
            from[static_cast<std::size_t>(s)] = sums(s);
          std::int64_t written = whole;
          switch (across) {
          case 1: interleave<1>(from, to, whole); break;
          case 2: interleave<2>(from, to, whole); break;
          case 4: interleave<4>(from, to, whole); break;
          default: written = 0;
          }
          for (std::int64_t i = written; i < run; ++i)
            for (std::int64_t s = 0; s < across && (at[2] + i) * across + s < f_.out[2]; ++s)
              put(sums(s)[i], to[i * across + s]);
        }
      }
    }
  }

  phases_of f_;
  const T* x_;
  T* y_;
  std::vector<std::int64_t> order_{}; ///< of each phase among the sums
  std::int64_t rows_;                 ///< outputs of each phase in a block
  std::int64_t columns_; ///< places of a phase in it: as many as leave its sums in the cache
};
} // namespace detail

/// A block holds all phases; thousands of them would not fit.
inline bool runs(const op::conv_transpose& p, dtype element) {
  std::int64_t phases = 1;
  for (int i = 0; i < p.kernel.size; ++i)
    phases *= std::min<std::int64_t>(1025, op::entry(p.strides, i, 1));
  return phases <= 1024 && (element == dtype::f32 || element == dtype::bf16);
}

/// Bytes of the weights and the bias as the kernel reads them.
inline std::int64_t weight_bytes(const op::conv_transpose& p, dtype) {
  return (elements(p.weights()) + p.outputs) * 4;
}

inline void fold_weights(const op::conv_transpose& p, const operands& o, float* to) {
  const detail::phases_of f(p);
  const tensor& w = o.inputs[1];
  const auto number = [](const tensor& x, std::int64_t i) {
    return static_cast<float>(load(x.type, x.bytes.data(), i));
  };
  for (std::int64_t g = 0; g < f.groups; ++g)
    for (const detail::phase_group& set : f.sets)
      for (const auto& taps : set.taps)
        for (std::int64_t m = 0; m < f.outputs; ++m)
          for (const std::int64_t tap : taps)
            for (std::int64_t c = 0; c < f.channels; ++c)
              *to++ = number(w, ((g * f.channels + c) * f.outputs + m) * f.taps + tap);
  for (std::int64_t m = 0; m < p.outputs; ++m)
    *to++ = p.bias ? number(o.inputs[2], m) : 0.f;
}

inline detail::kernel make(const op::conv_transpose& p, const detail::job& j) {
  const int threads = detail::team_for(j.threads, p.cost().flops());
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    const detail::phase_plan<decltype(e)> plan(p, j);
    const detail::scratch room(threads, plan.floats());
    return {"phases", [=, weights = j.weights] {
              detail::share(threads, plan.units(), 1, [&](std::int64_t k, std::int64_t end) {
                for (; k < end; ++k)
                  plan.run(k, reinterpret_cast<const float*>(*weights), room.mine());
              });
            }};
  });
}

} // namespace benanza::backend::host
