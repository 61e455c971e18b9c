// SPDX-License-Identifier: Apache-2.0
// ONNX files, through all that benanza_generate does with them. Changed ones are changed field by
// field, so that they are still models.
#include <onnx/defs/parser.h> // before <sys/mman.h>

#include "generator/emit.hpp"
#include "generator/stats.hpp"
#include "generator/zoo/zoo.hpp"
#include "mutate.hpp"

#include <analyzer/report/tables/formats.hpp>
#include <benanza/model/fuse.hpp>
#include <benanza/model/unique.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>

#include <google/protobuf/message.h>

namespace {
namespace bonnx = benanza::onnx;
namespace pb = google::protobuf;

void take_onnx(std::string_view bytes) {
  ::onnx::ModelProto m;
  bonnx::detail::refuse_other_files(bytes, "model.onnx");
  if (!bonnx::detail::parse_model(bonnx::without_payloads(bytes), m))
    throw benanza::error("the file is not an ONNX model");
  const bonnx::source source(std::move(m), "model.onnx", "model");
  bonnx::options asked{.batch = 1, .sizes = bonnx::data_dependent::largest};
  asked.most_opened = 20'000; // what is refused above it takes sanitizers half a minute
  std::vector<benanza::model::graph> graphs{bonnx::resolve(source, asked)};
  const auto stats = benanza::generator::stats_answer({graphs.data(), 1});
  fuzz::check_shown(benanza::report::tables::text_of(stats));
  (void)benanza::report::tables::json_of(stats);
  for (auto& fused : benanza::model::fused_forms(graphs[0], benanza::model::default_patterns()))
    graphs.push_back(std::move(fused));
  const benanza::model::catalogue all = benanza::model::unique_layers(graphs);
  for (const auto& [name, text] : benanza::generator::emit(all.layers, graphs, {}))
    fuzz::check_shown(text);
}

/// A model whose nodes call functions, hold graphs, and make and read sequences.
std::string nested_sample() {
  ::onnx::ModelProto m;
  ::onnx::OnnxParser::Parse(m, R"(<ir_version: 8, opset_import: ["" : 13, "f" : 1]>
    graph (float[2,8] x, bool u) => (float[2,8] y)
    <int64 n = {2}, bool t = {1}, int64[1] k = {1}, int64 z = {0}> {
      a = f.outer<size = 3>(x)
      b, s = Loop<body = loop (int64 i, bool go, float[2,8] p) => (bool more, float[2,8] q,
                                                                   float[2,8] r) {
        more = Identity(go) q = Add(p, a) r = f.inner<width = 5>(q) }>(n, t, x)
      c = If<then_branch = yes () => (float[2,8] d) { d = Exp(b) },
             else_branch = no () => (float[2,8] e) { e = Neg(b) }>(u)
      g = SplitToSequence(c, z) h = SequenceInsert(g, c) l = SequenceAt(h, z)
      v = NonZero(l) y = Sub(c, b)
    })");
  for (const char* text : {R"(<opset_import: ["" : 13, "f" : 1], domain: "f">
           outer <size> (x) => (r) { a = f.inner<width: int = @size>(x) r = f.inner(a) })",
                           R"(<opset_import: ["" : 13], domain: "f">
           inner <width> (x) => (r) { a = Relu(x) r = Concat<axis: int = @width>(a) })"})
    ::onnx::OnnxParser::Parse(*m.add_functions(), text);
  return m.SerializeAsString();
}

/// Small models: LeNet, and where they are installed those with which ONNX tests its operators.
std::vector<std::string> onnx_samples() {
  std::vector<std::string> out{benanza::generator::zoo::build("lenet").SerializeAsString(),
                               nested_sample()};
  const std::filesystem::path folder = "/usr/share/libonnx-testdata/data";
  std::error_code none;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::recursive_directory_iterator at(folder, none), end; at != end; ++at)
    if (at->path().filename() == "model.onnx" && at->file_size() < 2000 &&
        at->path().native().find("_empty") == std::string::npos && // an input's 0 is asked for
        at->path().parent_path().filename() != "test_tril_zero")
      files.push_back(at->path());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = files[i].parent_path().filename();
    bool nested = i % 4 == 0;
    for (const char* word : {"loop", "_if", "scan", "sequence", "optional"})
      nested = nested || name.find(word) != std::string::npos;
    if (nested) out.push_back(fuzz::bytes_of(files[i]));
  }
  return out;
}

/// A message and all that it holds.
void messages_in(pb::Message& m, std::vector<pb::Message*>& all) {
  all.push_back(&m);
  std::vector<const pb::FieldDescriptor*> fields;
  m.GetReflection()->ListFields(m, &fields);
  for (const pb::FieldDescriptor* f : fields) {
    if (f->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!f->is_repeated()) messages_in(*m.GetReflection()->MutableMessage(&m, f), all);
    for (int i = 0; f->is_repeated() && i < m.GetReflection()->FieldSize(m, f); ++i)
      messages_in(*m.GetReflection()->MutableRepeatedMessage(&m, f, i), all);
  }
}

std::int64_t bad_number(fuzz::dice& d) {
  constexpr std::array<std::int64_t, 10> numbers{
      0, 1, -1, 2, 7, 255, std::int64_t{1} << 31, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return numbers[fuzz::below(d, numbers.size())];
}

/// One field of a message gets another value, or is dropped, doubled or moved.
void change_field(pb::Message& m, const std::vector<pb::Message*>& all, fuzz::dice& d) {
  const pb::Descriptor& type = *m.GetDescriptor();
  const pb::Reflection& r = *m.GetReflection();
  if (type.field_count() == 0) return;
  std::vector<const pb::FieldDescriptor*> set;
  r.ListFields(m, &set);
  const auto any = static_cast<std::size_t>(type.field_count());
  const pb::FieldDescriptor* f = !set.empty() && fuzz::below(d, 4) != 0
                                     ? set[fuzz::below(d, set.size())]
                                     : type.field(static_cast<int>(fuzz::below(d, any)));
  const int count = f->is_repeated() ? r.FieldSize(m, f) : 0;
  if (count > 0 && fuzz::below(d, 3) == 0) {
    if (fuzz::below(d, 2) == 0)
      r.SwapElements(&m, f, static_cast<int>(fuzz::below(d, static_cast<std::size_t>(count))), 0);
    else
      r.RemoveLast(&m, f);
    return;
  }
  if (fuzz::below(d, 8) == 0) return r.ClearField(&m, f);
  const std::int64_t n = bad_number(d);
  const bool add = f->is_repeated();
  switch (f->cpp_type()) {
  case pb::FieldDescriptor::CPPTYPE_INT64: add ? r.AddInt64(&m, f, n) : r.SetInt64(&m, f, n); break;
  case pb::FieldDescriptor::CPPTYPE_INT32: {
    const auto small = static_cast<std::int32_t>(n % 24);
    add ? r.AddInt32(&m, f, small) : r.SetInt32(&m, f, small);
    break;
  }
  case pb::FieldDescriptor::CPPTYPE_FLOAT: {
    const auto real = static_cast<float>(n);
    add ? r.AddFloat(&m, f, real) : r.SetFloat(&m, f, real);
    break;
  }
  case pb::FieldDescriptor::CPPTYPE_ENUM: {
    const auto choices = static_cast<std::size_t>(f->enum_type()->value_count());
    const auto* value = f->enum_type()->value(static_cast<int>(fuzz::below(d, choices)));
    add ? r.AddEnum(&m, f, value) : r.SetEnum(&m, f, value);
    break;
  }
  case pb::FieldDescriptor::CPPTYPE_STRING: {
    // Another text of the same place in some other message, as names are what holds a model
    // together.
    std::string text;
    const pb::Message& other = *all[fuzz::below(d, all.size())];
    if (other.GetDescriptor() == &type && !f->is_repeated())
      text = r.GetString(other, f);
    else if (other.GetDescriptor() == &type && r.FieldSize(other, f) > 0)
      text = r.GetRepeatedString(other, f, 0);
    if (fuzz::below(d, 4) == 0) text = fuzz::spoil(text, {"\x1b[31m", "x", "*/", "\"", "\\\n"}, d);
    if (!add) return r.SetString(&m, f, text);
    if (count > 0 && fuzz::below(d, 2) == 0)
      return r.SetRepeatedString(
          &m, f, static_cast<int>(fuzz::below(d, static_cast<std::size_t>(count))), text);
    r.AddString(&m, f, text);
    break;
  }
  case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
    std::vector<const pb::Message*> same;
    for (const pb::Message* other : all)
      if (other->GetDescriptor() == f->message_type()) same.push_back(other);
    if (same.empty()) return;
    const std::string copy = same[fuzz::below(d, same.size())]->SerializeAsString();
    (add ? r.AddMessage(&m, f) : r.MutableMessage(&m, f))->ParseFromString(copy);
    break;
  }
  default: break;
  }
}

std::string spoil_model(const std::string& bytes, fuzz::dice& d) {
  ::onnx::ModelProto m;
  if (fuzz::below(d, 10) == 0 || !m.ParseFromString(bytes) || m.ByteSizeLong() > 100'000)
    return fuzz::spoil(bytes, {}, d);
  for (std::size_t left = 1 + fuzz::below(d, 4); left > 0; --left) {
    std::vector<pb::Message*> all;
    messages_in(m, all);
    change_field(*all[fuzz::below(d, all.size())], all, d);
  }
  return m.SerializeAsString();
}

const fuzz::registration onnx_target{
    {.name = "onnx",
     .take = take_onnx,
     .samples = onnx_samples,
     .words = {"Conv", "Gemm", "If", "Loop", "Reshape", "Split", "Scan", "SequenceAt"},
     .change = spoil_model}};
} // namespace
