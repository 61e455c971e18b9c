// SPDX-License-Identifier: Apache-2.0
// The fake GPU itself: its virtual clock, what is put on its streams, what its L2 cache holds, and
// the error that ends it. One clock for all streams, but for those that join a capture: their work
// is a lane of the graph, which runs in parallel with the others where no event holds it back. An
// execution costs what the script says and counts at once; its arithmetic is only done when the
// host looks at the memory that it writes, and what was overwritten before is never computed. A
// write as large as the L2 cache empties that, and leaves it full of lines to be written back: who
// then reads what the cache has lost waits for that.
//
//   device& d = device::it();   d.run(execution, stream);   d.now();
#pragma once

#include "pending.hpp"
#include "script.hpp"

#include <benanza/backend/cudnn/device_table.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fake {

struct stream;
/// What a stream does, now or when a graph is replayed.
using work = std::function<void(const stream&)>;

struct graph_node {
  std::size_t lane = 0;
  work what{};
};
struct graph {
  std::vector<graph_node> nodes{};
  std::vector<bool> open{false}; ///< by lane: something is on it that no other lane waits for
};
struct stream {
  bool waits_for_default = true;
  std::shared_ptr<graph> captured{}; ///< set while capturing
  std::size_t lane = 0;              ///< of that graph; 0: of the stream on which it began
  bool capture_broken = false;
};
struct event {
  std::optional<ns> at{};            ///< unset: never happened
  std::shared_ptr<graph> captured{}; ///< of which it is a dependency
  std::size_t lane = 0;
};

/// Objects that callers hold by handles; a handle that is none of them is noticed.
template <class T>
class objects {
public:
  objects(record& log, std::string kind)
      : log_(log)
      , kind_(std::move(kind)) {}

  T* make(T value = {}) {
    ++log_.made[kind_];
    auto made = std::make_unique<T>(std::move(value));
    T* const it = made.get();
    live_.emplace(it, std::move(made));
    return it;
  }
  T* find(const void* handle) {
    const auto found = live_.find(handle);
    if (found == live_.end()) log_.misuse("no such " + kind_);
    return found == live_.end() ? nullptr : found->second.get();
  }
  bool drop(const void* handle) {
    if (find(handle) == nullptr) return false;
    ++log_.freed[kind_];
    live_.erase(handle);
    return true;
  }

private:
  record& log_;
  std::string kind_;
  std::map<const void*, std::unique_ptr<T>> live_{};
};

class device {
public:
  /// The one of this process; never destroyed, because others may still use it at the very end.
  static device& it() {
    static device* const one = new device;
    return *one;
  }

  const script rules = script::from_environment();
  const benanza::backend::cudnn::device_facts facts = *benanza::backend::cudnn::find_device("h200");
  record log{};
  memory space{};
  objects<stream> streams{log, "stream"};
  objects<event> events{log, "event"};
  objects<graph> graphs{log, "graph"}, replays{log, "graph-exec"};
  std::recursive_mutex mutex{};
  /// Called for each execution and fill: what it was, and from when to when. May be empty.
  std::function<void(const std::string&name, const std::string&id, ns start, ns end)> watcher{},
      counter{};

  std::int64_t l2_bytes() const { return std::int64_t{facts.l2_kib} << 10; }

  // ---- errors ---------------------------------------------------------------------------------
  cudaError_t lost() const { return lost_; }
  /// Nothing works any more.
  void lose(cudaError_t why) {
    if (lost_ == cudaSuccess) lost_ = why;
  }
  /// Remembers an error for cudaGetLastError. What a library met is not among them: it has a
  /// runtime of its own.
  cudaError_t note(cudaError_t e) {
    if (e != cudaSuccess) last_ = e;
    return e;
  }
  cudaError_t peek() const { return last_; }
  cudaError_t take_last() {
    const cudaError_t e = peek();
    last_ = cudaSuccess;
    return e;
  }

  // ---- time -----------------------------------------------------------------------------------
  ns now() const { return now_; }
  bool waited_for(ns at) const { return at <= waited_; }
  void wait(ns until) { waited_ = std::max(waited_, until); }
  /// The host waits for the default stream, and so for what other streams wait for it.
  void wait_for_default() { default_done_ = default_work_; }

  // ---- streams --------------------------------------------------------------------------------
  stream* stream_of(cudaStream_t s) {
    if (s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread) return &default_;
    return streams.find(s);
  }
  /// Puts work on a stream: it is done, or captured.
  cudaError_t put(cudaStream_t s, work w) {
    stream* const on = stream_of(s);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (on->captured) {
      on->captured->nodes.push_back({on->lane, std::move(w)});
      on->captured->open[on->lane] = true;
    } else {
      w(*on);
    }
    return cudaSuccess;
  }
  /// A stream waits for an event: within a capture that is a dependency, and the stream joins.
  cudaError_t wait_for(cudaStream_t s, event* e) {
    stream* const on = stream_of(s);
    if (on == nullptr || e == nullptr) return cudaErrorInvalidResourceHandle;
    if (!e->captured) return on->captured ? cudaErrorStreamCaptureIsolation : cudaSuccess;
    if (on->captured && on->captured != e->captured) return cudaErrorStreamCaptureMerge;
    if (!on->captured) {
      on->captured = e->captured;
      on->lane = e->captured->open.size();
      on->captured->open.push_back(true);
      joined_.push_back(on);
    }
    on->captured->open[e->lane] = false;
    on->captured->open[on->lane] = true;
    on->captured->nodes.push_back(
        {on->lane, [this, e](const stream&) { now_ = std::max(now_, e->at.value_or(0)); }});
    return cudaSuccess;
  }
  /// The nodes in the order in which they were captured, each lane by a clock of its own.
  void replay(const graph& g, const stream& on) {
    in_graph_ = true;
    std::vector<ns> clocks(g.open.size(), now_);
    for (const graph_node& node : g.nodes) {
      now_ = clocks[node.lane];
      node.what(on);
      clocks[node.lane] = now_;
    }
    now_ = *std::max_element(clocks.begin(), clocks.end());
    in_graph_ = false;
  }
  cudaError_t begin_capture(cudaStream_t s) {
    stream* const on = stream_of(s);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (on == &default_) return cudaErrorStreamCaptureUnsupported;
    if (on->captured) return cudaErrorIllegalState;
    ++log.captures;
    on->captured = std::make_shared<graph>();
    on->lane = 0;
    on->capture_broken = false;
    capturing_ = on;
    return cudaSuccess;
  }
  cudaError_t end_capture(cudaStream_t s, graph*& out) {
    stream* const on = stream_of(s);
    out = nullptr;
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (!on->captured) return cudaErrorIllegalState;
    if (on->lane != 0) return cudaErrorStreamCaptureUnmatched;
    const auto made = std::exchange(on->captured, nullptr);
    capturing_ = nullptr;
    for (stream* const other : std::exchange(joined_, {}))
      other->captured = nullptr;
    if (std::any_of(made->open.begin() + 1, made->open.end(), [](bool open) { return open; }))
      return ++log.captures_failed, cudaErrorStreamCaptureUnjoined;
    if (on->capture_broken || rules.no_capture) {
      ++log.captures_failed;
      return rules.no_capture ? cudaErrorStreamCaptureUnsupported
                              : cudaErrorStreamCaptureInvalidated;
    }
    out = graphs.make(std::move(*made));
    return cudaSuccess;
  }
  /// True where a call is not allowed because a stream is capturing; that capture is spoilt.
  bool spoils_capture() {
    if (capturing_ == nullptr) return false;
    capturing_->capture_broken = true;
    return true;
  }

  // ---- memory ---------------------------------------------------------------------------------
  cudaError_t take(void** p, std::int64_t bytes) {
    *p = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (space.live_bytes() + bytes > rules.malloc_limit) return cudaErrorMemoryAllocation;
    *p = space.take(bytes);
    if (*p == nullptr) return cudaErrorMemoryAllocation;
    ++log.made["memory"];
    return cudaSuccess;
  }
  /// A block that another process can open: what is pending is computed.
  int share(void* p) {
    pending_.settle_for_reading({p, space.find(p, 0)->bytes});
    return space.share(p);
  }
  cudaError_t give_back(void* p) {
    if (p == nullptr) return cudaSuccess;
    block* const b = space.find(p, 0);
    if (b == nullptr || b->address != reinterpret_cast<std::uintptr_t>(p)) {
      log.misuse("memory that is not there is freed");
      return cudaErrorInvalidValue;
    }
    pending_.settle_for_freeing({p, b->bytes});
    touched_.erase(touched_.lower_bound(b->address),
                   touched_.lower_bound(b->address + static_cast<std::uintptr_t>(b->bytes)));
    space.give_back(p);
    ++log.freed["memory"];
    return cudaSuccess;
  }

  /// Copies on a stream, or for a host that waits (`s` null).
  cudaError_t copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) {
    std::byte* target = static_cast<std::byte*>(to);
    const std::byte* source = static_cast<const std::byte*>(from);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) {
      block* const b = space.find(to, bytes);
      if (b == nullptr) return cudaErrorInvalidValue;
      pending_.settle_for_writing({to, bytes});
      target = space.contents(to, bytes);
      // Pageable memory may still be on its way when the call returns.
      wait_for_default();
      b->written_by = ++default_work_;
    }
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) {
      block* const b = space.find(from, bytes);
      if (b == nullptr) return cudaErrorInvalidValue;
      if (!waited_for(b->executed_at)) ++log.unordered;
      pending_.settle_for_reading({from, bytes});
      source = space.contents(from, bytes);
      wait_for_default();
    }
    if (kind == cudaMemcpyDefault) return cudaErrorNotSupported;
    if (kind == cudaMemcpyHostToDevice) log.uploaded_bytes += bytes;
    if (kind == cudaMemcpyDeviceToHost) log.downloaded_bytes += bytes;
    now_ += kind == cudaMemcpyDeviceToDevice ? bytes / 2000 : host_copy_ns(to, from, bytes);
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
    return cudaSuccess;
  }

  /// Copies from and to the host: some 50 GB/s after a microsecond, and half of that for memory
  /// that is not pinned.
  ns host_copy_ns(const void* a, const void* b, std::int64_t bytes) const {
    return 1000 + bytes / (pinned_.contains(a) || pinned_.contains(b) ? 50 : 25);
  }
  bool is_pinned(const void* p) const { return pinned_.contains(p); }
  void* take_pinned(std::int64_t bytes) {
    void* const p = std::malloc(static_cast<std::size_t>(bytes));
    if (p != nullptr) pinned_.insert(p), ++log.made["pinned"];
    return p;
  }
  cudaError_t give_back_pinned(void* p) {
    if (p == nullptr) return cudaSuccess;
    if (pinned_.erase(p) == 0) return cudaErrorInvalidValue;
    ++log.freed["pinned"];
    std::free(p);
    return cudaSuccess;
  }

  void set(void* p, int value, std::int64_t bytes, const stream& on) {
    block* const b = space.find(p, bytes);
    if (b == nullptr) return lose(cudaErrorIllegalAddress);
    pending_.settle_for_writing({p, bytes});
    if (bytes == b->bytes && !b->shared)
      b->filled = value;
    else
      std::memset(space.contents(p, bytes), value, static_cast<std::size_t>(bytes));
    if (&on == &default_) b->written_by = ++default_work_;
    const ns start = std::exchange(now_, now_ + bytes / write_rate);
    tell("memset", "", start);
    dirty_bytes_ = std::min(dirty_bytes_ + bytes, l2_bytes());
    if (bytes >= l2_bytes()) ++log.flushes;
  }

  /// A replay of a graph begins or ends.
  void pass(ns time) { now_ += time; }
  /// The time before an event, and what that takes; the time between two nodes of a graph.
  void pass_to_event() {
    if (std::exchange(behind_kernel_, false)) now_ += rules.event_after_kernel_ns;
  }
  void pass_event() { now_ += rules.event_ns; }
  void pass_gap() {
    now_ += in_graph_ ? rules.gap_ns : 0;
    behind_kernel_ = in_graph_;
  }

  /// The clock that all of the GPU shares moves in steps.
  ns timer() const { return now_ / 1000 * 1000; }
  ns cycles() const { return now_ * rules.clock_mhz / 1000; }
  /// The multiprocessor on which a kernel's first block runs.
  std::int64_t next_multiprocessor() {
    return rules.moves_about ? multiprocessor_ += 1000 : multiprocessor_;
  }

  /// Something ended now.
  void tell(const std::string& name, const std::string& id, ns start) const {
    if (watcher) watcher(name, id, start, now_);
    if (counter) counter(name, id, start, now_);
  }

  // ---- executions -----------------------------------------------------------------------------
  /// Reads what may have gone from the cache, outside of an execution.
  void read(const extent& r, const std::string& name) {
    if (!touch(r.address)) return;
    now_ += rules.cold(name, name);
    write_back(r.bytes);
  }
  void run(const std::shared_ptr<const execution>& e, const stream& on) {
    if (lost_ != cudaSuccess) return;
    if (executed_++ >= rules.executions_until_lost) return lose(cudaErrorDevicesUnavailable);
    ++log.executions[e->name];
    if (rules.fails(e->name, "launch-failure", e->id)) return lose(cudaErrorLaunchFailure);
    if (e->writes.address == nullptr) return run_to_host(*e);
    block* const to = space.find(e->writes.address, e->writes.bytes);
    if (to == nullptr) return lose(cudaErrorIllegalAddress);
    bool ordered = on.waits_for_default || to->written_by <= default_done_;
    pass_gap();
    const ns start = now_;
    ordered = ordered && is_free(uses_[e->writes.address], start, true);
    now_ += rules.cost(e->name, e->id, e->turned);
    for (const extent& r : e->reads) {
      block* const from = space.find(r.address, r.bytes);
      if (from == nullptr) return lose(cudaErrorIllegalAddress);
      ordered = ordered && (on.waits_for_default || from->written_by <= default_done_) &&
                is_free(uses_[r.address], start, false);
      if (!touch(r.address)) continue;
      now_ += rules.cold(e->name, e->id);
      write_back(r.bytes);
    }
    for (const extent& w : e->writes_too)
      if (space.find(w.address, w.bytes) == nullptr) return lose(cudaErrorIllegalAddress);
    touch(e->writes.address);
    tell(e->name, e->id, start);
    if (!ordered) ++log.unordered;
    to->executed_at = now_;
    uses_[e->writes.address].written = now_;
    for (const extent& r : e->reads)
      uses_[r.address].read = std::max(uses_[r.address].read, now_);
    pending_.add(e);
  }

private:
  /// What writes to memory of the host is computed at once.
  void run_to_host(const execution& e) {
    pending_.settle_all();
    pass_gap();
    const ns start = std::exchange(now_, now_ + rules.cost(e.name, e.id));
    tell(e.name, e.id, start);
    e.compute(space);
  }

  static constexpr std::int64_t write_rate = 4000; ///< bytes in a ns, of a fill
  /// Until when lanes read and write what is at an address.
  struct use {
    ns read = 0, written = 0;
  };
  static bool is_free(const use& u, ns at, bool to_write) {
    return u.written <= at && (!to_write || u.read <= at);
  }

  device() = default;

  /// As many lines as come into the cache have to leave it.
  void write_back(std::int64_t bytes) {
    const std::int64_t n = std::min(bytes, dirty_bytes_);
    dirty_bytes_ -= n;
    now_ += n / write_rate;
  }

  /// True if the cache had lost it.
  bool touch(const void* address) {
    std::int64_t& last = touched_[reinterpret_cast<std::uintptr_t>(address)];
    const bool was_gone = last < log.flushes;
    last = log.flushes;
    return was_gone;
  }

  cudaError_t lost_ = cudaSuccess, last_ = cudaSuccess;
  ns now_ = 0, waited_ = 0;
  std::int64_t dirty_bytes_ = 0, multiprocessor_ = 0;
  bool in_graph_ = false, behind_kernel_ = false;
  std::int64_t default_work_ = 0, default_done_ = 0, executed_ = 0;
  stream default_{};
  stream* capturing_ = nullptr;
  std::vector<stream*> joined_{}; ///< the capture
  pending_work pending_{space, log};
  std::set<const void*> pinned_{};
  std::map<const void*, use> uses_{};
  std::map<std::uintptr_t, std::int64_t> touched_{}; ///< how many flushes there had been then
};

} // namespace fake
