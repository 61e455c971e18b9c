// SPDX-License-Identifier: Apache-2.0
// Which ceilings of a GPU are measured? Arithmetic in every type that is asked for, whatever the
// models have; no managed memory and no other processes, unless all is asked for.
#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

using benanza::test::fake_run;
using benanza::test::holds;
using benanza::test::small_conv;

namespace {
/// The names of the cases that such a run lists.
std::set<std::string> listed(const std::string& options) {
  const fake_run r({small_conv}, "", "--benchmark_list_tests " + options);
  CHECK(r.ended.status == 0);
  std::set<std::string> out;
  std::istringstream lines(r.ended.out);
  for (std::string line; std::getline(lines, line);)
    out.insert(line);
  return out;
}
bool any(const std::set<std::string>& names, const std::string& start, const std::string& part) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& n) { return n.starts_with(start) && holds(n, part); });
}
} // namespace

TEST_CASE("gpu ceilings: products and convolutions are there in every type that is asked for") {
  const std::string filter = " --benchmark_filter='^machine/(matmul|conv)/.*/(cudnn|cublas)/'";
  const auto names = listed("--types f16,bf16,tf32,f32,e4m3" + filter);
  for (const std::string type : {"f16", "bf16", "tf32", "f32", "e4m3"}) {
    CAPTURE(type);
    CHECK(any(names, "machine/matmul/" + type + '/', "/cublas/"));
    CHECK(any(names, "machine/conv/" + type + '/', "/cudnn/"));
  }
  const auto own = listed(filter);
  CHECK(any(own, "machine/matmul/f32/", "/cublas/"));
  CHECK_FALSE(any(own, "machine/matmul/f16/", "/cublas/"));
}

TEST_CASE("gpu ceilings: managed memory and other processes are for those who ask for all") {
  const std::string filter = " --benchmark_filter='^machine/.*/cuda/'";
  const auto usual = listed(filter), all = listed("--all" + filter);
  CHECK(any(usual, "machine/host_to_device_pinned-", "/cuda/"));
  for (const char* kind : {"prefetch_to_device-", "prefetch_to_host-", "demand_to_host-",
                           "ipc_open-", "ipc_copy-", "ipc_export/"}) {
    CAPTURE(kind);
    CHECK_FALSE(any(usual, std::string("machine/") + kind, ""));
    CHECK(any(all, std::string("machine/") + kind, ""));
  }
  const auto absent = [](const std::string& options) {
    const fake_run r({small_conv}, "",
                     "--backends cuda --benchmark_format=json "
                     "--benchmark_filter='^machine/event_pair/' " +
                         options);
    return r.result.at("context")
        .at("benanza")
        .at("provenance")
        .at("measuring")
        .at("absent_ceilings")
        .get<std::string>();
  };
  CHECK(holds(absent(""), "managed memory, memory of other processes (IPC): measured with --all"));
  CHECK_FALSE(holds(absent("--all"), "--all"));
}
