// SPDX-License-Identifier: Apache-2.0
#include "../chain/planned.hpp"

#include <benanza/measure/chain/chain.hpp>
#include <benanza/measure/load/load_subject.hpp>
#include <filesystem>

#include <sys/wait.h>

namespace test_of_loading {
using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("a model answers the same with weights that another process shares") {
  const library_list libraries = real_libraries();
  const result::plan p = plan_of(graph_of(residual), libraries, 1);
  const load::model_weights weights(p, libraries);
  CHECK(weights.file_bytes() > 0);
  const load::built_nodes built = weights.build();
  CHECK(built.packing_ns > 0);
  CHECK(built.other_ns > 0);

  chain c(p, libraries);
  REQUIRE(built.packed_bytes() >= c.weight_bytes());
  c.run(1);
  std::vector<double> own, shared;
  c.read(own);

  const machine::shared_store store("benanza-test-load-" + std::to_string(getpid()));
  const pid_t other = fork();
  if (other == 0) {
    store.open("w", built.packed_bytes(),
               [&](std::span<std::byte> to) { load::copy_packed(built, to.data()); });
    _exit(0);
  }
  waitpid(other, nullptr, 0);
  {
    const auto object = store.attach("w");
    REQUIRE(object);
    chain with(p, libraries, usual_parameters, false, {.packed = object->bytes().data()});
    CHECK(with.weight_bytes() == c.weight_bytes());
    with.run(1);
    with.read(shared);
    CHECK(shared == own);
    const std::vector<std::byte> none(object->bytes().size());
    chain without(p, libraries, usual_parameters, false, {.packed = none.data()});
    without.run(1); // and it does read those
    without.read(shared);
    CHECK(shared != own);
  }
  store.clear();
  std::filesystem::remove_all(store.folder());
}

TEST_CASE("an algorithm that is given packed weights reads those, and packs none") {
  std::set<std::string> seen;
  for (const char* key : {"Conv/1x16x9x9-32x3x3-s1-p1-b", "Gemm/1x10x64-tb-c1x10-w",
                          "LSTM/4x1x10-h16-b", "GRU/4x1x10-h16-reverse-after"}) {
    const op::layer l = op::parse(key);
    const backend::operands values = backend::make_operands(l, numeric::f32);
    backend::operands emptied = values;
    for (backend::tensor& t : emptied.inputs)
      if (t.part == backend::role::weights) std::fill(t.bytes.begin(), t.bytes.end(), std::byte{});
    for (const auto& library : real_libraries())
      for (const backend::algorithm& a : library->enumerate(l, numeric::f32, {.threads = 1})) {
        CAPTURE(key);
        CAPTURE(a.id);
        const auto own = library->prepare(l, numeric::f32, a, values, {.threads = 1});
        const auto* packs = backend::packed_weights::of(*own);
        if (packs == nullptr || own->weight_bytes() == 0) continue;
        const load::fresh_memory packed(own->weight_bytes());
        packs->copy_weights(packed.bytes().data());
        const auto given = library->prepare(l, numeric::f32, a, emptied,
                                            {.threads = 1, .packed = packed.bytes().data()});
        CHECK(given->weight_bytes() == own->weight_bytes());
        std::vector<double> its, others;
        own->run(1);
        own->read(its);
        given->run(1);
        given->read(others);
        CHECK(its == others);
        seen.insert(std::string(library->name()) + std::string(op::family(l)));
      }
  }
  CHECK(seen.contains("onednnConv"));
  CHECK(seen.contains("onednnGemm"));
  CHECK(seen.contains("onednnLSTM"));
}

TEST_CASE("what a process holds is its part of what it maps, and no part of what it does not") {
  constexpr std::int64_t bytes = 16 << 20;
  const machine::shared_store store("benanza-test-held-" + std::to_string(getpid()));
  {
    const auto object = store.open(
        "w", bytes, [](std::span<std::byte> to) { std::fill(to.begin(), to.end(), std::byte{1}); });
    load::touch(object.bytes());
    const std::int64_t mapped = load::detail::held_bytes();
    object.unmap_pages();
    CHECK(mapped - load::detail::held_bytes() > bytes * 3 / 4);
    CHECK(object.intact());
  }
  store.clear();
  std::filesystem::remove_all(store.folder());
}

TEST_CASE("packed weights are shared as one object, in groups and by layers") {
  const library_list libraries = real_libraries();
  const result::plan p = plan_of(graph_of(residual), libraries, 1);
  const machine::shared_store store("benanza-bench");
  const group g = load::load_group(p, libraries);
  g.what->begin();
  std::map<int, std::map<int, std::vector<std::byte>>> sets; // by how many, and by number
  for (const machine::stored_object& o : store.list()) {
    int number = 0, of = 0;
    const std::size_t at = o.key.find('-', o.key.find('-', std::string("weights-").size()) + 1);
    if (std::sscanf(o.key.c_str() + at, "-%d-of-%d", &number, &of) != 2) continue;
    const auto object = store.attach(o.key);
    CHECK_FALSE(object->bytes().empty());
    sets[of][number].assign(object->bytes().begin(), object->bytes().end());
  }
  REQUIRE(sets.size() == load::granularities(p).size());
  const std::vector<std::byte>& whole = sets.at(1).at(0);
  CHECK(std::ssize(whole) == load::model_weights(p, libraries).build().packed_bytes());
  for (const auto& [of, objects] : sets) {
    const auto nodes = of; // what CAPTURE takes
    CAPTURE(nodes);
    CHECK(std::ssize(objects) == nodes);
    std::vector<std::byte> all;
    for (const auto& [number, bytes] : objects)
      all.insert(all.end(), bytes.begin(), bytes.end());
    CHECK(all == whole);
  }
  g.what->end();
}

TEST_CASE("from disk is what no page is in memory of, and no figure where the system keeps them") {
  const library_list libraries = real_libraries();
  const result::plan p = plan_of(graph_of(residual), libraries, 1);
  {
    const load::model_weights weights(p, libraries);
    const load::fresh_memory mapped(weights.file_bytes(), weights.file());
    CHECK(mapped.resident_pages() > 0);
    try {
      weights.leave_page_cache();
      CHECK(mapped.resident_pages() == 0);
      load::touch(mapped.bytes(), 64);
      CHECK(mapped.resident_pages() > 0);
    } catch (const error& e) { // /var/tmp is in memory here
      CHECK(std::string(e.what()).find("no disk is read") != std::string::npos);
    }
  }
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/dev/shm", 1);
  const group g = load::load_group(p, libraries);
  g.what->begin();
  for (const bench_case& c : g.cases)
    if (result::of_a_disk(c.algorithm.id)) {
      CHECK_THROWS_WITH_AS(g.what->ready(c), doctest::Contains("no disk is read"), error);
    } else if (result::of_a_file(c.algorithm.id)) {
      CHECK(g.what->ready(c).run->time(1) > 0);
    }
  g.what->end();
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

TEST_CASE("each way to load a model is a case, and leaves nothing behind") {
  const library_list libraries = real_libraries();
  const result::plan p = plan_of(graph_of(residual), libraries, 1);
  const machine::shared_store store("benanza-bench");
  const std::size_t before = store.list().size();
  group g = load::load_group(p, libraries);
  g.what->begin();
  CHECK(store.list().size() > before);
  std::set<std::string> ways;
  for (const bench_case& c : g.cases) {
    CAPTURE(c.name);
    CHECK(c.name.starts_with("model/test/f32/load/"));
    ways.insert(result::parse_load_way(c.algorithm.id).name);
    ready_case made;
    try {
      made = g.what->ready(c);
    } catch (const error& e) {
      CHECK(result::of_a_disk(c.algorithm.id)); // of a file system in memory
      continue;
    }
    CHECK(made.run->ran() == c.algorithm.id);
    CHECK(made.run->weight_bytes() > 0);
    CHECK(made.run->time(2) > 0);
  }
  CHECK(ways == std::set<std::string>{"attach", "disk_mmap", "disk_read", "mmap", "pack",
                                      "populate", "read", "setup", "touch"});
  g.what->end();
  CHECK(store.list().size() == before);
}
} // namespace test_of_loading
