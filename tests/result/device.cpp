// SPDX-License-Identifier: Apache-2.0
#include "synthetic.hpp"

#include <benanza/result/device.hpp>
#include <doctest/doctest.h>

using namespace benanza::result;

TEST_CASE("what a case says of its device counts, whatever its library is called") {
  measurement m = synthetic::small_run().measurements.front();
  CHECK(device_of(m) == "cpu");
  m.device = "gpu";
  CHECK(device_of(m) == "gpu");
  m.backend = "cudnn";
  m.device = "cpu";
  CHECK(device_of(m) == "cpu");
}

TEST_CASE("cases of libraries that run on a GPU are distinguished from the others") {
  run r = synthetic::small_run();
  CHECK(devices(r) == std::set<std::string_view>{"cpu"});
  measurement on_gpu = r.measurements.front();
  on_gpu.backend = "cudnn";
  r.measurements.push_back(on_gpu);
  for (const char* other : {"cublas", "cuda"}) {
    on_gpu.backend = other;
    r.measurements.push_back(on_gpu);
  }
  CHECK(devices(r) == std::set<std::string_view>{"cpu", "gpu"});
  const std::size_t all = r.measurements.size();
  r.provenance["machine"] = {{"cpu", "a"}, {"l1d_bytes", "1"}, {"l2_bytes", "2"}};
  r.provenance["software"]["cudnn_l2_bytes"] = "52428800";
  r.provenance["software"]["cudnn_gpu"] = "H200";
  run of_gpu = r;
  keep_device(of_gpu, gpu_device);
  CHECK(of_gpu.measurements.size() == 3);
  CHECK(of_gpu.provenance["machine"] ==
        std::map<std::string, std::string>{
            {"cores", "1"}, {"gpu", "H200"}, {"l2_bytes", "52428800"}});
  keep_device(r, cpu_device);
  CHECK(r.measurements.size() == all - 3);
  CHECK(r.provenance["machine"]["l2_bytes"] == "2");
}
