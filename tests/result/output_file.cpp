// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/output_file.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>

using namespace benanza;
using result::output_file;
namespace fs = std::filesystem;

namespace {
/// A folder that goes with the test.
struct folder {
  fs::path path = fs::temp_directory_path() / result::unguessable_beside("benanza");
  folder() { fs::create_directory(path); }
  ~folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  auto size() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator{});
  }
};

void put(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
} // namespace

TEST_CASE("a file appears under its name when it is whole") {
  const folder f;
  put(f / "run.json", "old");
  {
    output_file out(f / "run.json");
    put(out.written_to(), "new");
    CHECK(text_of(f / "run.json") == "old");
    out.commit();
  }
  CHECK(text_of(f / "run.json") == "new");
  CHECK(f.size() == 1);
}

TEST_CASE("a file that is not committed leaves nothing behind") {
  const folder f;
  { put(output_file(f / "run.json").written_to(), "new"); }
  CHECK(f.size() == 0);
}

TEST_CASE("a file takes the rights that the user's mask leaves") {
  const folder f;
  const mode_t before = umask(027);
  {
    output_file out(f / "run.json");
    out.commit();
  }
  umask(before);
  CHECK(fs::status(f / "run.json").permissions() == fs::perms(0640));
}

TEST_CASE("who may read and write a file that is replaced stays the same") {
  const folder f;
  for (const mode_t mode : {0600U, 0640U, 0664U, 0444U}) {
    put(f / "run.json", "old");
    REQUIRE(chmod((f / "run.json").c_str(), mode) == 0);
    output_file out(f / "run.json");
    put(out.written_to(), "new");
    out.commit();
    CHECK(text_of(f / "run.json") == "new");
    CHECK(fs::status(f / "run.json").permissions() == fs::perms(mode));
    fs::remove(f / "run.json");
  }
  output_file(f / "secret", result::for_owner).commit();
  CHECK(fs::status(f / "secret").permissions() == fs::perms(0600));
  constexpr uid_t other = 65534;
  if (geteuid() != 0 || chown((f / "secret").c_str(), other, other) != 0) return;
  output_file(f / "secret").commit();
  struct stat s {};
  REQUIRE(stat((f / "secret").c_str(), &s) == 0);
  CHECK(s.st_uid == other);
  CHECK((s.st_mode & 0777) == 0600);
}

TEST_CASE("no file next to it is touched, and no planted link followed") {
  const folder f;
  put(f / "precious", "mine");
  put(f / "a.part", "mine too");
  fs::create_symlink("precious", f / "b.part");
  for (const char* name : {"a", "b"}) {
    output_file out(f / name);
    put(out.written_to(), "new");
    out.commit();
    CHECK(fs::symlink_status(f / name).type() == fs::file_type::regular);
  }
  CHECK(text_of(f / "precious") == "mine");
  CHECK(text_of(f / "a.part") == "mine too");
  CHECK(fs::is_symlink(f / "b.part"));
}

TEST_CASE("a name that is a link stays one, and the file behind it is replaced") {
  const folder f;
  fs::create_directory(f / "results");
  put(f / "results/run.json", "old");
  fs::create_symlink("results/run.json", f / "latest.json");
  fs::create_symlink("results/none.json", f / "next.json");
  for (const char* name : {"latest.json", "next.json"}) {
    output_file out(f / name);
    put(out.written_to(), "new");
    out.commit();
    CHECK(fs::is_symlink(f / name));
  }
  CHECK(text_of(f / "results/run.json") == "new");
  CHECK(text_of(f / "results/none.json") == "new");
}

TEST_CASE("what is no regular file is written as it is") {
  output_file out("/dev/null");
  CHECK_FALSE(out.regular());
  CHECK(out.written_to() == "/dev/null");
  out.commit();
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a place that cannot be written is refused at once") {
  const folder f;
  CHECK_THROWS_WITH_AS(output_file(f.path.string()), doctest::Contains("directory"), error);
  CHECK_THROWS_WITH_AS(output_file(f / "no/such/folder.json"), doctest::Contains("No such file"),
                       error);
  CHECK_THROWS_AS(output_file("/proc/nobody_writes_here"), error);
}
