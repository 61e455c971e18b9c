// SPDX-License-Identifier: Apache-2.0
// Logs of oneDNN, of all versions that write them differently.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

using namespace profile_text;
using benanza::shape;

namespace {
std::string exec(const std::string& prefix, const std::string& descriptors, double ms,
                 const std::string& attributes = "") {
  return "onednn_verbose," + prefix + "exec,cpu,convolution,jit:avx2,forward_inference," +
         descriptors + "," + attributes +
         ",alg:convolution_direct,mb2_g2ic8oc4_ih6oh6kh1sh1dh0ph0," + std::to_string(ms) + "\n";
}
} // namespace

TEST_CASE("onednn log: executions alone are operators") {
  const profile p = read_profile(onednn_log, "log");
  REQUIRE(p.operators.size() == 2);
  CHECK(p.threads == 4);
  CHECK(p.device == "cpu");
  CHECK(p.framework == "");
  const profiled_operator& conv = p.operators[0];
  CHECK(conv.type == "convolution");
  CHECK(conv.kernel == "brg_conv_fwd:avx512_core");
  CHECK(conv.precision == "f32");
  CHECK(conv.ns.at(0) == doctest::Approx(401'855));
  REQUIRE(conv.operands.size() == 2); // an undefined one is none
  CHECK(conv.operands[0].dims == shape{1, 64, 28, 28});
  CHECK(conv.operands[1].dims == shape{32, 64, 3, 3});
  CHECK(conv.results.at(0).dims == shape{1, 32, 14, 14});
  const profiled_operator& product = p.operators[1];
  CHECK(product.precision == "bf16");
  CHECK(product.operands.at(1).dims == shape{768, 3072});
  CHECK(product.results.at(0).dims == shape{128, 3072});
}

TEST_CASE("onednn log: the prefix and the descriptors of each version") {
  for (const auto& form : std::vector<std::pair<std::string, std::string>>{
           {"", "src_f32::blocked:acdb:f0 wei_f32:p:blocked:Acdb:f0 bia_undef::undef::f0 "
                "dst_bf16::blocked:a:f0"},
           {"1795607271782.768066,",
            "src_f32::blocked:acdb:f0 wei_f32::blocked:Acdb:f0 dst_bf16::blocked:a:f0"},
           {"", "src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Ac::f0 bia_undef::undef::: "
                "dst_bf16:a:blocked:a::f0"},
           {"primitive,",
            "src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Ac::f0 dst_bf16:a:blocked:a::f0"},
           {"v0,primitive,",
            "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Ac::f0 dst:bf16:a:blocked:a::f0"},
           {"v1,1795607271798.93,primitive,",
            "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:A::f0 dst:bf16:a:blocked:a::f0"}}) {
    const std::string &prefix = form.first, &descriptors = form.second;
    CAPTURE(prefix);
    const profile p = read_profile(exec(prefix, descriptors, 0.5), "log");
    REQUIRE(p.operators.size() == 1);
    const profiled_operator& o = p.operators[0];
    CHECK(o.kernel == "jit:avx2");
    CHECK(o.ns == std::vector<double>{500'000});
    REQUIRE(o.operands.size() == 2);
    CHECK(o.operands[0].type == "f32");
    CHECK(o.operands[0].dims == shape{2, 8, 6});
    CHECK(o.operands[1].dims == shape{2, 2, 4, 1});
    REQUIRE(o.results.size() == 1);
    CHECK(o.results[0].type == "bf16");
  }
}

TEST_CASE("onednn log: on ARM, with the Arm Compute Library and what it runs inside") {
  const std::string descriptors = "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Acdb4a::f0 "
                                  "dst:f32:a:blocked:acdb::f0";
  const auto by = [&](const std::string& implementation, int outputs) {
    return "onednn_verbose,v1,primitive,exec,cpu,convolution," + implementation +
           ",forward_inference," + descriptors + ",,alg:convolution_direct,mb1_ic64oc" +
           std::to_string(outputs) + "_ih6oh6kh1sh1dh0ph0,0.5\n";
  };
  const profile p = read_profile(
      "onednn_verbose,v1,info,cpu,isa:AArch64 SVE (256 bits)\n"
      "onednn_verbose,v1,cpu,acl,unsupported: Only Acdb8a and Acdb4a are destination formats\n" +
          by("indirect_gemm:acl", 32) +
          "onednn_verbose,v1,primitive,exec:external,CpuGemmAssemblyWrapperKernel/"
          "sve_hybrid_fp32_mla_6x4VL,0.4\n" +
          by("brgconv:sve_256", 16) + by("jit_1x1:asimd", 8),
      "log");
  CHECK_FALSE(warns(p, "not whole"));
  REQUIRE(p.operators.size() == 3); // what a kernel runs inside is no operator
  CHECK(p.operators[0].kernel == "indirect_gemm:acl");
  CHECK(p.operators[0].ns == std::vector<double>{500'000});
  CHECK(p.operators[1].kernel == "brgconv:sve_256");
  CHECK(p.operators[2].kernel == "jit_1x1:asimd");
}

TEST_CASE("onednn log: the line that names the columns is believed") {
  const std::string text =
      "onednn_verbose,info,prim_template:timestamp,operation,engine,implementation,primitive,"
      "prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time\n"
      "onednn_verbose,1.5,exec,cpu,jit:avx2,pooling,f,src_f32::b:a:f0,,,2x3,0.25\n";
  const profile p = read_profile(text, "log");
  CHECK(p.operators.at(0).type == "pooling");
  CHECK(p.operators[0].kernel == "jit:avx2");
  CHECK(p.operators[0].operands.at(0).dims == shape{2, 3});
}

TEST_CASE("onednn log: what repeats is several runs, of which the first is cold") {
  const std::string d = "src_f32::b:a:f0", e = "src_bf16::b:a:f0";
  const std::string once = exec("", d, 1) + exec("", e, 2) + exec("", d, 3);
  // Up to 3.2 a space follows attributes.
  const std::string runs = once + exec("", d, 4) + exec("", e, 5, " ") + exec("", d, 6) + once;
  const profile p = read_profile(runs, "log");
  REQUIRE(p.operators.size() == 3);
  CHECK(p.operators[0].ns == std::vector<double>{4e6, 1e6});
  CHECK(p.operators[1].ns == std::vector<double>{5e6, 2e6});
  CHECK(p.operators[2].ns == std::vector<double>{6e6, 3e6});
}

TEST_CASE("onednn log: among other output, cut off, and refusals alone") {
  const profile p = read_profile("torch says hello\r\n" + exec("", "src_f32::b:a:f0", 1) +
                                     "onednn_verbose,exec,cpu,conv",
                                 "l");
  CHECK(p.operators.size() == 1);
  CHECK(warns(p, "cut off"));
  CHECK(warns(p, "1 line not whole"));
  CHECK(refusal(
            "onednn_verbose,v1,primitive,create:dispatch,convolution,bad flags,./src/a.cpp:2500\n")
            .find("no primitive ran") != std::string::npos);
}
