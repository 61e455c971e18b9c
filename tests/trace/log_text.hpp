// SPDX-License-Identifier: Apache-2.0
// Logs as cuDNN 7 to 9, cuBLAS 11 to 13 and cublasLt write them, put together call by call.
//
//   std::string log = cudnn_call("cudnnPoolingForward", tensor("xDesc", {1, 64, 56, 56}) + ...);
#pragma once

#include <benanza/trace/log_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace log_text {

using dims = std::vector<std::int64_t>;

/// `[1,64,56,56]`.
inline std::string row(const dims& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return out + "]";
}

/// Strides of a tensor without gaps.
inline dims packed(const dims& d, bool channels_last = false) {
  dims out(d.size());
  std::int64_t next = 1;
  for (std::size_t i = d.size(); i-- > 0;) {
    const std::size_t at = !channels_last || i == 0 ? i : i == d.size() - 1 ? 1 : i + 1;
    out[at] = next;
    next *= d[at];
  }
  return out;
}

/// Each line of `text` indented by four more.
inline std::string deeper(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    out += "    " + line + '\n';
  return out;
}

/// One argument or member.
inline std::string value(const std::string& name, const std::string& type, const std::string& val) {
  return name + ": type=" + type + "; val=" + val + ";\n";
}
inline std::string number(const std::string& name, std::int64_t v) {
  return value(name, "int", std::to_string(v));
}
inline std::string nested(const std::string& name, const std::string& type,
                          const std::string& members) {
  return name + ": type=" + type + ":\n" + deeper(members);
}

inline std::string data_type(const std::string& type) {
  return "CUDNN_DATA_" + type + " (0)";
}

/// A tensor descriptor of the older functions.
inline std::string tensor(const std::string& name, const dims& d, const std::string& type = "FLOAT",
                          bool channels_last = false) {
  return nested(name, "cudnnTensorDescriptor_t",
                value("dataType", "cudnnDataType_t", data_type(type)) +
                    number("nbDims", static_cast<std::int64_t>(d.size())) +
                    value("dimA", "int", row(d)) +
                    value("strideA", "int", row(packed(d, channels_last))));
}

inline std::string filter(const std::string& name, const dims& d,
                          const std::string& type = "FLOAT") {
  return nested(name, "cudnnFilterDescriptor_t",
                value("dataType", "cudnnDataType_t", data_type(type)) + number("vect", 0) +
                    number("nbDims", static_cast<std::int64_t>(d.size())) +
                    value("dimA", "int", row(d)) +
                    value("format", "cudnnTensorFormat_t", "CUDNN_TENSOR_NCHW (0)"));
}

inline std::string convolution(const dims& pads, const dims& strides, const dims& dilations,
                               std::int64_t groups = 1, const std::string& math = "DEFAULT_MATH") {
  return nested("convDesc", "cudnnConvolutionDescriptor_t",
                value("mode", "cudnnConvolutionMode_t", "CUDNN_CROSS_CORRELATION (1)") +
                    value("dataType", "cudnnDataType_t", data_type("FLOAT")) +
                    value("mathType", "cudnnMathType_t", "CUDNN_" + math + " (0)") +
                    number("arrayLength", static_cast<std::int64_t>(pads.size())) +
                    value("padA", "int", row(pads)) + value("strideA", "int", row(strides)) +
                    value("dilationA", "int", row(dilations)) + number("groupCount", groups));
}

/// A block of cuDNN: 'I' for a call, 'W' and 'E' for warnings and errors.
inline std::string cudnn_call(const std::string& function, const std::string& arguments,
                              const std::string& version = "91900 56", char severity = 'I',
                              int thread = 7) {
  const char small = static_cast<char>(severity - 'A' + 'a');
  std::string out{severity};
  out += "! CuDNN (v" + version + ") function " + function + "() called:\n";
  std::istringstream in(deeper(arguments));
  for (std::string line; std::getline(in, line);)
    out += std::string{small} + "! " + line + '\n';
  out += std::string{small} + "! Time: 2026-01-02T03:04:05.678901 (0d+0h+0m+1s since start)\n";
  out += std::string{small} + "! Process=4242; Thread=" + std::to_string(thread) +
         "; GPU=0; Handle=0x55d77efbb970; StreamId=(nil) (defaultStream).\n\n\n";
  return out;
}

/// What cuDNN 9 writes behind each call.
inline std::string cudnn_status(const std::string& function,
                                const std::string& status = "SUCCESS") {
  return cudnn_call(function, value("status", "cudnnStatus_t", "CUDNN_STATUS_" + status + " (0)"));
}

/// A convolution by the older function.
inline std::string conv_call(const dims& x, const dims& w, const dims& y, std::int64_t pad,
                             std::int64_t stride, const std::string& algorithm,
                             const std::string& version = "91900 56",
                             const std::string& math = "DEFAULT_MATH") {
  const dims none;
  return cudnn_call("cudnnConvolutionForward",
                    "handle: type=cudnnHandle_t; streamId=(nil) (defaultStream);\n" +
                        value("alpha", "CUDNN_DATA_FLOAT", "1.000000") + tensor("xDesc", x) +
                        "xData: location=dev; addr=0x7f0000001000;\n" + filter("wDesc", w) +
                        convolution({pad, pad}, {stride, stride}, {1, 1}, x[1] / w[1], math) +
                        value("algo", "cudnnConvolutionFwdAlgo_t",
                              "CUDNN_CONVOLUTION_FWD_ALGO_" + algorithm + " (1)") +
                        value("workSpaceSizeInBytes", "size_t", "4096") +
                        value("beta", "CUDNN_DATA_FLOAT", "0.000000") + tensor("yDesc", y),
                    version);
}

// ---- cudnnBackendExecute ----

/// A tensor of a graph.
inline std::string graph_tensor(const std::string& name, const dims& d, int uid,
                                const std::string& type = "FLOAT", bool channels_last = false,
                                const dims& strides = {}) {
  return nested(
      name, "CUDNN_BACKEND_TENSOR_DESCRIPTOR",
      value("type", "cudnnDataType_t", data_type(type)) +
          number("nbDims", static_cast<std::int64_t>(d.size())) + value("dimA", "int", row(d)) +
          value("strideA", "int", row(strides.empty() ? packed(d, channels_last) : strides)) +
          value("uid", "int64_t", std::to_string(uid)) + value("isVirtual", "bool", "false"));
}

inline std::string operation(const std::string& name, const std::string& members) {
  return nested("operation", "CUDNN_BACKEND_OPERATION_" + name + "_DESCRIPTOR", members);
}

inline std::string graph_window(const dims& begin, const dims& end, const dims& strides) {
  return nested("convDesc", "CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR",
                value("computeType", "cudnnDataType_t", data_type("FLOAT")) + number("nbDims", 2) +
                    value("upperPadA", "int", row(end)) + value("lowerPadA", "int", row(begin)) +
                    value("strideA", "int", row(strides)) +
                    value("dilationA", "int", row(dims(strides.size(), 1))));
}

/// `mode` of x (and of b where it is not empty) to y.
inline std::string pointwise(const std::string& mode, const std::string& x, const std::string& b,
                             const std::string& y, const std::string& more = {}) {
  return operation(
      "POINTWISE",
      nested("pwDesc", "CUDNN_BACKEND_POINTWISE_DESCRIPTOR",
             value("mode", "cudnnPointwiseMode_t", "CUDNN_POINTWISE_" + mode + " (0)") + more) +
          x + b + y + value("alpha1", "double", "1"));
}

/// The execution of a plan with this graph.
inline std::string execute(const std::string& operations, const std::string& engine = "41",
                           const std::string& knobs = "", const std::string& notes = "",
                           const std::string& version = "91900 56") {
  const std::string graph =
      "opGraph: type=CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:\n" + deeper(operations);
  const std::string plan =
      nested("engine", "CUDNN_BACKEND_ENGINE_DESCRIPTOR",
             graph + number("engine_id", std::stoi(engine)) +
                 "knobDesc: type=cudnnBackendDescriptor_t:\n" + deeper(knobs) +
                 "numericalNotes: type=cudnnBackendDescriptor_t:\n" + deeper(notes) +
                 value("behaviorNotes", "cudnnBackendDescriptor_t", "NULL_PTR"));
  return cudnn_call("cudnnBackendExecute",
                    value("handle", "cudnnHandle_t", "NULL_PTR") +
                        nested("executionPlan", "CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
                               nested("engcfg", "CUDNN_BACKEND_ENGINECFG_DESCRIPTOR", plan)) +
                        nested("variantPack", "CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
                               "Uid=10: location=dev; addr=0x7f0000001000;\n"),
                    version);
}

// ---- cuBLAS and cublasLt ----

inline std::string cublas_call(const std::string& function, const std::string& arguments,
                               const std::string& math = "CUBLAS_DEFAULT_MATH",
                               const std::string& version = "v13.1.0") {
  std::string out = "I! cuBLAS (" + version + ") function cublasStatus_t " + function +
                    "(cublasHandle_t, int) called:\n";
  std::istringstream in(arguments);
  for (std::string line; std::getline(in, line);)
    out += "i!  " + line + '\n';
  out += "i! Time: 2026-01-02T03:04:05 elapsed from start 0.016667 minutes or 1.000000 seconds\n";
  out += "i!Process=4242; Thread=140653596613504; GPU=0; Handle=POINTER (IN HEX:0x0x2d3c1100); "
         "StreamId=POINTER (IN HEX:0x(nil)) (defaultStream); MathMode=" +
         math + "\n";
  return out + "i! COMPILED WITH: GNU GCC/G++ / 8.5.0\n";
}

/// `name: type=T; val=V` as cuBLAS writes it, without a semicolon at the end.
inline std::string argument(const std::string& name, const std::string& v) {
  return name + ": type=SOME TYPE; val=" + v + '\n';
}

inline std::string gemm_sizes(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto operation_of = [](bool t) { return t ? "CUBLAS_OP_T(1)" : "CUBLAS_OP_N(0)"; };
  return argument("transa", operation_of(ta)) + argument("transb", operation_of(tb)) +
         argument("m", std::to_string(m)) + argument("n", std::to_string(n)) +
         argument("k", std::to_string(k)) + argument("lda", "1") + argument("ldb", "1");
}

/// A product of column-major matrices by cublasLt.
inline std::string cublaslt_line(const std::string& function, const std::string& a,
                                 const std::string& b, const std::string& d,
                                 const std::string& compute, const std::string& algorithm,
                                 const std::string& beta = "0",
                                 const std::string& level = "Trace") {
  return "[2026-01-02 03:04:05][cublasLt][4242][" + level + "][" + function +
         "] A=0X7F8EB6002300 Adesc=[" + a + "] B=0X7F8EB6001B00 Bdesc=[" + b +
         "] C=0X7F8EB6003200 Cdesc=[" + d + "] D=0X7F8EB6003200 Ddesc=[" + d + "] computeDesc=[" +
         compute + "] algo=[" + algorithm +
         "] workSpace=0X0 workSpaceSizeInBytes=1048576 beta=" + beta + " outOfPlace=0 stream=0X0\n";
}

/// The log that a text is.
inline benanza::trace::call_log read(const std::string& text) {
  std::istringstream in(text);
  return benanza::trace::read_log(in, "a.log");
}

/// The only call of a log of one.
inline benanza::trace::call only(const std::string& text) {
  const benanza::trace::call_log l = read(text);
  if (l.entries.size() != 1) throw benanza::error("not one call");
  return l.at(l.entries[0]);
}

/// The name of the layer of a call; its remark in brackets where there is none.
inline std::string layer_of(const benanza::trace::call& c) {
  return c.layer ? benanza::op::name(*c.layer) : "(" + c.remark + ")";
}

} // namespace log_text
