// SPDX-License-Identifier: Apache-2.0
#include "generator/folder.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>

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

/// Text as the generator signs it.
std::string ours(const std::string& text) {
  return "// Written by benanza_generate.\n" + text;
}

void put(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// What is said of a folder that is refused; empty: it was written.
std::string refusal(const fs::path& folder, const std::map<std::string, std::string>& files) {
  try {
    write_folder(folder, files);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const fs::directory_entry& e : fs::directory_iterator(folder))
    out[e.path().filename().string()] =
        e.is_regular_file() ? test::text_of(e.path().string()) : "no file";
  return out;
}
} // namespace

TEST_CASE("a folder is written with its manifest, and replaced as a whole") {
  const scratch s;
  const fs::path target = s.at / "deep" / "mine";
  write_folder(target, {{"a.cpp", ours("1")}, {"b.cpp", ours("2")}});
  CHECK(test::text_of(target / "a.cpp") == ours("1"));
  CHECK(entries(target) == 3);
  write_folder(target, {{"a.cpp", ours("3")}});
  CHECK(test::text_of(target / "a.cpp") == ours("3"));
  CHECK_FALSE(fs::exists(target / "b.cpp"));
  CHECK(entries(target) == 2); // nothing temporary is left
  CHECK(entries(target.parent_path()) == 1);
}

TEST_CASE("however a folder is written, it is the same folder") {
  const scratch s;
  write_folder((s.at / "mine").string() + "/", {{"a.cpp", ours("1")}});
  CHECK(fs::exists(s.at / "mine" / "a.cpp"));
  write_folder(s.at / "new" / ".", {{"a.cpp", ours("1")}});
  CHECK(fs::exists(s.at / "new" / "a.cpp"));
  CHECK_FALSE(refusal(s.at / "new" / "..", {{"a.cpp", ours("1")}}).empty()); // not ours
}

TEST_CASE(
    "a folder in use is written into: an empty one, the one that we are in, one behind a link") {
  const scratch s;
  fs::create_directories(s.at / "here");
  const fs::path before = fs::current_path();
  fs::current_path(s.at / "here");
  for (const char* text : {"1", "2"})
    CHECK(refusal(".", {{"a.cpp", ours(text)}}).empty());
  CHECK(entries(".") == 2); // of the folder that we are still in
  fs::current_path(before);

  fs::create_directories(s.at / "real");
  fs::create_directory_symlink("real", s.at / "link");
  write_folder(s.at / "link", {{"a.cpp", ours("1")}});
  CHECK(fs::is_symlink(s.at / "link"));
  CHECK(fs::exists(s.at / "real" / "a.cpp"));
  fs::create_directory_symlink("nowhere", s.at / "dangling");
  CHECK_FALSE(refusal(s.at / "dangling", {{"a.cpp", ours("1")}}).empty());
  CHECK_FALSE(fs::exists(s.at / "nowhere"));
}

TEST_CASE("unchanged files keep their time stamps") {
  const scratch s;
  const std::map<std::string, std::string> files{
      {"a.cpp", ours("1")}, {"b.cpp", ours("2")}, {"main.cpp", ours("3")}};
  write_folder(s.at / "m", files);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& [name, text] : files)
    fs::last_write_time(s.at / "m" / name, old);
  auto changed = files;
  changed["b.cpp"] += "changed";
  write_folder(s.at / "m", changed);
  CHECK(fs::last_write_time(s.at / "m" / "a.cpp") == old);
  CHECK(fs::last_write_time(s.at / "m" / "b.cpp") > old);
  CHECK(fs::last_write_time(s.at / "m" / "main.cpp") == old);
}

TEST_CASE("a folder that is not ours is refused and left as it was") {
  const scratch s;
  fs::create_directories(s.at / "theirs");
  put(s.at / "theirs" / "precious.cpp", "x");
  CHECK_THROWS_AS(write_folder(s.at / "theirs", {{"a.cpp", ours("1")}}), error);
  CHECK(entries(s.at / "theirs") == 1);

  write_folder(s.at / "ours", {{"a.cpp", ours("1")}});
  put(s.at / "ours" / "precious.cpp", "x");
  CHECK_THROWS_AS(write_folder(s.at / "ours", {{"a.cpp", ours("2")}}), error);
  CHECK(test::text_of(s.at / "ours" / "a.cpp") == ours("1"));
  CHECK(entries(s.at) == 2);
}

TEST_CASE("only what the generator wrote is deleted, whatever a manifest says") {
  const scratch s;
  const fs::path folder = s.at / "f";
  const auto kept = [&](const std::string& words) {
    const auto before = contents(folder);
    const std::string said = refusal(folder, {{"graph.cpp", ours("2")}});
    CAPTURE(said);
    CHECK(said.find(words) != std::string::npos);
    CHECK(contents(folder) == before);
    CHECK(entries(s.at) == 1);
    fs::remove_all(folder);
  };
  const auto written = [&] {
    write_folder(folder, {{"graph.cpp", ours("1")}, {"main.cpp", ours("1")}});
  };
  written();
  fs::remove(folder / "main.cpp");
  fs::create_directories(folder / "main.cpp");
  put(folder / "main.cpp" / "precious", "x");
  kept("main.cpp); move it away first");

  written();
  put(folder / "main.cpp", ours("and edited"));
  kept("was changed since benanza_generate wrote it (" + (folder / "main.cpp").string());

  written();
  fs::rename(folder / "main.cpp", folder / "elsewhere");
  fs::create_symlink("elsewhere", folder / "main.cpp");
  put(folder / manifest_name, test::text_of(folder / manifest_name) + "elsewhere\n");
  kept("did not write");

  fs::create_directories(folder);
  put(folder / "thesis.tex", "years of work\n");
  put(folder / manifest_name, fnv1a("years of work\n") + "  thesis.tex\n");
  kept("did not write");

  fs::create_directories(folder);
  put(folder / "elsewhere", "thesis.tex\n");
  put(folder / "thesis.tex", "years of work\n");
  fs::create_symlink("elsewhere", folder / manifest_name);
  kept("did not make this folder");
}

TEST_CASE("a folder of a version without checksums is still ours") {
  const scratch s;
  write_folder(s.at, {{"graph.cpp", ours("1")}, {"main.cpp", ours("1")}});
  put(s.at / manifest_name, "graph.cpp\nmain.cpp\n");
  put(s.at / ".graph.cpp.0123456789abcdef", ""); // what a crash leaves
  CHECK(refusal(s.at, {{"main.cpp", ours("1")}}).empty());
  CHECK(entries(s.at) == 2);
  CHECK(test::text_of(s.at / manifest_name) == fnv1a(ours("1")) + "  main.cpp\n");
}

TEST_CASE("what a crash leaves half old and half new cannot be built, and the next run mends it") {
  const scratch s;
  std::map<std::string, std::string> files;
  for (int i = 0; i < 15; ++i)
    files["layers_" + std::to_string(i) + ".cpp"] = ours("1");
  files["main.cpp"] = ours("main");
  const auto start = std::chrono::steady_clock::now();
  write_folder(s.at, files);
  const std::chrono::duration<double, std::micro> once = std::chrono::steady_clock::now() - start;
  constexpr int kills = 12;
  int amid = 0;
  for (int i = 0; i < kills; ++i) {
    for (auto& [name, text] : files)
      if (name != "main.cpp") text = ours(std::to_string(i));
    const pid_t child = fork();
    if (child == 0) {
      (void)refusal(s.at, files);
      _exit(0);
    }
    usleep(static_cast<useconds_t>(once.count() * i / kills));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::set<std::string> texts;
    const auto now = contents(s.at);
    for (const auto& [name, text] : now)
      if (name.starts_with("layers_")) texts.insert(text);
    amid += texts.size() > 1;
    CHECK((texts.size() == 1 || !now.contains("main.cpp")));
  }
  MESSAGE(amid, " of ", kills, " were killed amid it");
  CHECK(refusal(s.at, files).empty());
  CHECK(entries(s.at) == files.size() + 1);
}

TEST_CASE("a file in place of the folder, and a place that cannot be written, are refused") {
  const scratch s;
  put(s.at / "file", "x");
  CHECK_THROWS_AS(write_folder(s.at / "file", {{"a.cpp", ours("1")}}), error);
  CHECK_THROWS_AS(write_folder("/proc/benanza/mine", {{"a.cpp", ours("1")}}), error);
}
