// SPDX-License-Identifier: Apache-2.0
// A oneDNN of which one kernel is slower than it is: to be preloaded. Each execution of a primitive
// whose implementation has BENANZA_SLOW_KERNEL in its name takes BENANZA_SLOW_BY percent longer.
//
//   LD_PRELOAD=./libbenanza_slow_kernel.so BENANZA_SLOW_KERNEL=jit_wino BENANZA_SLOW_BY=5
//   benanza_bench ...
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace {
using clock_type = std::chrono::steady_clock;

bool is_slow(const_dnnl_primitive_t primitive) {
  static const char* const slow = std::getenv("BENANZA_SLOW_KERNEL");
  const_dnnl_primitive_desc_t description = nullptr;
  const char* name = "";
  if (slow == nullptr || dnnl_primitive_get_primitive_desc(primitive, &description) != dnnl_success)
    return false;
  dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, static_cast<void*>(&name));
  return std::string_view(name).find(slow) != std::string_view::npos;
}
} // namespace

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive,
                                                dnnl_stream_t stream, int nargs,
                                                const dnnl_exec_arg_t* args) {
  using execute =
      dnnl_status_t (*)(const_dnnl_primitive_t, dnnl_stream_t, int, const dnnl_exec_arg_t*);
  static const auto real = reinterpret_cast<execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  if (!is_slow(primitive)) return real(primitive, stream, nargs, args);
  static const char* const by = std::getenv("BENANZA_SLOW_BY");
  static const double factor = 1 + (by != nullptr ? std::atof(by) : 0) / 100;
  const auto begin = clock_type::now();
  const dnnl_status_t out = real(primitive, stream, nargs, args);
  const auto end = begin + std::chrono::duration_cast<clock_type::duration>(
                               (clock_type::now() - begin) * factor);
  while (clock_type::now() < end)
    ;
  return out;
}
