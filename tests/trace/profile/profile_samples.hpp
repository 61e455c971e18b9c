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
<layer id="4" name="c" type="Const"><data execOrder="0" execTimeMcs="not_executed" originalLayersNames="c" primitiveType="unknown_f32" runtimePrecision="f32" /></layer>
<layer id="5" name="once" type="Reorder"><data execOrder="1" execTimeMcs="78" originalLayersNames="" primitiveType="jit_uni_f32" runtimePrecision="f32" /></layer>
<layer id="6" name="once too" type="Reorder"><data execOrder="1" execTimeMcs="7" originalLayersNames="" primitiveType="jit_uni_f32" runtimePrecision="f32" /></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0" /><edge from-layer="5" from-port="0" to-layer="6" to-port="0" /><edge from-layer="4" from-port="0" to-layer="5" to-port="0" /><edge from-layer="2" from-port="1" to-layer="7" to-port="0" /><edge from-layer="6" from-port="1" to-layer="7" to-port="1" /></edges></net>
)";

inline constexpr std::string_view tensorrt_times =
    R"([{"startEnqMs":1.0,"endEnqMs":1.1,"startComputeMs":1.1,"endComputeMs":1.5,"computeMs":0.4,"latencyMs":0.5},
{"startEnqMs":2.0,"latencyMs":"0.25"}])";

inline constexpr std::string_view tensorrt_profile = R"([{"count":1200},
{"name":"/conv1/Conv + /relu/Relu","timeMs":48,"averageMs":0.04,"medianMs":0.039,"percentage":80},
{"name":"Reformatting CopyNode for Input Tensor 0 to fc","timeMs":0,"averageMs":0,"medianMs":0,"percentage":0},
{"name":"fc","timeMs":12,"averageMs":0.011,"medianMs":0.01,"percentage":20}])";

inline constexpr std::string_view tensorrt_layers = R"({"Layers":[
{"Name":"/conv1/Conv + /relu/Relu","LayerType":"CaskConvolution","TacticName":"sm80_xmma_fprop",
"Inputs":[{"Name":"x","Dimensions":[1,3,8,8],"Format/Datatype":"Channel major FP16 format where channel % 8 == 0"}],
"Outputs":[{"Name":"y","Dimensions":[1,16,8,8],"Format/Datatype":"Half"}],
"Metadata":"[ONNX Layer: /conv1/Conv]\u001f[ONNX Layer: /bn1/Bn]\u001e[ONNX Layer: /relu/Relu]"},
{"Name":"Reformatting CopyNode for Input Tensor 0 to fc","LayerType":"Reformat","Metadata":""},
{"Name":"fc","LayerType":"gemm","TacticName":"","StreamId":0}],"Bindings":["x","y"]})";

inline constexpr std::string_view pytorch_cpu = R"({"schemaVersion": 1, "baseTimeNanoseconds": 1,
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 4, "tid": 4, "ts": 0, "dur": 200},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4, "tid": 4, "ts": 10.5, "dur": 100.25, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 4, "tid": 4, "ts": 20, "dur": 80, "args": {"External id": 2, "Input Dims": [[8],[2,16],[16,8],[],[]], "Input type": ["float","float","float","Scalar","Scalar"]}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 4, "tid": 4, "ts": 200, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4, "tid": 4, "ts": 210.5, "dur": 50.25, "args": {"External id": 3}},
{"ph": "X", "cat": "cpu_op", "name": "aten::t", "pid": 4, "tid": 4, "ts": 211, "dur": 2, "args": {"External id": 4}},
{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 4, "tid": 4, "ts": 220, "dur": 40, "args": {"External id": 5, "Input Dims": [[8],[2,16],[16,8],[],[]], "Input type": ["float","float","float","Scalar","Scalar"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::expand", "pid": 4, "tid": 4, "ts": 221, "dur": 5, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 4, "tid": 4, "ts": 230, "dur": 3.5, "args": {}},
{"ph": "M", "name": "process_name", "pid": "Spans", "tid": "", "ts": 0, "args": {"name": "python"}}
], "traceName": "a.pt.trace.json"})";

inline constexpr std::string_view pytorch_gpu = R"({"traceEvents": [
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":60,"dur":5.5,"args":{"External id":2,"device":0,"stream":7,"correlation":35}},
{"ph":"X","cat":"kernel","name":"splitk","pid":0,"tid":7,"ts":66,"dur":1.5,"args":{"External id":2,"device":0,"stream":7,"correlation":36}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":50,"dur":1,"args":{"device":0,"stream":7,"correlation":34}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":4,"tid":4,"ts":6,"dur":1,"args":{"correlation":34}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4,"tid":4,"ts":22,"dur":1,"args":{"correlation":35,"External id":2}},
{"ph":"X","cat":"cpu_op","name":"aten::copy_","pid":4,"tid":4,"ts":5,"dur":4,"args":{"External id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":4,"tid":4,"ts":20,"dur":20,"args":{"External id":2}}
]})";

inline constexpr std::string_view onednn_log =
    "onednn_verbose,v1,info,oneDNN v3.12.1 (commit N/A)\n"
    "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:4\n"
    "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,"
    "memory_descriptors,attributes,auxiliary,problem_desc,exec_time\n"
    "onednn_verbose,v1,primitive,create:cache_miss,cpu,convolution,brg_conv_fwd:avx512_core,"
    "forward_inference,src:f32:a:blocked:acdb::f0,,alg:convolution_direct,mb1_ic64oc64,0.25708\n"
    "onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,"
    "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Acdb64a::f0 bia:undef::undef::: "
    "dst:f32:a:blocked:acdb::f0,attr-post-ops:sum+eltwise_relu,alg:convolution_direct,"
    "mb1_ic64oc32_ih28oh14kh3sh2dh0ph1_iw28ow14kw3sw2dw0pw1,0.401855\n"
    "onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,"
    "src:bf16::blocked:ab::f0 wei:bf16:a:blocked:AB16b64a::f0 dst:f32::blocked:ab::f0,,,"
    "128x768:768x3072,2.2\n";

inline std::string framework_file() {
  return R"({"schema":"benanza-framework","schema_version":3,"framework":"onnxruntime",
"framework_version":"1.32.0","model":{"file":"models/tiny.onnx","sha256":"ab"},
"options":{"threads":1,"batch":2,"dims":{},"cpus":[0],"precision":"f32"},
"samples_ns":[31000,29000.5],"traces":[{"format":"onnxruntime-profile","json":)" +
         two_runs() +
         R"(}],"graph":{"inputs":["x"],"nodes":[{"name":"conv1","type":"Conv","inputs":["x","w"],"outputs":["c1"]},
{"name":"bn1","type":"BatchNormalization","inputs":["c1","s"],"outputs":["b1"]},{"name":"relu1","type":"Relu","inputs":["b1"],"outputs":["r1"]}],
"operators":[{"name":"r1_nchwc","type":"Conv","inputs":["x","w2"],"outputs":["r1"]}]}})";
}

inline std::vector<std::string> samples() {
  std::vector<std::string> out;
  for (const std::string_view s : {
           openvino_csv,
           openvino_json,
           openvino_report,
           tensorrt_times,
           tensorrt_profile,
           tensorrt_layers,
           pytorch_cpu,
           pytorch_gpu,
           onednn_log,
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
