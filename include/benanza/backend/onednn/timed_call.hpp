// SPDX-License-Identifier: Apache-2.0
// What do all prepared layers of oneDNN share? A run is a call of the library and nothing else; the
// clock is the host's, because the CPU stream has ended when the call returns.
//
//   class execution final : public timed_call { void execute(int executions) override; ... };
#pragma once

#include "../../core/stopwatch.hpp"
#include "../prepared.hpp"
#include "engine.hpp"

namespace benanza::backend::onednn {

class timed_call : public prepared, public chainable {
public:
  chainable* chain() final { return this; }
  void run(int executions) final {
    use_threads(threads_);
    execute(executions);
  }
  double time(int executions) final {
    use_threads(threads_);
    const stopwatch timer;
    execute(executions);
    return timer.ns();
  }

protected:
  explicit timed_call(int threads)
      : threads_(threads) {}
  /// Runs the layer so many times, and waits for the end.
  virtual void execute(int executions) = 0;

  int threads_;
};

} // namespace benanza::backend::onednn
