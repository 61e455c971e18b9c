// SPDX-License-Identifier: Apache-2.0
// Is the system found that was meant, and are all of them named where it is not clear?
#include "../synthetic.hpp"
#include "places.hpp"

#include <benanza/result/store/systems.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name

namespace {

std::string refusal(const store& s, const std::string& asked) {
  try {
    (void)choose_system(s, asked);
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

using benanza::test::holds;

} // namespace

TEST_CASE("the only system needs no choice, of several one is chosen by number or as the latest") {
  const benanza::test::store_places f("systems");
  store s(f / "a.db", mode::write);
  CHECK(holds(refusal(s, ""), "no results yet"));
  CHECK(holds(refusal(s, "latest"), "no results yet"));
  benanza::result::run r = synthetic::empty_run();
  s.begin_run(r);
  CHECK(choose_system(s, "") == 1);
  CHECK(choose_system(s, "1") == 1);
  CHECK(choose_system(s, "latest") == 1);

  r.provenance["software"]["onednn_version"] = "3.0";
  r.provenance["measuring"]["date"] = "2026-05-06";
  s.begin_run(r);
  s.begin_run(r);
  CHECK(choose_system(s, "latest") == 2);
  CHECK(choose_system(s, "1") == 1);
  for (const char* wrong : {"", "3", "0", "-1", "x", "1x", " 1", "newest"}) {
    const std::string said = refusal(s, wrong);
    CAPTURE(wrong);
    // What distinguishes them is said, what they share is not.
    CHECK(holds(said, "1: Test CPU 9000, software.onednn_version 2.6.3, 1 run, the last "
                      "2024-01-02; 2: Test CPU 9000, software.onednn_version 3.0, 2 runs, "
                      "the last 2026-05-06"));
    CHECK_FALSE(holds(said, "llc_bytes"));
  }
  CHECK(holds(refusal(s, ""), "--system N or --system latest"));
}

TEST_CASE("of many systems the newest are listed") {
  const benanza::test::store_places f("systems");
  store s(f / "a.db", mode::write);
  for (int i = 0; i < 30; ++i) {
    benanza::result::run r = synthetic::empty_run();
    r.provenance["software"]["revision"] = std::to_string(i);
    s.begin_run(r);
  }
  const std::string said = refusal(s, "");
  CHECK(holds(said, "30 systems"));
  CHECK(holds(said, "30: Test CPU"));
  CHECK_FALSE(holds(said, " 18: Test CPU"));
}
