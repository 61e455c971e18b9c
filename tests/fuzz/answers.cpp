// SPDX-License-Identifier: Apache-2.0
// What is said of a result, in every format and by every command, and of a profile with one: it is
// safe to show, and has the form that its readers expect.
#include "../bound/machine_run.hpp"
#include "../result/document.hpp"
#include "../trace/profile/profile_samples.hpp"
#include "analysis.hpp"
#include "mutate.hpp"

#include "analyzer/commands.hpp"

#include <benanza/result/reader.hpp>

#include <array>
#include <set>

namespace {
/// A table has as many cells in each row, and none that a spreadsheet computes.
void check_csv(std::string_view text) {
  std::set<std::size_t> lengths;
  std::size_t cells = 1;
  bool quoted = false, fresh = true;
  for (const char c : text) {
    if (fresh && !quoted && (c == '=' || c == '@')) throw fuzz::finding("a formula");
    fresh = (c == '"' && !quoted && fresh) || (!quoted && (c == ',' || c == '\n'));
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    cells += c == ',';
    if (c == '\n') lengths.insert(std::exchange(cells, 1));
  }
  if (quoted || lengths.size() > 1) throw fuzz::finding("rows of other lengths");
}

/// Every & begins an entity.
void check_xml(std::string_view text) {
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at + 1, 6), name = rest.substr(0, rest.find(';'));
    if (name != "amp" && name != "lt" && name != "gt" && name != "quot" && name != "apos" &&
        !name.starts_with('#'))
      throw fuzz::finding("no entity");
  }
}

/// A result and perhaps more words, in that format.
void say(std::vector<std::string> words, const std::string& format) {
  words.insert(words.end(), {"--format", format});
  if (format == "junit") words.insert(words.end(), {"--limit", "prediction<1ms"});
  std::istringstream in;
  std::ostringstream out, err;
  benanza::analyzer::parse_and_respond(words, in, out, err);
  const std::string said = out.str();
  fuzz::check_shown(err.str());
  if (format != "perfetto" && format != "html") fuzz::check_shown(said);
  if (format.starts_with("csv")) check_csv(said);
  if (format == "junit") check_xml(said);
  const bool json = format == "json" || format == "trace" || format == "model-explorer";
  if (json && !nlohmann::json::accept(said)) throw fuzz::finding("the answer is no JSON");
}

constexpr std::array<const char*, 10> formats{
    "md",    "csv",      "csv-models", "latex",          "dot",
    "trace", "perfetto", "junit",      "model-explorer", "text"};

void take_formats(std::string_view bytes) {
  const std::string file = fuzz::put("said.json", bytes);
  say({file, "--details", "--advice"}, formats[fuzz::turn(bytes, formats.size())]);
}

/// The bytes as one of the files of a command. That the command refuses them is fine; `run` sees
/// that it does so in a line.
void command_on(std::string_view bytes) {
  static const std::string other = fuzz::put("other.json", synthetic::text(synthetic::fused_run()));
  const std::string file = fuzz::put("given.json", bytes);
  const std::array<std::vector<std::string>, 9> ways{
      {{"compare", other, file},
       {"compare", file, other, "--format", "json"},
       {"compare", file, file, "--format", "junit"},
       {"sweep", file, "--over", "threads"},
       {"sweep", other, file, "--over", "date", "--format", "csv"},
       {"compose", file},
       {"coldstart", file},
       {"profile", file},
       {"profile", file, "--format", "json"}}};
  std::vector<std::string> words = ways[fuzz::turn(bytes, ways.size())];
  const std::string name = words.front();
  words.erase(words.begin());
  std::istringstream in;
  std::ostringstream out, err;
  benanza::analyzer::find_command(name)->run(words, {in, out, err});
  fuzz::check_shown(out.str());
  fuzz::check_shown(err.str());
}

void take_commands(std::string_view bytes) {
  benanza::result::read(std::string(bytes), "given.json");
  fuzz::run({.name = "a command", .take = command_on, .samples = nullptr}, bytes);
}

void beside_a_result(std::string_view bytes) {
  static const std::string run = fuzz::put("ours.json", synthetic::text(synthetic::fused_run()));
  say({run, "--framework", fuzz::put("framework.json", bytes), "--advice", "--details"},
      formats[fuzz::turn(bytes, formats.size())]);
}

void take_advised(std::string_view bytes) {
  benanza::trace::read_profile(bytes, "framework.json");
  fuzz::run({.name = "a profile", .take = beside_a_result, .samples = nullptr}, bytes);
}

std::vector<std::string> answered_samples() {
  benanza::result::run with_machine = synthetic::small_run();
  synthetic::add_machine(with_machine);
  return {synthetic::text(synthetic::small_run()), synthetic::text(synthetic::fused_run()),
          synthetic::text(with_machine)};
}

std::string spoil_either(const std::string& text, fuzz::dice& d) {
  return text.starts_with("{") || text.starts_with("[") ? fuzz::spoil_json(text, d)
                                                        : fuzz::spoil(text, {}, d);
}

const fuzz::registration formats_target{
    {.name = "formats",
     .take = take_formats,
     .samples = answered_samples,
     .words = {"\"benchmarks\"", "\"samples_ns\"", "\"nodes\"", "=1+1", "&amp;", "{\"", "[["},
     .change = fuzz::spoil_json}},
    commands_target{{.name = "commands",
                     .take = take_commands,
                     .samples = answered_samples,
                     .words = {"\"benchmarks\"", "model/", "load/", "server:rate=20", "chain/",
                               "\"parts\"", "\"counted\"", "\"date\""},
                     .change = fuzz::spoil_json}},
    advised_target{{.name = "advised",
                    .take = take_advised,
                    .samples = profile_text::samples,
                    .words = {"\"cat\"", "\"Node\"", "\"dur\"", "\"traceEvents\"", "<layer ",
                              "onednn_verbose,", ",exec,"},
                    .change = spoil_either}};
} // namespace
