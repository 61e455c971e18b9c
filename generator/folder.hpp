// SPDX-License-Identifier: Apache-2.0
// How does generated text get onto the disk? The generator owns its output folder: a manifest names
// what it wrote. A folder that it did not make, or into which somebody put more, is refused; its
// own is replaced as a whole, by renaming, and files that did not change keep their time stamps.
//
//   write_folder("generated/mine", files);
#pragma once

#include "../include/benanza/core/error.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

namespace benanza::generator {

inline constexpr const char* manifest_name = "benanza.manifest";

namespace detail {
inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void put_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw error("cannot be written", path.string(), "is the disk full, or read-only?");
}

/// Refuses a folder that is not ours to replace.
inline void require_own(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder))
    throw error("not a folder", folder.string(), "give -o another one");
  if (fs::is_empty(folder)) return;
  std::set<std::string> known{manifest_name};
  std::ifstream manifest(folder / manifest_name);
  if (!manifest)
    throw error("benanza_generate did not make this folder, and will not replace it",
                folder.string(), "give -o a new or an empty one");
  for (std::string line; std::getline(manifest, line);)
    known.insert(line);
  for (const fs::directory_entry& e : fs::directory_iterator(folder))
    if (!known.contains(e.path().filename().string()))
      throw error("a file that benanza_generate did not write is in its folder", e.path().string(),
                  "move it away first");
}
} // namespace detail

/// Writes a generated folder; all of it or nothing.
inline void write_folder(const std::filesystem::path& target,
                         std::map<std::string, std::string> files) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(target / "").parent_path().lexically_normal();
  detail::require_own(folder);
  std::string names;
  for (const auto& [name, text] : files)
    names += name + '\n';
  files.emplace(manifest_name, names);

  const std::string tag = "." + folder.filename().string() + "." + std::to_string(getpid());
  const fs::path fresh = folder.parent_path() / (tag + ".new");
  const fs::path old = folder.parent_path() / (tag + ".old");
  try {
    fs::create_directories(fresh);
    for (const auto& [name, text] : files) {
      detail::put_file(fresh / name, text);
      if (std::error_code none;
          fs::exists(folder / name, none) && detail::file_text(folder / name) == text)
        fs::last_write_time(fresh / name, fs::last_write_time(folder / name));
    }
    if (fs::exists(folder)) fs::rename(folder, old);
    fs::rename(fresh, folder);
  } catch (const fs::filesystem_error& e) {
    std::error_code ignored;
    if (fs::exists(old, ignored) && !fs::exists(folder, ignored)) fs::rename(old, folder, ignored);
    fs::remove_all(fresh, ignored);
    throw error(e.code().message(), folder.string(), "give -o a place that can be written");
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
  std::error_code ignored;
  fs::remove_all(old, ignored);
}

} // namespace benanza::generator
