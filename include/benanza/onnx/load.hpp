// SPDX-License-Identifier: Apache-2.0
// How does a model get in? From a file, of which the weights are never read (nor external data
// opened), or from memory. A `source` holds a model that passed all checks: it can be resolved at
// any number of batch sizes, and copied at no cost.
//
//   onnx::source s = onnx::load("resnet50.onnx");   onnx::from(zoo::build("resnet50-v1"))
#pragma once

#include "order.hpp"
#include "structure.hpp"
#include "wire.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace benanza::onnx {

/// A model that passed all checks, its nodes in a valid order.
class source {
public:
  /// Refuses what is no model; `where` names it in messages, `name` is what people call it.
  source(::onnx::ModelProto m, std::string where, std::string name)
      : held_(std::make_shared<held>(std::move(m), std::move(where), std::move(name))) {}

  const ::onnx::ModelProto& model() const { return held_->model; }
  const program& steps() const { return held_->steps; }
  const std::string& where() const { return held_->where; }
  const std::string& name() const { return held_->name; }
  const std::string& structure() const { return held_->structure; } ///< its hash

private:
  struct held {
    held(::onnx::ModelProto m, std::string w, std::string n)
        : model(std::move(m))
        , where(std::move(w))
        , name(std::move(n)) {
      check(model, where);
      steps = order(model.graph(), where);
      structure = structure_of(model);
    }
    ::onnx::ModelProto model;
    std::string where, name, structure{};
    program steps{};
  };
  std::shared_ptr<const held> held_;
};

namespace detail {
/// A file mapped into memory for reading.
class mapped_file {
public:
  explicit mapped_file(const std::filesystem::path& path) {
    std::error_code bad;
    const auto status = std::filesystem::status(path, bad);
    if (!std::filesystem::exists(status))
      throw error("there is no such file", path.string(), "check the path");
    if (std::filesystem::is_directory(status))
      throw error("this is a folder, not a file", path.string(),
                  "give the .onnx file that it holds");
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (file < 0 || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      if (file >= 0) ::close(file);
      throw error("the file cannot be read", path.string(), "check its permissions");
    }
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ > 0) at_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (at_ == MAP_FAILED) throw error("the file cannot be read", path.string());
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (size_ > 0) ::munmap(at_, size_);
  }
  std::string_view bytes() const { return {static_cast<const char*>(at_), size_}; }

private:
  void* at_ = nullptr;
  std::size_t size_ = 0;
};

/// A kind of file that people take for ONNX, and what to do.
struct other_file {
  std::string_view begins; ///< its first bytes, from `at` on
  std::size_t at;
  std::string_view what, remedy;
};
inline constexpr other_file other_files[] = {
    {"version https://git-lfs", 0, "a git-LFS pointer, not the model itself", "run git lfs pull"},
    {"ORTM", 4, "a model in ONNX Runtime's own format (.ort)", "give the .onnx file that it is of"},
    {"TFL3", 4, "a TensorFlow Lite model", "convert it: python3 -m tf2onnx.convert --tflite FILE"},
    {"GGUF", 0, "a model in llama.cpp's format", "give it to benanza, which reads it"},
    {"\x89HDF", 0, "a Keras model or its weights (HDF5)",
     "convert it: python3 -m tf2onnx.convert --keras FILE"},
    {"\x80\x02", 0, "a pickle of Python's", "export the model: torch.onnx.export"},
    {"\x1f\x8b", 0, "a compressed archive", "unpack it first"},
};

/// Names the files that people take for models.
inline void refuse_other_files(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) throw error("the file is empty", where, "download it again");
  for (const other_file& o : other_files)
    if (bytes.size() > o.at && bytes.substr(o.at).starts_with(o.begins))
      throw error("the file is " + std::string(o.what), where, std::string(o.remedy));
  // A length, then a table in JSON.
  if (bytes.size() > 9 && bytes.substr(5, 5) == std::string_view("\0\0\0{\"", 5))
    throw error("the file holds weights alone (.safetensors)", where,
                "export the model: torch.onnx.export, or optimum-cli export onnx");
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  const std::string_view start = bytes.substr(std::min(first, bytes.size()), 40);
  if (start.starts_with("ir_version:") || (start.starts_with('<') && start.find("ir_version") < 10))
    throw error("the file is ONNX as text", where,
                "write it as .onnx: onnx.save(onnx.load(FILE, 'textproto'), 'model.onnx'), or "
                "onnx.parser.parse_model");
  if (first != std::string_view::npos && bytes[first] == '<' && first + 1 < bytes.size() &&
      (bytes[first + 1] == '!' || bytes[first + 1] == '?' || (bytes[first + 1] | 32) == 'h'))
    throw error("the file is a web page, not a model", where, "download the raw file");
  if (!bytes.starts_with(std::string_view("PK\x03\x04", 4))) return;
  if (bytes.substr(0, 200).find("data.pkl") != std::string_view::npos)
    throw error("the file is PyTorch's", where, "export the model: torch.onnx.export");
  throw error("the file is a compressed archive", where, "unpack it first");
}

/// True for a file that holds one tensor, as ONNX's test data do.
inline bool is_tensor(std::string_view bytes) {
  ::onnx::TensorProto t;
  return bytes.size() < std::size_t{1} << 28 &&
         t.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && t.data_type() > 0;
}

inline bool parse_model(const std::string& bytes, ::onnx::ModelProto& m) {
  if (bytes.empty() || bytes.size() > std::numeric_limits<int>::max()) return false;
  return m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}
} // namespace detail

/// Reads a file; refuses what is no ONNX model.
inline source load(const std::filesystem::path& path) {
  const std::string where = path.string();
  ::onnx::ModelProto m;
  {
    const detail::mapped_file file(path);
    detail::refuse_other_files(file.bytes(), where);
    const bool parsed = detail::parse_model(without_payloads(file.bytes(), where), m);
    if ((!parsed || !m.has_graph()) && detail::is_tensor(file.bytes()))
      throw error("the file is a single tensor", where, "give the model that it is data of");
    if (!parsed)
      throw error("the file is not an ONNX model, or it is cut off", where, "download it again");
  }
  return source(std::move(m), where, path.stem().string());
}

/// Takes a model that is in memory already; `name` is what people call it.
inline source from(::onnx::ModelProto m, std::string name = {}) {
  if (name.empty()) name = m.graph().name().empty() ? "model" : m.graph().name();
  return source(std::move(m), "model " + name, name);
}

} // namespace benanza::onnx
