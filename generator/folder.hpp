// SPDX-License-Identifier: Apache-2.0
// How does generated text get onto the disk? The generator owns its output folder: a manifest names
// what it wrote, with checksums. A folder that it did not make, or into which somebody put more, or
// in which somebody changed a file, is refused: nothing is deleted but what it wrote itself. Files
// appear whole; those that do not change are not touched. What a crash leaves half old and half new
// has no main.cpp, cannot be built, and is put right by the next run.
//
//   write_folder("generated/mine", files);
#pragma once

#include <benanza/core/checksum.hpp>
#include <benanza/core/error.hpp>
#include <benanza/result/output_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

namespace benanza::generator {

inline constexpr const char* manifest_name = "benanza.manifest";

namespace detail {
namespace fs = std::filesystem;

inline constexpr const char* entry_name = "main.cpp"; ///< without it nothing is built

inline std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline bool is_plain_file(const fs::path& path) {
  return fs::is_regular_file(fs::symlink_status(path)); // a link is none
}

/// True for text whose first line names us, as that of all our files does.
inline bool is_signed(std::string_view text) {
  return text.substr(0, std::min<std::size_t>(text.find('\n'), 200)).find("benanza") !=
         std::string_view::npos;
}

inline std::string manifest_line(const std::string& checksum, const std::string& name) {
  return checksum + "  " + name + '\n';
}

/// The checksums that each file may have; none: the manifest is of a version that kept none.
using manifest = std::map<std::string, std::set<std::string>>;

inline manifest parse_manifest(const std::string& text) {
  manifest out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 18 && line.compare(16, 2, "  ") == 0)
      out[line.substr(18)].insert(line.substr(0, 16));
    else
      out[line];
  return out;
}

/// True for the name that a file of ours has for a moment before it gets its own, if a crash left
/// it.
inline bool is_left_over(std::string_view name, const manifest& known) {
  constexpr std::size_t tail = 17; // a point and 16 letters: result::unguessable_beside
  if (name.size() < tail + 2 || name.front() != '.' || name[name.size() - tail] != '.')
    return false;
  const std::string whose(name.substr(1, name.size() - tail - 1));
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", name.size() - tail + 1) ==
             std::string_view::npos &&
         (whose == manifest_name || known.contains(whose));
}

/// The checksums of our files in a folder. Refuses a folder that holds anything else.
inline std::map<std::string, std::string> own_files(const fs::path& folder) {
  std::map<std::string, std::string> out;
  if (fs::is_empty(folder)) return out;
  if (!is_plain_file(folder / manifest_name))
    throw error("benanza_generate did not make this folder, and will not replace it",
                folder.string(), "give -o a new or an empty one");
  const manifest known = parse_manifest(file_text(folder / manifest_name));
  for (const fs::directory_entry& e : fs::directory_iterator(folder)) {
    const std::string name = e.path().filename().string();
    if (name == manifest_name) continue;
    const auto found = known.find(name);
    const bool plain = is_plain_file(e.path()), left_over = is_left_over(name, known);
    const std::string text = plain ? file_text(e.path()) : std::string();
    if (!plain || (!left_over && (found == known.end() || !is_signed(text))))
      throw error("what benanza_generate did not write is in its folder", e.path().string(),
                  "move it away first");
    const std::string& sum = out[name] = fnv1a(text);
    if (!left_over && !found->second.empty() && !found->second.contains(sum))
      throw error("this file was changed since benanza_generate wrote it", e.path().string(),
                  "move it away first");
  }
  return out;
}

/// The folder that a path means: behind links, and without `.` at its end.
inline fs::path meant_by(const fs::path& target) {
  const fs::path folder = fs::weakly_canonical(fs::absolute(target));
  return folder.has_filename() ? folder : folder.parent_path();
}

/// A folder in which no other program generates meanwhile. One that was made here and stays empty
/// is taken away again.
class held_folder {
public:
  explicit held_folder(const fs::path& path)
      : path_(path)
      , made_(fs::create_directories(path))
      , descriptor_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
  }
  held_folder(const held_folder&) = delete;
  held_folder& operator=(const held_folder&) = delete;
  ~held_folder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);
    if (descriptor_ >= 0) close(descriptor_);
  }

private:
  fs::path path_;
  bool made_;
  int descriptor_;
};

/// A file whose text is on the disk, and that has no name yet.
inline std::unique_ptr<result::output_file> written(const fs::path& path, const std::string& text,
                                                    mode_t mode = result::for_all) {
  auto file = std::make_unique<result::output_file>(path.string(), mode);
  errno = 0;
  std::ofstream out(file->written_to(), std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out)
    throw error(std::string("cannot be written: ") + std::strerror(errno), path.string(),
                "is the disk full, or read-only?");
  return file;
}

inline void replace(const fs::path& folder, const std::map<std::string, std::string>& files) {
  const held_folder held(folder);
  const std::map<std::string, std::string> before = own_files(folder);
  std::set<std::string> fresh, gone;
  std::string now, meanwhile;
  for (const auto& [name, text] : files) {
    const std::string sum = fnv1a(text);
    now += manifest_line(sum, name);
    if (const auto old = before.find(name); old == before.end() || old->second != sum)
      fresh.insert(name);
  }
  for (const auto& [name, sum] : before) {
    meanwhile += manifest_line(sum, name);
    if (!files.contains(name)) gone.insert(name);
  }
  if (fresh.empty() && gone.empty() && file_text(folder / manifest_name) == now) return;

  std::optional<fs::file_time_type> entry_time; // kept if it does not change itself
  if (before.contains(entry_name) && files.contains(entry_name) && fresh.insert(entry_name).second)
    entry_time = fs::last_write_time(folder / entry_name);
  std::map<std::string, std::unique_ptr<result::output_file>> made;
  for (const std::string& name : fresh)
    made.emplace(name, written(folder / name, files.at(name)));
  const auto both = written(folder / manifest_name, now + meanwhile);
  const auto last = written(folder / manifest_name, now);

  both->commit();
  if (before.contains(entry_name)) fs::remove(folder / entry_name);
  for (const std::string& name : gone)
    fs::remove(folder / name);
  for (const auto& [name, file] : made)
    if (name != entry_name) file->commit();
  if (made.contains(entry_name)) made.at(entry_name)->commit();
  if (entry_time) fs::last_write_time(folder / entry_name, *entry_time);
  last->commit();
}
} // namespace detail

/// Writes a generated folder. Each text must name us in its first line.
inline void write_folder(const std::filesystem::path& target,
                         const std::map<std::string, std::string>& files) {
  try {
    detail::replace(detail::meant_by(target), files);
  } catch (const std::filesystem::filesystem_error& e) {
    throw error(e.code().message(), target.string(), "give -o a place that can be written");
  }
}

} // namespace benanza::generator
