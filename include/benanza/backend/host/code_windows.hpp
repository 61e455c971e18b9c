// SPDX-License-Identifier: Apache-2.0
// What do the windows of a convolution on codes see? For a product of matrices: at each place of
// the sum the codes of a run of windows. Where each channel has windows of its own there is nothing
// to multiply at once: a block of its plane is widened to floats without the zero point, by steps
// of the stride, and each weight is multiplied by a run of it. Sums of up to 256 products of codes
// are exact in floats.
//
//   code_planes planes(windows);   planes.bring(image, false, 128, 0, room);
#pragma once

#include "detail/lanes.hpp"

#include "../../op/conv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::backend::host::detail {

/// Codes in steps as numbers of 16 bits less one zero point.
inline void widen_codes(const std::byte* from, bool is_signed, std::int64_t step, std::int64_t n,
                        std::int32_t zero, std::int16_t* to) {
  const auto run = [&](const auto* x) {
    if (step == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = static_cast<std::int16_t>(x[i] - zero);
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = static_cast<std::int16_t>(x[i * step] - zero);
    }
  };
  if (is_signed)
    run(reinterpret_cast<const std::int8_t*>(from));
  else
    run(reinterpret_cast<const std::uint8_t*>(from));
}

/// The windows of a convolution in three spatial dims.
struct code_windows {
  std::int64_t in[3]{1, 1, 1}, out[3]{1, 1, 1}, kernel[3]{1, 1, 1};
  std::int64_t stride[3]{1, 1, 1}, begin[3]{}, dilation[3]{1, 1, 1};

  explicit code_windows(const op::conv& p) {
    const shape results = p.output();
    for (int i = 0; i < p.kernel.size; ++i) {
      const int to = 3 - p.kernel.size + i;
      in[to] = p.input[i + 2];
      out[to] = results[i + 2];
      kernel[to] = p.kernel[i];
      stride[to] = op::entry(p.strides, i, 1);
      begin[to] = op::entry(p.pads, i, 0);
      dilation[to] = op::entry(p.dilations, i, 1);
    }
  }

  /// What `n` windows from `first` on see at place `k` of the sum; nothing where they are padded.
  void see(const std::byte* image, bool is_signed, std::int64_t k, std::int64_t first,
           std::int64_t n, std::int32_t zero, std::int16_t* to) const {
    const std::int64_t taps = kernel[0] * kernel[1] * kernel[2], tap = k % taps;
    const std::byte* plane = image + k / taps * in[0] * in[1] * in[2];
    const std::int64_t k0 = tap / (kernel[1] * kernel[2]) * dilation[0] - begin[0];
    const std::int64_t k1 = tap / kernel[2] % kernel[1] * dilation[1] - begin[1];
    const std::int64_t k2 = tap % kernel[2] * dilation[2] - begin[2];
    for (std::int64_t end = first + n; first < end;) {
      const std::int64_t o2 = first % out[2], run = std::min(out[2] - o2, end - first);
      const std::int64_t i0 = first / (out[1] * out[2]) * stride[0] + k0;
      const std::int64_t i1 = first / out[2] % out[1] * stride[1] + k1;
      std::fill_n(to, run, std::int16_t{0});
      if (i0 >= 0 && i0 < in[0] && i1 >= 0 && i1 < in[1]) {
        const std::int64_t at = o2 * stride[2] + k2;
        const std::int64_t left = at >= 0 ? 0 : (-at + stride[2] - 1) / stride[2];
        const std::int64_t room = in[2] - 1 - at;
        const std::int64_t right = room < 0 ? 0 : std::min(run, room / stride[2] + 1);
        if (left < right)
          widen_codes(plane + (i0 * in[1] + i1) * in[2] + at + left * stride[2], is_signed,
                      stride[2], right - left, zero, to + left);
      }
      to += run;
      first += run;
    }
  }
};

/// In place of them where there are none.
struct no_windows {
  explicit no_windows(const auto&) {}
};

/// Planes of windows, a block of rows of results at once.
class code_planes {
public:
  static constexpr std::int64_t most_taps = 256;

  explicit code_planes(const code_windows& w)
      : w_(w) {
    constexpr std::int64_t room = 16384; // floats of a block, which stay in the cache
    const std::int64_t widest = (w.out[2] + widest_run - 1) / widest_run * widest_run;
    phase_ = widest + (w.kernel[2] - 1) * w.dilation[2] / w.stride[2] + 1;
    row_ = phase_ * w.stride[2];
    const std::int64_t more = (w.kernel[1] - 1) * w.dilation[1] + 1;
    const std::int64_t fit = room / (row_ * w.kernel[0]) - more;
    rows_ = std::clamp<std::int64_t>(fit / w.stride[1] + 1, 1, w.out[1]);
    seen_ = (rows_ - 1) * w.stride[1] + more;
    for (std::int64_t k0 = 0; k0 < w.kernel[0]; ++k0)
      for (std::int64_t k1 = 0; k1 < w.kernel[1]; ++k1)
        for (std::int64_t k2 = 0; k2 < w.kernel[2]; ++k2) {
          const std::int64_t at = k2 * w.dilation[2];
          taps_.push_back((k0 * seen_ + k1 * w.dilation[1]) * row_ + at % w.stride[2] * phase_ +
                          at / w.stride[2]);
        }
  }

  /// Blocks of a plane.
  std::int64_t blocks() const { return w_.out[0] * blocks_of_rows(); }
  /// The number of a block's first result in its plane.
  std::int64_t first(std::int64_t part) const {
    return (part / blocks_of_rows() * w_.out[1] + first_row(part)) * w_.out[2];
  }
  std::int64_t plane_floats() const { return w_.kernel[0] * seen_ * row_; }
  std::int64_t sums() const { return rows_ * w_.out[2] + widest_run; }
  std::int64_t floats() const { return plane_floats() + sums(); }

  /// What a block of results is made of.
  void bring(const std::byte* plane, bool is_signed, std::int32_t zero, std::int64_t part,
             float* room) const {
    const std::int64_t o0 = part / blocks_of_rows();
    const std::int64_t i1 = first_row(part) * w_.stride[1] - w_.begin[1];
    std::fill_n(room, plane_floats(), 0.f);
    for (std::int64_t k0 = 0; k0 < w_.kernel[0]; ++k0) {
      const std::int64_t i0 = o0 * w_.stride[0] + k0 * w_.dilation[0] - w_.begin[0];
      if (i0 < 0 || i0 >= w_.in[0]) continue;
      for (std::int64_t r = std::max<std::int64_t>(0, -i1); r < std::min(seen_, w_.in[1] - i1); ++r)
        bring_row(plane + (i0 * w_.in[1] + i1 + r) * w_.in[2], is_signed, zero,
                  room + (k0 * seen_ + r) * row_);
    }
  }

  /// The sums of a block's results, one weight for each tap; says how many there are.
  std::int64_t sum(const float* room, const float* weights, std::int64_t part, float* to) const {
    const std::int64_t rows = std::min(rows_, w_.out[1] - first_row(part));
    for (std::int64_t r = 0; r < rows; ++r, room += w_.stride[1] * row_, to += w_.out[2])
      sum_row(room, weights, to);
    return rows * w_.out[2];
  }

private:
  static constexpr int lanes = float_lanes::count;
  static constexpr std::int64_t widest_run = 4 * lanes;

  std::int64_t blocks_of_rows() const { return (w_.out[1] + rows_ - 1) / rows_; }
  std::int64_t first_row(std::int64_t part) const { return part % blocks_of_rows() * rows_; }

  /// A row of the plane: every `stride`th code from the first on, then from the second on ...
  void bring_row(const std::byte* from, bool is_signed, std::int32_t zero, float* to) const {
    const auto run = [&](const auto* x) {
      const std::int64_t s = w_.stride[2];
      for (std::int64_t phase = 0; phase < s; ++phase, to += phase_) {
        std::int64_t at = (w_.begin[2] - phase + s - 1) / s; // the first that is no padding
        at = std::max<std::int64_t>(at, 0);
        const std::int64_t first = at * s + phase - w_.begin[2];
        const std::int64_t room = phase_ - at;
        const std::int64_t n =
            std::min(room, first < w_.in[2] ? (w_.in[2] - 1 - first) / s + 1 : 0);
        if (s == 1) {
#pragma omp simd
          for (std::int64_t i = 0; i < n; ++i)
            to[at + i] = static_cast<float>(x[first + i] - zero);
        } else {
          for (std::int64_t i = 0; i < n; ++i)
            to[at + i] = static_cast<float>(x[first + i * s] - zero);
        }
      }
    };
    if (is_signed)
      run(reinterpret_cast<const std::int8_t*>(from));
    else
      run(reinterpret_cast<const std::uint8_t*>(from));
  }

  void sum_row(const float* row, const float* weights, float* to) const {
    std::int64_t c = 0;
    for (; w_.out[2] - c > 2 * lanes; c += 4 * lanes)
      sum_run<4>(row + c, weights, to + c);
    if (w_.out[2] - c > lanes)
      sum_run<2>(row + c, weights, to + c);
    else if (w_.out[2] > c)
      sum_run<1>(row + c, weights, to + c);
  }

  /// As many results as some vectors have: more than there are, which the next ones overwrite.
  template <int Vectors>
  void sum_run(const float* row, const float* weights, float* to) const {
    float_vector sums[Vectors]{};
    for (std::size_t t = 0; t < taps_.size(); ++t) {
      const float_vector by = float_vector{} + weights[t];
      const float* x = row + taps_[t];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v)
        sums[v] = float_lanes::multiply_add(by, float_lanes::load(x + v * lanes), sums[v]);
    }
    for (int v = 0; v < Vectors; ++v)
      float_lanes::store(sums[v], to + v * lanes);
  }

  code_windows w_;
  std::int64_t phase_ = 0; ///< floats of a row that are a stride apart
  std::int64_t row_ = 0;   ///< of a row
  std::int64_t rows_ = 0;  ///< of results in a block
  std::int64_t seen_ = 0;  ///< rows of the plane that they see
  std::vector<std::int64_t> taps_{};
};

} // namespace benanza::backend::host::detail
