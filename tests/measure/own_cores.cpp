// SPDX-License-Identifier: Apache-2.0
#include "../program.hpp"

#include <benanza/measure/own_cores.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
/// Short: what it finds does not matter here.
constexpr double watch_ns = 5e6;
} // namespace

TEST_CASE("the best ratio is looked for once, and kept for other runs") {
  const test::scratch_folder folder("own_cores");
  const std::string file = folder / "of/a user/cores.tsv";
  CHECK(own_cores(file).known(1) == 0);
  double found = 0;
  for (int i = 0; i < 200 && found == 0; ++i) // beside neighbours no two looks may agree
    found = own_cores(file, watch_ns).ratio(1);
  REQUIRE(found > 0);
  const double kept = own_cores(file).known(1);
  CHECK(kept == doctest::Approx(found).epsilon(1e-4));
  CHECK(own_cores(file).known(2) == 0);
  CHECK(own_cores(file, watch_ns).ratio(1) == kept);
  for (const auto& e : std::filesystem::directory_iterator(folder / "of/a user"))
    CHECK(e.path() == file); // and nothing half written
}

TEST_CASE("only what is better is kept, and each team and machine has its own") {
  const test::scratch_folder folder("own_cores");
  const std::string file = folder / "cores.tsv";
  const std::string other = "1\t0.1\t99999\tanother machine\n";
  std::ofstream(file) << "not a line\n1\tx\t1\ty\n" << other;
  own_cores cores(file, watch_ns);
  CHECK(cores.known(1) == 0);
  cores.found(1, 0.4);
  CHECK(cores.known(1) == 0.4);
  cores.found(1, 0.5);
  cores.found(1, 0.399); // hardly better
  CHECK(cores.known(1) == 0.4);
  CHECK(cores.mistaken_by(1, 0.42) == 0);
  CHECK(cores.mistaken_by(2, 0.42) == 0); // nothing is known
  cores.found(1, 0.3);
  CHECK(cores.mistaken_by(1, 0.4) == doctest::Approx(1. / 3));
  CHECK(cores.mistaken_by(1, 0) == 0);
  cores.found(2, 0.6);
  CHECK(cores.known(1) == 0.3);
  CHECK(cores.known(2) == 0.6);
  own_cores late(file, watch_ns); // began before the others had found anything
  late.found(1, 0.35);
  CHECK(late.known(1) == 0.3);
  const std::string text = test::text_of(file);
  CHECK(text.find(other) != std::string::npos);
  CHECK(text.find("not a line") == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("a ratio that no core can have is not believed") {
  const test::scratch_folder folder("own_cores");
  const std::string file = folder / "cores.tsv";
  own_cores(file, watch_ns).found(1, 0.2);
  const std::string good = test::text_of(file);
  for (const char* ratio : {"1e-9", "0.04", "7", "inf", "nan", "-1"}) {
    std::string text = good;
    const std::size_t at = text.find('\t') + 1;
    text.replace(at, text.find('\t', at) - at, ratio);
    std::ofstream(file) << text;
    CAPTURE(ratio);
    CHECK(own_cores(file).known(1) == 0);
    own_cores(file, watch_ns).found(1, 0.3); // looked for anew, and kept in its place
    CHECK(own_cores(file).known(1) == 0.3);
  }
}

TEST_CASE("a ratio of long ago is not believed") {
  const test::scratch_folder folder("own_cores");
  const std::string file = folder / "cores.tsv";
  own_cores(file, watch_ns).found(1, 0.2);
  std::string text = test::text_of(file);
  const auto day = [&] { return text.find('\t', text.find('\t') + 1) + 1; };
  const long today = std::stol(text.substr(day()));
  text.replace(day(), std::to_string(today).size(), std::to_string(today - own_cores::most_days));
  std::ofstream(file) << text;
  CHECK(own_cores(file).known(1) == 0.2);
  text.replace(day(), std::to_string(today).size(),
               std::to_string(today - own_cores::most_days - 1));
  std::ofstream(file) << text;
  CHECK(own_cores(file).known(1) == 0);
}

TEST_CASE("where nothing can be kept it is found anew in each run, and nobody complains") {
  const test::scratch_folder folder("own_cores");
  std::ofstream(folder / "file") << "in the way";
  for (const std::string& file : {std::string(), folder / "file/cores.tsv"}) {
    own_cores cores(file, watch_ns);
    cores.found(1, 0.25);
    CHECK(cores.ratio(1) == 0.25);
    CHECK(cores.known(1) == 0);
  }
  CHECK(test::text_of(folder / "file") == "in the way");
  own_cores none;
  none.found(1, 0.5);
  CHECK(none.ratio(1) == 0); // knows nothing, and looks for nothing
}

TEST_CASE("the file is in the user's cache folder") {
  const auto in = [](const char* cache, const char* home) {
    return cores_file_in(cache, home).string();
  };
  CHECK(in("/a", "/b") == "/a/benanza/cores.tsv");
  CHECK(in(nullptr, "/b") == "/b/.cache/benanza/cores.tsv");
  CHECK(in("not/absolute", "/b") == "/b/.cache/benanza/cores.tsv");
  CHECK(in("", nullptr) == "");
  CHECK(in(nullptr, "") == "");
}
