// SPDX-License-Identifier: Apache-2.0
// How are the cases that load a model's weights distinguished? Family `model`, backend `load`, and
// the way as their algorithm: read, mmap, disk_read, disk_mmap, pack, setup, touch, populate, on a
// GPU pageable, pinned and pin, attach with the number of shared objects, and private and shared
// with the number of processes that begin at once.
//
//   load_way w = parse_load_way("attach:16");   w.name == "attach", w.count == 16
#pragma once

#include "measurement.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace benanza::result {

inline constexpr std::string_view load_backend = "load";

/// True for a case that loads a model, and does not run it.
inline bool of_a_load(const measurement& m) {
  return m.family == "model" && m.backend == load_backend;
}

/// True for a way that reads all of a file; and that finds none of it in the page cache.
inline bool of_a_disk(std::string_view way) {
  return way.starts_with("disk_");
}
inline bool of_a_file(std::string_view way) {
  return way == "read" || way == "mmap" || of_a_disk(way);
}

/// Ways of several processes: each with weights of its own, or all with the same.
inline constexpr std::string_view private_clients = "private", shared_clients = "shared";
inline bool of_clients(std::string_view way) {
  return way == private_clients || way == shared_clients;
}

/// A way to load.
struct load_way {
  std::string name{};
  int count = 1; ///< of shared objects that hold the weights, or of clients

  std::string text() const {
    return name == "attach" || of_clients(name) ? name + ':' + std::to_string(count) : name;
  }
};

/// The parts of a way's name; without a number it is of one.
inline load_way parse_load_way(std::string_view text) {
  load_way out{std::string(text), 1};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return out;
  int count = 0;
  const char* last = text.data() + text.size();
  const auto [end, bad] = std::from_chars(text.data() + colon + 1, last, count);
  if (bad == std::errc{} && end == last && count > 0)
    out = {std::string(text.substr(0, colon)), count};
  return out;
}

} // namespace benanza::result
