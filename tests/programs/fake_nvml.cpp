// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library for tests: it answers by the script that BENANZA_FAKE_NVML_SCRIPT
// names, read when it is started. A line is a value's name and what it is at each question, the
// last for all further ones; a value without a line is not supported:
//   sm 345 690 1980     MHz       memory 3201      most-sm 1980     temperature 41
//   power 90500         mW        power-limit 700000                energy 1000 1500      mJ
//   limits 0 64         bits      ecc 1            driver 580.65.06
//   mig 1              power-held 1000:0 5000:2000000   us so far, and ns in which the power limit
//                      held the clock down              heat-held ..         the temperature
//   slow 20            ms that each question about these two takes
//   gpu 0000:FA:4E.0    the only GPU that it knows; any, if there is no such line
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr int success = 0, invalid = 2, not_supported = 3, not_found = 6;

struct script {
  std::map<std::string, std::vector<std::string>> values{};
  std::map<std::string, std::size_t> asked{};
  int started = 0;
};
script& it() {
  static script one;
  return one;
}

/// The next text of a value; null: not supported.
const std::string* next(const std::string& name) {
  const auto found = it().values.find(name);
  if (it().started == 0 || found == it().values.end() || found->second.empty()) return nullptr;
  std::size_t& at = it().asked[name];
  const std::string& text = found->second[std::min(at, found->second.size() - 1)];
  ++at;
  return &text;
}

template <class T>
int give(const std::string& name, T* to) {
  const std::string* text = next(name);
  if (text == nullptr) return not_supported;
  *to = static_cast<T>(std::stoull(*text));
  return success;
}

int a_gpu = 0;
} // namespace

#define FAKE_NVML_API extern "C" __attribute__((visibility("default")))

FAKE_NVML_API int nvmlInit_v2() {
  const char* file = std::getenv("BENANZA_FAKE_NVML_SCRIPT");
  std::ifstream in(file == nullptr ? "" : file);
  if (!in) return invalid;
  const int before = it().started;
  it() = {};
  it().started = before + 1;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    for (std::string value; words >> value;)
      it().values[name].push_back(value);
  }
  return success;
}
FAKE_NVML_API int nvmlShutdown() {
  if (it().started == 0) return invalid;
  --it().started;
  return success;
}
FAKE_NVML_API int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** gpu) {
  const std::string* only = next("gpu");
  if (only != nullptr && *only != address) return not_found;
  *gpu = &a_gpu;
  return success;
}
FAKE_NVML_API int nvmlDeviceGetClockInfo(void*, int domain, unsigned* mhz) {
  return give(domain == 1 ? "sm" : domain == 2 ? "memory" : "", mhz);
}
FAKE_NVML_API int nvmlDeviceGetMaxClockInfo(void*, int domain, unsigned* mhz) {
  return give(domain == 1 ? "most-sm" : "", mhz);
}
FAKE_NVML_API int nvmlDeviceGetTemperature(void*, int sensor, unsigned* c) {
  return sensor == 0 ? give("temperature", c) : invalid;
}
FAKE_NVML_API int nvmlDeviceGetPowerUsage(void*, unsigned* mw) {
  return give("power", mw);
}
FAKE_NVML_API int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* mw) {
  return give("power-limit", mw);
}
FAKE_NVML_API int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  return give("energy", mj);
}
FAKE_NVML_API int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  return give("limits", bits);
}
FAKE_NVML_API int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
  return give("event-limits", bits);
}
FAKE_NVML_API int nvmlDeviceGetViolationStatus(void*, int policy, unsigned long long* value) {
  if (const std::string* ms = next("slow"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(*ms)));
  const std::string* text = next(policy == 0 ? "power-held" : policy == 1 ? "heat-held" : "");
  if (text == nullptr) return not_supported;
  value[0] = std::stoull(*text);
  value[1] = std::stoull(text->substr(text->find(':') + 1));
  return success;
}
FAKE_NVML_API int nvmlDeviceGetEccMode(void*, int* now, int* pending) {
  *pending = 0;
  return give("ecc", now);
}
FAKE_NVML_API int nvmlDeviceGetMigMode(void*, int* now, int* pending) {
  *pending = 0;
  return give("mig", now);
}
FAKE_NVML_API int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  const std::string* version = next("driver");
  if (version == nullptr) return not_supported;
  std::strncpy(text, version->c_str(), length);
  return success;
}
