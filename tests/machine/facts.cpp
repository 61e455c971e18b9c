// SPDX-License-Identifier: Apache-2.0
// What is a processor called where it has a name, and where it has none?
#include <benanza/machine/facts.hpp>

#include <doctest/doctest.h>

#include <sstream>

namespace test_of_machine_facts {
using benanza::machine::detail::cpuinfo;
using benanza::machine::detail::processor_name;

std::string named(const std::string& text) {
  return processor_name(std::istringstream(text));
}

TEST_CASE("a processor has its own name, or that of the kinds of its cores") {
  CHECK(named("processor\t: 0\nmodel name\t: AMD EPYC 9354 32-Core Processor\n") ==
        "AMD EPYC 9354 32-Core Processor");
  const std::string v1 = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n"
                         "CPU part\t: 0xd40\nCPU revision\t: 1\n\n",
                    a76 = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x4\n"
                          "CPU part\t: 0xd0b\nCPU revision\t: 0\n\n";
  CHECK(named("processor\t: 0\n" + v1 + "processor\t: 1\n" + v1) == "0x41.0xd40 r1p1");
  CHECK(named(a76 + v1 + a76) == "0x41.0xd0b r4p0, 0x41.0xd40 r1p1");
  CHECK(named("") == "unknown");
  CHECK(named("nonsense\n: \n") == "unknown");
  CHECK(cpuinfo("flags", std::istringstream(v1)) == "unknown");
  CHECK(cpuinfo("CPU part", std::istringstream(v1)) == "0xd40");
}

} // namespace test_of_machine_facts
