// SPDX-License-Identifier: Apache-2.0
// A small file of each format, which its reader takes.
#pragma once

#include "profile_text.hpp"

namespace profile_text {

inline constexpr std::string_view openvino_csv =
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
    "x;Status.NOT_RUN;Parameter;unknown_I8;0.000;0.000\n"
    "Multiply_3870;Status.EXECUTED;Convolution;brgconv_avx512_bf16;0.026;0.026\n"
    "relu1;Status.OPTIMIZED_OUT;Relu;undef;0.000;0.000\n"
    "conv2;Status.EXECUTED;Convolution;brgconv_avx512_1x1_bf16;0.011;0.011\n"
    "y;Status.EXECUTED;Softmax;jit_avx512_f32;0.003;0.003\n"
    "Total;;;;0.040;0.040\n\n";

inline constexpr std::string_view openvino_json =
    R"({"report_type": "average", "avg_performance": {"nodes": [
{"name": "x", "node_type": "Parameter", "status": "Status.NOT_RUN", "real_time": "0.000", "cpu_time": "0.000", "exec_type": "unknown_I8"},
{"name": "conv2", "node_type": "Convolution", "status": "Status.EXECUTED", "real_time": "0.011", "cpu_time": "0.011", "exec_type": "brgconv_avx512_1x1_f32"}],
"total_real_time": "0.011", "total_cpu_time": "0.011"}})";

inline constexpr std::string_view openvino_report =
    "Command line parameters\n-m;models/tiny.onnx\n-nthreads;2\n-infer_precision;f32\n\n"
    "Configuration setup\ntopology;Model1\ntarget device;CPU\nbatch size;2\n\n"
    "Execution results\nfirst inference time (ms);14.99\nlatency (ms);0.04\navg latency;0.05\n"
    "throughput;31882.74\n";

inline constexpr std::string_view openvino_graph = R"(<?xml version="1.0"?>
<net name="onnx_Frontend_IR" version="11"><layers>
<layer id="0" name="x" type="Input"><data execOrder="0" execTimeMcs="not_executed" originalLayersNames="x" primitiveType="unknown_f32" runtimePrecision="f32" /></layer>
<layer id="9" name="conv2" type="Convolution"><data execOrder="9" execTimeMcs="8" originalLayersNames="conv2" primitiveType="brgconv_avx512_1x1_f32" runtimePrecision="f32" /></layer>
<layer id="7" name="Multiply_3870" type="Convolution">
<data execOrder="7" execTimeMcs="22" originalLayersNames="Multiply_3870,bn1,relu1" primitiveType="brgconv_avx512_f32" runtimePrecision="f32" />
<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim><dim>32</dim><dim>32</dim></port></input>
<output><port id="3" precision="FP32"><dim>2</dim><dim>8</dim><dim>32</dim><dim>32</dim></port></output></layer>
<layer id="2" name="reorder" type="Reorder"><data execOrder="2" execTimeMcs="3" originalLayersNames="" primitiveType="jit_uni_f32" runtimePrecision="f32" /></layer>
<layer id="3" name="w" type="Reorder"><data execOrder="3" execTimeMcs="not_executed" originalLayersNames="" primitiveType="reorder_f32" runtimePrecision="f32" /></layer>
</layers><edges /></net>
)";

inline std::string framework_file() {
  return R"({"schema":"benanza-framework","schema_version":2,"framework":"onnxruntime",
"framework_version":"1.32.0","model":{"file":"models/tiny.onnx","sha256":"ab"},
"options":{"threads":1,"batch":2,"dims":{},"cpus":[0],"precision":"f32"},
"samples_ns":[31000,29000.5],"traces":[{"format":"onnxruntime-profile","json":)" +
         two_runs() +
         R"(}],"operators":[{"name":"r1_nchwc","type":"Conv","stands_for":["conv1","bn1","relu1"],"makes":["r1"]}]})";
}

inline std::vector<std::string> samples() {
  std::vector<std::string> out;
  for (const std::string_view s : {
           openvino_csv,
           openvino_json,
           openvino_report,
#ifdef BENANZA_WITH_PUGIXML
           openvino_graph,
#endif
       })
    out.emplace_back(s);
  out.push_back(two_runs());
  out.push_back(framework_file());
  return out;
}

} // namespace profile_text
