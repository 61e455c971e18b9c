// SPDX-License-Identifier: Apache-2.0
// What does every oneDNN call of this backend share? The CPU engine with its stream, the number of
// threads, element types, aligned memory, and the library's errors as benanza::error.
// The primitive cache is off before anything else is created: with it, later implementations of a
// layer silently turn into the first one that was created.
//
//   const auto d = device::get();   use_threads(1);   dnnl::memory m(desc, d->engine,
//   bytes.data());
#pragma once

#include "../../machine/pages.hpp"
#include "../concept.hpp"

#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_debug.h>

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace benanza::backend::onednn {

using dims = dnnl::memory::dims;
using data_type = dnnl::memory::data_type;
using description = dnnl::memory::desc;

/// The CPU engine and the stream on which everything runs.
struct device {
  dnnl::engine engine;
  dnnl::stream stream;

  device()
      : engine((dnnl::set_primitive_cache_capacity(0), dnnl::engine::kind::cpu), 0)
      , stream(engine) {}
};

/// Makes the library use `count` threads, for what is created and for what is executed from now on.
inline void use_threads(int count) {
  if (omp_get_max_threads() != count) omp_set_num_threads(count);
}

/// The library's type for an element, if its CPU engine computes with it.
inline std::optional<data_type> storage(dtype d, numeric t = numeric::f32) {
  switch (d == dtype::real ? source_of(t) : d) {
  case dtype::f32: return data_type::f32;
  case dtype::bf16: return data_type::bf16;
  case dtype::s8: return data_type::s8;
  case dtype::boolean:
  case dtype::u8: return data_type::u8;
  case dtype::s32: return data_type::s32;
  default: return std::nullopt;
  }
}

/// The library's types for sources, weights and results of a numeric class, if it has that class.
struct case_types {
  data_type source, weights, result;

  static std::optional<case_types> of(numeric t) {
    switch (t) {
    case numeric::f32:
    case numeric::bf16:
    case numeric::u8s8u8:
    case numeric::s8s8s8:
      return case_types{*storage(source_of(t)), *storage(weights_of(t)), *storage(result_of(t))};
    default: return std::nullopt;
    }
  }
};

/// What the library said, as the reason of a refusal.
inline error refusal(const dnnl::error& e, std::string_view where) {
  const char* status = dnnl_status2str(e.status);
  return error(std::string("oneDNN: ") + (e.message ? e.message : "failed") + ": " + status, where);
}

/// Memory of an operand or a result.
class aligned_bytes : public machine::page_memory {
public:
  /// Filled with zeros.
  explicit aligned_bytes(std::size_t size)
      : machine::page_memory(size) {
    std::memset(data(), 0, size);
  }
  /// Filled with what `from` holds.
  explicit aligned_bytes(std::span<const std::byte> from)
      : machine::page_memory(from.size()) {
    if (!from.empty()) std::memcpy(data(), from.data(), from.size());
  }
};

} // namespace benanza::backend::onednn
