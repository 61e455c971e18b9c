// SPDX-License-Identifier: Apache-2.0
#include "fake_powercap.hpp"

#include <benanza/machine/package_energy.hpp>
#include <doctest/doctest.h>

using benanza::machine::package_energy;
using benanza::test::fake_powercap;

TEST_CASE("the energy of all packages is summed, and of nothing else") {
  fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 5'000'000);
  fake.zone("intel-rapl:0:0", "dram", 1'000'000);
  fake.zone("intel-rapl:1", "package-1", 900'000'000'000'000);
  fake.zone("intel-rapl:2", "psys", 1'000'000);
  fake.zone("intel-rapl-mmio:0", "package-0", 1'000'000);
  package_energy e(fake.folder());
  CHECK(e.why_not() == "");
  CHECK(e.packages() == 2);
  const double before = e.joules().value();
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"})
    fake.set(other, 99'000'000);
  CHECK(e.joules().value() == before);
  fake.set("intel-rapl:0", 7'500'000);
  fake.set("intel-rapl:1", 900'000'001'250'000);
  CHECK(e.joules().value() - before == doctest::Approx(3.75));
}

TEST_CASE("a counter of energy begins anew where its range ends") {
  fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 262'143'000'000, 262'143'328'850);
  package_energy e(fake.folder());
  const double before = e.joules().value();
  fake.set("intel-rapl:0", 671'150); // 0.328850 J to the end, and 0.671150 J
  CHECK(e.joules().value() - before == doctest::Approx(1));
  fake.set("intel-rapl:0", 1'671'150);
  CHECK(e.joules().value() - before == doctest::Approx(2));

  fake_powercap other;
  other.zone("intel-rapl:0", "package-0", 5'000'000, 0);
  package_energy without_range(other.folder());
  other.set("intel-rapl:0", 4'000'000);
  CHECK_FALSE(without_range.joules());
}

TEST_CASE("where no energy is known it says why, and what to do") {
  fake_powercap fake;
  CHECK(package_energy(fake.folder()).why_not() == "no RAPL in " + fake.folder());
  CHECK(package_energy(fake.folder() + "/none").why_not() ==
        "no RAPL in " + fake.folder() + "/none");
  CHECK_FALSE(package_energy(fake.folder()).joules());

  fake.zone("intel-rapl:0", "package-0", 5'000'000);
  fake.zone("intel-rapl:1", "package-1", 5'000'000);
  fake.forbid("intel-rapl:1"); // half of the packages would look like all
  package_energy half(fake.folder());
  CHECK(half.why_not() == fake.folder() +
                              "/intel-rapl:1/energy_uj cannot be read: as root, chmod a+r " +
                              fake.folder() + "/intel-rapl:*/energy_uj");
  CHECK_FALSE(half.joules());

  fake_powercap odd;
  odd.zone("intel-rapl:0", "package-0", 1);
  odd.write("intel-rapl:0", "energy_uj", "many\n");
  CHECK(package_energy(odd.folder()).why_not() ==
        odd.folder() + "/intel-rapl:0/energy_uj holds no number");
}

TEST_CASE("a counter that stops being one gives nothing") {
  fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 5'000'000);
  package_energy e(fake.folder());
  CHECK(e.joules());
  fake.write("intel-rapl:0", "energy_uj", "");
  CHECK_FALSE(e.joules());
}
