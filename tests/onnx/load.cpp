// SPDX-License-Identifier: Apache-2.0
// Is every file that is no model refused in one line that helps, and are weights never read?
#include "text_model.hpp"

#include <filesystem>
#include <fstream>
#include <random>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace fs = std::filesystem;

namespace {
/// A folder that is gone at the end of the test.
struct scratch {
  fs::path at = fs::temp_directory_path() / ("benanza_load_" + std::to_string(getpid()));
  scratch() { fs::create_directories(at); }
  ~scratch() { fs::remove_all(at); }
  fs::path file(const std::string& name, std::string_view bytes) const {
    std::ofstream(at / name, std::ios::binary) << bytes;
    return at / name;
  }
};

std::string load_refusal(const fs::path& p) {
  return refusal([&] { bonnx::load(p); });
}

std::string relu_bytes() {
  return text_model(13, "float[1,8] x", "y = Relu(x)").SerializeAsString();
}

onnx::TensorProto weight(const std::string& name, std::int64_t n) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(n);
  t.set_raw_data(std::string(static_cast<std::size_t>(n) * 4, 'w'));
  return t;
}
} // namespace

TEST_CASE("load: a file that is no model is refused by what it is") {
  const scratch s;
  CHECK_SAYS(load_refusal(s.at / "absent.onnx"), "no such file");
  CHECK_SAYS(load_refusal(s.at), "folder, not a file");
  CHECK_SAYS(load_refusal(s.file("a", "")), "empty");
  CHECK_SAYS(load_refusal(s.file("b", "version https://git-lfs.github.com/spec/v1\noid sha256:1")),
             "git-LFS pointer");
  CHECK_SAYS(load_refusal(s.file("c", "\n<!DOCTYPE html><html>")), "web page");
  CHECK_SAYS(load_refusal(s.file("c2", "<html><body>")), "web page");
  CHECK_SAYS(load_refusal(s.file("d", "\x1f\x8b\x08 etc")), "compressed");
  CHECK_SAYS(load_refusal(s.file("e", std::string_view("PK\x03\x04zip", 7))), "compressed");
  CHECK_SAYS(load_refusal(s.file("e2", std::string_view("PK\x03\x04 model/data.pkl", 19))),
             "PyTorch's");
  CHECK_SAYS(load_refusal(s.file("e3", std::string_view("\x18\0\0\0ORTM etc", 12))), ".ort");
  CHECK_SAYS(load_refusal(s.file("e4", "    TFL3 etc")), "tf2onnx");
  CHECK_SAYS(load_refusal(s.file("e5", "\x80\x02}q\x01.")), "pickle");
  CHECK_SAYS(load_refusal(s.file("e6", std::string_view("\x40\0\0\0\0\0\0\0{\"w\":", 13))),
             "safetensors");
  CHECK_SAYS(load_refusal(s.file("e7", "<ir_version: 8>\ng (float x) => (float y) {}")), "as text");
  CHECK_SAYS(load_refusal(s.file("e8", "ir_version: 8\ngraph {}")), "as text");
  CHECK_SAYS(load_refusal(s.file("e9", weight("w", 3).SerializeAsString())), "a single tensor");
  CHECK_SAYS(load_refusal(s.file("f", "hello, world")), "not an ONNX model, or it is cut off");
  CHECK_SAYS(load_refusal(s.file("g", std::string(1000, '\0'))), "not an ONNX model");
  CHECK_SAYS(load_refusal(s.file("h", std::string(1000, '\xff'))), "not an ONNX model");
  CHECK_SAYS(load_refusal("/dev/null"), "cannot be read");
}

TEST_CASE("load: a file cut off anywhere is refused, or is a model") {
  const scratch s;
  const std::string whole = relu_bytes();
  REQUIRE(load_refusal(s.file("whole.onnx", whole)).empty());
  int refused = 0;
  for (std::size_t n = 0; n < whole.size(); ++n)
    refused += !load_refusal(s.file("part.onnx", whole.substr(0, n))).empty();
  CHECK(refused > static_cast<int>(whole.size()) * 3 / 4);
}

TEST_CASE("load: random bytes never get in") {
  const scratch s;
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(1 + random() % 300, ' ');
    for (char& c : bytes)
      c = static_cast<char>(random());
    CHECK_FALSE(load_refusal(s.file("r", bytes)).empty());
  }
}

TEST_CASE("check: what no graph can be made of is refused") {
  const auto refused = [](auto change) {
    auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
    change(m);
    return refusal([&] { bonnx::from(std::move(m)); });
  };
  CHECK(refused([](auto&) {}).empty());
  CHECK_SAYS(refused([](auto& m) { m.clear_graph(); }), "no graph");
  CHECK_SAYS(refused([](auto& m) { m.clear_ir_version(); }), "no ir_version");
  CHECK_SAYS(refused([](auto& m) { m.mutable_graph()->clear_node(); }), "no nodes");
  CHECK_SAYS(refused([](auto& m) { m.clear_opset_import(); }), "no opset_import");
  for (std::int64_t bad : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{INT64_MAX}})
    CHECK_SAYS(refused([&](auto& m) { m.mutable_opset_import(0)->set_version(bad); }),
               "which does not exist");
  CHECK_SAYS(refused([](auto& m) {
               auto t = weight("w", 8);
               t.mutable_raw_data()->resize(7);
               *m.mutable_graph()->add_initializer() = t;
             }),
             "'w' holds 7 bytes, its dims ask for 32");
  CHECK_SAYS(refused([](auto& m) {
               auto& t = *m.mutable_graph()->add_initializer();
               t = weight("w", 8);
               t.clear_raw_data();
               t.add_float_data(1);
             }),
             "'w' holds 1 values, its dims ask for 8");
  CHECK_SAYS(refused([](auto& m) {
               auto t = weight("w", 8);
               t.set_dims(0, -1);
               *m.mutable_graph()->add_initializer() = t;
             }),
             "negative dim");
  CHECK_SAYS(refused([](auto& m) {
               auto t = weight("w", 8);
               t.set_data_type(999);
               *m.mutable_graph()->add_initializer() = t;
             }),
             "element type 999");
  CHECK_SAYS(refused([](auto& m) {
               auto t = weight("w", 1);
               t.set_dims(0, INT64_C(1) << 62);
               t.add_dims(8);
               *m.mutable_graph()->add_initializer() = t;
             }),
             "more than 2^56 elements");
  CHECK_SAYS(refused([](auto& m) {
               auto* g = m.mutable_graph();
               for (int i = 0; i < 40; ++i) {
                 auto* a = g->mutable_node(0)->add_attribute();
                 a->set_name("body");
                 a->mutable_g()->add_node()->set_op_type("If");
                 g = a->mutable_g();
               }
             }),
             "nested more than 32 deep");
}

TEST_CASE("a refusal is one line, however hostile the names") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  m.mutable_graph()->mutable_node(0)->set_input(0, "x\"); system(\"id\n*/ ... \x01");
  const std::string said = refusal([&] { bonnx::from(std::move(m)); });
  CHECK_SAYS(said, "which nothing produces");
  for (char c : said)
    CHECK(static_cast<unsigned char>(c) >= 0x20);
}

TEST_CASE("structure: the same with weights and without, another for another model") {
  auto m = text_model(13, "float[N,8] x", "y = LeakyRelu<alpha = 0.5>(x)");
  *m.mutable_graph()->add_initializer() = weight("w", 1000);
  const auto structure = [](const onnx::ModelProto& one) {
    onnx::ModelProto read;
    REQUIRE(read.ParseFromString(bonnx::without_payloads(one.SerializeAsString())));
    CHECK(bonnx::structure_of(read) == bonnx::structure_of(one));
    return bonnx::structure_of(read);
  };
  const std::string whole = structure(m);
  CHECK(whole.size() == 64);
  const auto changed = [&](auto change) {
    auto other = m;
    change(other);
    return structure(other) != whole;
  };
  CHECK_FALSE(changed([](auto& o) {
    auto& t = *o.mutable_graph()->mutable_initializer(0);
    t.clear_raw_data();
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    o.set_producer_name("somebody");
    o.mutable_graph()->mutable_node(0)->set_name("called");
  }));
  CHECK(changed([](auto& o) { o.mutable_graph()->mutable_initializer(0)->set_dims(0, 999); }));
  CHECK(changed(
      [](auto& o) { o.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_f(0.25f); }));
  CHECK(changed([](auto& o) { o.mutable_graph()->mutable_node(0)->set_op_type("Elu"); }));
  CHECK(changed([](auto& o) { o.mutable_opset_import(0)->set_version(14); }));
  CHECK(changed([](auto& o) {
    auto& type = *o.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    type.mutable_shape()->mutable_dim(0)->set_dim_param("M");
  }));
  // A graph that is resolved has it.
  CHECK(bonnx::resolve(bonnx::from(m), two).structure == whole);
}

TEST_CASE("wire: payloads over a limit are left out, all else is kept") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  auto& g = *m.mutable_graph();
  *g.add_initializer() = weight("small", 256);
  *g.add_initializer() = weight("large", 257);
  auto& packed = *g.add_initializer();
  packed.set_name("packed");
  packed.set_data_type(onnx::TensorProto::FLOAT);
  packed.add_dims(1000);
  for (int i = 0; i < 1000; ++i)
    packed.add_float_data(1);
  auto& whole = *g.add_initializer();
  whole.set_name("whole");
  whole.set_data_type(onnx::TensorProto::INT64);
  whole.add_dims(4096);
  whole.set_raw_data(std::string(32768, '\1'));
  auto& attribute = *g.mutable_node(0)->add_attribute();
  attribute.set_name("value");
  *attribute.mutable_t() = weight("inner", 300);
  *attribute.mutable_g()->add_initializer() = weight("deep", 300);

  const std::string filtered = bonnx::without_payloads(m.SerializeAsString());
  onnx::ModelProto out;
  REQUIRE(out.ParseFromString(filtered));
  const auto& tensors = out.graph().initializer();
  CHECK(tensors[0].SerializeAsString() == g.initializer(0).SerializeAsString());
  CHECK(tensors[1].raw_data().empty());
  CHECK(bonnx::stored_elsewhere(tensors[1]));
  CHECK(tensors[1].dims(0) == 257);
  CHECK(tensors[2].float_data().empty());
  CHECK(tensors[3].raw_data().size() == 32768);
  CHECK(bonnx::stored_elsewhere(out.graph().node(0).attribute(0).t()));
  CHECK(bonnx::stored_elsewhere(out.graph().node(0).attribute(0).g().initializer(0)));
  CHECK(filtered.size() < 36000);

  const std::string small = relu_bytes();
  CHECK(bonnx::without_payloads(small) == small);
}

TEST_CASE("wire: what is not read is left out, however large; too much of the rest is refused") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  const std::string wanted = m.SerializeAsString();
  m.set_doc_string("remark");
  m.mutable_graph()->set_doc_string("remark");
  m.mutable_graph()->mutable_node(0)->set_doc_string("remark");
  m.add_metadata_props()->set_key("k");
  m.add_training_info();
  CHECK(bonnx::without_payloads(m.SerializeAsString()) == wanted);

  // A field of 1 GiB, of which no page but the first is ever read or written.
  constexpr std::size_t size = std::size_t{1} << 30;
  const scratch s;
  const auto large = [&](char field, const std::string& behind) {
    const std::string tag{field, '\x80', '\x80', '\x80', '\x80', '\4'};
    const auto file = s.file("large.onnx", tag);
    std::filesystem::resize_file(file, tag.size() + size);
    std::ofstream(file, std::ios::app | std::ios::binary) << behind;
    return load_refusal(file);
  };
  CHECK(large('\x7a', wanted).empty()); // 15, which a model does not have
  CHECK_SAYS(large('\x12', wanted), "more than 256 MiB besides its weights"); // producer_name

  std::string nodes("\x0a\0", 2); // empty ones: two bytes each here, a hundred in memory
  while (nodes.size() < (std::size_t{1} << 24))
    nodes += nodes;
  const std::string length{'\x80', '\x80', '\x80', '\x08'};
  CHECK_SAYS(load_refusal(s.file("nodes.onnx", "\x3a" + length + nodes)), "besides its weights");
}

TEST_CASE("wire: what is no protobuf gives nothing") {
  CHECK(bonnx::without_payloads("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f").empty());
  CHECK(bonnx::without_payloads(std::string(40, '\xff')).empty());
  CHECK(bonnx::without_payloads("\x3b").empty());
  std::string deep = "\x2a\x00"; // attributes in graphs in attributes ...
  for (int i = 0; i < 400; ++i) {
    const auto wrap = [&](char tag) {
      std::string length;
      std::size_t n = deep.size();
      for (; n >= 128; n >>= 7)
        length += static_cast<char>(n | 128);
      length += static_cast<char>(n);
      deep = tag + length + deep;
    };
    wrap('\x2a');                     // Node.attribute
    wrap('\x0a');                     // Graph.node
    wrap(i == 399 ? '\x3a' : '\x32'); // Model.graph or Attribute.g
  }
  CHECK(bonnx::without_payloads(deep).empty());
}

TEST_CASE("tensor: payloads of every type are decoded") {
  const auto decoded = [](int type, std::string raw, std::int64_t n) {
    onnx::TensorProto t;
    t.set_data_type(type);
    t.add_dims(n);
    t.set_raw_data(std::move(raw));
    return bonnx::decode(t);
  };
  using tensor = onnx::TensorProto;
  CHECK(decoded(tensor::INT64, std::string(8, '\xff'), 1)->integers[0] == -1);
  CHECK(decoded(tensor::INT32, std::string("\xfe\xff\xff\xff", 4), 1)->integers[0] == -2);
  CHECK(decoded(tensor::UINT32, std::string("\xfe\xff\xff\xff", 4), 1)->integers[0] == 4294967294);
  CHECK(decoded(tensor::INT8, "\x80", 1)->integers[0] == -128);
  CHECK(decoded(tensor::UINT8, "\x80", 1)->integers[0] == 128);
  CHECK(decoded(tensor::INT16, "\xff\xff", 1)->integers[0] == -1);
  CHECK(decoded(tensor::UINT16, "\xff\xff", 1)->integers[0] == 65535);
  CHECK(decoded(tensor::BOOL, std::string("\0\1", 2), 2)->integers[1] == 1);
  CHECK(decoded(tensor::FLOAT16, std::string("\x00\x3e", 2), 1)->reals[0] == 1.5);
  CHECK(decoded(tensor::FLOAT16, std::string("\x01\x80", 2), 1)->reals[0] < 0);
  CHECK(decoded(tensor::FLOAT16, std::string("\x00\x7c", 2), 1)->reals[0] ==
        std::numeric_limits<double>::infinity());
  CHECK(decoded(tensor::BFLOAT16, std::string("\xc0\x3f", 2), 1)->reals[0] == 1.5);
  CHECK(decoded(tensor::FLOAT, std::string("\0\0\xc0\x3f", 4), 1)->reals[0] == 1.5);
  CHECK(decoded(tensor::DOUBLE, std::string("\0\0\0\0\0\0\xf8\x3f", 8), 1)->reals[0] == 1.5);
  // Elements of 4 and 2 bits: numbers that this libonnx has no name for.
  constexpr int uint4 = 21, int4 = 22, int2 = 26;
  CHECK(decoded(int4, "\xe7\x0f", 3)->integers == std::vector<std::int64_t>{7, -2, -1});
  CHECK(decoded(uint4, "\xe7\x0f", 3)->integers == std::vector<std::int64_t>{7, 14, 15});
  CHECK(decoded(int2, "\xe4", 4)->integers == std::vector<std::int64_t>{0, 1, -2, -1});
  CHECK_FALSE(decoded(int4, "\xe7\x0f", 5));
  onnx::TensorProto listed;
  listed.set_data_type(int4);
  listed.add_dims(3);
  listed.add_int32_data(0xe7);
  CHECK_FALSE(bonnx::decode(listed));
  listed.add_int32_data(0x0f);
  CHECK(bonnx::decode(listed)->integers == std::vector<std::int64_t>{7, -2, -1});
  CHECK(decoded(tensor::INT64, "", 0)->integers.empty());
  CHECK_FALSE(decoded(tensor::INT64, "1234567", 1));
  CHECK_FALSE(decoded(tensor::INT64, "", 1));
  CHECK_FALSE(decoded(tensor::INT64, std::string(4097 * 8, '\0'), 4097));
  CHECK_FALSE(decoded(tensor::COMPLEX64, std::string(8, '\0'), 1));
}

TEST_CASE("tensor: element types have ONNX's names and our storage") {
  CHECK(bonnx::type_name(1) == "float");
  CHECK(bonnx::type_name(999) == "of type number 999");
  CHECK(bonnx::element_type_called("INT64") == 7);
  CHECK(bonnx::element_type_called("bfloat16") == 16);
  CHECK(bonnx::element_type_called("flo") == 0);
  CHECK(bonnx::element_type_called("") == 0);
  CHECK(bonnx::to_dtype(7) == benanza::dtype::s64);
  CHECK(bonnx::to_dtype(10) == benanza::dtype::real);
  CHECK(bonnx::to_dtype(9) == benanza::dtype::boolean);
  CHECK_THROWS_AS(bonnx::to_dtype(8), benanza::error);
  CHECK(bonnx::stored_bytes(22, 3) == 2); // two int4 a byte
  CHECK(bonnx::stored_bytes(25, 5) == 2);
  CHECK(bonnx::stored_bytes(8, 3) == 0);
  CHECK(bonnx::stored_bytes(11, std::int64_t{1} << 59) == std::int64_t{1} << 62); // more in bits
  CHECK(bonnx::element_type_called("float8e8m0") == 24);
  CHECK(bonnx::type_name(26) == "int2");
  CHECK(bonnx::to_dtype(21) == benanza::dtype::u4);
  CHECK(bonnx::to_dtype(18) == benanza::dtype::e4m3z);
  CHECK(bonnx::to_dtype(17) == benanza::dtype::real);
}

TEST_CASE("a source can be copied and outlives where it came from") {
  bonnx::source copy = [] {
    const bonnx::source s = bonnx::from(text_model(13, "float[1,8] x", "y = Relu(x)"), "net");
    return s;
  }();
  CHECK(copy.name() == "net");
  CHECK(bonnx::resolve(copy, {}).name == "net@batch=1");
  CHECK(bonnx::resolve(copy, {.name = "other"}).name == "other@batch=1");
}
