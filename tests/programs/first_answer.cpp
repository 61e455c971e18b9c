// SPDX-License-Identifier: Apache-2.0
// When does a process have its first answer of a plan's model? It prints what it took to get the
// weights and to run once, and a checksum of the answer: with weights of its own (read from a file
// in the page cache, and packed), or with those that another process shares. Each run of this
// program is a process of its own; the one that shares stays until its standard input ends.
//
//   first_answer plan.json share &   first_answer plan.json private   first_answer plan.json shared
#include <benanza/backend/concept.hpp>
#include <benanza/measure/chain/chain.hpp>
#include <benanza/measure/chain/plans.hpp>
#include <benanza/measure/load/load_subject.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {
using namespace benanza;
using namespace benanza::measure;

double ms(const stopwatch& timer) {
  return timer.ns() / 1e6;
}

int answer(const std::string& file, const std::string& mode) {
  const result::plan plan = std::move(read_plans({file}).front());
  library_list libraries;
  for (const auto& [name, make] : backend::registered_backends())
    if (auto made = make(); made->unavailable().empty()) libraries.push_back(std::move(made));
  const load::model_weights weights(plan, libraries);
  const machine::shared_store store("benanza-first-answer");
  const std::string key = weights.packed_key();
  if (mode == "share") {
    const load::built_nodes built = weights.build();
    {
      const machine::shared_object o =
          store.open(key, built.packed_bytes(),
                     [&](std::span<std::byte> to) { load::copy_packed(built, to.data()); });
      std::printf("shared %s: %lld bytes\n", key.c_str(), static_cast<long long>(o.bytes().size()));
      std::fflush(stdout);
      std::cin.ignore(std::numeric_limits<std::streamsize>::max());
    }
    store.evict(key); // unless a process uses it still
    return 0;
  }
  chain model(plan, libraries); // the kernels are ready; what is timed begins now
  double load_ms = 0, ready_ms = 0;
  std::optional<machine::shared_object> object;
  if (mode == "private") {
    const stopwatch timer;
    const load::fresh_memory own(weights.file_bytes());
    load::read_file(weights.file(), own.bytes());
    load_ms = ms(timer);
    ready_ms = weights.build().packing_ns / 1e6;
  } else {
    const stopwatch timer;
    object = store.attach(key);
    if (!object) throw error("no process shares these weights", key, "share them first");
    load_ms = ms(timer);
    const stopwatch mapping;
    if (!object->populate()) load::touch(object->bytes());
    ready_ms = ms(mapping);
    model.use_weights(object->bytes().data());
  }
  const stopwatch running;
  model.run(1);
  const double run_ms = ms(running);
  std::vector<double> out;
  model.read(out);
  std::printf(
      "%s: weights %.3f ms, %s %.3f ms, run %.3f ms, first answer %.3f ms, answer %016llx\n",
      mode.c_str(), load_ms, mode == "private" ? "pack" : "map", ready_ms, run_ms,
      load_ms + ready_ms + run_ms,
      static_cast<unsigned long long>(content_hash(std::as_bytes(std::span(out)))));
  return 0;
}
} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() != 2 || (words[1] != "share" && words[1] != "private" && words[1] != "shared"))
      throw error("a plan and one of share, private, shared are wanted");
    return answer(words[0], words[1]);
  } catch (const std::exception& e) {
    std::cerr << "first_answer: " << e.what() << '\n';
    return 2;
  }
}
