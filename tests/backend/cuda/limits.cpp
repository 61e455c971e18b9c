// SPDX-License-Identifier: Apache-2.0
// Are the GPU's limits measured as the fake GPU has them? A copy within its memory takes 10 us, a
// fill goes at 4 TB/s, copies to and from pinned memory at 50 GB/s after a microsecond, pageable
// memory at half of that, a kernel takes 10 us.
#include "on_fake.hpp"

#include <benanza/backend/cuda/limits.hpp>
#include <benanza/result/machine_key.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <optional>
#include <set>
#include <string_view>

using namespace benanza;
using namespace benanza::backend;
using cuda_test::on_fake;
using cuda_test::runs_kernels;

namespace {
const device_limit& find(const std::vector<device_limit>& all, std::string_view kind,
                         std::int64_t bytes, std::string_view way = {}) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const device_limit& l) {
    return l.kind == kind && l.bytes == bytes && (way.empty() || l.way == way);
  });
  REQUIRE_MESSAGE(found != all.end(), std::string(kind));
  return *found;
}
} // namespace

TEST_CASE("cuda: limits have names of their own, and working sets that grow" *
          doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  std::set<std::string> names;
  std::int64_t last = 0;
  for (const device_limit& l : all) {
    CHECK(names.insert(l.kind + '-' + std::to_string(l.bytes) + '/' + l.way).second);
    if (l.kind == "copy" && l.way == "memcpy") CHECK(std::exchange(last, l.bytes) < l.bytes);
  }
  CHECK(last == cuda::most_working_set);
  for (const char* kind : {"host_to_device_pinned", "host_to_device_pageable",
                           "device_to_host_pinned", "device_to_host_pageable"})
    for (const std::int64_t n : cuda::message_bytes)
      find(all, kind, n);
  for (const char* kind :
       {"both_ways_pinned", "both_ways_pageable", "host_to_device_combined", "rows_to_device_64",
        "rows_to_host_1024", "prefetch_to_device", "prefetch_to_host", "demand_to_host"})
    for (const std::int64_t n : cuda::message_bytes)
      find(all, kind, n);
  for (const char* kind : {"ipc_open", "ipc_copy"})
    for (const std::int64_t n : cuda::message_bytes)
      find(all, kind, n);
  CHECK(cuda::absent_limits().starts_with("copies between GPUs: there is one"));
}

TEST_CASE("cuda: limits come out as the GPU has them" * doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  const auto ns = [&](const char* kind, std::int64_t bytes) {
    const device_limit& l = find(all, kind, bytes);
    CHECK(l.moved_bytes == bytes);
    const auto run = l.make();
    CHECK(run->ran() == l.way);
    CHECK(run->on_device());
    run->run(2);
    return run->time(3) / 3;
  };
  const std::int64_t n = 16 << 20;
  CHECK(ns("copy", n) == doctest::Approx(10000));
  CHECK(ns("write", n) == doctest::Approx(n / 4000.0).epsilon(0.01));
  CHECK(ns("host_to_device_pinned", n) == doctest::Approx(1000 + n / 50.0).epsilon(0.01));
  CHECK(ns("device_to_host_pinned", n) == doctest::Approx(1000 + n / 50.0).epsilon(0.01));
  CHECK(ns("host_to_device_pageable", n) == doctest::Approx(1000 + n / 25.0).epsilon(0.01));
  CHECK(ns("device_to_host_pageable", 4096) == doctest::Approx(1000 + 4096 / 25.0).epsilon(0.01));
}

TEST_CASE("cuda: transfers come out as the GPU has them" * doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  const auto ns = [&](const char* kind, std::int64_t bytes, std::int64_t moved) {
    CAPTURE(kind);
    const device_limit& l = find(all, kind, bytes);
    CHECK(l.moved_bytes == moved);
    const auto run = l.make();
    CHECK(run->ran() == l.way);
    run->run(2);
    return run->time(3) / 3;
  };
  const std::int64_t n = 1 << 20;
  // The fake does one thing after the other.
  CHECK(ns("both_ways_pinned", n, 2 * n) == doctest::Approx(2000 + n / 25.0).epsilon(0.01));
  CHECK(ns("host_to_device_combined", n, n) == doctest::Approx(1000 + n / 50.0).epsilon(0.01));
  CHECK(ns("prefetch_to_device", n, n) == doctest::Approx(1000 + n / 50.0).epsilon(0.01));
  CHECK(ns("prefetch_to_host", n, n) == doctest::Approx(1000 + n / 50.0).epsilon(0.01));
  CHECK(ns("rows_to_host_1024", n, n) > 0);
  CHECK(ns("rows_to_device_64", 65536, 65536) > 0);
  for (const char* kind : {"graph_launch", "graph_round_trip", "ipc_export"})
    CHECK(find(all, kind, 0).make()->time(10) > 0);
}

TEST_CASE("cuda: memory of another process is opened, written and seen there" *
          doctest::skip(!on_fake())) {
  constexpr std::int64_t bytes = 5000;
  std::vector<std::byte> there(bytes);
  std::optional<cuda::other_process> other(std::in_place);
  const pid_t its = other->id();
  CHECK(its != getpid());
  const cudaIpcMemHandle_t handle = other->take(bytes), second = other->take(bytes);
  for (const int value : {1, 7}) { // as it was taken, and as it was left by who opened it
    const cuda::opened_memory m(handle, bytes);
    cuda::download(m.data(), there);
    CHECK(there == std::vector<std::byte>(bytes, static_cast<std::byte>(value)));
    m.fill(std::vector<std::byte>(bytes, std::byte{7}));
  }
  cuda::download(cuda::opened_memory(second, bytes).data(), there);
  CHECK(there.back() == std::byte{1});

  const cuda::memory own(bytes);
  cudaIpcMemHandle_t of_own{};
  REQUIRE(cudaIpcGetMemHandle(&of_own, own.data()) == cudaSuccess);
  CHECK_THROWS_AS(cuda::opened_memory(of_own, bytes), error); // it is here already

  const auto all = cuda::limits();
  CHECK(find(all, "ipc_open", 4096).make()->time(2) > 0);
  const auto copies = find(all, "ipc_copy", 65536).make();
  copies->run(1);
  CHECK(copies->time(2) == doctest::Approx(2 * 10e3));

  kill(its, SIGKILL);
  CHECK_THROWS_WITH(other->take(bytes),
                    "the process that holds memory of the GPU for another one ended");
  other.reset();
  CHECK(kill(its, 0) != 0); // nothing is left of it
  CHECK_THROWS_AS(cuda::opened_memory(handle, bytes), error);
}

TEST_CASE("cuda: kernels reach the host's memory, and its pages come to them" *
          doctest::skip(!runs_kernels())) {
  const auto all = cuda::limits();
  for (const char* kind : {"zero_copy_read", "zero_copy_write", "demand_to_device"}) {
    CAPTURE(kind);
    const auto run = find(all, kind, 65536).make();
    run->run(1);
    CHECK(run->time(2) > 0);
  }
}

TEST_CASE("cuda: kernels that read, write, copy and add up memory are limits too" *
          doctest::skip(!runs_kernels())) {
  const auto all = cuda::limits();
  const std::int64_t n = 2 << 20;
  for (const auto& [kind, way] :
       {std::pair("read", "kernel:read_all"), std::pair("write", "kernel:write_all"),
        std::pair("copy", "kernel:copy_all"), std::pair("triad", "kernel:triad")}) {
    const std::string limit = kind; // what CAPTURE takes
    CAPTURE(limit);
    const device_limit& l = find(all, kind, n, way);
    CHECK(result::of_a_bandwidth(l.kind)); // rooflines take it
    CHECK(l.moved_bytes <= n);
    CHECK(l.moved_bytes > n - 100);
    const auto run = l.make();
    CHECK(run->ran() == way);
    run->run(1); // fetches it into the cache
    CHECK(run->time(100) == doctest::Approx(100 * 10e3));
    CHECK(run->own_device()->clock_ns() == doctest::Approx(1000 / 1.98).epsilon(0.01));
    CHECK(run->remark().empty()); // replayed
  }
}

TEST_CASE("cuda: a sample of copies is long enough for the events around it not to count" *
          doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  for (const char* kind : {"host_to_device_pinned", "device_to_host_pageable"})
    CHECK(find(all, kind, 4096).make()->shortest_sample_ns() >= 100 * 1000);
}

TEST_CASE("cuda: a launch is timed by the host's clock" * doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  for (const char* kind : {"device_launch", "device_round_trip", "kernel_launch"}) {
    if (!cuda::compiles && std::string_view(kind) == "kernel_launch") continue;
    const auto run = find(all, kind, 0).make();
    CHECK(run->time(10) > 0);
  }
}
