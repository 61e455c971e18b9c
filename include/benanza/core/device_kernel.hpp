// SPDX-License-Identifier: Apache-2.0
// What is a kernel that ran on a GPU, and what does its name say? NVIDIA's libraries have the
// instruction that a kernel's products are made of in its name: s16816, hmma or warpgroupsize is
// one of the tensor cores, ffma, simt or sgemm is not. A name that says neither is unknown.
//
//   tensor_cores("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn") == tensor_use::yes
//   short_kernel_name("void
//   cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T1::Params)")
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// One kernel, copy or fill of an execution. What is no kernel has no grid.
struct device_kernel {
  std::string name{}; ///< as a person reads it, without parameters
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t registers = 0; ///< of a thread
  std::int64_t shared_bytes = 0;
  double ns = 0;          ///< with a profiler attached: for proportions, not for comparisons
  std::int64_t part = -1; ///< of a model's run: the number of its part; -1: not known

  bool operator==(const device_kernel&) const = default;
};

/// Whether something runs on tensor cores.
enum class tensor_use { unknown, no, yes };

namespace detail {
/// True if `word` is in `text` with no letter before it.
constexpr bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (at == 0 || text[at - 1] < 'a' || text[at - 1] > 'z') return true;
  return false;
}

/// True if `text` names the shape of a tensor core's instruction, as s884, h1688 and 16816 do: in
/// front of it at most two letters for the types, behind it no digit.
constexpr bool has_instruction_shape(std::string_view text) {
  constexpr std::string_view shapes[] = {"884",   "1688",  "8816",  "8832",   "88128",
                                         "16816", "16832", "16864", "161616", "168256"};
  constexpr std::string_view types = "bcdghisz"; // of one bit, complex, double, half, integers ...
  constexpr auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  constexpr auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::string_view shape : shapes)
    for (std::size_t at = text.find(shape); at != text.npos; at = text.find(shape, at + 1)) {
      std::size_t before = at;
      while (before > 0 && at - before < 3 && types.find(text[before - 1]) != types.npos)
        --before;
      const std::size_t behind = at + shape.size();
      const bool begins = at - before < 3 && at > before &&
                          (before == 0 || !(letter(text[before - 1]) || digit(text[before - 1])));
      if (begins && behind < text.size() && letter(text[behind])) return true;
    }
  return false;
}
} // namespace detail

/// Whether a kernel of that name computes on tensor cores, as NVIDIA's libraries name theirs.
inline tensor_use tensor_cores(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has_any = [&text](auto&&... words) { return (detail::has_word(text, words) || ...); };
  const auto holds_any = [&text](auto&&... parts) {
    return ((text.find(parts) != text.npos) || ...);
  };
  // Instructions; CUTLASS's and cuDNN's words for them; cuBLAS's kernels since Hopper; attention.
  const bool yes =
      has_any("hmma", "imma", "bmma", "dmma", "qmma", "gmma", "wgmma", "wmma", "utcmma", "tcgen05",
              "mma_sync", "warpgroupsize", "nvjet", "tensor16x8x", "tensor8x8x", "sm80_16x8x") ||
      holds_any("tensorop") || detail::has_instruction_shape(text) ||
      (holds_any("sdpa", "fmha") && holds_any("flash", "_f16", "_bf16") && !holds_any("_f32"));
  // Plain arithmetic of one type; vectors; what prepares or ends the work of others.
  const bool no =
      has_any("ffma", "dfma", "hfma", "simt", "opclasssimt", "sgemm", "dgemm", "hgemm", "igemm",
              "cgemm", "zgemm", "gcgemm", "scudnn", "dcudnn", "hcudnn", "icudnn", "gemv", "gemv2t",
              "gemv2n", "gemvnsp", "gemvx", "gemmsn", "gemmk1", "dot_kernel", "reduce_1block",
              "fft1d", "fft2d", "winograd_nonfused", "splitkreduce", "splitk_reduce", "memcpy",
              "memset") ||
      holds_any("conv2d_grouped_direct", "generatewinogradtiles", "nchwtonhwc", "nhwctonchw",
                "nchwaddpadding", "tensortransform");
  return yes == no ? tensor_use::unknown : yes ? tensor_use::yes : tensor_use::no;
}

/// Whether an execution of these kernels uses tensor cores: one that does is enough, and none does
/// only where that is known of each.
inline tensor_use tensor_cores(const std::vector<device_kernel>& kernels) {
  bool all_known = !kernels.empty();
  for (const device_kernel& k : kernels) {
    const tensor_use one = tensor_cores(std::string_view(k.name));
    if (one == tensor_use::yes) return one;
    all_known = all_known && one == tensor_use::no;
  }
  return all_known ? tensor_use::no : tensor_use::unknown;
}

/// The name without what C++ adds to it: return type, parameters, arguments of templates, and
/// namespaces. Of a kernel that is only named "kernel" its first argument is the name.
inline std::string short_kernel_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string plain; // without anything in brackets
  std::string_view argument;
  int depth = 0;
  std::size_t opened = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(') {
      if (c == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous namespace)")) break;
      if (depth++ == 0) opened = i + 1;
    } else if (c == '>' || c == ')') {
      if (depth > 0 && --depth == 0 && c == '>') argument = name.substr(opened, i - opened);
    } else if (depth == 0) {
      plain += c;
    }
  }
  if (depth > 0) argument = name.substr(std::min(opened, name.size())); // it was cut off
  const std::size_t last = plain.rfind("::");
  const std::string out = last == plain.npos ? plain : plain.substr(last + 2);
  if (out != "Kernel" && out != "Kernel2" && out != "kernel" && out != "device_kernel")
    return out.empty() ? std::string(name) : out;
  argument = argument.substr(0, argument.find(','));
  if (argument.find('_') != argument.npos || argument.find("::") != argument.npos)
    return short_kernel_name(argument);
  const std::size_t before =
      last == plain.npos || last == 0 ? plain.npos : plain.rfind("::", last - 1);
  return before == plain.npos ? plain : plain.substr(before + 2);
}

} // namespace benanza
