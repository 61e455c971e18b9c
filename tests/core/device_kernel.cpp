// SPDX-License-Identifier: Apache-2.0
// Does the name of a kernel say whether it runs on tensor cores? Names as profilers showed them,
// from Volta to Blackwell, in public reports and documentation.
#include <benanza/core/device_kernel.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using benanza::device_kernel;
using benanza::short_kernel_name;
using benanza::tensor_cores;
using benanza::tensor_use;

TEST_CASE("kernels: names of tensor cores' instructions, of all generations") {
  for (const std::string_view name : {
           "volta_h884gemm_256x128_ldg8_nn",
           "volta_h884gemm_64x64_nt",
           "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
           "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_gelu_tn_v1",
           "turing_fp16_i8816cudnn_int8_256x64_ldg16_relu_singleBuffer_small_nt_v1",
           "turing_h1688gemm_128x128_ldg8_stages_32x1_nn",
           "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn",
           "ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_nn",
           "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
           "ampere_int8_i16832gemm_int8_256x128_ldg16_relu_mods_stages_64x3_nt",
           "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1",
           "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>",
           "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10_"
           "nhwc_align4>(cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10_nhwc_align4::"
           "Params)",
           "cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16>",
           "cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1",
           "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage3_"
           "warpsize4x1x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
           "sm80_xmma_fprop_implicit_gemm_interleaved_i8i8_i8i32_f32_nchw_vect_c_32kcrs_vect_c_32_"
           "nchw_vect_c_32_tilesize64x96x64_stage3_warpsize2x2x1_g1_tensor16x8x32_t1r3s3",
           "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
           "execute_segment_k_off_kernel__5x_cublas",
           "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_"
           "segment_k_off_kernel__5x_cublas",
           "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT",
           "nvjet_tst_128x96_64x7_4x1_v_bz_bias_TNT",
           "nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT",
           "nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN",
           "cutlass3x_sm100_tensorop_s256x256x32gemm_f8_f8_f32_f16_f16",
           "cutlass3x_sm120_bstensorop_s16x8x32gemm_ue8m0xe4m3_ue8m0xe4m3_f32_void_e5m2_"
           "128x128x128",
           "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
           "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64",
           "cudnn_generated_fort_native_sdpa_sm100_flash_fprop_f16_knob_36",
           "fmha_cutlassF_bf16_aligned_64x128_rf_sm80",
       }) {
    CAPTURE(name);
    CHECK(tensor_cores(name) == tensor_use::yes);
  }
}

TEST_CASE("kernels: names of plain arithmetic, and of what prepares or ends others' work") {
  for (const std::string_view name : {
           "ampere_sgemm_128x64_nn",
           "ampere_sgemm_32x32_sliced1x4_tn",
           "volta_sgemm_32x128_nn",
           "volta_gcgemm_32x32_nt",
           "maxwell_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu_tile148t_nt_v0",
           "ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
           "volta_scudnn_128x64_relu_interior_nn_v1",
           "trt_volta_int8x4_icudnn_int8x4_128x64_relu_xregs_large_nn_v1",
           "cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>",
           "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
           "aligna4_alignc4_execute_kernel__5x_cublas",
           "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize128x16x8_stage3_"
           "warpsize4x1x1_g1_ffma_aligna4_alignc4",
           "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false, false, true>",
           "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>",
           "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __half>",
           "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>",
           "void gemvNSP_kernel<__half, __half, __half, float, 1, 32, 4, 1024>",
           "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>",
           "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>",
           "void cudnn::winograd::generateWinogradTilesKernel<1, float, float>",
           "void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, true, false>",
           "void fft2d_r2c_32x32<float, false, 0u, false>",
           "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false>",
       }) {
    CAPTURE(name);
    CHECK(tensor_cores(name) == tensor_use::no);
  }
}

TEST_CASE("kernels: a name that says neither is unknown, and so are hashes and sizes") {
  for (const std::string_view name :
       {"", "cudnn_generated_fort_native_sm80_convFwd_pointwise_pointwise_pointwise",
        "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>", "kernel_16816",
        "a1688b_kernel", "void convolve_common_engine_float_NHWC<__half, __half, 128>",
        "sm50_xmma_pooling_coalescedC_NHWC_kMAX_3_False_execute", "resize_1688x884",
        "cutlass_simt_and_tensorop"}) {
    CAPTURE(name);
    CHECK(tensor_cores(name) == tensor_use::unknown);
  }
}

TEST_CASE("kernels: one kernel on tensor cores is enough, and none only where all are known") {
  const auto use = [](std::initializer_list<const char*> names) {
    std::vector<device_kernel> kernels;
    for (const char* n : names)
      kernels.push_back({.name = n});
    return tensor_cores(kernels);
  };
  const char *mma = "volta_h884gemm_64x64_nt", *helper = "cublasLt::splitKreduce_kernel<32, 16>",
             *other = "who_knows";
  CHECK(use({helper, mma}) == tensor_use::yes);
  CHECK(use({other, mma}) == tensor_use::yes);
  CHECK(use({helper, "ampere_sgemm_128x64_nn"}) == tensor_use::no);
  CHECK(use({helper, other}) == tensor_use::unknown);
  CHECK(use({}) == tensor_use::unknown);
}

TEST_CASE("kernels: short names are what a person looks for") {
  CHECK(short_kernel_name("ampere_sgemm_128x64_nn") == "ampere_sgemm_128x64_nn");
  CHECK(short_kernel_name("void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>("
                          "cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)") ==
        "cutlass_80_simt_sgemm_64x64_8x5_tn_align1");
  CHECK(short_kernel_name("void cublasLt::splitKreduce_kernel<(int)32, (int)16, int>(P)") ==
        "splitKreduce_kernel");
  CHECK(short_kernel_name("void at::(anonymous namespace)::sum_kernel<float>(float*)") ==
        "sum_kernel");
  CHECK(short_kernel_name("cutlass::device_kernel<flash::FlashAttnFwdSm90<A, B> >") ==
        "FlashAttnFwdSm90");
  CHECK(
      short_kernel_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int>") ==
      "gemvx::kernel");
  CHECK(short_kernel_name("") == "");
  for (const char* broken : {"<", ">", "(", ")", "a<b", "Kernel<Kernel<Kernel<", "::", "void "})
    CHECK(short_kernel_name(broken).size() <= 8 + std::string(broken).size());
}
