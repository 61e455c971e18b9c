// SPDX-License-Identifier: Apache-2.0
// Does a GPU that is only described bring with it what lists need, and is one that is none refused?
#include <benanza/backend/cudnn/target.hpp>

#include <doctest/doctest.h>
#include <link.h>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
bool is_loaded(const char* library) {
  const auto named = [](dl_phdr_info* info, std::size_t, void* name) {
    return std::strstr(info->dlpi_name, static_cast<const char*>(name)) != nullptr ? 1 : 0;
  };
  return dl_iterate_phdr(named, const_cast<char*>(library)) != 0;
}
} // namespace

TEST_CASE("cudnn: the run-time compiler stays loaded, where there is one") {
  const target t = described_target("h200");
  CHECK(t.properties != nullptr);
  if (!keep_compiler()) {
    MESSAGE("skipped: no libnvrtc is found");
    return;
  }
  CHECK(is_loaded("libnvrtc"));
}

TEST_CASE("cudnn: a GPU that is none is refused in words") {
  CHECK_THROWS_WITH_AS(described_target("gtx8800"), doctest::Contains("no GPU is called"), error);
  CHECK_THROWS_AS(described_by("{\"deviceVer\":900}", "half"), error);
}
