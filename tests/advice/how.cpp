// SPDX-License-Identifier: Apache-2.0
// Does each piece of advice say how, and who can do it?
#include <benanza/advice/how.hpp>
#include <doctest/doctest.h>

namespace test_of_how {
using namespace benanza::advice;

TEST_CASE("a setting has the framework's own name and value") {
  const how_to threads = by_settings(lever::threads, "onnxruntime", "2");
  CHECK(threads.by == doer::you);
  CHECK(threads.kind == way::setting);
  CHECK(threads.text == "intra_op_num_threads=2");
  CHECK(by_settings(lever::precision, "openvino", "bf16").text == "INFERENCE_PRECISION_HINT=bf16");
  CHECK(by_settings(lever::precision, "pytorch", "bf16").text ==
        "torch.autocast(\"cpu\", dtype=torch.bfloat16)");
  CHECK(by_settings(lever::threads, "pytorch", "4").text == "torch.set_num_threads(4)");
  CHECK(by_settings(lever::threads, "llamacpp", "4").text == "--threads 4");
  CHECK(by_settings(lever::threads, "onnxruntime-genai", "4").text == "intra_op_num_threads=4");
  CHECK(by_settings(lever::threads, "", "4").text.find("llama") == std::string::npos);
  CHECK(by_settings(lever::branches, "onnxruntime", "2").text ==
        "execution_mode=ORT_PARALLEL inter_op_num_threads=2");
}

TEST_CASE("without a framework, each one's is named") {
  const how_to h = by_settings(lever::threads, "", "2");
  CHECK(h.settings.size() == 3);
  CHECK(h.text == "ONNX Runtime: intra_op_num_threads=2; OpenVINO: INFERENCE_NUM_THREADS=2; "
                  "PyTorch: torch.set_num_threads(2)");
}

TEST_CASE("what no setting does is not said to be one") {
  const how_to bf16 = by_settings(lever::precision, "onnxruntime", "bf16");
  CHECK(bf16.by == doer::nobody);
  CHECK(bf16.kind == way::nothing);
  CHECK(bf16.text == "ONNX Runtime has no setting for it");
  CHECK(by_settings(lever::precision, "openvino", "u8s8u8").kind == way::nothing);
}
} // namespace test_of_how
