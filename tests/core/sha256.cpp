// SPDX-License-Identifier: Apache-2.0
// Is the hash that of other programs, at every length about a block?
#include <benanza/core/sha256.hpp>

#include <doctest/doctest.h>

#include <string>

using benanza::sha256;

TEST_CASE("sha256: published values") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: lengths about the end of a block") {
  // The hash of the hashes of 50 to 130 times 'x', by another implementation.
  std::string all;
  for (std::size_t n = 50; n <= 130; ++n)
    all += sha256(std::string(n, 'x'));
  CHECK(sha256(all) == "bfae5272365759c9a8be930eaeaf8ac59f98a0969612db286641d5e114d94e14");
}
