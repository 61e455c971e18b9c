// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/machine_key.hpp>

#include <doctest/doctest.h>

using namespace benanza::result;

TEST_CASE("a key is a kind, with bytes or without") {
  CHECK(parse_machine_key("copy-32768") == machine_key{"copy", 32768});
  CHECK(parse_machine_key("launch") == machine_key{"launch", 0});
  CHECK(parse_machine_key("stream_copy-1") == machine_key{"stream_copy", 1});
}

TEST_CASE("what is written is read back") {
  for (const machine_key& k : {machine_key{"fma", 0}, machine_key{"read", 1},
                               machine_key{"numa-0-to-1", std::int64_t{1} << 40}})
    CHECK(parse_machine_key(text(k)) == k);
}

TEST_CASE("what is no number stays part of the kind") {
  for (const char* odd :
       {"", "-", "copy-", "copy-0", "copy-5x", "copy-x5", "copy-99999999999999999999"})
    CHECK(parse_machine_key(odd) == machine_key{odd, 0});
}

TEST_CASE("peaks and bandwidths are distinguished") {
  CHECK(of_a_peak("fma"));
  CHECK_FALSE(of_a_peak("copy"));
  CHECK(of_a_bandwidth("stream_copy"));
  CHECK_FALSE(of_a_bandwidth("process"));
  CHECK_FALSE(of_a_bandwidth(""));
}
