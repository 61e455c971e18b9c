// SPDX-License-Identifier: Apache-2.0
// What a generated main calls. The program itself (bench/main.hpp) is heavy and the same for all
// models: the build compiles it once, like the backends, and not again for other layers.
//
//   int main(int argc, char** argv) { return benanza::bench::run(argc, argv); }
#pragma once

namespace benanza::bench {

/// Runs the benchmark program on the layers and models of the generated sources that are linked in;
/// returns its exit status. Never throws.
int run(int argc, char** argv);

} // namespace benanza::bench
