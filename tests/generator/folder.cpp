// SPDX-License-Identifier: Apache-2.0
#include "generator/folder.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::generator;
namespace fs = std::filesystem;

namespace {
struct scratch {
  fs::path at = fs::temp_directory_path() / ("benanza_folder_" + std::to_string(getpid()));
  scratch() { fs::remove_all(at), fs::create_directories(at); }
  ~scratch() { fs::remove_all(at); }
};
std::size_t entries(const fs::path& p) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(p), fs::directory_iterator()));
}
} // namespace

TEST_CASE("a folder is written with its manifest, and replaced as a whole") {
  const scratch s;
  const fs::path target = s.at / "deep" / "mine";
  write_folder(target, {{"a.cpp", "1"}, {"b.cpp", "2"}});
  CHECK(detail::file_text(target / "a.cpp") == "1");
  CHECK(entries(target) == 3);
  write_folder(target, {{"a.cpp", "3"}});
  CHECK(detail::file_text(target / "a.cpp") == "3");
  CHECK_FALSE(fs::exists(target / "b.cpp"));
  CHECK(entries(target.parent_path()) == 1); // nothing temporary is left
}

TEST_CASE("a trailing slash means the same folder") {
  const scratch s;
  write_folder((s.at / "mine").string() + "/", {{"a.cpp", "1"}});
  CHECK(fs::exists(s.at / "mine" / "a.cpp"));
}

TEST_CASE("unchanged files keep their time stamps") {
  const scratch s;
  write_folder(s.at / "m", {{"a.cpp", "1"}, {"b.cpp", "2"}});
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(s.at / "m" / "a.cpp", old);
  fs::last_write_time(s.at / "m" / "b.cpp", old);
  write_folder(s.at / "m", {{"a.cpp", "1"}, {"b.cpp", "changed"}});
  CHECK(fs::last_write_time(s.at / "m" / "a.cpp") == old);
  CHECK(fs::last_write_time(s.at / "m" / "b.cpp") > old);
}

TEST_CASE("a folder that is not ours is refused and left as it was") {
  const scratch s;
  fs::create_directories(s.at / "theirs");
  std::ofstream(s.at / "theirs" / "precious.cpp") << "x";
  CHECK_THROWS_AS(write_folder(s.at / "theirs", {{"a.cpp", "1"}}), error);
  CHECK(entries(s.at / "theirs") == 1);

  write_folder(s.at / "ours", {{"a.cpp", "1"}});
  std::ofstream(s.at / "ours" / "precious.cpp") << "x";
  CHECK_THROWS_AS(write_folder(s.at / "ours", {{"a.cpp", "2"}}), error);
  CHECK(detail::file_text(s.at / "ours" / "a.cpp") == "1");
  CHECK(entries(s.at) == 2);
}

TEST_CASE("a file in place of the folder, and a place that cannot be written, are refused") {
  const scratch s;
  std::ofstream(s.at / "file") << "x";
  CHECK_THROWS_AS(write_folder(s.at / "file", {{"a.cpp", "1"}}), error);
  CHECK_THROWS_AS(write_folder("/proc/benanza/mine", {{"a.cpp", "1"}}), error);
}
