// SPDX-License-Identifier: Apache-2.0
// Does cuDNN take every GPU that is described here, and does it say what is missing in a
// description?
#include "program.hpp"

#include <benanza/backend/cudnn/target.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
/// What is said of a GPU that is refused; empty: it is not.
template <class F>
std::string refusal_of(F&& describe) {
  try {
    describe();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
} // namespace

TEST_CASE("cudnn: every GPU of the table is accepted, and each is named once") {
  std::set<std::string_view> names;
  for (const device_facts& d : known_devices) {
    CAPTURE(std::string(d.name));
    CHECK(names.insert(d.name).second);
    CHECK(find_device(d.name)->compute_capability == d.compute_capability);
    const target t = described_target(std::string(d.name));
    CHECK(t.json == device_json(d));
    CHECK(t.handle == nullptr);
    CHECK(device_names().find(d.name) != std::string::npos);
  }
  CHECK_FALSE(find_device("h2").has_value());
}

TEST_CASE("cudnn: a description without one of its entries is refused on one line") {
  const std::string whole = device_json(*find_device("h200"));
  int entries = 0;
  for (std::size_t at = 1; at < whole.size() - 1; ++entries) {
    // An entry ends at a comma outside of brackets.
    std::size_t end = at;
    for (int depth = 0; end < whole.size() - 1 && (depth > 0 || whole[end] != ','); ++end)
      depth += whole[end] == '[' ? 1 : whole[end] == ']' ? -1 : 0;
    std::string less = whole;
    less.erase(at, std::min(end + 1, whole.size() - 1) - at);
    if (less[less.size() - 2] == ',') less.erase(less.size() - 2, 1);
    CAPTURE(less);
    const std::string text = refusal_of([&] { described_by(less, "file.json"); });
    CHECK(test::holds(text, "file.json"));
    CHECK(test::holds(text, "--describe-device"));
    CHECK_FALSE(test::holds(text, "\n"));
    at = end + 1;
  }
  CHECK(entries == 23);
}

TEST_CASE("cudnn: what the library would write past its own memory for is refused") {
  const std::string whole = device_json(*find_device("h200"));
  const std::size_t end = whole.rfind("h200");
  const auto named = [&](std::size_t n) {
    return whole.substr(0, end) + std::string(n, 'n') + whole.substr(end + 4);
  };
  CHECK(refusal_of([&] { described_by(named(255), "file.json"); }).empty());
  CHECK(test::holds(refusal_of([&] { described_by(named(256), "file.json"); }), "too long"));
  const std::string deep = "{\"deviceVer\":" + std::string(100'000, '[') + "}";
  CHECK(test::holds(refusal_of([&] { described_by(deep, "file.json"); }), "nested deeper"));
}

TEST_CASE("cudnn: a description may come from a file, and a name that is neither is refused") {
  const test::scratch_folder s("device");
  const std::string json = device_json(*find_device("a100"));
  std::ofstream(s / "a100.json") << json;
  CHECK(described_target(s / "a100.json").json == json);
  std::ofstream(s / "text") << "no JSON";
  CHECK(test::holds(refusal_of([&] { described_target(s / "text"); }), "text"));
  const std::string unknown = refusal_of([] { described_target("h2000"); });
  CHECK(test::holds(unknown, "h2000"));
  CHECK(test::holds(unknown, "b200"));
  CHECK_FALSE(refusal_of([] { described_target("/"); }).empty());
}
