// SPDX-License-Identifier: Apache-2.0
#include "../fake_library.hpp"

#include <benanza/measure/ceilings/list.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

namespace {
library_list one_library() {
  library_list libraries;
  libraries.push_back(
      std::make_unique<test::fake_library>(std::vector<test::script>{{.algorithm = {.id = "a"}}}));
  return libraries;
}

std::vector<std::string> listed(const std::string& filter, std::vector<int> threads = {1},
                                const std::vector<int>& processors = {0, 1}, bool all = true) {
  static const library_list libraries = one_library();
  selection o;
  o.filter = filter;
  o.all_algorithms = all;
  o.threads = std::move(threads);
  std::vector<std::string> out;
  for (const group& g : list_machine_cases(libraries, {numeric::f32, numeric::e4m3}, processors, o))
    for (const bench_case& c : g.cases)
      out.push_back(c.name);
  return out;
}

std::int64_t count(const std::vector<std::string>& names, const std::string& part) {
  return std::count_if(names.begin(), names.end(),
                       [&](const std::string& n) { return n.find(part) != std::string::npos; });
}
} // namespace

TEST_CASE("working sets go from the first cache to four times the last, never over what there is") {
  const auto sets = working_sets(1, 32 << 20, std::int64_t{1} << 40);
  CHECK(sets.front() == 4096);
  CHECK(sets.back() == 128 << 20);
  CHECK(std::is_sorted(sets.begin(), sets.end()));
  CHECK(std::count_if(sets.begin(), sets.end(), [](auto n) { return n >= 64 << 20; }) == 3);
  for (std::size_t i = 1; i < sets.size(); ++i)
    CHECK(sets[i] <= 2 * sets[i - 1]);
  CHECK(working_sets(1, 32 << 20, std::int64_t{1} << 40, true).back() == 64 << 20);
  CHECK(working_sets(2, 32 << 20, std::int64_t{1} << 40).front() == 8192);
  CHECK(working_sets(1, 32 << 20, 1 << 20).back() == 1 << 20);
  CHECK(working_sets(1, 32 << 20, 0).empty());
}

TEST_CASE("a library's reference loop is no limit of the machine") {
  library_list libraries;
  libraries.push_back(std::make_unique<test::fake_library>(
      std::vector<test::script>{{.algorithm = {.id = "slow", .fallback = "ref"}}}));
  selection o;
  o.filter = "machine/matmul";
  o.threads = {1};
  CHECK(list_machine_cases(libraries, {numeric::f32}, {0}, o).empty());
}

TEST_CASE("every name is there once, and has the parts of a case's name") {
  const auto names = listed("", {1, 2});
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& n : names) {
    CHECK(std::count(n.begin(), n.end(), '/') == 6);
    CHECK(n.starts_with("machine/"));
  }
  for (const char* part : {"/fma/f32/", "/matmul/f32/fake/a/", "/conv/f32/fake/a/", "/call/f32/",
                           "/launch/", "/hand_off/", "/process-4096/", "/first_touch-"})
    CHECK_MESSAGE(count(names, part) > 0, part);
  for (const char* kind : {"read", "write", "copy", "triad"})
    CHECK(count(names, std::string("machine/") + kind + "-") >= 10);
  // Reading at several places in turns is for what a core's own caches do not hold.
  const std::string read = "machine/read-";
  CHECK(count(names, read + "4096/f32/machine/8_streams") == 0);
  CHECK(count(names, read + "4096/") == 1);
  for (const char* threads : {"1", "2"})
    CHECK(count(names, read + "16777216/f32/machine/8_streams/hot/t" + threads) == 1);
  CHECK(count(names, read + "16777216/") == 2);
}

TEST_CASE("what the C library takes for memory is there by size, and right") {
  const auto names = listed("");
  for (const char* kind : {"memcpy_flushed", "copy_2d_64", "copy_2d_1024", "copy_small_pages",
                           "malloc", "first_touch"})
    CHECK_MESSAGE(count(names, std::string("machine/") + kind + "-") >= 3, kind);
  CHECK(count(names, "machine/malloc/f32/machine/libc_untouched/") == 1); // size does not matter
  for (const limit& l : host_copies({4096, 1 << 20})) {
    CAPTURE(l.kind);
    const limit_subject what(l);
    CHECK(what.bytes == l.moved_bytes);
    if (l.kind.find("copy") != l.kind.npos || l.kind.starts_with("memcpy"))
      CHECK(l.moved_bytes == 2 * l.bytes); // read, and written
    CHECK(l.make()->ran() == l.way);
    CHECK(l.make()->time(2) > 0);
  }
}

TEST_CASE("transfers that no figure rests on are asked for: with all, or by a filter that is about "
          "the machine") {
  for (const char* kind :
       {"memcpy_flushed", "copy_2d_64", "copy_small_pages", "malloc", "first_touch", "process"}) {
    CAPTURE(kind);
    const std::string name = std::string("machine/") + kind + "-";
    CHECK(count(listed("", {1}, {0, 1}, false), name) == 0);
    CHECK(count(listed("-Conv", {1}, {0, 1}, false), name) == 0);
    CHECK(count(listed("^machine/", {1}, {0, 1}, false), name) > 0);
    CHECK(count(listed("", {1}, {0, 1}, true), name) > 0);
  }
  CHECK(count(listed("", {1}, {0, 1}, false), "machine/memcpy-") > 3); // a bandwidth
  const library_list none;
  CHECK(absent_ceilings({0, 1}, none, false, "").find("transfers that no") != std::string::npos);
  CHECK(absent_ceilings({0, 1}, none, true, "").find("transfers that no") == std::string::npos);
}

TEST_CASE("the filter selects, and what has no thread to launch has no launch") {
  CHECK(listed("NoSuch").empty());
  CHECK(listed("^machine/call/").size() == 1);
  CHECK(count(listed(""), "/launch/") == 0);
  CHECK(count(listed("", {2}), "/launch/") == 1);
  CHECK(count(listed("-^machine/"), "") == 0);
}

TEST_CASE("with one processor nothing goes to another, and that is said") {
  const auto names = listed("", {1}, {0});
  CHECK(count(names, "/hand_off/") == 0);
  CHECK(count(names, "/process-") == 0);
  const library_list none;
  CHECK(absent_ceilings({0}, none, false).find("one processor") != std::string::npos);
  CHECK(absent_ceilings({0, 1}, none, false).find("one processor") == std::string::npos);
  CHECK(absent_ceilings({0, 1}, none, false).find("no library of this run has a device") !=
        std::string::npos);
}

TEST_CASE("a type that nothing computes in has no arithmetic") {
  CHECK(count(listed(""), "/e4m3/") == 0);
}
