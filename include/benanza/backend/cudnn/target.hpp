// SPDX-License-Identifier: Apache-2.0
// For which GPU are algorithms listed? One of this machine, or one that is only described: cuDNN
// takes a text in place of a device, and needs neither a driver nor a GPU for that. Engines that
// are compiled at run time are listed only where a library called libcuda can be loaded; the CUDA
// toolkit's stub of it will do. A text that the library would not survive is refused before.
//
//   target t = described_target("h200");   target mine = this_gpu(handle);   mine.json
#pragma once

#include "../../core/nesting.hpp"
#include "../../core/version.hpp"
#include "descriptor.hpp"
#include "device_table.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <system_error>

namespace benanza::backend::cudnn {

/// A GPU to list algorithms for.
struct target {
  std::string name{}; ///< as it was asked for
  std::string json{}; ///< its description
  std::shared_ptr<const descriptor> properties{};
  cudnnHandle_t handle = nullptr; ///< of this machine's GPU; null: only described
};

namespace detail {
/// The folder of the library that is really loaded; empty if that is not known.
inline std::filesystem::path library_folder() {
  Dl_info where{};
  const bool known = dladdr(reinterpret_cast<const void*>(&cudnnGetVersion), &where) != 0;
  return known && where.dli_fname != nullptr ? std::filesystem::path(where.dli_fname).parent_path()
                                             : std::filesystem::path{};
}

/// Bytes of the longest name or text of a JSON, as written there.
inline std::size_t longest_text(std::string_view json) {
  std::size_t longest = 0, start = 0;
  bool text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (text && json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      if (text) longest = std::max(longest, i - start);
      text = !text;
      start = i + 1;
    }
  }
  return text ? std::max(longest, json.size() - start) : longest;
}
} // namespace detail

/// cuDNN's, as "9.13.1".
inline std::string library_version() {
  return version_of_number(static_cast<long>(cudnnGetVersion()), 100);
}

/// Loads the run-time compiler for good, next to the library or by its name: the library would load
/// and unload it for each graph, which is most of the time that a list takes.
inline bool keep_compiler() {
  static const bool kept = [] {
    const std::string name =
        "libnvrtc.so." + std::to_string(cudnnGetCudartVersion() / 1000); // of the same CUDA
    for (const auto& file : {detail::library_folder() / name, std::filesystem::path(name)})
      if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return true;
    return false;
  }();
  return kept;
}

/// Makes the engines that are compiled at run time be listed where there is no driver: loads the
/// toolkit's stub under the driver's name, for this process alone. False where neither is found.
inline bool load_driver_or_stub() {
  static const bool loaded = [] {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
    namespace fs = std::filesystem;
    std::vector<fs::path> folders;
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
      if (const char* at = std::getenv(variable)) folders.emplace_back(fs::path(at) / "lib64");
    folders.push_back(detail::library_folder());
#ifdef BENANZA_CUDA_LIBRARIES
    folders.emplace_back(BENANZA_CUDA_LIBRARIES);
#endif
    for (const fs::path& f : folders)
      if (dlopen((f / "stubs" / "libcuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr)
        return true;
    return false;
  }();
  return loaded;
}

/// A GPU described by a text.
inline target described_by(const std::string& json, const std::string& name) {
  constexpr std::size_t room = 256; // that cuDNN has for a GPU's name; it does not look
  constexpr const char* remedy = "write one with benanza_bench --describe-device";
  refuse_nested(json, name);
  if (detail::longest_text(json) >= room)
    throw error("a name in the description is too long", name, remedy);
  load_driver_or_stub();
  keep_compiler();
  auto d = std::make_shared<descriptor>(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  try {
    d->set_all(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
               std::span<const char>(json.c_str(), json.size() + 1))
        .finalize("the description of a GPU");
  } catch (const refusal& e) {
    throw error(e.what(), name, remedy);
  }
  return {name, json, std::move(d), nullptr};
}

/// A GPU of the table, or one whose description a file holds.
inline target described_target(const std::string& name) {
  if (const auto known = find_device(name)) return described_by(device_json(*known), name);
  constexpr std::uintmax_t longest = 1 << 20; // real ones have 1 KiB
  std::error_code none;
  const bool file = std::filesystem::is_regular_file(name, none);
  std::ifstream in;
  if (file) in.open(name, std::ios::binary);
  if (!file || !in)
    throw error("no GPU is called \"" + name + "\", and no file that can be read", "--target",
                "take one of " + device_names() + ", or a file with a description");
  if (std::filesystem::file_size(name, none) > longest)
    throw error("the file is too long for the description of a GPU", name,
                "write one with benanza_bench --describe-device");
  return described_by({std::istreambuf_iterator<char>(in), {}}, name);
}

/// The GPU of a handle.
inline target this_gpu(cudnnHandle_t handle) {
  keep_compiler();
  auto d = std::make_shared<descriptor>(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  d->set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle).finalize("the description of this GPU");
  const auto text = d->several<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, 1 << 16);
  return {"this GPU", std::string(text.data(), strnlen(text.data(), text.size())), std::move(d),
          handle};
}

} // namespace benanza::backend::cudnn
