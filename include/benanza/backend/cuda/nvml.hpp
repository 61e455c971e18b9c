// SPDX-License-Identifier: Apache-2.0
// What does NVIDIA's management library say of a GPU: clocks, power, energy, temperature, and what
// holds its clock down? The library comes with the driver and is opened while the program runs;
// where it is absent, or does not know something, the value is absent, and nothing fails. Its few
// functions are declared here: their headers are not part of every toolkit.
//
//   nvml it("libnvidia-ml.so.1", "0000:3B:00.0");   if (auto mhz = it.sm_mhz()) ...
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::backend::cuda {

/// Why a GPU's clock is not at its highest, as the library's bits.
namespace clock_limit {
inline constexpr std::uint64_t idle = 0x1, applications_setting = 0x2, power_cap = 0x4,
                               hardware = 0x8, sync_boost = 0x10, thermal = 0x20,
                               hardware_thermal = 0x40, power_brake = 0x80, display_setting = 0x100;
/// A clock that was chosen, or an idle GPU: these do no harm.
inline constexpr std::uint64_t harmless = idle | applications_setting;

inline constexpr std::pair<std::uint64_t, std::string_view> names[] = {
    {idle, "idle"},
    {applications_setting, "applications clocks"},
    {power_cap, "power limit"},
    {hardware, "hardware slowdown"},
    {sync_boost, "clocks shared with another GPU"},
    {thermal, "temperature"},
    {hardware_thermal, "temperature (hardware slowdown)"},
    {power_brake, "power brake"},
    {display_setting, "display clocks"},
};
} // namespace clock_limit

/// The reasons of `bits` in words, with commas between; "none" if there are none.
inline std::string clock_limits(std::uint64_t bits) {
  std::string out;
  for (const auto& [bit, name] : clock_limit::names)
    if ((bits & bit) != 0) {
      out.append(out.empty() ? "" : ", ").append(name);
      bits &= ~bit;
    }
  if (bits != 0) out += (out.empty() ? "" : ", ") + ("reason " + std::to_string(bits));
  return out.empty() ? "none" : out;
}

/// The management library, on one GPU. Asking costs some microseconds a value, on some systems a
/// millisecond.
class nvml {
public:
  /// For how long something has held the clock down, up to a moment.
  struct held_time {
    std::uint64_t at_us = 0, held_ns = 0;
  };

  /// The library's file, as the driver installs it or as BENANZA_NVML names it.
  static std::string usual_library() {
    const char* named = std::getenv("BENANZA_NVML");
    return named != nullptr ? named : "libnvidia-ml.so.1";
  }

  /// Opens `library` for the GPU at that address on the PCI bus.
  nvml(const std::string& library, const std::string& pci_bus_id) {
    handle_ = library.empty() ? nullptr : dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      why_not_ = library.empty() ? "no NVML" : "no NVML (" + library + " was not found)";
      return;
    }
    // The library stays loaded: others of this process may use it too.
    const auto init = function<int()>("nvmlInit_v2");
    if (init == nullptr || init() != success) {
      why_not_ = "NVML cannot be started";
      return;
    }
    started_ = true;
    const auto find = function<int(const char*, device*)>("nvmlDeviceGetHandleByPciBusId_v2");
    if (find == nullptr || find(pci_bus_id.c_str(), &gpu_) != success) {
      gpu_ = nullptr;
      why_not_ = "NVML does not know the GPU at " + pci_bus_id;
    }
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;
  ~nvml() {
    if (!started_) return;
    if (const auto end = function<int()>("nvmlShutdown"); end != nullptr) end();
  }

  /// Why nothing is known; empty: the library reports what it knows.
  const std::string& why_not() const { return why_not_; }

  std::optional<unsigned> sm_mhz() const { return number("nvmlDeviceGetClockInfo", sm_domain); }
  std::optional<unsigned> memory_mhz() const {
    return number("nvmlDeviceGetClockInfo", memory_domain);
  }
  std::optional<unsigned> most_sm_mhz() const {
    return number("nvmlDeviceGetMaxClockInfo", sm_domain);
  }
  std::optional<unsigned> temperature_c() const { return number("nvmlDeviceGetTemperature", die); }
  /// Watts, on most GPUs the average of the last second.
  std::optional<double> power_w() const { return thousandth("nvmlDeviceGetPowerUsage"); }
  /// Watts that the GPU is held to.
  std::optional<double> power_limit_w() const {
    return thousandth("nvmlDeviceGetEnforcedPowerLimit");
  }
  /// Millijoules since the driver was loaded.
  std::optional<std::uint64_t> energy_mj() const {
    return wide("nvmlDeviceGetTotalEnergyConsumption");
  }
  /// Bits of `clock_limit`.
  std::optional<std::uint64_t> limits() const {
    const auto told = wide("nvmlDeviceGetCurrentClocksThrottleReasons");
    // The function's name in later drivers.
    return told ? told : wide("nvmlDeviceGetCurrentClocksEventReasons");
  }
  /// What the power limit has cost, and what the temperature.
  std::optional<held_time> held_by_power() const { return held(power_policy); }
  std::optional<held_time> held_by_heat() const { return held(thermal_policy); }
  std::optional<bool> ecc() const { return mode("nvmlDeviceGetEccMode"); }
  /// Whether the board is split into several GPUs; clocks and power are then the whole board's.
  std::optional<bool> split() const { return mode("nvmlDeviceGetMigMode"); }
  /// The driver's own version: "580.65.06".
  std::optional<std::string> driver() const {
    const auto ask = function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    std::array<char, 96> text{};
    if (ask == nullptr || !started_ ||
        ask(text.data(), static_cast<unsigned>(text.size() - 1)) != success)
      return std::nullopt;
    return std::string(text.data());
  }

private:
  using device = struct nvmlDevice_st*;
  static constexpr int success = 0;
  static constexpr int sm_domain = 1, memory_domain = 2;     // nvmlClockType_t
  static constexpr int die = 0;                              // nvmlTemperatureSensors_t
  static constexpr int power_policy = 0, thermal_policy = 1; // nvmlPerfPolicyType_t

  /// A function of the library; null where it has none of that name.
  template <class Signature>
  Signature* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Signature*>(dlsym(handle_, name));
  }
  std::optional<unsigned> number(const char* name, int which) const {
    const auto ask = function<int(device, int, unsigned*)>(name);
    unsigned value = 0;
    if (ask == nullptr || gpu_ == nullptr || ask(gpu_, which, &value) != success)
      return std::nullopt;
    return value;
  }
  std::optional<held_time> held(int policy) const {
    struct violation {
      unsigned long long reference_us = 0, ns = 0;
    } value;
    const auto ask = function<int(device, int, violation*)>("nvmlDeviceGetViolationStatus");
    if (ask == nullptr || gpu_ == nullptr || ask(gpu_, policy, &value) != success)
      return std::nullopt;
    return held_time{value.reference_us, value.ns};
  }
  std::optional<bool> mode(const char* name) const {
    const auto ask = function<int(device, unsigned*, unsigned*)>(name);
    unsigned now = 0, pending = 0;
    if (ask == nullptr || gpu_ == nullptr || ask(gpu_, &now, &pending) != success)
      return std::nullopt;
    return now != 0;
  }
  std::optional<double> thousandth(const char* name) const {
    const auto ask = function<int(device, unsigned*)>(name);
    unsigned value = 0;
    if (ask == nullptr || gpu_ == nullptr || ask(gpu_, &value) != success) return std::nullopt;
    return value / 1000.0;
  }
  std::optional<std::uint64_t> wide(const char* name) const {
    const auto ask = function<int(device, unsigned long long*)>(name);
    unsigned long long value = 0;
    if (ask == nullptr || gpu_ == nullptr || ask(gpu_, &value) != success) return std::nullopt;
    return value;
  }

  void* handle_ = nullptr;
  bool started_ = false;
  device gpu_ = nullptr;
  std::string why_not_{};
};

} // namespace benanza::backend::cuda
