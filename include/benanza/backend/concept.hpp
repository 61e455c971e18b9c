// SPDX-License-Identifier: Apache-2.0
// What is a backend? A library that can run layers: it lists the algorithms it has for a layer and
// a type, prepares one of them with real operands, starts it, and says how long it took. A CPU
// library reads the host's clock around its call, a GPU library records events on its stream.
//
//   for (const algorithm& a : lib.enumerate(layer, numeric::f32, {.threads = 1})) {
//     auto p = lib.prepare(layer, numeric::f32, a, operands, {.threads = 1});
//     p->run(1);  p->read(out);  double ns = p->time(10);
//   }
#pragma once

#include "../op/layer.hpp"
#include "operands.hpp"
#include "prepared.hpp"

#include <concepts>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend {

/// One way a library can run a layer.
struct algorithm {
  std::string id{}; ///< the library's own name for it; unique for a layer and a type
  int index = 0;    ///< place in the library's own list; 0 is its first choice
  std::string
      equivalence{};     ///< algorithms compete only if these are equal; the type's token if exact
  std::string layouts{}; ///< of source, weights and result, as the library writes them
  /// Layouts (core/layout.hpp) that activations must have, one for each in ONNX order, the last one
  /// for all further ones too; "any": whatever they share. Empty: none that others have.
  std::string operand_layouts{};
  std::string result_layout{}; ///< that the result has; "any": its operands'
  std::string fallback{};      ///< "", "ref", "host" or "old-isa": what a bound should not rest on
  std::int64_t workspace_bytes = 0;
  std::int64_t flops = 0; ///< its own arithmetic; the layer's, unless it is Winograd or the like
  /// What the library says of it, in words with commas between: "heuristic,tensor-cores".
  std::string notes{};
  /// The library's own bytes of it, in hexadecimal, from which it is made again; empty: its id says
  /// all.
  std::string opaque{};
};

/// Circumstances of a case.
struct setting {
  int threads = 1;
  /// The operands outlive what is prepared from them: what it only reads need not be copied.
  bool keeps_operands = false;
  /// What is prepared in this process runs by turns, and is read before another one runs: where
  /// the operands stay too, memory may be shared.
  bool interleaved = false;
  /// Its weights as packed_weights::copy_weights wrote them, which stay there; null: it packs them
  /// itself. Only in the memory of the host.
  const std::byte* packed = nullptr;
  bool proposed = false; ///< of lists: only what the library would try first
};

/// What a library has by name, and does not offer for a layer.
struct refused_algorithm {
  std::string id{}, why{};
};

/// Thrown where the device is lost: this process can no longer use it. As with std::bad_alloc,
/// another try in a new process may succeed.
class device_lost : public error {
public:
  using error::error;
};

/// Thrown where no kernel at all of this process can be seen.
class no_profiler : public error {
public:
  using error::error;
};

/// A limit of a device, besides layers: bytes that it moves, or what it costs to start something.
struct device_limit {
  std::string kind{};           ///< "copy", "host_to_device_pinned", "launch"
  std::string way{};            ///< the call that does it
  std::int64_t bytes = 0;       ///< of the working set or of the message; 0: the kind has none
  std::int64_t moved_bytes = 0; ///< by one execution
  std::function<std::unique_ptr<prepared>()> make{};
};

/// A device's memory and queue, as a chain of layers uses them.
class device_space {
public:
  virtual ~device_space() = default;
  /// Memory that holds zeros and lives as long as this.
  virtual std::byte* take(std::int64_t bytes) = 0;
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(const std::byte* from, std::span<std::byte> to) const = 0;
  /// Puts a copy within that memory on the queue.
  virtual void start_copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  virtual void wait() = 0;
  /// What is put on a queue: on the first one, or on another lane of the device's, behind those
  /// parts of other lanes that it needs.
  struct part {
    std::function<void()> put{};
    int lane = 0;
    std::vector<std::size_t> behind{};
  };
  /// Puts all of them on their queues; the first one is behind all others then.
  virtual void start(const std::vector<part>& parts) = 0;
  /// Nanoseconds that the device takes for all of them, so many times.
  virtual double time(int executions, const std::vector<part>& parts) = 0;
  /// And how many of these each part takes where they run one after the other; empty: not known.
  virtual std::vector<double> times_of(const std::vector<part>& parts) = 0;
  /// The device's clock meanwhile, as what 1000 cycles took; 0: not known.
  virtual double clock_ns() const { return 0; }
  /// What a reader should know of how it was timed; empty: nothing.
  virtual std::string remark() const { return {}; }
};

/// How do a model's weights come into a device's memory? Out of memory of the host, or by opening
/// what another process has there already.
class weight_loader {
public:
  virtual ~weight_loader() = default;
  /// Nanoseconds of a copy from the host, whose memory was pinned before or can be paged out.
  virtual double copy_ns(std::span<const std::byte> weights, bool pinned) = 0;
  /// Nanoseconds for so much pinned memory.
  virtual double pin_ns(std::int64_t bytes) = 0;
  /// Has another process hold the weights, each of these parts in an object of its own.
  virtual void share(const std::vector<std::span<const std::byte>>& parts) = 0;
  /// Nanoseconds to open all of so many objects, and for a first access to all that are open.
  virtual double attach_ns(int objects) = 0;
  virtual double touch_ns(int objects) = 0;
  /// True if these are the weights that the other process holds in so many objects.
  virtual bool shares(const std::vector<std::span<const std::byte>>& parts) = 0;
};

/// What else a library knows of its devices.
class device_library {
public:
  virtual ~device_library() = default;
  /// Where the library cannot run: lists what it has on a device that is only described.
  virtual void describe_device(const std::string& /*name*/) {}
  /// The description of this machine's device by which others can list what runs on it; empty: it
  /// has none.
  virtual std::string device_description() { return {}; }
  /// The limits of its device, to be measured like cases; empty: there is none here.
  virtual std::vector<device_limit> limits() { return {}; }
  /// Which of these limits are absent, in words; empty: none.
  virtual std::string absent_limits() { return {}; }
  /// Memory for a chain whose layers run on its device; libraries of one device share its queue.
  /// Null: none of its layers can be part of a chain.
  virtual std::unique_ptr<device_space> make_space() { return nullptr; }
  /// What brings weights into its device's memory; null: nothing does.
  virtual std::unique_ptr<weight_loader> make_loader() { return nullptr; }
  /// The profiler that sees which kernels run (device_control::kernels); throws no_profiler where
  /// there is none.
  virtual std::string profiler() { throw no_profiler("no profiler of the device is known"); }
};

/// A library that runs layers.
class library {
public:
  virtual ~library() = default;

  /// The token in case names: `onednn`, `host`, `cudnn`.
  virtual std::string_view name() const = 0;
  /// Facts for provenance: version, instruction set, threading runtime. Two results are merged only
  /// if these agree, but for `condition`: what the device is like just now.
  virtual std::map<std::string, std::string> facts() const = 0;
  /// Why the library cannot run on this machine; empty: it can.
  virtual std::string unavailable() const { return {}; }
  /// What the library offers for the layer, in its own order; empty if nothing.
  virtual std::vector<algorithm> enumerate(const op::layer&, numeric, const setting&) = 0;
  /// What it has by name and refuses for the layer, as far as it says.
  virtual std::vector<refused_algorithm> refused(const op::layer&, numeric, const setting&) {
    return {};
  }
  /// Does at once for all of these what takes `prepare` long, as far as possible; `prepare` reports
  /// what fails.
  virtual void prepare_ahead(const op::layer&, numeric, std::span<const algorithm>) {}
  /// Makes one of them ready. Throws benanza::error with the library's own reason.
  virtual std::unique_ptr<prepared> prepare(const op::layer&, numeric, const algorithm&,
                                            const operands&, const setting&) = 0;

  /// From now on the library prints a line on standard output for each of its calls, or does not;
  /// false: it has no such stream.
  virtual bool log_calls(bool /*on*/) { return false; }

  /// Its devices, with memory and caches of their own; null: it runs on the processor.
  virtual device_library* own_devices() { return nullptr; }
  bool on_device() { return own_devices() != nullptr; }
};

/// A type that can be put into the program's list of backends.
template <class L>
concept backend_library = std::derived_from<L, library> && std::default_initializable<L>;

/// Makers of all backends of the build, in the order of their names; each is called once, after the
/// environment (threads, affinity) has been set.
inline std::map<std::string, std::function<std::unique_ptr<library>()>>& registered_backends() {
  static std::map<std::string, std::function<std::unique_ptr<library>()>> makers;
  return makers;
}

/// Puts a backend into the list at start-up: `const registration<onednn::library> here{"onednn"};`
template <backend_library L>
struct registration {
  explicit registration(std::string name) {
    registered_backends().emplace(std::move(name), [] { return std::make_unique<L>(); });
  }
};

} // namespace benanza::backend
