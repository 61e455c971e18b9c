// SPDX-License-Identifier: Apache-2.0
// What has to be loaded before a model can run? The weights of each node that a plan runs, as a
// file has them and as the plan's algorithms want them. Generated models have no weights: these are
// random, of the model's true sizes. The file is unlinked while it is open, and stays in the page
// cache, until it is taken out of it.
//
//   model_weights w(plan, libraries);   w.file_bytes();   w.leave_page_cache();
//   const built_nodes b = w.build();   b.packing_ns;   copy_packed(b, to);
#pragma once

#include "../../backend/packed_weights.hpp"
#include "../../core/checksum.hpp"
#include "../../core/content_hash.hpp"
#include "../chain/builder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace benanza::measure::load {

/// The algorithms of all nodes, made ready.
struct built_nodes {
  std::vector<std::unique_ptr<backend::prepared>> nodes{};
  double packing_ns = 0; ///< of bringing weights into the layouts of the algorithms
  double other_ns = 0; ///< of all else that makes them ready, but for copies of weights to a device

  /// Where each node's packed weights begin, and behind the last where they end.
  std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> out{0};
    for (const auto& n : nodes)
      out.push_back(out.back() + slot_bytes(*n));
    return out;
  }
  std::int64_t packed_bytes() const { return places().back(); }

  /// Where the packed weights are cut into groups of neighbouring nodes, each with its first byte,
  /// and behind the last where it ends.
  std::vector<std::int64_t> cuts(int groups) const {
    const std::vector<std::int64_t> all = places();
    std::vector<std::int64_t> begins, out; // of nodes that have weights
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (all[i + 1] > all[i]) begins.push_back(all[i]);
    begins.push_back(all.back());
    for (int k = 0; k <= groups; ++k)
      out.push_back(begins[static_cast<std::size_t>(k) * (begins.size() - 1) /
                           static_cast<std::size_t>(groups)]);
    return out;
  }
};

/// Copies the packed weights of all nodes, `packed_bytes()` of them with the gaps between.
inline void copy_packed(const built_nodes& b, std::byte* to) {
  const std::vector<std::int64_t> at = b.places();
  for (std::size_t i = 0; i < b.nodes.size(); ++i)
    if (b.nodes[i]->weight_bytes() > 0) {
      const auto* its = backend::packed_weights::of(*b.nodes[i]);
      if (its == nullptr)
        throw error("the packed weights of an algorithm cannot be had", b.nodes[i]->ran(),
                    "load a plan of other algorithms");
      its->copy_weights(to + at[i]);
    }
}

/// Fresh memory of this process alone, unmapped at the end.
class fresh_memory {
public:
  /// `file`: mapped in place of memory of its own.
  explicit fresh_memory(std::int64_t bytes, int file = -1)
      : size_(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)))
      , base_(mmap(nullptr, size_, file < 0 ? PROT_READ | PROT_WRITE : PROT_READ,
                   file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, file, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
  }
  fresh_memory(const fresh_memory&) = delete;
  fresh_memory& operator=(const fresh_memory&) = delete;
  ~fresh_memory() { munmap(base_, size_); }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(base_), size_}; }

  /// Pages of what is mapped that are in memory, for whatever process.
  std::int64_t resident_pages() const {
    std::vector<unsigned char> pages((size_ + machine::page_bytes - 1) / machine::page_bytes);
    if (mincore(base_, size_, pages.data()) != 0)
      throw error("the system does not say which pages are in memory: " +
                  std::string(std::strerror(errno)));
    return std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; });
  }

private:
  std::size_t size_;
  void* base_;
};

/// True for an operand that is in the model's file.
inline bool stays(const backend::tensor& t) {
  return t.part == backend::role::weights || t.part == backend::role::vector;
}

/// The folder of files that are to be on a disk, as /tmp is not everywhere.
inline std::filesystem::path folder_on_disk() {
  const char* const usual = "/var/tmp";
  const bool given = std::getenv("TMPDIR") != nullptr;
  return given || access(usual, W_OK) != 0 ? std::filesystem::temp_directory_path() : usual;
}

/// The weights of a plan's model.
class model_weights {
public:
  model_weights(const result::plan& p, const library_list& libraries)
      : plan_(p)
      , values_(p.graph.layers.size()) {
    for (std::size_t i = 0; i < p.steps.size(); ++i)
      if (!p.steps[i].backend.empty()) add(static_cast<int>(i), libraries);
    // The file, the operands, and packed as one object, in groups and by layers.
    machine::check_memory(5 * static_cast<double>(file_bytes_), p.graph.name,
                          "load a smaller model, or free memory");
    write_file();
  }
  model_weights(const model_weights&) = delete;
  model_weights& operator=(const model_weights&) = delete;
  ~model_weights() {
    if (file_ >= 0) close(file_);
  }

  /// All weights as the model has them, and a file of them.
  std::int64_t file_bytes() const { return file_bytes_; }
  int file() const { return file_; }
  /// Takes the file out of the page cache: the next read is from the disk. Refuses where the file
  /// system keeps it in memory.
  void leave_page_cache() const {
    std::int64_t left = 0;
    for (int tries = 0; tries < 10; ++tries) {
      posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
      left = fresh_memory(file_bytes_, file_).resident_pages();
      if (left == 0) return;
      usleep(1'000); // others may just look at a page
    }
    throw error("no disk is read: the file system keeps " + std::to_string(left) +
                    " pages of the file in memory",
                folder_on_disk().string(), "set TMPDIR to a folder on a disk");
  }

  /// What distinguishes these weights, packed like this, from all others.
  std::string packed_key() const {
    std::string text = plan_.graph.name + ' ' + std::string(name(plan_.type));
    for (const made_node& n : nodes_)
      text += ' ' + n.library->name_and_version() + ' ' + n.algorithm.id;
    return "weights-" + std::to_string(content_) + '-' + fnv1a(text);
  }

  /// Makes the algorithms of all nodes ready, as a process does that has the weights in its memory.
  built_nodes build() const {
    machine::page_store::get().release(); // a new process has no pages that it used before
    built_nodes out;
    for (const made_node& n : nodes_) {
      const stopwatch timer;
      const op::layer& l = layer_at(plan_.graph, n.node);
      out.nodes.push_back(
          n.library->it->prepare(l, plan_.type, n.algorithm, *n.values,
                                 {.threads = plan_.threads, .keeps_operands = true}));
      const double all_ns = timer.ns();
      const auto* packs = backend::packed_weights::of(*out.nodes.back());
      const double packing_ns = packs == nullptr ? 0 : packs->packing_ns(),
                   moving_ns = packs == nullptr ? 0 : packs->moving_ns();
      out.packing_ns += packing_ns;
      out.other_ns += std::max(0.0, all_ns - packing_ns - moving_ns);
    }
    return out;
  }

private:
  struct named_library {
    backend::library* it;
    std::string version;
    std::string name_and_version() const { return std::string(it->name()) + ' ' + version; }
  };
  struct made_node {
    int node;
    std::shared_ptr<const named_library> library;
    backend::algorithm algorithm;
    std::shared_ptr<const backend::operands> values;
  };

  void add(int node, const library_list& libraries) {
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(node)];
    const op::layer& l = layer_at(plan_.graph, node);
    made_node n{node, library_named(s.backend, libraries, node), {}, {}};
    bool found = false;
    for (backend::algorithm& a :
         n.library->it->enumerate(l, plan_.type, {.threads = plan_.threads}))
      if (!found && a.id == s.algorithm) n.algorithm = std::move(a), found = true;
    if (!found)
      throw error("backend " + s.backend + " does not offer \"" + s.algorithm + "\" here",
                  node_place(plan_.graph, node), "write the plan from a result of this machine");
    const int layer = plan_.graph.nodes[static_cast<std::size_t>(node)].layer;
    auto& values = values_[static_cast<std::size_t>(layer)];
    if (!values)
      values = std::make_shared<const backend::operands>(backend::make_operands(l, plan_.type));
    n.values = values;
    for (const backend::tensor& t : values->inputs)
      if (stays(t)) file_bytes_ += std::ssize(t.bytes);
    nodes_.push_back(std::move(n));
  }

  std::shared_ptr<const named_library> library_named(const std::string& wanted,
                                                     const library_list& libraries, int node) {
    for (const auto& l : libraries_)
      if (l->it->name() == wanted) return l;
    for (const auto& l : libraries)
      if (l->name() == wanted) {
        std::map<std::string, std::string> facts = l->facts();
        libraries_.push_back(
            std::make_shared<const named_library>(named_library{l.get(), facts["version"]}));
        return libraries_.back();
      }
    throw error("this program has no backend \"" + wanted + "\"", node_place(plan_.graph, node),
                "build it with that backend");
  }

  void write_file() {
    std::string path = (folder_on_disk() / "benanza-weights-XXXXXX").string();
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) throw error(std::strerror(errno), path, "set TMPDIR to a folder of yours");
    unlink(path.c_str());
    for (const made_node& n : nodes_)
      for (const backend::tensor& t : n.values->inputs)
        if (stays(t)) {
          content_ = content_ * 31 + content_hash(t.bytes);
          write_all(t.bytes, path);
        }
    fsync(file_); // what is not on the disk yet cannot leave the page cache
  }
  void write_all(std::span<const std::byte> bytes, const std::string& path) const {
    while (!bytes.empty()) {
      const ssize_t n = write(file_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        throw error("the weights cannot be written: " + std::string(std::strerror(errno)), path,
                    "set TMPDIR to a folder with more room");
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  result::plan plan_;
  std::vector<std::shared_ptr<const backend::operands>> values_; ///< of each layer
  std::vector<std::shared_ptr<const named_library>> libraries_{};
  std::vector<made_node> nodes_{};
  std::int64_t file_bytes_ = 0;
  std::uint64_t content_ = 0;
  int file_ = -1;
};

/// Reads `to.size()` bytes of a file, from its beginning or from `from` on.
inline void read_file(int file, std::span<std::byte> to, std::int64_t from = 0) {
  for (std::size_t done = 0; done < to.size();) {
    const ssize_t n = pread(file, to.data() + done, to.size() - done,
                            static_cast<off_t>(from) + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw error("the weights cannot be read: " + std::string(std::strerror(errno)));
    done += static_cast<std::size_t>(n);
  }
}

/// Reads a byte of each page, or of each `step` bytes: by lines of 64 all of it comes from memory.
inline void touch(std::span<const std::byte> memory, std::size_t step = machine::page_bytes) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < memory.size(); i += step)
    sum += static_cast<unsigned>(memory[i]);
  asm volatile("" : : "r"(sum));
}

} // namespace benanza::measure::load
