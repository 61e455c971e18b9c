// SPDX-License-Identifier: Apache-2.0
// benanza_generate as a user runs it.
#include "program.hpp"

#include <benanza/machine/own_program.hpp>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

using namespace benanza::test;
namespace fs = std::filesystem;

namespace {
const std::string generate = BENANZA_GENERATE_BINARY;

/// Refused: exit 2, one line on stderr that says all of `words`, nothing on stdout.
void refused(const std::string& arguments, const std::vector<std::string>& words) {
  const outcome o = shell(generate + " " + arguments);
  CAPTURE(arguments);
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.out.empty());
  for (const std::string& w : words)
    CHECK(o.err.find(w) != std::string::npos);
}

void put(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}
} // namespace

TEST_CASE("a model of the zoo goes all the way to generated code") {
  const scratch_folder s("command");
  REQUIRE(shell(generate + " zoo resnet50-v1 lenet -o " + (s / "models")).status == 0);
  const std::string models = (s / "models/resnet50-v1.onnx") + " " + (s / "models/lenet.onnx");
  const outcome o = shell(generate + " " + models + " --batch 1,8 -o " + (s / "mine"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.err.empty());
  CHECK(fs::exists(s / "mine/main.cpp"));
  const std::string graph = text_of(s / "mine/graph.cpp");
  CHECK(graph.find("resnet50-v1@batch=8") != std::string::npos);
  CHECK(graph.find("lenet@batch=1") != std::string::npos);

  // Byte-identical on a second run, also into another folder and from another order of models.
  REQUIRE(shell(generate + " " + models + " --batch 1,8 -o " + (s / "again")).status == 0);
  CHECK(shell("diff -r " + (s / "mine") + " " + (s / "again")).status == 0);
}

TEST_CASE("the models are written for programs without them too, with the sources or alone") {
  const scratch_folder s("graphs");
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  const outcome o =
      shell(generate + " " + (s / "m/lenet.onnx") + " --no-sources -o " + (s / "alone"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK_FALSE(fs::exists(s / "alone/main.cpp"));
  CHECK(text_of(s / "alone/graphs.json") ==
        text_of(BENANZA_SOURCE_FOLDER "/generated/sample/graphs.json"));
  const auto j = nlohmann::json::parse(text_of(s / "alone/graphs.json"));
  CHECK(j.at("graphs").at(1).at("unfused") == "lenet@batch=1");
}

TEST_CASE("ResNet-50 is under 300 lines of generated code") {
  const scratch_folder s("lines");
  REQUIRE(shell(generate + " zoo resnet50-v1 -o " + (s / "m")).status == 0);
  REQUIRE(shell(generate + " " + (s / "m/resnet50-v1.onnx") + " --no-rewrites -o " + (s / "g"))
              .status == 0);
  const int lines = std::stoi(shell("cat " + (s / "g") + "/*.cpp | wc -l").out);
  MESSAGE(lines, " lines");
  CHECK(lines < 300);
}

TEST_CASE("a step of training is a model of its own, with three times the products but one") {
  const scratch_folder s("training");
  REQUIRE(shell(generate + " zoo lenet -q -o " + (s / "m")).status == 0);
  const std::string model = s / "m/lenet.onnx";
  const outcome o = shell(generate + " " + model + " --training -o " + (s / "g"));
  REQUIRE(o.status == 0);
  CHECK(o.err.find("7 other operators") != std::string::npos);
  const auto graphs = nlohmann::json::parse(text_of(s / "g/graphs.json")).at("graphs");
  REQUIRE(graphs.size() == 3);
  CHECK(graphs.at(2).at("name") == "lenet@batch=1,training");
  CHECK(graphs.at(2).at("nodes").size() == 8); // two convolutions and a product
  CHECK(shell("cat " + (s / "g") + "/layers_*.cpp").out.find("conv_weight_gradient") !=
        std::string::npos);
  CHECK(shell(generate + " " + model + " --training --granularity 3 -o " + (s / "h")).status == 2);
}

TEST_CASE("a rewritten model is one more form, and is written for frameworks") {
  const scratch_folder s("rewritten");
  REQUIRE(shell(generate + " zoo resnet50-v1 vgg16 -o " + (s / "m")).status == 0);
  const std::string model = s / "m/resnet50-v1.onnx", out = s / "m/new.onnx";
  REQUIRE(shell(generate + " " + model + " --no-sources -o " + (s / "g")).status == 0);
  std::vector<std::string> names;
  const auto graphs = nlohmann::json::parse(text_of(s / "g/graphs.json")).at("graphs");
  for (const auto& g : graphs)
    names.push_back(g.at("name"));
  const std::string name = "resnet50-v1@batch=1";
  CHECK(names ==
        std::vector{name, name + ",fused", name + ",rewritten", name + ",rewritten,fused"});
  CHECK(graphs.at(2).at("original") == name);
  CHECK(graphs.at(2).at("rewrites").at(0).at("rule") == "strides moved back");
  REQUIRE(shell(generate + " " + model + " --no-sources --no-rewrites -o " + (s / "h")).status ==
          0);
  CHECK(nlohmann::json::parse(text_of(s / "h/graphs.json")).at("graphs").size() == 2);

  const outcome o = shell(generate + " rewrite " + model + " -o " + out);
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.out.find("strides moved back at 6 nodes, saves 0.757 of 7.76 GFLOP") !=
        std::string::npos);
  CHECK(shell(generate + " " + out + " --no-sources -o " + (s / "n")).status == 0);
  refused("rewrite " + out + " -o " + (s / "again.onnx"), {"nothing is to be rewritten", out});
  refused("rewrite " + (s / "m/vgg16.onnx") + " -o " + (s / "v.onnx"),
          {"nothing is to be rewritten"});
  CHECK_FALSE(fs::exists(s / "v.onnx"));
  refused("rewrite " + model, {"no file to write to", "-o"});
  refused("rewrite -o " + out, {"no model was named"});
  refused("rewrite " + model + " --batch 1,8 -o " + out, {"one batch"});
}

TEST_CASE("the checked-in sample is what the generator writes today") {
  const scratch_folder s("sample");
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  REQUIRE(shell(generate + " " + (s / "m/lenet.onnx") + " -o " + (s / "g")).status == 0);
  const outcome o = shell("diff -r " + (s / "g") + " " BENANZA_SOURCE_FOLDER "/generated/sample");
  CAPTURE(o.out);
  CHECK(o.status == 0);
}

TEST_CASE("stats agree with the model: 53 convolutions, 3.86 G multiply-accumulates") {
  const scratch_folder s("stats");
  REQUIRE(shell(generate + " zoo resnet50-v1 -o " + (s / "m")).status == 0);
  const outcome o = shell(generate + " stats " + (s / "m/resnet50-v1.onnx") + " --format json");
  REQUIRE(o.status == 0);
  const auto j = nlohmann::json::parse(o.out);
  const auto& its = j.at("models").at(0);
  CHECK(its.at("macs") == 3'857'973'248);
  for (const auto& row : its.at("operators"))
    if (row.at("op") == "Conv") CHECK(row.at("count") == 53);
  const outcome text = shell(generate + " stats " + (s / "m/resnet50-v1.onnx"));
  CHECK(text.status == 0);
  CHECK(text.out.find("resnet50-v1@batch=1") != std::string::npos);
}

TEST_CASE("answers come in every format, several tables of CSV in a folder") {
  const scratch_folder s("formats");
  REQUIRE(shell(generate + " zoo lenet squeezenet-v1.1 -q -o " + (s / "m")).status == 0);
  const std::string models = " " + (s / "m/lenet.onnx") + ' ' + (s / "m/squeezenet-v1.1.onnx");
  for (const std::string& question :
       {"stats" + models, "stats --similarity" + models, "stats --years" + models,
        std::string("zoo --list"), "--sweep 1:3" + models})
    for (const auto& [format, begins] :
         {std::pair("json", "{\n"), {"md", "|"}, {"latex", "\\begin{longtable}"}}) {
      CAPTURE(question);
      const outcome o = shell(generate + " " + question + " --format " + format);
      CHECK(o.status == 0);
      CHECK(holds(o.out, begins));
    }
  const outcome single = shell(generate + " --sweep 1:3 --format csv" + models);
  CHECK(single.status == 0);
  CHECK(single.out.starts_with("\"granularity\",\"sequences\",\"unique\","));
  CHECK(shell(generate + " --sweep 1:3 --format md" + models + " -o " + (s / "g.md")).out == "");
  CHECK(text_of(s / "g.md").starts_with("| G |"));
  const outcome several = shell(generate + " stats --format csv" + models);
  CHECK(several.status == 2);
  CHECK(holds(several.err, "models.csv, layers.csv, operators.csv"));
  CHECK(shell(generate + " stats --format csv" + models + " -o " + (s / "tables/")).status == 0);
  for (const char* name : {"models", "layers", "operators"})
    CHECK(fs::exists(s / ("tables/" + std::string(name) + ".csv")));
  for (const char* unused :
       {"zoo lenet -o x --format md", "--format md -o x", "--granularity 2 -o x --format md"})
    CHECK(shell(generate + " " + unused + (*unused == '-' ? models : "")).status == 2);
}

TEST_CASE("a file of layers takes the place of a model; a case's whole name will do") {
  const scratch_folder s("layers");
  put(s / "keys.txt", "# mine\nConv/1x64x56x56-64x3x3-s1-p1\n\n"
                      "Relu/1x64x56x56/f32/onednn/jit/hot/t1  # copied from a case\n"
                      "Conv/1x64x56x56-64x3x3-s1-p1x1x1x1\n");
  const outcome o = shell(generate + " --layers " + (s / "keys.txt") + " -o " + (s / "g"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const std::string layers = text_of(s / "g/layers_0.cpp");
  CHECK(layers.find("::add(1);") != std::string::npos);
  CHECK(layers.find("::add(2);") == std::string::npos); // the third line is the first again
}

TEST_CASE("the same folder can be written again, also the current one") {
  const scratch_folder s("again");
  REQUIRE(shell(generate + " zoo lenet zfnet512 -o " + (s / "m")).status == 0);
  fs::create_directories(s / "here");
  for (const char* model : {"zfnet512", "lenet", "lenet"}) {
    const outcome o =
        shell("cd " + (s / "here") + " && " + generate + " ../m/" + model + ".onnx -o . && ls");
    CAPTURE(o.err);
    CHECK(o.status == 0);
    CHECK(holds(o.out, "graph.cpp"));
  }
  CHECK(holds(text_of(s / "here/graph.cpp"), "lenet@batch=1"));
}

TEST_CASE("a model with evil or thousands of names fills no screen, and forges no line") {
  const scratch_folder s("notes");
  const auto model = [&](int nodes, const std::string& name) {
    // Protobuf by hand: a model whose nodes are no ONNX operators, and one Relu.
    const auto field = [](int number, const std::string& held) {
      std::string out(1, static_cast<char>(number << 3 | 2));
      std::size_t n = held.size();
      for (; n >= 128; n >>= 7)
        out += static_cast<char>(n | 128);
      return out + static_cast<char>(n) + held;
    };
    const auto node = [&](const std::string& op, const std::string& result) {
      return field(1, field(1, "x") + field(2, result) + field(4, op));
    };
    std::string graph = node("Relu", "y");
    for (int i = 0; i < nodes; ++i)
      graph += node(std::to_string(i) + name, "o" + std::to_string(i));
    const std::string dim = field(1, std::string("\x08\x01", 2));
    graph += field(11, field(1, "x") + field(2, field(1, "\x08\x01" + field(2, dim))));
    put(s / "m.onnx", "\x08\x08" + field(7, graph) + field(8, "\x10\x0d"));
    return s / "m.onnx";
  };
  const outcome forged =
      shell(generate + " " + model(1, "\x1b]0;PWN\a\nbenanza_generate: all is well ") + " -o " +
            (s / "g"));
  CHECK(forged.status == 1);
  CHECK(one_line(forged.err));
  CHECK_FALSE(holds(forged.err, "\x1b"));
  for (const char* verb : {"", "stats "}) {
    const outcome many = shell(generate + " " + verb + model(5000, std::string(300, 'U')) +
                               (*verb == 0 ? " -o " + (s / "g") : ""));
    CHECK(many.status == 1);
    CHECK(std::count(many.err.begin(), many.err.end(), '\n') == 21);
    CHECK(many.err.size() < 21 * 200);
    CHECK(holds(many.err, "benanza_generate: and 4980 more that are not resolved\n"));
  }
  const outcome json = shell(generate + " stats --format json " + model(1, "\u009b\x7f"));
  CHECK(std::all_of(json.out.begin(), json.out.end(),
                    [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
  CHECK(holds(shell(generate + " -q " + (s / "m.onnx") + " -o " + (s / "g")).err, "not resolved"));
}

TEST_CASE("quiet is quiet, and an answer that cannot be written is a failure") {
  const scratch_folder s("quiet");
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  const std::string model = s / "m/lenet.onnx", to = " -o " + (s / "g");
  for (const std::string& arguments :
       {"-q " + model + to, "--quiet " + model + to, "zoo -q lenet" + to + "/m"}) {
    const outcome o = shell(generate + " " + arguments);
    CHECK(o.status == 0);
    CHECK(o.out + o.err == "");
    fs::remove_all(s / "g");
  }
  constexpr std::pair<const char*, const char*> unused[] = {
      {"--dim nobody=1", "no such symbol"},
      {"--shape nobody=1x3", "no such input; it has: data"},
      {"--size nobody=1", "no such node"},
      {"--loop-count nobody=1", "no such loop"}};
  for (const auto& [option, says] : unused)
    for (const char* quiet : {"", " -q"}) {
      const std::string given = option; // what CAPTURE takes
      CAPTURE(given);
      const outcome o = shell(generate + " " + model + ' ' + option + quiet + to);
      CHECK(o.status == 2);
      CHECK(o.out == "");
      CHECK(holds(o.err, says));
      CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    }
  for (const char* size : {"nobody", "n=0", "n=-3", "n=x", "n=99999999999999999999"}) {
    CAPTURE(size);
    CHECK(shell(generate + " " + model + " --size " + size + to).status == 2);
  }
  for (const std::string& arguments :
       std::vector<std::string>{model + to, "stats " + model, "stats --format json " + model,
                                "stats --years --format csv " + model, "zoo --list",
                                "zoo lenet -o " + (s / "m"), "--version", "--help"}) {
    CAPTURE(arguments);
    const outcome o = shell(generate + " " + arguments + " >/dev/full");
    CHECK(o.status == 2);
    CHECK(one_line(o.err));
    CHECK(holds(o.err, "cannot be written"));
    CHECK(holds(o.err, "standard output"));
  }
  CHECK(shell(generate + " nothing.onnx -o g 2>/dev/full").status == 2);
  const std::string told = generate + " zoo --list; echo $? >&2";
  CHECK(shell("(trap '' PIPE; " + told + ") | true").err == "0\n"); // as to `head`
}

TEST_CASE("little memory is a refusal in one line" *
          doctest::skip(benanza::machine::is_emulated())) { // which wants some too
  const scratch_folder s("memory");
  REQUIRE(shell(generate + " zoo all -q -o " + (s / "m")).status == 0);
  for (const int kilobytes : {120'000, 160'000, 240'000}) {
    const outcome o =
        shell("ulimit -v " + std::to_string(kilobytes) + "; " + generate + " stats " + (s / "m") +
              "/*.onnx --batch 1,2,3,4,5,6,7,8 --dim sequence=16 --dim past=16 --format json");
    CAPTURE(o.err);
    CHECK((o.status == 0 || o.status == 1 || (o.status == 2 && one_line(o.err))));
  }
}

TEST_CASE("zoo: neither a planted link nor a file with a name like ours is written over") {
  const scratch_folder s("planted");
  fs::create_directories(s / "m");
  put(s / "victim", "theirs");
  const std::string planted = "ln -s ../victim " + (s / "m") + "/.lenet.onnx.$$ && exec ";
  const outcome o = shell("sh -c '" + planted + generate + " zoo lenet -o " + (s / "m") + "'");
  CHECK(o.status == 0);
  CHECK(text_of(s / "victim") == "theirs");
}

TEST_CASE("several files of layers are a model each") {
  const scratch_folder s("lists");
  fs::create_directories(s / "other");
  put(s / "encoder.txt", "Gelu/1x128x3072\nRelu/1x64\n");
  put(s / "decoder.txt", "Relu/1x64\n");
  put(s / "other/encoder.txt", "Relu/1x64\n");
  const std::string first = " --layers " + (s / "encoder.txt"), to = " -o " + (s / "g");
  const outcome o = shell(generate + first + " --layers " + (s / "decoder.txt") + to);
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const std::string graphs = text_of(s / "g/graph.cpp");
  CHECK(graphs.find("\"encoder@layers\"") != std::string::npos);
  CHECK(graphs.find("\"decoder@layers\"") != std::string::npos);
  CHECK(text_of(s / "g/layers_0.cpp").find("::add(2);") == std::string::npos); // Relu is one layer
  refused(first + " --layers " + (s / "other/encoder.txt") + " -o " + (s / "h"), {"this name"});
}

TEST_CASE("the zoo lists the paper's models and newer ones") {
  const outcome o = shell(generate + " zoo --list");
  CHECK(o.status == 0);
  for (const char* name : {"arcface", "resnet50-v1", "zfnet512", "squeezenet-v1.1", "bert-base",
                           "gpt2-decode", "resnet50-qdq"})
    CHECK(o.out.find(name) != std::string::npos);
  CHECK(std::regex_search(o.out, std::regex("\nbvlc-rcnn-ilsvrc13 .* 2013  object detection\n")));
}

TEST_CASE("what is no model is refused by name, and nothing is written") {
  const scratch_folder s("bad");
  const std::string to = " -o " + (s / "g");
  put(s / "empty.onnx", "");
  put(s / "text.onnx", "<html>not found</html>");
  put(s / "lfs.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  const std::string good = s / "m/lenet.onnx";
  const std::string bytes = text_of(good);
  put(s / "cut.onnx", bytes.substr(0, bytes.size() / 2));
  refused((s / "none.onnx") + to, {"none.onnx"});
  refused((s / "empty.onnx") + to, {"empty.onnx"});
  refused((s / "text.onnx") + to, {"text.onnx"});
  refused((s / "lfs.onnx") + to, {"lfs.onnx", "LFS"});
  refused((s / "cut.onnx") + to, {"cut.onnx"});
  refused(s.path.string() + to, {});
  refused(good + " " + (s / "empty.onnx") + to, {"empty.onnx"});
  for (const char* batch : {"0", "-1", "x", "1,,2", "99999999999999999999", "65537", ""})
    refused(good + " --batch '" + batch + "'" + to, {"--batch"});
  CHECK_FALSE(fs::exists(s / "g"));
}

TEST_CASE("bad arguments are refused in one line") {
  const scratch_folder s("arguments");
  put(s / "bad.txt", "Conv/1x64x56x56-64x3x3-s1-p1\nConv/1x64\n");
  put(s / "view.txt", "Flatten/1x64x1x1-1x64\n");
  put(s / "none.txt", "# nothing\n");
  put(s / "theirs.cpp", "x");
  const std::string to = " -o " + (s / "g");
  refused("", {});
  refused("--nonsense", {});
  refused("zoo", {"zoo --list"});
  refused("zoo resnet51 -o " + (s / "m"), {"resnet51"});
  refused("stats", {});
  refused("--layers " + (s / "bad.txt") + to, {"bad.txt, line 2"});
  refused("--layers " + (s / "view.txt") + to, {"view"});
  refused("--layers " + (s / "none.txt") + to, {"none.txt"});
  refused("--layers " + (s / "absent.txt") + to, {"absent.txt"});
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  refused(s / "m/lenet.onnx", {"-o"});
  refused((s / "m/lenet.onnx") + " --granularity 3 --missing-from " + (s / "store.db") + to,
          {"--missing-from"});
  refused((s / "m/lenet.onnx") + " --patterns /dev/zero" + to, {"longer than 1 MiB"});
  refused((s / "m/lenet.onnx") + " -o " + s.path.string(), {"did not make"});
  CHECK_FALSE(fs::exists(s / "g"));
}
