// SPDX-License-Identifier: Apache-2.0
// A library with those functions of nvMatmulHeuristics that are used, for tests. It proposes three
// kernels, the second of which is the best: it takes 10 us and what its operations take at
// 1 Pflop/s (f16 on an H100) or 100 Tflop/s (all else).
#include <cstdint>
#include <cstdlib>

namespace {
struct problem {
  std::uint32_t m, n, k, batches;
  std::uint8_t layout;
};
struct kernel {
  std::uint16_t tiles[9], split_k;
  std::uint8_t others[5];
};
int gpu = 0;
int handle = 0;

int make(void** to) {
  *to = &handle;
  return 1;
}
int drop(void** it) {
  const bool mine = *it == &handle;
  *it = nullptr;
  return mine ? 1 : 0;
}
} // namespace

extern "C" {
unsigned nvMatmulHeuristicsGetVersionMajor() {
  return 0;
}
unsigned nvMatmulHeuristicsGetVersionMinor() {
  return std::getenv("BENANZA_FAKE_HEURISTICS_OF_ANOTHER_VERSION") == nullptr ? 1 : 2;
}
unsigned nvMatmulHeuristicsGetVersionPatch() {
  return 7;
}
int nvMatmulHeuristicsCreate(void** to) {
  return make(to);
}
int nvMatmulHeuristicsDestroy(void** it) {
  return drop(it);
}
int nvMatmulHeuristicsHardwareDescriptorCreate(void** to) {
  return make(to);
}
int nvMatmulHeuristicsHardwareDescriptorDestroy(void** it) {
  return drop(it);
}
int nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu(void*, int number) {
  gpu = number;
  return 1;
}
int nvMatmulHeuristicsBackendCreate(void** to, int) {
  return make(to);
}
int nvMatmulHeuristicsBackendDestroy(void** it) {
  return drop(it);
}
unsigned nvMatmulHeuristicsGetGemmConfig(void*, const char* precision, unsigned, int,
                                         const problem* asked, kernel* to, unsigned room, void*) {
  if (precision == nullptr || asked->m == 0 || room < 3) return 0;
  for (unsigned i = 0; i < 3; ++i)
    to[i].split_k = static_cast<std::uint16_t>(i == 1 ? 1 : 3);
  return 3;
}
double nvMatmulHeuristicsEstimateSiliconMetricEx(void*, const char* precision, void*,
                                                 const problem* p, const kernel* k, int metric,
                                                 void*) {
  if (metric == 8) return 1e-5;
  const double flops = 2.0 * p->m * p->n * p->k * p->batches;
  const double rate = gpu == 9000 && precision[0] == 'H' ? 1e15 : 1e14;
  return 1e-5 + k->split_k * flops / rate;
}
}
