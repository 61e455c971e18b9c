// SPDX-License-Identifier: Apache-2.0
// How is the GPU's L2 cache emptied? Twice its size is overwritten, and then as much is read that
// is never written: what is left there is others' data, and clean, so that what is timed next waits
// for no lines to be written back. Whether that empties the cache is tried once. Without NVRTC
// there is the first half alone.
//
//   l2_flush f(stream, l2_bytes);   f.put(stream);   f.proof(stream)   // "empties the cache: ..."
#pragma once

#include "loaded_kernel.hpp"
#include "replay.hpp"
#include "source/probes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

namespace benanza::backend::cuda {

class l2_flush {
public:
  /// How the two proofs of it begin.
  static constexpr const char *holds = "empties the cache", *fails = "does not empty the cache",
                              *half = "by writing alone";

  l2_flush(const stream& s, std::int64_t l2_bytes)
      : multiprocessors_(attribute(cudaDevAttrMultiProcessorCount))
      , written_(std::max<std::int64_t>(2 * l2_bytes, 1 << 20)) {
    try {
      kernel_ = loaded_kernel::of(source::read_all());
      clean_ = memory(written_.bytes());
      to_ = memory(sizeof(unsigned));
      set(s, clean_);
      set(s, to_);
      put(s); // its lines are written back, and the kernel is loaded
      s.wait();
    } catch (const device_lost&) {
      throw;
    } catch (const std::bad_alloc&) {
      kernel_.reset();
      why_half_ = "there is no memory";
    } catch (const std::exception& e) {
      kernel_.reset();
      why_half_ = e.what();
    }
  }

  /// Puts on the stream what leaves nothing else in the cache.
  void put(const stream& s) const {
    overwrite(s);
    if (kernel_) read(s, clean_, clean_.bytes());
  }
  /// The first half.
  void overwrite(const stream& s) const { set(s, written_); }

  /// Whether that is so, in words: how long a load takes after it, and of a line that was just
  /// read. Loads wait for each other, so that neither what it costs to start them nor how much the
  /// memory moves at once is in it.
  std::string proof(const stream& s) const {
    if (!kernel_) return std::string(half) + ", lines stay to be written back: " + why_half_;
    constexpr double slower = 1.3;
    const auto chase = loaded_kernel::of(source::chase());
    unsigned loads = 256, zero = 0,
             step = static_cast<unsigned>(std::min<std::int64_t>(8 << 20, written_.bytes() / 4) /
                                          (std::int64_t{loads} * std::int64_t{sizeof(unsigned)}));
    const std::byte* from = written_.data();
    unsigned* to = nullptr; // nothing is written
    void* arguments[] = {&from, &loads, &step, &zero, &to};
    std::array<double, 5> near{}, far{};
    // The host is done with all of it before the GPU has flushed: no launch is waited for.
    std::array<event, 3> marks{};
    for (std::size_t i = 0; i < near.size(); ++i) {
      put(s);
      marks[0].record(s);
      for (std::size_t next : {1u, 2u}) {
        chase->launch(s, arguments);
        marks[next].record(s);
      }
      s.wait();
      far[i] = marks[1].ns_since(marks[0]) / loads;
      near[i] = marks[2].ns_since(marks[1]) / loads;
    }
    std::sort(near.begin(), near.end()), std::sort(far.begin(), far.end());
    const double cached_ns = near[near.size() / 2], flushed_ns = far[far.size() / 2];
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(),
                  "%s: a load takes %.0f ns after it, %.0f ns where its line was just read",
                  flushed_ns >= slower * cached_ns ? holds : fails, flushed_ns, cached_ns);
    return text.data();
  }

private:
  static void set(const stream& s, const memory& m) {
    check(cudaMemsetAsync(m.data(), 1, static_cast<std::size_t>(m.bytes()), s.get()),
          "the L2 cache");
  }
  void read(const stream& s, const memory& m, std::int64_t bytes) const {
    const std::byte* from = m.data();
    unsigned long long count = static_cast<unsigned long long>(bytes / source::pack_bytes);
    unsigned never = 0x9e3779b9;
    std::byte* to = to_.data();
    void* arguments[] = {&from, &count, &never, &to};
    kernel_->launch(s, arguments, source::sweep_blocks(bytes, multiprocessors_));
  }

  std::int64_t multiprocessors_;
  memory written_, clean_{}, to_{};
  std::string why_half_{};
  std::shared_ptr<const loaded_kernel> kernel_{};
};

} // namespace benanza::backend::cuda
