// SPDX-License-Identifier: Apache-2.0
#include "../fake_library.hpp"
#include "program.hpp"

#include <benanza/measure/campaign/campaign.hpp>
#include <benanza/measure/campaign/journal.hpp>
#include <benanza/measure/subjects/case_list.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace benanza;
using namespace benanza::measure;

namespace {
const run_setting setting{{"machine", {{"cpu", "one"}}}, {"software", {{"benanza", "1"}}}};

/// Groups of three layers, two algorithms each.
struct layers {
  library_list libraries;
  std::vector<group> groups;
  layers() {
    libraries.push_back(std::make_unique<test::fake_library>(
        std::vector<test::script>{{.algorithm = {.id = "a"}}, {.algorithm = {.id = "b"}}}));
    std::vector<op::registered_layer> registered;
    for (const char* name : {"Relu/1x4x5x5", "Relu/1x4x5x6", "Relu/1x4x5x7"}) {
      const op::layer l = op::parse(name);
      registered.push_back({static_cast<int>(registered.size()), l, op::cost(l)});
    }
    groups = list_cases(registered, {}, libraries, {});
  }
};

/// Results as if they had been measured: the first case in two passes, the second failed.
void fill(group& g, double ns) {
  g.cases[0].results.assign(2, group_runner::blank(g, g.cases[0]));
  for (result::measurement& m : g.cases[0].results) {
    m.min_ns = m.p10_ns = m.median_ns = m.p90_ns = ns;
    m.samples_ns = {ns / 3, ns};
    m.count = 2;
  }
  g.cases[1].results = failed_case(g, 1, "broken, \"quoted\"\n");
}

/// How many groups come back from a file; nothing if it is refused.
std::optional<std::size_t> recalled(const std::string& file) {
  try {
    journal j(file, setting, false);
    layers l;
    std::size_t n = 0;
    for (group& g : l.groups) {
      j.recall(g);
      if (g.cases[0].results.empty()) continue;
      ++n;
      CHECK(g.cases[0].results.size() == 2);
      CHECK(g.cases[0].results[1].samples_ns[1] == g.cases[0].results[0].median_ns);
      CHECK(g.cases[1].results.size() == 1);
    }
    return n;
  } catch (const error&) {
    return std::nullopt;
  }
}

std::string three_groups(const std::string& file) {
  journal j(file, setting, true);
  layers l;
  for (std::size_t i = 0; i < l.groups.size(); ++i) {
    fill(l.groups[i], 1000.0 + static_cast<double>(i));
    j.keep(l.groups[i], all_cases(l.groups[i]));
  }
  return test::text_of(file);
}

void write(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}
} // namespace

TEST_CASE("what is kept comes back, times and failures") {
  const test::scratch_folder s("journal");
  const std::string file = s / "f";
  three_groups(file);
  journal j(file, setting, false);
  layers l, before;
  for (std::size_t i = 0; i < 3; ++i) {
    j.recall(l.groups[i]);
    fill(before.groups[i], 1000.0 + static_cast<double>(i));
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t pass = 0; pass < before.groups[i].cases[c].results.size(); ++pass)
        CHECK(result::to_json(l.groups[i].cases[c].results.at(pass)) ==
              result::to_json(before.groups[i].cases[c].results[pass]));
  }
}

TEST_CASE("that no worker could be made is the run's failure, and the next run measures the case") {
  struct starved final : runner {
    void measure(group& g, const case_list&, const std::atomic<bool>&) override {
      fill(g, 1000);
      g.cases[0].results = failed_case(g, 0, std::string(no_worker_error) + " made: no room");
    }
    machine_seen seen(int) const override { return {}; }
  } without;
  const test::scratch_folder s("journal_worker");
  journal j(s / "f", setting, false);
  layers l;
  const sampling_request asked;
  campaign_settings settings;
  settings.progress = progress_mode::never;
  campaign c(without, &j, settings, asked, l.groups);
  c.measure(l.groups[0]);
  CHECK(c.failure().empty());
  CHECK(l.groups[0].cases[0].results[0].error.ends_with("no room"));
  layers next;
  std::filesystem::copy_file(s / "f", s / "h"); // the first one is locked
  journal kept(s / "h", setting, false);
  kept.recall(next.groups[0]);
  CHECK(next.groups[0].cases[0].results.empty());
  CHECK(next.groups[0].cases[1].results.size() == 1); // its own failure
}

TEST_CASE("a file cut off anywhere gives its whole lines back, and can be written on") {
  const test::scratch_folder s("journal_cut");
  const std::string file = s / "f", text = three_groups(s / "g");
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    ends.push_back(++at);
  REQUIRE(ends.size() == 4);
  for (std::size_t length = 0; length <= text.size(); length += length % 7 == 0 ? 97 : 1) {
    CAPTURE(length);
    write(file, text.substr(0, length));
    std::size_t whole = 0;
    for (std::size_t e : ends)
      whole += e <= length;
    const std::size_t groups = whole == 0 ? 0 : whole - 1;
    REQUIRE(recalled(file) == groups);
    {
      journal j(file, setting, false);
      layers l;
      fill(l.groups[groups % 3], 5.0);
      j.keep(l.groups[groups % 3], all_cases(l.groups[groups % 3]));
    }
    REQUIRE(recalled(file) == std::min<std::size_t>(groups + 1, 3));
  }
}

TEST_CASE("a damaged line costs its group; a damaged beginning is refused") {
  const test::scratch_folder s("journal_bits");
  const std::string file = s / "f", text = three_groups(s / "g");
  const std::size_t header = text.find('\n') + 1;
  for (std::size_t at = 0; at < text.size(); at += 37) {
    CAPTURE(at);
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write(file, damaged);
    if (at < header)
      REQUIRE_FALSE(recalled(file).has_value());
    else
      REQUIRE(recalled(file).value_or(9) < 3);
  }
}

TEST_CASE("a file that is not ours is refused and left as it is") {
  const test::scratch_folder s("journal_foreign");
  const std::string file = s / "f";
  for (const std::string text : {"hello", "{}\n", "0123456789abcdef {}\n"}) {
    write(file, text);
    CHECK_FALSE(recalled(file).has_value());
    CHECK_THROWS_AS(journal(file, setting, true), error); // nor with --again
    CHECK(test::text_of(file) == text);
  }
}

TEST_CASE("right checksums of what no run writes are refused by the file's name") {
  const test::scratch_folder s("journal_types");
  const std::string file = s / "f";
  const auto line = [](const std::string& text) { return fnv1a(text) + ' ' + text + '\n'; };
  const std::string header = R"({"benanza_unfinished":1,"setting":)";
  for (const std::string& text :
       {line(header + "7}"), line(header + R"({"machine":[]}})"), line(header + "{}}") + line("7"),
        line(header + "{}}") + line(R"({"measurements":7})"),
        line(header + "{}}") + line(R"({"measurements":[7]})")}) {
    CAPTURE(text);
    write(file, text);
    CHECK_THROWS_WITH_AS(journal(file, {}, false), doctest::Contains(file.c_str()), error);
    CHECK(test::text_of(file) == text);
  }
}

TEST_CASE("a link that somebody planted is not followed, and a pipe is not waited for") {
  const test::scratch_folder s("journal_link");
  const std::string theirs = s / "theirs", file = s / "f";
  three_groups(theirs);
  std::filesystem::create_symlink(theirs, file);
  CHECK_THROWS_WITH_AS(journal(file, setting, true), doctest::Contains("behind a link"), error);
  std::filesystem::remove(theirs);
  CHECK_THROWS_AS(journal(file, setting, false), error);
  CHECK_FALSE(std::filesystem::exists(theirs));
  std::filesystem::remove(file);
  REQUIRE(test::shell("mkfifo " + file).status == 0);
  CHECK_THROWS_WITH_AS(journal(file, setting, false), doctest::Contains("no regular file"), error);
}

TEST_CASE("another setting is refused by the name of what differs, and left as it is") {
  const test::scratch_folder s("journal_setting");
  const std::string file = s / "f", text = three_groups(file);
  run_setting other = setting;
  other["machine"]["cpu"] = "two";
  CHECK_THROWS_WITH_AS(journal(file, other, false),
                       ("the unfinished run had machine.cpu \"one\", this one has \"two\" (" +
                        file +
                        "); give the same command on the same machine, move the file away, or give "
                        "--again")
                           .c_str(),
                       error);
  CHECK(test::text_of(file) == text);
  journal(file, other, true);
  CHECK(recalled(file) == std::nullopt);
}

TEST_CASE("one run holds a journal, and takes it away when it is done") {
  const test::scratch_folder s("journal_lock");
  const std::string file = s / "f";
  // The answer to another process that opens it; empty: none.
  const auto told_another = [&] {
    std::fflush(nullptr);
    if (const pid_t child = fork(); child > 0) {
      int ended = 0;
      waitpid(child, &ended, 0);
      return test::text_of(s / "told");
    }
    try {
      std::ofstream(s / "told");
      journal(file, setting, false);
    } catch (const error& e) {
      std::ofstream(s / "told") << e.what();
    }
    _exit(0);
  };
  {
    journal first(file, setting, false);
    CHECK(told_another().starts_with("another run keeps its results there"));
  }
  CHECK(told_another().empty());
  journal first(file, setting, false);
  first.finish();
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(told_another().empty());
  CHECK(std::filesystem::exists(file));
}
