// SPDX-License-Identifier: Apache-2.0
// Which library calls did a framework make? A log of cuDNN, cuBLAS or cublasLt, as its reader hands
// it on: every different call once, with the layer that it computes where that is known, and the
// order in which they were made. Calls that only prepare something are not kept.
//
//   call_log l = read_log(stream, "cudnn.log");
//   l.at(l.entries[7]).function    // "cudnnConvolutionForward"
//   l.at(l.entries[7]).algorithm   // "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD", "eng62_k2=4_k13=0"
#pragma once

#include "../op/layer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::trace {

/// Whose function was called.
enum class library : std::uint8_t { cudnn, cublas, cublaslt };

/// The token of a library.
constexpr std::string_view name(library l) {
  constexpr std::string_view names[] = {"cudnn", "cublas", "cublaslt"};
  return names[static_cast<int>(l)];
}

/// One call that computes something, without where and when it was made.
struct call {
  library from = library::cudnn;
  std::string function{};           ///< as the library names it, without a version behind it
  std::optional<op::layer> layer{}; ///< nothing: that is not known, or no layer is like it
  std::string remark{};             ///< what it is where there is no layer, and why there is none
  std::optional<numeric> type{};    ///< nothing: no class is like it (f64, fp4 ...)
  std::string math{};               ///< the precision that was asked for, as the log names it
  /// Of the activations: a token of core/layout.hpp, or `strided`; of matrices `ta`, `tb`, `ta tb`
  /// where an operand is transposed; empty: neither, or not said.
  std::string layout{};
  std::string algorithm{}; ///< as the log names it, or engine and knobs; empty: not said
  std::int64_t workspace_bytes = 0;

  bool operator==(const call&) const = default;
};

/// One time that a call was made.
struct entry {
  int call = 0;          ///< index into call_log::calls
  std::int64_t line = 0; ///< at which it begins, from 1
  std::string time{};    ///< as the log writes it; empty: not said
};

/// A call that the library refused.
struct failure {
  entry at;
  std::string status; ///< as the log names it
};

/// What one log says.
struct call_log {
  std::string source{};          ///< its name, for messages
  std::vector<call> calls{};     ///< each different call once, in the order of first use
  std::vector<entry> entries{};  ///< calls that succeeded, or of which no status is known
  std::vector<failure> failed{}; ///< calls that did not
  std::map<std::string, std::string> versions{}; ///< of the libraries, as they write them
  std::vector<std::string> warnings{};           ///< what is not as it should be, a line each
  std::int64_t lines = 0, bytes = 0;

  const call& at(const entry& e) const { return calls[static_cast<std::size_t>(e.call)]; }
};

/// Two texts that together say all of a call: one for what is computed, and one for how.
inline std::pair<std::string, std::string> texts_of(const call& c) {
  std::string what = c.function + '\n' + (c.layer ? op::name(*c.layer) : c.remark) + '\n' +
                     std::string(c.type ? name(*c.type) : "") + '\n' + c.layout;
  std::string how = c.algorithm + '\n' + c.math + '\n' + std::to_string(c.workspace_bytes) + '\n' +
                    std::string(name(c.from)) + '\n' + c.remark;
  return {std::move(what), std::move(how)};
}

/// Gives equal calls of a log one place in it.
class call_table {
public:
  /// Index of a call equal to `c`, which is added to `l` if it is the first.
  int place(call_log& l, call c) {
    auto [what, how] = texts_of(c);
    const auto [found, fresh] =
        known_.try_emplace(std::move(what) + '\n' + how, static_cast<int>(l.calls.size()));
    if (fresh) l.calls.push_back(std::move(c));
    return found->second;
  }

private:
  std::unordered_map<std::string, int> known_;
};

} // namespace benanza::trace
