// SPDX-License-Identifier: Apache-2.0
// Does NVRTC compile every text for every architecture that the toolkit has? No GPU is needed; the
// real NVRTC is, so these cases run where the fake GPU is not loaded.
#include "mover_layers.hpp"
#include "on_fake.hpp"
#include "source/machine_code.hpp"

#include <benanza/backend/cuda/compile.hpp>
#include <benanza/backend/cuda/source/kernels.hpp>
#include <benanza/backend/cuda/source/probes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace benanza;
using namespace benanza::backend;

namespace {
/// True where texts become code for GPUs.
bool has_nvrtc() {
  return cuda::compiles && std::getenv("LD_PRELOAD") == nullptr;
}

/// The last number before `word` in what ptxas said.
int number_before(const std::string& log, const std::string& word) {
  const std::size_t end = log.find(word);
  if (end == std::string::npos) return 0;
  const std::size_t space = log.rfind(' ', end - 2);
  return std::atoi(log.c_str() + space);
}
/// Compiles the texts of layers of every kind: the widest of each, or all.
void compile_each(bool every_width) {
  int texts = 0, most = 0;
  const auto try_all = [&](const auto& layers, numeric t) {
    for (const char* name : layers) {
      auto kernels = cuda::source::kernels_for(op::parse(name), t);
      std::erase_if(kernels, [](const auto& k) { return k.needs_cub; }); // below
      for (std::size_t i = every_width ? 0 : kernels.size() - 1; i < kernels.size(); ++i) {
        const std::string& text = kernels[i].text;
        CAPTURE(name);
        CAPTURE(text);
        const cuda::compiled* made = nullptr;
        REQUIRE_NOTHROW(made = &cuda::compile(text, "sm_90"));
        CHECK(made->code.size() > 100);
        CAPTURE(made->log);
        CHECK(number_before(made->log, "bytes spill stores") == 0);
        most = std::max(most, number_before(made->log, "registers"));
        ++texts;
      }
    }
  };
  try_all(cuda_test::moved, numeric::f16);
  try_all(cuda_test::computed, numeric::f16);
  try_all(cuda_test::typed, numeric::bf16);
  try_all(cuda_test::of_few_bits, numeric::f16);
  try_all(cuda_test::of_codes, numeric::f16);
  try_all(cuda_test::attended, numeric::bf16);
  try_all(cuda_test::rowed, numeric::bf16);
  try_all(cuda_test::summed, numeric::f16);
  try_all(cuda_test::tiled_rows, numeric::f16);
  try_all(cuda_test::tiled_rows, numeric::bf16);
  try_all(cuda_test::scanned, numeric::f32);
  try_all(cuda_test::whole, numeric::f32);
  MESSAGE(texts << " texts, at most " << most << " registers");
  CHECK(texts > (every_width ? 400 : 150));
  CHECK(most > 0);
  CHECK(most <= 128); // two blocks of a multiprocessor at least
}
} // namespace

TEST_CASE("architectures: a GPU's own, or as a text for the driver the best below it") {
  const std::vector<int> known{75, 80, 86, 90, 100, 120};
  CHECK(cuda::architecture_for(90, known) == "sm_90");
  CHECK(cuda::architecture_for(120, known) == "sm_120");
  CHECK(cuda::architecture_for(89, known) == "compute_86");
  CHECK(cuda::architecture_for(103, known) == "compute_100");
  CHECK(cuda::architecture_for(130, known) == "compute_120");
  const auto refused = [](int gpu, const std::vector<int>& all) {
    try {
      return cuda::architecture_for(gpu, all);
    } catch (const error& e) {
      return std::string(e.what());
    }
  };
  CHECK(refused(70, known).find("no architecture that the GPU, sm_70, could run") !=
        std::string::npos);
  CHECK(refused(90, {}).find("sm_90") != std::string::npos);
}

TEST_CASE("nvrtc: what measures the GPU is compiled for every one, and as PTX" *
          doctest::skip(!has_nvrtc())) {
  const std::vector<int> known = cuda::compiled_architectures();
  CHECK(std::find(known.begin(), known.end(), 90) != known.end());
  for (const auto& k : {cuda::source::sm_stamp(), cuda::source::nothing(), cuda::source::busy(),
                        cuda::source::chase(), cuda::source::read_all(), cuda::source::write_all(),
                        cuda::source::copy_all(), cuda::source::triad()}) {
    CAPTURE(k.name);
    for (const int one : {known.front(), 90, known.back()}) {
      const cuda::compiled* made = nullptr;
      REQUIRE_NOTHROW(made = &cuda::compile(k.text, "sm_" + std::to_string(one)));
      CHECK(number_before(made->log, "bytes spill stores") == 0);
    }
    const std::vector<char>& ptx = cuda::compile(k.text, "compute_90").code;
    const std::string text(ptx.begin(), ptx.end());
    CHECK(text.find(".target sm_90") != std::string::npos);
    CHECK(text.find(".entry " + k.name) != std::string::npos);
  }
}

TEST_CASE("nvrtc: a text of every kind is compiled, and no register is spilled" *
          doctest::skip(!has_nvrtc())) {
  compile_each(false);
}

TEST_CASE("full: nvrtc: every text of every kind is compiled, and no register is spilled" *
          doctest::skip(!has_nvrtc())) {
  compile_each(true);
}

namespace {
/// Kernels that include CUB's headers, in one text: they are read once.
std::string together(const std::vector<const char*>& layers, numeric t) {
  std::string out;
  int number = 0;
  const auto add = [&](const cuda::source::kernel& k) {
    const std::size_t head = k.text.find("#endif\n") + 7;
    if (out.empty()) out = k.text.substr(0, head);
    const std::string n = std::to_string(number++);
    out += "#define " + k.name + " kernel" + n + "\nnamespace n" + n + " {\n" +
           k.text.substr(head) + "}\n#undef " + k.name + "\n";
  };
  for (const char* name : layers)
    for (const auto& k : cuda::source::kernels_for(op::parse(name), t)) {
      if (k.needs_cub) add(k);
      if (k.before) add(*k.before);
    }
  return out;
}
bool has_cub() {
  return has_nvrtc() && cuda::cub_headers::it().found();
}
void compile_cub(const char* architecture, numeric t) {
  const std::string text =
      together({std::begin(cuda_test::cub_rows), std::end(cuda_test::cub_rows)}, t);
  CAPTURE(architecture);
  CAPTURE(text);
  const cuda::compiled* made = nullptr;
  REQUIRE_NOTHROW(made = &cuda::compile(text, architecture));
  CHECK(made->log.find("spill") != std::string::npos);
  for (std::size_t at = made->log.find("bytes spill stores"); at != std::string::npos;
       at = made->log.find("bytes spill stores", at + 1))
    CHECK(made->log.substr(at - 2, 2) == "0 ");
}
} // namespace

TEST_CASE("nvrtc: CUB's functions are compiled, and no register is spilled" *
          doctest::skip(!has_cub())) {
  CHECK_FALSE(cuda::cub_headers::it().version().empty());
  compile_cub("sm_90", numeric::bf16);
}

TEST_CASE("full: nvrtc: CUB's functions are compiled for all architectures that are in use" *
          doctest::skip(!has_cub())) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"})
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      compile_cub(architecture, t);
}

TEST_CASE("cuda: where CUB's headers are, and what is said where they are not") {
  const cuda::cub_headers none({"", "/nowhere"});
  CHECK_FALSE(none.found());
  CHECK(none.version().empty());
  CHECK(none.why_not().find("BENANZA_CUDA_INCLUDE") != std::string::npos);
  const std::string folder =
      std::string(doctest::getContextOptions()->binary_name.c_str()) + ".cub";
  for (const std::string below : {"", "/cccl"}) {
    std::filesystem::create_directories(folder + below + "/cub/block");
    std::ofstream(folder + below + "/cub/block/block_scan.cuh") << "\n";
    std::ofstream(folder + below + "/cub/version.cuh") << "#define CUB_VERSION 200802 // so\n";
    const cuda::cub_headers some({"/nowhere", folder});
    CHECK(some.found());
    CHECK(some.version() == "2.8.2");
    CHECK(some.folders() == std::vector<std::string>{folder + below, folder});
    CHECK(some.why_not().empty());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("nvrtc: texts are compiled for all architectures that are in use" *
          doctest::skip(!has_nvrtc())) {
  numeric t = numeric::bf16;
  for (const char* name :
       {"Transpose/33x70-o1x0", "Concat/1x10x4x4-a1-n4", "Pad/1x3x5x5-b0x0x2x3-e0x0x4x1-reflect",
        "Gather/10x16-1x4", "Resize/1x2x6x5-1x2x12x9-cubic", "Gelu/3x7x5", "Add/3x8x5-8x1",
        "Softmax/4x50-a1"})
    for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
      t = t == numeric::bf16 ? numeric::f16 : numeric::bf16; // each architecture gets both
      CAPTURE(name);
      CAPTURE(architecture);
      const auto kernels = cuda::source::kernels_for(op::parse(name), t);
      REQUIRE_NOTHROW(cuda::compile(kernels.back().text, architecture));
    }
}

TEST_CASE("nvrtc: what is no text, or no architecture, is refused with the compiler's reason" *
          doctest::skip(!has_nvrtc())) {
  const auto said = [](const std::string& text, const std::string& architecture) {
    try {
      cuda::compile(text, architecture);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string wrong = said("__global__ void v1() { nonsense; }", "sm_90");
  CHECK(wrong.find("NVRTC: a kernel cannot be compiled for sm_90: ") == 0);
  CHECK(wrong.find("nonsense") != std::string::npos);
  CHECK(said("extern \"C\" __global__ void v1() {}", "sm_1").find("NVRTC: ") == 0);
  CHECK(said("extern \"C\" __global__ void v1() {}", "sm_90").empty());
  CHECK_FALSE(cuda::compiler_version().empty());
}

TEST_CASE("nvrtc: wide accesses are wide in the code" * doctest::skip(!has_nvrtc())) {
  // A copy of sixteen bytes a thread needs few registers; one of single elements needs many.
  const auto kernels =
      cuda::source::kernels_for(op::parse("Slice/64x64-8x64-from3x0"), numeric::s8s8s8);
  REQUIRE(kernels.back().name == "v16");
  CHECK(number_before(cuda::compile(kernels.back().text, "sm_90").log, "registers") <= 16);
}

TEST_CASE("nvrtc: eight accesses of a thread are under way at once when memory is swept" *
          doctest::skip(!has_nvrtc())) {
  for (const int architecture : cuda::compiled_architectures()) {
    CAPTURE(architecture);
    const auto at_once = [&](const cuda::source::kernel& k) {
      return cuda_test::accesses_at_once(
          cuda::compile(k.text, "sm_" + std::to_string(architecture)).code, k.name);
    };
    CHECK(at_once(cuda::source::read_all()).loads == cuda::source::sweep_accesses);
    CHECK(at_once(cuda::source::copy_all()).loads == cuda::source::sweep_accesses);
    CHECK(at_once(cuda::source::triad()).loads == cuda::source::sweep_accesses);
    CHECK(at_once(cuda::source::write_all()).stores == cuda::source::sweep_accesses);
  }
}

TEST_CASE("nvrtc: what computes and what waits for memory is not left out as of no use" *
          doctest::skip(!has_nvrtc())) {
  for (const int architecture : cuda::compiled_architectures()) {
    CAPTURE(architecture);
    const auto code_of = [&](const cuda::source::kernel& k) {
      return cuda_test::instructions_of(
          cuda::compile(k.text, "sm_" + std::to_string(architecture)).code, k.name);
    };
    const auto work = code_of(cuda::source::busy()), waits = code_of(cuda::source::chase());
    CHECK(std::count_if(work.begin(), work.end(), [](const auto& i) { return i.adds(); }) >= 4);
    CHECK(std::any_of(waits.begin(), waits.end(), [](const auto& i) { return i.loads(); }));
  }
}
