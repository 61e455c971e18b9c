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
    c.use_weights(object->bytes().data());
    c.run(1);
    c.read(shared);
    CHECK(shared == own);
    std::vector<std::byte> none(object->bytes().size());
    c.use_weights(none.data()); // and it does read those
    c.run(1);
    c.read(shared);
    CHECK(shared != own);
  }
  store.clear();
  std::filesystem::remove_all(store.folder());
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
    const ready_case made = g.what->ready(c);
    CHECK(made.run->ran() == c.algorithm.id);
    CHECK(made.run->weight_bytes() > 0);
    CHECK(made.run->time(2) > 0);
    ways.insert(result::parse_load_way(c.algorithm.id).name);
  }
  CHECK(ways ==
        std::set<std::string>{"attach", "mmap", "pack", "populate", "read", "setup", "touch"});
  g.what->end();
  CHECK(store.list().size() == before);
}
} // namespace test_of_loading
