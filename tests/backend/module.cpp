// SPDX-License-Identifier: Apache-2.0
// Is a module taken from next to the program, before any from where it was built?
#include <benanza/backend/module.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace test_of_modules {
namespace fs = std::filesystem;
using benanza::backend::library_of_module;

const fs::path built = BENANZA_EMPTY_MODULE;
const fs::path folder_of_program = fs::read_symlink("/proc/self/exe").parent_path();

/// A file next to the program, as long as the test runs.
struct beside {
  fs::path path;
  explicit beside(const char* name)
      : path(folder_of_program / name) {}
  ~beside() { fs::remove(path); }
};

TEST_CASE("a module is loaded from where it was built, if there is none next to the program") {
  REQUIRE(built.parent_path() != folder_of_program);
  CHECK(library_of_module("empty", built) == nullptr); // and no refusal
  CHECK_THROWS_WITH_AS(library_of_module("none", "/nowhere/none.so"),
                       doctest::Contains("cannot be loaded"), benanza::error);
}

TEST_CASE("a package's module is in lib/benanza, next to the folder of the program") {
  const fs::path packaged = folder_of_program.parent_path() / "lib" / "benanza";
  REQUIRE(!fs::exists(packaged));
  fs::create_directories(packaged);
  fs::copy_file(built, packaged / "packaged_module.so");
  CHECK(benanza::backend::module_file("/nowhere/packaged_module.so") ==
        packaged / "packaged_module.so");
  CHECK(library_of_module("packaged", "/nowhere/packaged_module.so") == nullptr);
  fs::remove_all(packaged.parent_path());
}

TEST_CASE("one next to the program comes first, whatever is where it was built") {
  const beside good("moved_module.so");
  fs::copy_file(built, good.path, fs::copy_options::overwrite_existing);
  CHECK(library_of_module("moved", "/nowhere/moved_module.so") == nullptr);
  const beside bad(built.filename().c_str());
  std::ofstream(bad.path) << "no module";
  CHECK_THROWS_WITH_AS(library_of_module("empty", built), doctest::Contains("cannot be loaded"),
                       benanza::error);
}
} // namespace test_of_modules
