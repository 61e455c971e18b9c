// SPDX-License-Identifier: Apache-2.0
// Are rows that do not fit together refused, and are ranges of rows those that were asked for?
#include "../synthetic.hpp"
#include "places.hpp"

#include <benanza/result/store/store.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

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
  const benanza::test::store_places f("rows");
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

TEST_CASE("a row that names what is not there is refused by name") {
  for (const char* harm : {"DELETE FROM layer", "DELETE FROM setting", "DELETE FROM variant",
                           "DELETE FROM description", "DELETE FROM system"}) {
    const benanza::test::store_places f("rows");
    {
      store s(f / "a.db", mode::write);
      const auto r = synthetic::small_run();
      s.add(s.begin_run(r), r.measurements);
      CHECK(read_all(s).empty());
      try {
        s.tables_of().run(harm);
      } catch (const benanza::error&) { // a server does not allow what a run refers to
        REQUIRE(harm == std::string_view("DELETE FROM system"));
        continue;
      }
    }
    const std::string said = read_all(store(f / "a.db", mode::read));
    CAPTURE(harm);
    CHECK(said.find("the store is damaged") != std::string::npos);
    CHECK(said.find(shown(f / "a.db")) != std::string::npos);
  }
}

TEST_CASE("a row that does not say what was written is a failed case, and never a figure") {
  for (const char* harm :
       {"UPDATE description SET body = 'x' || id", "UPDATE description SET body = body || ' '",
        "UPDATE result SET numbers = substr(numbers, 1, 1)",
        "UPDATE result SET checksum = checksum + 1", "UPDATE result SET checksum = NULL",
        "UPDATE system SET machine = machine || ' '", "UPDATE layer SET key = key || '-s1'",
        "UPDATE setting SET threads = 2", "UPDATE variant SET algorithm = algorithm || '2'",
        "UPDATE result SET failed = 1"}) {
    const benanza::test::store_places f("rows");
    store s(f / "a.db", mode::write);
    const auto r = synthetic::small_run();
    s.add(s.begin_run(r), r.measurements);
    s.tables_of().run(harm);
    CAPTURE(harm);
    const store again(f / "a.db", mode::read);
    std::size_t rows = 0;
    again.rows().of_system(1, [&](stored&& row) {
      ++rows;
      CHECK(is_damaged(row.what));
      CHECK(row.what.samples_ns.empty());
    });
    CHECK(rows == r.measurements.size());
    for (const auto& m : r.measurements) {
      CHECK_FALSE(again.holds(1, m.family, m.key, m.type, m.threads));
      CHECK_FALSE(again.failure(1, m.family, m.key, m.type, m.threads));
      CHECK(again.find(identity_of(r), m.family, m.key, m.type, m.threads).empty());
    }
  }
}

TEST_CASE("rows with any byte changed give what was written, or nothing") {
  const benanza::test::store_places f("rows");
  const auto r = synthetic::small_run();
  {
    store s(f / "a.db", mode::write);
    s.add(s.begin_run(r), r.measurements);
  }
  const store whole(f / "a.db", mode::write);
  std::vector<std::string> good;
  whole.rows().of_system(1, [&](stored&& row) { good.push_back(to_json(row.what).dump()); });
  statement read(whole.tables_of(), "SELECT numbers FROM result ORDER BY n");
  std::vector<bytes> blobs;
  const transaction undone(whole.tables_of());
  read.each([&](const statement& row) {
    const auto b = row.bytes(0);
    blobs.emplace_back(b.begin(), b.end());
  });
  statement write(whole.tables_of(), "UPDATE result SET numbers = ? WHERE n = ?");
  int damaged = 0, changes = 0;
  for (std::size_t n = 0; n < blobs.size(); ++n)
    for (std::size_t i = 0; i < blobs[n].size(); ++i) {
      bytes other = blobs[n];
      other[i] = static_cast<unsigned char>(other[i] ^ (1u << (i % 8)));
      write.run(std::span<const unsigned char>(other), static_cast<std::int64_t>(n));
      std::size_t at = 0;
      whole.rows().of_system(1, [&](stored&& row) {
        if (is_damaged(row.what))
          ++damaged;
        else
          CHECK(to_json(row.what).dump() == good[at]);
        ++at;
      });
      ++changes;
      write.run(std::span<const unsigned char>(blobs[n]), static_cast<std::int64_t>(n));
    }
  CHECK(changes > 100);
  CHECK(damaged == changes);
}
