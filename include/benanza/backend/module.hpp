// SPDX-License-Identifier: Apache-2.0
// How can one program hold two versions of a library, which say the same symbols? Each version's
// backend is compiled into a module that is linked to its own library, and the program itself is
// linked to none. A module's symbols are invisible to others, and errors pass by their names.
//
//   const module_registration here{"onednn-3.2.0", "/folder/benanza_onednn-3.2.0.so"};
#pragma once

#include "concept.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <string>

namespace benanza::backend {

/// The function that a module gives out: makes its library under the name by which cases know it.
using make_library = library*(const char* name);
inline constexpr const char* make_library_symbol = "benanza_make_library";

/// The library of a module. It is looked for next to the program, then where it was built: on
/// another machine another user may have put a file there.
inline std::unique_ptr<library> library_of_module(const std::string& name,
                                                  const std::filesystem::path& built) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path beside = fs::read_symlink("/proc/self/exe", none).parent_path() / built.filename();
  const fs::path& file = fs::exists(beside, none) ? beside : built;
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // stays open to the end
  if (opened == nullptr) {
    const char* why = dlerror();
    throw error("the module of this library cannot be loaded: " +
                    std::string(why != nullptr ? why : "unknown reason"),
                name, "build it again, or put it beside the program");
  }
  const auto make = reinterpret_cast<make_library*>(dlsym(opened, make_library_symbol));
  if (make == nullptr) throw error("this is no module of a benchmark program", file.string());
  return std::unique_ptr<library>(make(name.c_str()));
}

/// Puts a module's backend into the list at start-up.
struct module_registration {
  module_registration(std::string name, std::string built) {
    registered_backends().emplace(name, [name, built] { return library_of_module(name, built); });
  }
};

} // namespace benanza::backend
