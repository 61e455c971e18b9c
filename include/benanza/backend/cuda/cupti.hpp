// SPDX-License-Identifier: Apache-2.0
// Which kernels ran on the GPU? NVIDIA's profiling library CUPTI writes a record of each. It comes
// with the toolkit and is opened while the program runs; where it is absent or refuses there are no
// names, and that is all. Its few functions and the front of its records are declared here: that
// front is the same in all versions since CUDA 9, of which each adds to the end.
// Once used it stays in the process, and launches take longer: never where something is timed.
//
//   std::vector<device_kernel> seen = cupti::of_this_process().observe([&] { run(1); });
#pragma once

#include "../../core/device_kernel.hpp"
#include "device.hpp"
#include "load_beside.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::backend::cuda {

/// The fronts of CUPTI's records, and the kinds that they begin with.
namespace cupti_record {
inline constexpr std::uint32_t copy_kind = 1, fill_kind = 2, kernel_kind = 10;

struct kernel {
  std::uint32_t kind;
  std::uint8_t cache_config, shared_memory_config;
  std::uint16_t registers;
  std::uint32_t cache_asked, cache_had;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total, correlation;
  std::int64_t grid_id;
  const char* name;
};
static_assert(offsetof(kernel, start) == 16 && offsetof(kernel, grid) == 52 &&
              offsetof(kernel, static_shared) == 76 && offsetof(kernel, name) == 104);

/// Of a copy or a fill.
struct move {
  std::uint32_t kind, what;
  std::uint64_t bytes, start, end;
};
static_assert(offsetof(move, start) == 16 && sizeof(move) == 32);
} // namespace cupti_record

/// Records the kernels of this process.
class cupti {
public:
  /// The library's files, the first that is there counts: that of this CUDA, or the one that
  /// BENANZA_CUPTI names; named but empty: none.
  static std::vector<std::string> usual_libraries() {
    if (const char* named = std::getenv("BENANZA_CUPTI")) return {named};
    const std::string file = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
    return {file, "/usr/local/cuda/extras/CUPTI/lib64/" + file};
  }

  static cupti& of_this_process() {
    static cupti one(usual_libraries());
    return one;
  }

  explicit cupti(const std::vector<std::string>& libraries) {
    for (const std::string& file : libraries)
      if (handle_ == nullptr && !file.empty())
        handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // stays: it has threads of its own
    if (handle_ != nullptr)                                    // what its counters need
      load_beside(dlsym(handle_, "cuptiGetVersion"), "libnvperf_host.so");
    const std::string& first = libraries.front();
    if (handle_ == nullptr)
      why_not_ = first.empty() ? "no CUPTI" : "no CUPTI (" + first + " was not found)";
    else if (const auto ask = function<int(std::uint32_t*)>("cuptiGetVersion");
             ask == nullptr || ask(&version_) != success || version_ < oldest)
      why_not_ = "this CUPTI is not known, or too old (" + first + ")";
  }

  /// Why nothing can be recorded, as far as that is known before; empty: it can.
  const std::string& why_not() const { return why_not_; }
  /// "CUPTI 13.0", with the number that older ones count by: "CUPTI API 24".
  std::string version() const {
    if (version_ < 10'000) return "CUPTI API " + std::to_string(version_);
    return "CUPTI " + std::to_string(version_ / 10'000) + '.' +
           std::to_string(version_ / 100 % 100);
  }

  /// What `work`, which waits for its end, ran on the GPU, in the order of their starts. Throws
  /// benanza::error where that is not known.
  template <class Work>
  std::vector<device_kernel> observe(const Work& work) {
    if (!why_not_.empty()) throw no_profiler(why_not_);
    if (!registered_) {
      check(call<requested*, completed*>("cuptiActivityRegisterCallbacks", &give_buffer,
                                         &take_buffer));
      registered_ = true;
    }
    check(enable(cupti_record::kernel_kind));
    for (const std::uint32_t extra : {cupti_record::copy_kind, cupti_record::fill_kind})
      (void)enable(extra);
    const recording on(*this);
    log().clear();
    work();
    check(call("cuptiActivityFlushAll", forced));
    std::size_t dropped = 0;
    check(call<void*, std::uint32_t, std::size_t*>("cuptiActivityGetNumDroppedRecords", nullptr, 0u,
                                                   &dropped));
    if (dropped > 0)
      throw error("CUPTI: " + std::to_string(dropped) + " records of kernels were lost");
    return records();
  }

  /// What a function of the library answers; what it does not have fails.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto f = function<int(Arguments...)>(name);
    return f == nullptr ? missing : f(arguments...);
  }
  bool has(const char* name) const { return function<void()>(name) != nullptr; }
  /// Throws no_profiler where a function answered that it did not do what it was to: `what`.
  void check(int e, std::string_view what = "record kernels") const {
    if (e == success) return;
    const char* text = nullptr;
    if (call<int, const char**>("cuptiGetResultString", e, &text) != success || text == nullptr)
      text = "its functions are not known";
    constexpr int not_permitted = 35, not_permitted_virtual = 40;
    std::string said = "CUPTI does not " + std::string(what) + ": " + text;
    if (e == not_permitted || e == not_permitted_virtual)
      said += ": the driver lets administrators alone profile";
    throw no_profiler(said);
  }

  /// For device_library::profiler.
  static std::string that_is_here() {
    const cupti& it = of_this_process();
    if (!it.why_not().empty()) throw no_profiler(it.why_not());
    return it.version();
  }

private:
  static constexpr int success = 0, no_more_records = 12;
  static constexpr std::uint32_t forced = 1, oldest = 10; // CUDA 9.0
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  static constexpr std::align_val_t buffer_alignment{8};
  static constexpr std::size_t longest_name = 1000;

  using requested = void(std::uint8_t**, std::size_t*, std::size_t*);
  using completed = void(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

  /// Buffers that CUPTI has filled; it hands them over on threads of its own.
  class filled {
  public:
    void add(std::uint8_t* data, std::size_t bytes) {
      const std::lock_guard lock(mutex_);
      all_.emplace_back(data, bytes);
    }
    std::vector<std::pair<std::uint8_t*, std::size_t>> take() {
      const std::lock_guard lock(mutex_);
      return std::exchange(all_, {});
    }
    void clear() {
      for (const auto& [data, bytes] : take())
        free(data);
    }
    static void free(std::uint8_t* data) { ::operator delete(data, buffer_alignment); }

  private:
    std::mutex mutex_{};
    std::vector<std::pair<std::uint8_t*, std::size_t>> all_{};
  };
  /// Never destroyed: CUPTI may hand over a buffer at the very end.
  static filled& log() {
    static filled* const one = new filled;
    return *one;
  }
  static void give_buffer(std::uint8_t** data, std::size_t* bytes, std::size_t* most_records) {
    *data =
        static_cast<std::uint8_t*>(::operator new(buffer_bytes, buffer_alignment, std::nothrow));
    *bytes = *data == nullptr ? 0 : buffer_bytes;
    *most_records = 0; // as many as there is room for
  }
  static void take_buffer(void*, std::uint32_t, std::uint8_t* data, std::size_t,
                          std::size_t valid_bytes) {
    if (data != nullptr) log().add(data, valid_bytes);
  }

  /// Ends the recording when it goes.
  class recording {
  public:
    explicit recording(const cupti& of)
        : of_(of) {}
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording() {
      for (const std::uint32_t kind :
           {cupti_record::kernel_kind, cupti_record::copy_kind, cupti_record::fill_kind})
        (void)of_.call("cuptiActivityDisable", kind);
    }

  private:
    const cupti& of_;
  };

  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(handle_, name));
  }
  int enable(std::uint32_t kind) const { return call("cuptiActivityEnable", kind); }

  static constexpr int missing = -1;

  std::vector<device_kernel> records() const {
    std::vector<std::pair<std::uint64_t, device_kernel>> found;
    std::exception_ptr problem;
    for (const auto& [data, bytes] : log().take()) {
      try {
        read(data, bytes, found);
      } catch (...) {
        problem = std::current_exception();
      }
      filled::free(data);
    }
    if (problem) std::rethrow_exception(problem);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<device_kernel> out;
    for (auto& [start, one] : found)
      out.push_back(std::move(one));
    return out;
  }

  void read(std::uint8_t* data, std::size_t bytes,
            std::vector<std::pair<std::uint64_t, device_kernel>>& out) const {
    if (bytes == 0) return;
    std::uint8_t* at = nullptr;
    for (int e = 0; (e = call<std::uint8_t*, std::size_t, std::uint8_t**>(
                         "cuptiActivityGetNextRecord", data, bytes, &at)) != no_more_records;) {
      check(e);
      const std::size_t left = static_cast<std::size_t>(data + bytes - at);
      const auto as = [&]<class T>(T one) {
        if (at < data || left < sizeof one) throw error("CUPTI: a record is cut off");
        std::memcpy(&one, at, sizeof one);
        return one;
      };
      const std::uint32_t kind = as(std::uint32_t{});
      if (kind == cupti_record::kernel_kind) {
        const auto k = as(cupti_record::kernel{});
        out.emplace_back(k.start, read(k));
      } else if (kind == cupti_record::copy_kind || kind == cupti_record::fill_kind) {
        const auto m = as(cupti_record::move{});
        out.emplace_back(
            m.start, device_kernel{.name = kind == cupti_record::copy_kind ? "memcpy" : "memset",
                                   .ns = took(m.start, m.end)});
      }
    }
  }

  device_kernel read(const cupti_record::kernel& k) const {
    const auto fine = [](const std::int32_t(&three)[3]) {
      return std::all_of(three, three + 3, [](std::int32_t n) { return n > 0; });
    };
    if (k.name == nullptr || !fine(k.grid) || !fine(k.block) || k.static_shared < 0 ||
        k.dynamic_shared < 0)
      throw no_profiler(version() + " writes records of kernels that this program does not know");
    return {.name = readable(k.name),
            .grid = {k.grid[0], k.grid[1], k.grid[2]},
            .block = {k.block[0], k.block[1], k.block[2]},
            .registers = k.registers,
            .shared_bytes = std::int64_t{k.static_shared} + k.dynamic_shared,
            .ns = took(k.start, k.end)};
  }
  static double took(std::uint64_t start, std::uint64_t end) {
    return end > start ? static_cast<double>(end - start) : 0;
  }

  /// A name as in the source, without the list of parameters.
  static std::string readable(const char* name) {
    int status = 0;
    char* const made = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string out = made != nullptr ? made : name;
    std::free(made);
    if (out.starts_with("void ")) out.erase(0, 5);
    if (out.ends_with(')')) {
      int depth = 0;
      for (std::size_t at = out.size(); at-- > 0;)
        if (out[at] == ')')
          ++depth;
        else if (out[at] == '(' && --depth == 0) {
          if (at > 0) out.resize(at);
          break;
        }
    }
    if (out.size() > longest_name) out.resize(longest_name);
    return out;
  }

  void* handle_ = nullptr;
  std::uint32_t version_ = 0;
  bool registered_ = false;
  std::string why_not_{};
};

} // namespace benanza::backend::cuda
