// SPDX-License-Identifier: Apache-2.0
// All targets for libFuzzer, in one program.
//
//   benanza_fuzz --samples corpus                  writes corpus/TARGET/ and corpus/TARGET.dict
//   benanza_fuzz --target=keys corpus/keys -dict=corpus/keys.dict -max_total_time=60
#include "mutate.hpp"

#include <cstdio>
#include <cstring>

namespace {
const fuzz::target* chosen = nullptr;

void write_samples(const std::filesystem::path& folder) {
  for (const fuzz::target& t : fuzz::targets()) {
    const std::filesystem::path own = folder / t.name;
    std::filesystem::create_directories(own);
    int number = 0;
    for (const std::string& s : t.samples())
      std::ofstream(own / ("sample_" + std::to_string(number++)), std::ios::binary) << s;
    std::ofstream words(own.string() + ".dict");
    for (const std::string_view w : t.words) {
      words << '"';
      for (const char c : w) {
        char code[8];
        std::snprintf(code, sizeof code, "\\x%02X", static_cast<unsigned>(c) & 0xffu);
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
          words << code;
        else
          words << c;
      }
      words << "\"\n";
    }
    std::printf("%s\n", std::string(t.name).c_str());
  }
}
} // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string word = (*argv)[i];
    if (word == "--samples" && i + 1 < *argc) {
      write_samples((*argv)[i + 1]);
      std::exit(0);
    }
    if (word.starts_with("--target="))
      for (const fuzz::target& t : fuzz::targets())
        if (word.substr(std::strlen("--target=")) == t.name) chosen = &t;
  }
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "benanza_fuzz: give --target= and one of");
  for (const fuzz::target& t : fuzz::targets())
    std::fprintf(stderr, " %s", std::string(t.name).c_str());
  std::fprintf(stderr, ", or --samples FOLDER\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  fuzz::dice d(seed);
  if (chosen->change == nullptr || fuzz::below(d, 2) == 0)
    return LLVMFuzzerMutate(data, size, most);
  const std::string changed = chosen->change({reinterpret_cast<const char*>(data), size}, d);
  const std::size_t length = std::min(changed.size(), most);
  std::memcpy(data, changed.data(), length);
  return length;
}
