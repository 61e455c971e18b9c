// SPDX-License-Identifier: Apache-2.0
// A management library that answers by a script (programs/fake_nvml.cpp), as long as this lives;
// programs that are started meanwhile find it too.
//
//   const fake_nvml it("sm 345 1980\nlimits 0");   cuda::nvml n(it.library, "0000:01:00.0");
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace cuda_test {

class fake_nvml {
public:
  explicit fake_nvml(const std::string& script)
      : script_(std::filesystem::temp_directory_path() /
                ("benanza_nvml_" + std::to_string(getpid()))) {
    std::ofstream(script_) << script << '\n';
    setenv("BENANZA_NVML", library.c_str(), 1);
    setenv("BENANZA_FAKE_NVML_SCRIPT", script_.c_str(), 1);
  }
  fake_nvml(const fake_nvml&) = delete;
  fake_nvml& operator=(const fake_nvml&) = delete;
  ~fake_nvml() {
    unsetenv("BENANZA_NVML");
    unsetenv("BENANZA_FAKE_NVML_SCRIPT");
    std::error_code ignored;
    std::filesystem::remove(script_, ignored);
  }

  const std::string library = BENANZA_FAKE_NVML_LIBRARY;

private:
  std::filesystem::path script_;
};

} // namespace cuda_test
