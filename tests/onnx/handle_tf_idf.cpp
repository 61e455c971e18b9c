// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("TfIdfVectorizer: pools of numbers") {
  const auto counts = [](std::string_view attributes, std::string_view x = "x") {
    return last_layer(9, "int32[2,6] x, float[6] f",
                      "y = TfIdfVectorizer<max_skip_count = 5, " + std::string(attributes) + ">(" +
                          std::string(x) + ")",
                      {}, {.batch = 2});
  };
  const std::string pairs = "min_gram_length = 2, max_gram_length = 2, ngram_counts = [0, 4], ";
  const std::string pool = "pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], ";
  const std::string at = "ngram_indexes = [0, 1, 2, 3, 4, 5, 9], mode = ";
  CHECK(counts(pairs + pool + at + "\"TF\"") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-s32");
  CHECK(counts(pairs + pool + at + "\"TFIDF\"") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-s32"); // all weights are one
  CHECK(counts(pairs + pool + at + "\"TFIDF\", weights = [1.0,1.0,1.0,1.0,1.0,1.0,2.0]") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-tfidf-s32");
  CHECK_SAYS(counts(pairs + pool + at + "\"TF\", weights = [1.0]"), "one of each n-gram");
  CHECK_SAYS(counts(pairs + pool + at + "\"DF\""), "'DF'");
  CHECK_SAYS(counts(pairs + pool + at + "\"TF\"", "f"), "whole numbers");
  CHECK_SAYS(counts(pairs + "pool_int64s = [2, 3, 5, 4, 5], " + at + "\"TF\""),
             "do not fit its pool");
  CHECK_SAYS(counts(pairs + "pool_strings = [\"a\"], " + at + "\"TF\""), "strings");
  CHECK_SAYS(counts(pool + at + "\"TF\", ngram_counts = [0, 4]"), "out of range");
}
