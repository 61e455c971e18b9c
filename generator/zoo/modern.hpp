// SPDX-License-Identifier: Apache-2.0
// Which newer models does the zoo hold besides the paper's 30? Transformers, language models with
// and without a cache, networks for images of 2019 to 2023, a detector, a diffusion step, speech, a
// recurrent and a quantized model: as exporters write them, with symbolic dims, and initializers
// whose payload is not there.
//
//   for (const zoo::modern_entry& e : zoo::modern())
//     onnx::resolve(onnx::from(zoo::build(e.name)), {.dims = e.dims()});
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::generator::zoo {

/// One newer model: where it is from, and what its authors say of it.
struct modern_entry {
  std::string_view name;
  std::string_view source;
  double parameters;     ///< as the source gives it; 0: it does not
  double macs;           ///< at the sizes below and batch 1; 0: it does not
  std::int64_t sequence; ///< 0: the model has no such dim
  std::int64_t past;
  /// Why our parameters or multiply-accumulates differ; empty where they agree within 2 %.
  std::string_view note;

  /// The first one that the source names: that of the publication.
  int year() const;
  /// Values of the symbolic dims at which `macs` holds.
  std::map<std::string, std::int64_t> dims() const;
};

/// All of them, by what they are for.
std::span<const modern_entry> modern();

/// The one of that name; nothing if it is none of these.
std::optional<::onnx::ModelProto> build_modern(std::string_view name);

} // namespace benanza::generator::zoo
