// SPDX-License-Identifier: Apache-2.0
#include "../program.hpp"

#include <benanza/machine/processor_kinds.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace test_of_processor_kinds {
using benanza::machine::fastest_of;
using processors = std::vector<int>;

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST_CASE("of efficient and fast cores the fast ones are kept, by their capacities") {
  const benanza::test::scratch_folder f("kinds");
  const auto capacity = [&f](int p, int n) {
    write(f.path / "system/cpu" / ("cpu" + std::to_string(p)) / "cpu_capacity", std::to_string(n));
  };
  for (const int p : {0, 1, 2, 3})
    capacity(p, 446);
  capacity(4, 1024);
  capacity(5, 1004); // a favoured one beside it
  CHECK(fastest_of({0, 1, 2, 3, 4, 5}, f.path) == processors{4, 5});
  CHECK(fastest_of({0, 1}, f.path) == processors{0, 1}); // as they were chosen
  CHECK(fastest_of({5, 6}, f.path) == processors{5, 6}); // of one nothing is known
}

TEST_CASE("Intel's two kinds are told apart; of a machine that says nothing all are kept") {
  const benanza::test::scratch_folder f("intel");
  CHECK(fastest_of({0, 7}, f.path) == processors{0, 7});
  write(f.path / "cpu_core/cpus", "0-3");
  write(f.path / "cpu_atom/cpus", "4-7");
  CHECK(fastest_of({0, 2, 5, 7}, f.path) == processors{0, 2});
  CHECK(fastest_of({5, 7}, f.path) == processors{5, 7});
}
} // namespace test_of_processor_kinds
