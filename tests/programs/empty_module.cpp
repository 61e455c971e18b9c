// SPDX-License-Identifier: Apache-2.0
// A module of a benchmark program, whose library is none.
namespace benanza::backend {
class library;
}

extern "C" benanza::backend::library* benanza_make_library(const char* /*name*/) {
  return nullptr;
}
