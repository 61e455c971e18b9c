// SPDX-License-Identifier: Apache-2.0
// Are the GPU's limits measured as the fake GPU has them? A copy within its memory takes 10 us, a
// fill goes at 4 TB/s, copies to and from pinned memory at 50 GB/s after a microsecond, pageable
// memory at half of that.
#include "on_fake.hpp"

#include <benanza/backend/cuda/limits.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend;
using cuda_test::on_fake;

namespace {
const device_limit& find(const std::vector<device_limit>& all, const std::string& kind,
                         std::int64_t bytes) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const device_limit& l) {
    return l.kind == kind && l.bytes == bytes;
  });
  REQUIRE_MESSAGE(found != all.end(), kind);
  return *found;
}
} // namespace

TEST_CASE("cuda: limits have names of their own, and working sets that grow" *
          doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  std::set<std::string> names;
  std::int64_t last = 0;
  for (const device_limit& l : all) {
    CHECK(names.insert(l.kind + '-' + std::to_string(l.bytes)).second);
    if (l.kind == "copy") CHECK(std::exchange(last, l.bytes) < l.bytes);
  }
  CHECK(last == cuda::most_working_set);
  for (const char* kind : {"host_to_device_pinned", "host_to_device_pageable",
                           "device_to_host_pinned", "device_to_host_pageable"})
    for (const std::int64_t n : cuda::message_bytes)
      find(all, kind, n);
  CHECK(cuda::absent_limits() == "copies between GPUs: there is one");
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

TEST_CASE("cuda: a launch is timed by the host's clock" * doctest::skip(!on_fake())) {
  const auto all = cuda::limits();
  for (const char* kind : {"device_launch", "device_round_trip"}) {
    const auto run = find(all, kind, 0).make();
    CHECK(run->time(10) > 0);
  }
}
