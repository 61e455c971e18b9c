// SPDX-License-Identifier: Apache-2.0
// What do a GPU's counters say of an execution? CUPTI's range profiler reads them since CUDA 12.6,
// on GPUs since sm_75, where the driver lets the user do that. The hardware counts a few at once,
// so the execution is repeated until all are counted. Structures are declared here as CUPTI's
// headers have them; each begins with its size, and newer versions add to the end.
// Never where something is timed: CUPTI stays in the process (cupti.hpp).
//
//   device_counters c = counters::of_this_process().count([&] { run(1); });   c.tensor_pipe_percent
#pragma once

#include "../../core/device_counters.hpp"
#include "cupti.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend::cuda {

/// Parameters of CUPTI's functions, by their names.
namespace cupti_counter {
struct initialize {
  std::size_t size{};
  void* own{};
};
struct chip {
  std::size_t size{};
  void* own{};
  std::size_t device{};
  const char* name{};
};
// Of the host's half, which needs no GPU.
struct host_initialize {
  std::size_t size{};
  void* own{};
  int profiler{}; ///< 0: ranges
  const char* chip{};
  const std::uint8_t* availability{};
  void* host{};
};
struct host_deinitialize {
  std::size_t size{};
  void *own{}, *host{};
};
struct metric_properties {
  std::size_t size{};
  void *own{}, *host{};
  const char *metric{}, *description{}, *unit{}, *dimension{};
  int type{};
};
struct add_metrics {
  std::size_t size{};
  void *own{}, *host{};
  const char** metrics{};
  std::size_t count{};
};
struct config_size {
  std::size_t size{};
  void *own{}, *host{};
  std::size_t bytes{};
};
struct config_image {
  std::size_t size{};
  void *own{}, *host{};
  std::size_t bytes{};
  std::uint8_t* image{};
};
struct passes {
  std::size_t size{};
  void* own{};
  std::size_t bytes{};
  std::uint8_t* image{};
  std::size_t count{};
};
struct evaluate {
  std::size_t size{};
  void *own{}, *host{};
  const std::uint8_t* image{};
  std::size_t bytes{}, range{};
  const char** metrics{};
  std::size_t count{};
  double* values{};
};
// Of the device's half.
struct enable {
  std::size_t size{};
  void *own{}, *context{}, *profiler{};
};
struct plain { ///< disable, start and pop
  std::size_t size{};
  void *own{}, *profiler{};
};
struct counter_size {
  std::size_t size{};
  void *own{}, *profiler{};
  const char** metrics{};
  std::size_t count{}, most_ranges{};
  std::uint32_t most_nodes{};
  std::size_t bytes{};
};
struct counter_image {
  std::size_t size{};
  void *own{}, *profiler{};
  std::size_t bytes{};
  std::uint8_t* image{};
};
struct configure {
  std::size_t size{};
  void *own{}, *profiler{};
  std::size_t config_bytes{};
  const std::uint8_t* config{};
  std::size_t image_bytes{};
  std::uint8_t* image{};
  int range{}, replay{}; ///< 2: by push and pop; 3: by who calls
  std::size_t most_ranges{};
  std::uint16_t levels{}, least_level{};
  std::size_t pass{};
  std::uint16_t level{};
};
struct stop {
  std::size_t size{};
  void *own{}, *profiler{};
  std::size_t pass{}, level{};
  std::uint8_t all_passes{};
};
struct push {
  std::size_t size{};
  void *own{}, *profiler{};
  const char* range{};
};
struct decode {
  std::size_t size{};
  void *own{}, *profiler{};
  std::size_t dropped{};
};

/// The size that CUPTI counts: without what the compiler puts behind the last member.
template <class Parameters>
inline constexpr std::size_t size_of = sizeof(Parameters);
template <>
inline constexpr std::size_t size_of<metric_properties> = offsetof(metric_properties, type) +
                                                          sizeof(int);
template <>
inline constexpr std::size_t size_of<configure> = offsetof(configure, level) + 2;
template <>
inline constexpr std::size_t size_of<stop> = offsetof(stop, all_passes) + 1;
} // namespace cupti_counter

/// Reads the counters of executions of this process.
class counters {
public:
  static counters& of_this_process() {
    static counters one(cupti::of_this_process());
    return one;
  }

  explicit counters(const cupti& library)
      : library_(library)
      , why_not_(library.why_not()) {
    if (why_not_.empty() && !library_.has("cuptiRangeProfilerSetConfig"))
      why_not_ = library_.version() + " reads no counters: CUDA 12.6 brings the first that does";
  }
  counters(const counters&) = delete;
  counters& operator=(const counters&) = delete;
  ~counters() { close(); }

  /// How many executions it takes to count all on a chip ("GH100"), which need not be there. Throws
  /// benanza::error where the library does not know it.
  std::size_t passes_on(const std::string& chip) {
    cupti_counter::passes p{};
    open(chip);
    p.bytes = config_.size();
    p.image = config_.data();
    ask("cuptiProfilerHostGetNumOfPasses", p);
    return p.count;
  }

  /// What is counted of one execution by `work`, which waits for its end and is repeated. Throws
  /// no_profiler where that will never be known.
  template <class Work>
  device_counters count(const Work& work) {
    if (!why_not_.empty()) throw no_profiler(why_not_);
    try {
      if (host_ == nullptr) {
        cupti_counter::initialize first{};
        ask("cuptiProfilerInitialize", first);
        cupti_counter::chip here{};
        ask("cuptiDeviceGetChipName", here);
        open(here.name);
      }
      return count_once(work);
    } catch (const no_profiler& e) {
      why_not_ = e.what();
      throw;
    }
  }

private:
  static constexpr int by_push_and_pop = 2, by_caller = 3, most_passes = 16;

  /// What each figure is called, newer names first. GPUs without memory of their own lack some.
  struct figure {
    std::vector<std::string> metrics;
    std::string_view of; ///< how the counters of all units become one number
    void (*take)(device_counters&, double);
  };
  static const std::vector<figure>& figures() {
    using c = device_counters;
    static const std::vector<figure> all{
        {{"sm__cycles_active"},
         ".avg",
         [](c& to, double v) { to.active_cycles = std::llround(v); }},
        {{"sm__pipe_tensor_cycles_active_v2", "sm__pipe_tensor_cycles_active"},
         ".avg.pct_of_peak_sustained_active",
         [](c& to, double v) { to.tensor_pipe_percent = v; }},
        {{"dram__bytes_read"},
         ".sum",
         [](c& to, double v) { to.dram_read_bytes = std::llround(v); }},
        {{"dram__bytes_write"}, ".sum", [](c& to, double v) {
           to.dram_written_bytes = std::llround(v);
         }}};
    return all;
  }

  /// Calls one of CUPTI's functions.
  template <class Parameters>
  int call(const char* name, Parameters& p) const {
    p.size = cupti_counter::size_of<Parameters>;
    return library_.call<Parameters*>(name, &p);
  }
  template <class Parameters>
  void ask(const char* name, Parameters& p) const {
    library_.check(call(name, p), "read counters");
  }

  /// Makes the host's half for a chip: which figures it has, and how they are counted.
  void open(const std::string& chip) {
    close();
    cupti_counter::host_initialize begin{};
    begin.chip = chip.c_str();
    ask("cuptiProfilerHostInitialize", begin);
    host_ = begin.host;
    for (const figure& f : figures())
      for (const std::string& metric : f.metrics) {
        cupti_counter::metric_properties known{};
        known.host = host_;
        known.metric = metric.c_str();
        if (call("cuptiProfilerHostGetMetricProperties", known) != 0) continue;
        taken_.push_back(&f);
        names_.push_back(metric + std::string(f.of));
        break;
      }
    if (names_.size() < 2) throw no_profiler("CUPTI knows no counters of this GPU (" + chip + ')');
    cupti_counter::add_metrics add{};
    add.host = host_;
    auto all = pointers();
    add.metrics = all.data();
    add.count = all.size();
    ask("cuptiProfilerHostConfigAddMetrics", add);
    cupti_counter::config_size size{};
    size.host = host_;
    ask("cuptiProfilerHostGetConfigImageSize", size);
    config_.resize(size.bytes);
    cupti_counter::config_image image{};
    image.host = host_;
    image.bytes = config_.size();
    image.image = config_.data();
    ask("cuptiProfilerHostGetConfigImage", image);
  }
  void close() {
    taken_.clear();
    names_.clear();
    if (host_ == nullptr) return;
    cupti_counter::host_deinitialize end{};
    end.host = host_;
    (void)call("cuptiProfilerHostDeinitialize", end);
    host_ = nullptr;
  }
  std::vector<const char*> pointers() const {
    std::vector<const char*> out;
    for (const std::string& name : names_)
      out.push_back(name.c_str());
    return out;
  }

  /// The device's half, while there is something to count.
  class profiler {
  public:
    explicit profiler(const counters& of)
        : of_(of) {
      cupti_counter::enable p{};
      p.context = current_context();
      of_.ask("cuptiRangeProfilerEnable", p);
      it_ = p.profiler;
    }
    profiler(const profiler&) = delete;
    profiler& operator=(const profiler&) = delete;
    ~profiler() {
      cupti_counter::plain p{};
      p.profiler = it_;
      (void)of_.call("cuptiRangeProfilerDisable", p);
    }
    template <class Parameters = cupti_counter::plain>
    Parameters ask(const char* name, Parameters p = {}) const {
      p.profiler = it_;
      of_.ask(name, p);
      return p;
    }

  private:
    const counters& of_;
    void* it_ = nullptr;
  };

  template <class Work>
  device_counters count_once(const Work& work) {
    const profiler on(*this);
    auto all = pointers();
    std::vector<std::uint8_t> image(
        on.ask("cuptiRangeProfilerGetCounterDataSize",
               cupti_counter::counter_size{
                   .metrics = all.data(), .count = all.size(), .most_ranges = 1, .most_nodes = 1})
            .bytes);
    (void)on.ask("cuptiRangeProfilerCounterDataImageInitialize",
                 cupti_counter::counter_image{.bytes = image.size(), .image = image.data()});
    (void)on.ask("cuptiRangeProfilerSetConfig",
                 cupti_counter::configure{.config_bytes = config_.size(),
                                          .config = config_.data(),
                                          .image_bytes = image.size(),
                                          .image = image.data(),
                                          .range = by_push_and_pop,
                                          .replay = by_caller,
                                          .most_ranges = 1,
                                          .levels = 1,
                                          .least_level = 1,
                                          .level = 1});
    bool done = false;
    for (int pass = 0; !done; ++pass) {
      if (pass == most_passes) throw no_profiler("CUPTI does not come to an end of counting");
      (void)on.ask("cuptiRangeProfilerStart");
      (void)on.ask("cuptiRangeProfilerPushRange", cupti_counter::push{.range = "execution"});
      work();
      (void)on.ask("cuptiRangeProfilerPopRange");
      done = on.ask<cupti_counter::stop>("cuptiRangeProfilerStop").all_passes != 0;
    }
    if (on.ask<cupti_counter::decode>("cuptiRangeProfilerDecodeData").dropped > 0)
      throw error("CUPTI: what was counted is lost");
    return values_in(image);
  }

  device_counters values_in(const std::vector<std::uint8_t>& image) const {
    std::vector<double> values(names_.size());
    auto all = pointers();
    cupti_counter::evaluate p{};
    p.host = host_;
    p.image = image.data();
    p.bytes = image.size();
    p.metrics = all.data();
    p.count = all.size();
    p.values = values.data();
    ask("cuptiProfilerHostEvaluateToGpuValues", p);
    device_counters out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      constexpr double most = 1e15;
      if (!(values[i] >= 0 && values[i] <= most))
        throw error("CUPTI: the counter " + names_[i] + " has no value");
      taken_[i]->take(out, values[i]);
    }
    if (!out.counted()) throw error("CUPTI: nothing was counted");
    return out;
  }

  /// The driver's context of this thread.
  static void* current_context() {
    void* context = nullptr;
    void* f = dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
    if (f == nullptr)
      if (void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
        f = dlsym(driver, "cuCtxGetCurrent");
    if (f == nullptr || reinterpret_cast<int (*)(void**)>(f)(&context) != 0)
      throw no_profiler("the driver tells no context whose counters could be read");
    return context;
  }

  const cupti& library_;
  std::string why_not_;
  void* host_ = nullptr;
  std::vector<const figure*> taken_{};
  std::vector<std::string> names_{};
  std::vector<std::uint8_t> config_{};
};

} // namespace benanza::backend::cuda
