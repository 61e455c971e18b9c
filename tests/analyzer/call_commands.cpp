// SPDX-License-Identifier: Apache-2.0
// Logs of a framework on the command line of benanza_analyze: alone, against results, to a file of
// layers; and what is refused.
#include "../result/document.hpp"
#include "../trace/log_text.hpp"
#include "command.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using benanza::result::json;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;
namespace lt = log_text;

struct logs : benanza::test::scratch_folder {
  logs()
      : scratch_folder("calls") {}
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }
};

/// A convolution and a rectifier, as the small model begins.
std::string some_calls() {
  const lt::dims image{1, 64, 56, 56};
  return lt::conv_call(image, {64, 64, 3, 3}, image, 1, 1, "WINOGRAD") +
         lt::execute(lt::pointwise("RELU_FWD", lt::graph_tensor("xDesc", image, 1), "",
                                   lt::graph_tensor("yDesc", image, 2)));
}

void refuses(const outcome& o, const std::string& part) {
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(holds(o.err, part));
}

} // namespace

TEST_CASE("logs without results are listed, from files or from standard input") {
  const logs f;
  const std::string one = f.write("cudnn.log", some_calls());
  const std::string two = f.write(
      "cublas.log", lt::cublas_call("cublasSgemm_v2", lt::gemm_sizes(true, false, 1000, 1, 2048)));
  const outcome o = analyze({"--calls", one, "--calls", two});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(holds(o.out, "Conv/1x64x56x56-64x3x3-s1-p1"));
  CHECK(holds(o.out, "Relu/1x64x56x56"));
  CHECK(holds(o.out, "Gemm/1x1000x2048-tb"));
  const outcome piped = analyze({"--calls", "-"}, some_calls());
  CHECK(piped.status == 0);
  CHECK(holds(piped.out, "standard input: 2 calls"));
  CHECK(json::parse(analyze({"--calls", one, "--format", "json"}).out)["calls"].size() == 2);
  CHECK(holds(analyze({"--calls", one, "--layers", "1"}).out, "1 more row: --layers all"));
}

TEST_CASE("with results: the model, its layers, and the fastest of each") {
  const logs f;
  const std::string log = f.write("cudnn.log", some_calls());
  const std::string results = synthetic::text(synthetic::on_gpu(synthetic::small_run()));
  const outcome o = analyze({"-", "--calls", log}, results);
  CHECK(o.status == 0);
  CHECK(holds(o.out, "held against tiny@batch=1"));
  CHECK_FALSE(holds(o.out, "this result is of a CPU"));
  CHECK(holds(analyze({"-", "--calls", log}, synthetic::text(synthetic::small_run())).out,
              "this result is of a CPU"));
  CHECK(holds(o.out, "2 of 2 calls are layers of the model; they compute 2 of its 6 nodes"));
  CHECK(holds(o.out, "jit_wino_4x3:avx512_core"));
  const json j = json::parse(analyze({"-", "--calls", log, "--format", "json"}, results).out);
  CHECK(j["model"] == "tiny@batch=1");
  CHECK(j["layers"].size() == 2);
  // The log from standard input, the results from a file.
  const std::string file = f.write("results.json", results);
  CHECK(analyze({file, "--calls", "-"}, some_calls()).status == 0);
  const outcome written = analyze({file, "--calls", log, "-o", f / "page.txt"});
  CHECK(written.out.empty());
  CHECK(benanza::test::text_of(f / "page.txt") == o.out);
  benanza::result::run loose = synthetic::small_run();
  loose.graphs.clear();
  CHECK(
      holds(analyze({"-", "--calls", log}, synthetic::text(loose)).out, "layers without a model"));
}

TEST_CASE("--layers-out writes what benanza_generate --layers takes") {
  const logs f;
  const std::string log = f.write("cudnn.log", some_calls()), out = f / "layers.txt";
  CHECK(analyze({"--calls", log, "--layers-out", out}).status == 0);
  const std::string text = benanza::test::text_of(out);
  CHECK(holds(text, "\nConv/1x64x56x56-64x3x3-s1-p1  # 1 call: cudnnConvolutionForward, f32\n"));
  const std::string generate = BENANZA_GENERATE_BINARY;
  if (generate.empty()) {
    MESSAGE("skipped: benanza_generate is not built");
    return;
  }
  const outcome made = benanza::test::shell(generate + " --layers " + out + " -o " + (f / "made"));
  CHECK(made.status == 0);
  CHECK(holds(made.out, "2 layers of 1 model: 2 unique ones to measure"));
}

TEST_CASE("a log that is cut off gives what it holds, and status 1; with --strict nothing") {
  const logs f;
  const std::string whole = some_calls() + some_calls();
  const std::string log = f.write("cut.log", whole.substr(0, whole.size() - 1500));
  const outcome o = analyze({"--calls", log});
  CHECK(o.status == 1);
  CHECK(holds(o.out, "the log is cut off"));
  CHECK(holds(o.err, "partial: "));
  CHECK(json::parse(analyze({"--calls", log, "--format", "json"}).out)["status"] == "partial");
  refuses(analyze({"--calls", log, "--strict"}), "cut off");
}

TEST_CASE("what is refused leaves one line, and nothing is written") {
  const logs f;
  const std::string log = f.write("cudnn.log", some_calls());
  const std::string results = synthetic::text(synthetic::small_run());
  refuses(analyze({"--calls", f / "none.log"}), "cannot be opened");
  refuses(analyze({"--calls", f.path.string()}), "a directory");
  refuses(analyze({"--calls", f.write("empty.log", "")}), "the log is empty");
  refuses(analyze({"--calls", f.write("other.log", results)}), "no call of cuDNN");
  refuses(analyze({"-", "--calls", "-"}, results), "named twice");
  refuses(analyze({"--calls", log, "--iteration", "0"}, results), "is about a model");
  refuses(analyze({"-", "--calls", log, "--iteration", "2"}, results), "holds no iteration 2");
  refuses(analyze({"-", "--calls", log, "--model", "resnet"}, results), "there are: tiny@batch=1");
  refuses(analyze({"-", "--calls", log, "--type", "f33"}, results), "f33");
  refuses(analyze({"-", "--calls", log, "--machine"}, results), "--machine");
  refuses(analyze({"--layers-out", f / "x"}, results), "--calls");
  refuses(analyze({"--iteration", "1"}, results), "--calls");
  const std::string nothing =
      f.write("axpy.log", lt::cublas_call("cublasSaxpy_v2", lt::argument("n", "3")));
  refuses(analyze({"--calls", nothing, "--layers-out", f / "x"}), "no call is a layer");
  CHECK_FALSE(std::filesystem::exists(f / "x"));
  refuses(analyze({"--calls", log, "--layers-out", "/no/such/folder/x"}), "cannot be written");
}
