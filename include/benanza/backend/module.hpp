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

/// The file of a module: next to the program, where packages put it, or where it was built. That
/// comes last: on another machine another user may have put a file there.
inline std::filesystem::path module_file(const std::filesystem::path& built) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& place : {folder, folder.parent_path() / "lib" / "benanza"})
    if (const fs::path file = place / built.filename(); fs::exists(file, none)) return file;
  return built;
}

/// What a module gives out under a name. `user` is who cannot do without. It stays open to the end.
template <class Symbol>
Symbol* module_symbol(const std::string& user, const std::filesystem::path& built,
                      const char* symbol) {
  const std::filesystem::path file = module_file(built);
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* why = dlerror();
    throw error("the module of this library cannot be loaded: " +
                    std::string(why != nullptr ? why : "unknown reason"),
                user, "build it again, or put it beside the program");
  }
  const auto found = reinterpret_cast<Symbol*>(dlsym(opened, symbol));
  if (found == nullptr) throw error("this is no module of a benchmark program", file.string());
  return found;
}

inline std::unique_ptr<library> library_of_module(const std::string& name,
                                                  const std::filesystem::path& built) {
  const auto make = module_symbol<make_library>(name, built, make_library_symbol);
  return std::unique_ptr<library>(make(name.c_str()));
}

/// Puts a module's backend into the list at start-up.
struct module_registration {
  module_registration(std::string name, std::string built) {
    registered_backends().emplace(name, [name, built] { return library_of_module(name, built); });
  }
};

} // namespace benanza::backend
