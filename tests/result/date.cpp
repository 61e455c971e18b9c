// SPDX-License-Identifier: Apache-2.0
// Are dates of all zones in the order of their moments, and other texts left as they are?
#include <benanza/result/date.hpp>

#include <doctest/doctest.h>

#include <string>

using benanza::result::utc_date;

TEST_CASE("a date of any zone becomes that of UTC") {
  CHECK(utc_date("2026-11-27T12:44:51-0400") == "2026-11-27T16:44:51+0000");
  CHECK(utc_date("2026-01-01T00:30:00+0100") == "2025-12-31T23:30:00+0000");
  CHECK(utc_date("2028-02-28T22:15:01-0345") == "2028-02-29T02:00:01+0000");
  CHECK(utc_date("2026-10-25T02:30:00+02:00") == "2026-10-25T00:30:00+0000");
  CHECK(utc_date("2026-10-25T02:10:00+0200") < utc_date("2026-10-25T02:05:00+0100"));
}

TEST_CASE("what is in UTC, and what is no date with a zone, stays as it is") {
  for (const char* text :
       {"", "2024-01-02", "2026-11-27T16:44:51+0000", "2024-01-02T03:04:05+00:00",
        "2026-11-27T16:44:51", "2026-02-30T16:44:51+0100", "2024-01-02 to 2024-01-03",
        "2026-11-27T16:44:5x+0100", "2026-11-27T16:44:51+0100; 2026-11-28T16:44:51+0100"})
    CHECK(utc_date(text) == text);
}
