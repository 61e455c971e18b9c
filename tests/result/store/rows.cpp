// SPDX-License-Identifier: Apache-2.0
// Are rows that do not fit together refused, and are ranges of rows those that were asked for?
#include "../../program.hpp"
#include "../synthetic.hpp"

#include "benanza/result/store/store.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name

namespace {

std::string read_all(const store& s) {
  try {
    s.rows().of_system(1, [](stored&&) {});
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

} // namespace

TEST_CASE("rows come by system, layer and setting, with their run and their place in it") {
  const benanza::test::scratch_folder f("rows");
  store s(f / "a.db", mode::write);
  const auto r = synthetic::small_run();
  s.add(s.begin_run(r), r.measurements);
  s.add(s.begin_run(r), r.measurements);
  std::size_t all = 0, relu = 0, none = 0;
  std::int64_t places = 0;
  s.rows().of_system(1, [&](stored&& row) {
    ++all;
    places += row.n;
    CHECK((row.run == 1 || row.run == 2));
  });
  const auto n = std::ssize(r.measurements);
  CHECK(std::int64_t(all) == 2 * n);
  CHECK(places == n * (n - 1));
  s.rows().of_layer(1, *s.find_layer("Relu", "1x64x56x56"), [&](stored&& row) {
    ++relu;
    CHECK(row.what.family == "Relu");
  });
  CHECK(relu == 2);
  s.rows().of_system(2, [&](stored&&) { ++none; });
  CHECK(none == 0);
}

TEST_CASE("a row that names what is not there, or has broken bytes, is refused by name") {
  for (const char* harm : {"DELETE FROM layer", "DELETE FROM setting", "DELETE FROM variant",
                           "DELETE FROM description", "UPDATE description SET body = 'x' || id",
                           "UPDATE result SET numbers = x'80'"}) {
    const benanza::test::scratch_folder f("rows");
    {
      store s(f / "a.db", mode::write);
      const auto r = synthetic::small_run();
      s.add(s.begin_run(r), r.measurements);
      CHECK(read_all(s).empty());
      s.tables_of().run(harm);
    }
    const std::string said = read_all(store(f / "a.db", mode::read));
    CAPTURE(harm);
    CHECK(said.find("the store is damaged") != std::string::npos);
    CHECK(said.find("a.db") != std::string::npos);
  }
}
