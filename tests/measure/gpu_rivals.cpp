// SPDX-License-Identifier: Apache-2.0
// What cuDNN has outside its graph API, and short lists, on the fake GPU: do its legacy calls
// compute what ONNX says, is what a GPU lacks named with its reason, and is a proposal one of all?
#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace benanza::test;

namespace {
using names = std::set<std::string>;

/// The lines that the program lists for a layer.
names lines_of(const std::string& layer, const std::string& options) {
  const fake_run r({layer}, "", "--benchmark_list_tests " + options);
  CHECK(r.ended.status == 0);
  std::istringstream lines(r.ended.out);
  names out;
  for (std::string line; std::getline(lines, line);)
    out.insert(line);
  return out;
}
bool any_begins(const names& all, const std::string& with) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& n) { return n.starts_with(with); });
}
} // namespace

TEST_CASE("gpu: what cuDNN has by name and refuses is reported with its reason") {
  const std::string layer = "Conv/1x8x7x7-16x3x3-s1-p1", options = "--backends cudnn --types f16";
  const names all = lines_of(layer, options), told = lines_of(layer, options + " --refused");
  const std::string title = layer + "/f16/cudnn/";
  CHECK(any_begins(all, title + "legacy:gemm:default/"));
  CHECK_FALSE(any_begins(all, "refused"));
  CHECK(any_begins(told, "refused, " + title + "legacy:fft:default: cuDNN: it is not there: "));
  CHECK(any_begins(told, "refused, " + title + "eng"));
  for (const std::string& name : all)
    CHECK(told.contains(name));
  for (const std::string& line : told)
    if (line.starts_with("refused, " + title)) {
      const std::string id = line.substr(9, line.find(": ", 9) - 9);
      CAPTURE(line);
      CHECK_FALSE(any_begins(all, id + '/'));
    }
  CHECK(any_begins(lines_of("Conv+Sigmoid/1x8x7x7-16x3x3-s1", options + " --refused"),
                   "refused, Conv+Sigmoid/1x8x7x7-16x3x3-s1/f16/cudnn/legacy: it fuses"));
}

TEST_CASE("gpu: a short list has what the heuristics propose, and no more") {
  const std::string options = "--backends cudnn,cuda --types f16 --states hot";
  for (const char* layer : {"Conv/1x8x7x7-16x3x3-s1-p1", "Softmax/8x64-a1"}) {
    CAPTURE(std::string(layer));
    const names all = lines_of(layer, options),
                few = lines_of(layer, options + " --algorithms proposed");
    CHECK_FALSE(few.empty());
    for (const std::string& name : few)
      CHECK(all.contains(name));
    if (layer[0] == 'C') CHECK(few.size() < all.size() / 2);
    if (layer[0] == 'S') CHECK(few == all);
  }
  const fake_run r({"Conv/1x8x7x7-16x3x3-s1-p1"}, "cost 20us",
                   options + " --algorithms proposed --effort quick --benchmark_format=json");
  CHECK_FALSE(r.rows.empty());
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.name);
    CHECK((holds(row.notes, "heuristic") || holds(row.notes, "fallback")));
  }
}

TEST_CASE("gpu: a plan whose handle is refused is built for the description of the GPU") {
  for (const char* layer : {"Conv/1x8x7x7-16x3x3-s1-p1", "Relu/1x4x8x8"}) {
    std::string script;
    const std::string options = "--backends cudnn --types f16 --states hot --algorithms proposed ";
    names ids;
    for (const std::string& line : lines_of(layer, options)) {
      const std::size_t at = line.find("/eng");
      if (at != std::string::npos) ids.insert(line.substr(at + 1, line.find('/', at + 1) - at - 1));
    }
    REQUIRE(!ids.empty());
    for (const std::string& id : ids)
      script += "id " + id + " refuses-handle\n";
    const fake_run r(
        {layer}, script,
        options + "--effort quick --benchmark_format=json '--benchmark_filter=^[A-Z].*/eng'");
    REQUIRE(!r.rows.empty());
    for (const gpu_row& row : r.rows) {
      CAPTURE(row.name);
      CHECK(row.error == "");
    }
    CHECK(r.tidy());
  }
}
