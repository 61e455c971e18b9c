// SPDX-License-Identifier: Apache-2.0
// Are arguments and their members found by name and type, at their depth?
#include <benanza/trace/fields.hpp>

#include <doctest/doctest.h>

#include <string>

namespace test_of_fields {
using benanza::shape;
using benanza::trace::field;
using benanza::trace::fields;

TEST_CASE("a tree of arguments") {
  fields f;
  for (const char* line :
       {"     handle: type=cudnnHandle_t; streamId=0x0;",
        "     xDesc: type=cudnnTensorDescriptor_t:", "         dimA: type=int; val=[1,64,56,56];",
        "         inner: type=thing:", "             deep: type=int; val=3;",
        "     yDesc: type=cudnnTensorDescriptor_t: ", "         dimA: type=int; val=[2];", "",
        "no field at all", "     n: type=int; val=-7"})
    f.add(line);
  f.parse();
  REQUIRE(f.find("xDesc") != nullptr);
  CHECK(f.find("xDesc")->type == "cudnnTensorDescriptor_t");
  CHECK(f.find("dimA") == nullptr);
  CHECK(f.value(*f.find("xDesc"), "dimA") == "[1,64,56,56]");
  CHECK(f.value(*f.find("yDesc"), "dimA") == "[2]");
  CHECK(f.below(*f.find("xDesc"), "deep") == nullptr);
  CHECK(f.deep_below(*f.find("xDesc"), "deep")->value == "3");
  CHECK(f.deep_below(*f.find("yDesc"), "deep") == nullptr);
  CHECK(f.members(*f.find("xDesc")).size() == 2);
  CHECK(f.value("n") == "-7");
  CHECK(f.value("handle").empty());
  f.clear();
  f.parse();
  CHECK(f.all().empty());
}

TEST_CASE("words, numbers and lists of them") {
  using namespace benanza::trace;
  CHECK(word("CUDNN_DATA_FLOAT (0)") == "CUDNN_DATA_FLOAT");
  CHECK(word("CUDA_R_32F(0)") == "CUDA_R_32F");
  CHECK(word("").empty());
  CHECK(number("-12") == -12);
  CHECK_FALSE(number("12x"));
  CHECK_FALSE(number(""));
  CHECK_FALSE(number("99999999999999999999"));
  CHECK(numbers("[1,64,56,56]") == shape{1, 64, 56, 56});
  CHECK(numbers("[ 3 , 4 ]") == shape{3, 4});
  CHECK(numbers("[]") == shape{});
  for (const char* none : {"", "[", "1,2", "[1,,2]", "[1,2", "[1,x]", "[1,2,3,4,5,6,7,8,9]"})
    CHECK_FALSE(numbers(none));
}

} // namespace test_of_fields
