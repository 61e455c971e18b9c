// SPDX-License-Identifier: Apache-2.0
// Does every command write every format?
#include "../bound/machine_run.hpp"
#include "../result/document.hpp"
#include "command.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace test_of_all_formats {
using namespace benanza::test;
using benanza::result::json;

TEST_CASE("every command writes every format, and says in one line where a folder is needed") {
  const scratch_folder f("all_formats");
  const std::string net = f / "net.json", machine = f / "machine.json";
  std::ofstream(net) << synthetic::text(synthetic::small_run());
  std::ofstream(machine) << synthetic::text(synthetic::machine_run());
  const std::vector<std::vector<std::string>> asked{{net, "--models"},
                                                    {net, "--algorithms", "Conv"},
                                                    {machine, "--machine"},
                                                    {"compare", net, net},
                                                    {"sweep", net, "--over", "threads"}};
  for (std::vector<std::string> words : asked) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    const auto in = [&](const std::string& format, std::vector<std::string> more = {}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--format", format});
      all.insert(all.end(), more.begin(), more.end());
      return analyze(all);
    };
    CHECK(in("text").status == 0);
    CHECK(in("json").status == 0);
    CHECK(json::accept(in("json").out));
    const outcome md = in("md"), tex = in("latex");
    CHECK(md.status == 0);
    CHECK(holds(md.out, "|---"));
    CHECK(tex.status == 0);
    CHECK(holds(tex.out, "\\begin{longtable}"));
    const outcome csv = in("csv");
    CHECK(csv.status == (csv.out.empty() ? 2 : 0));
    if (csv.status == 2) {
      CHECK(one_line(csv.err));
      CHECK(holds(csv.err, "name a folder with -o"));
    }
    const std::string folder =
        f / ("tables" + std::to_string(words.size()) + words.front().substr(0, 1));
    CHECK(in("csv", {"-o", folder + '/'}).status == 0);
    CHECK_FALSE(std::filesystem::is_empty(folder));
    CHECK(in("md", {"-o", folder + '/'}).status == 0);
    CHECK(benanza::test::text_of(folder + "/answer.md") == md.out);
    CHECK(in("pdf").status == 2);
  }
}

TEST_CASE("what is not as a schema says is found, with its place") {
  const schema s(json::parse(R"({"type":"object","required":["a"],"additionalProperties":false,
    "properties":{"a":{"type":"array","items":{"$ref":"#/$defs/n"}},"b":{"enum":["x"]},"c":{"const":1},
                  "d":{"anyOf":[{"type":"null"},{"type":"integer","minimum":2}]}},
    "$defs":{"n":{"type":["number","null"]}}})"));
  CHECK(s.first_fault(json::parse(R"({"a":[1,null],"b":"x","c":1,"d":2})")).empty());
  CHECK(holds(s.first_fault(json::parse("{}")), "\"a\" is missing"));
  CHECK(holds(s.first_fault(json::parse(R"({"a":[1,"2"]})")), "/a/1: string"));
  CHECK(holds(s.first_fault(json::parse(R"({"a":[],"new":1})")), "/new: nobody"));
  CHECK(holds(s.first_fault(json::parse(R"({"a":[],"b":"y"})")), "/b"));
  CHECK(holds(s.first_fault(json::parse(R"({"a":[],"c":2})")), "/c"));
  CHECK(holds(s.first_fault(json::parse(R"({"a":[],"d":1})")), "/d"));
  CHECK(holds(schema(json{{"format", "x"}}).first_fault(json()), "does not know"));
}
} // namespace test_of_all_formats
