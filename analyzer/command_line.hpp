// SPDX-License-Identifier: Apache-2.0
// The options of benanza_analyze.
#pragma once

#include "commands.hpp"
#include "formats.hpp"
#include "request.hpp"
#include "versions.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// Reads a command line into `asked`. What comes back is to be printed instead of an answer
/// (--help,
/// --version); empty: nothing.
inline std::string parse(std::vector<std::string> arguments, request& asked) {
  CLI::App app("How fast could each model run on the machine that was measured?",
               "benanza_analyze");
  app.set_version_flag("--version", versions);
  app.add_option("results", asked.files,
                 "results of benanza_bench, or a store of them; none or -: standard input");
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name");
  app.add_option("--type", asked.wanted.type, "only this type: f32, bf16, u8s8u8 ...");
  app.add_option("--threads", asked.wanted.threads, "only times on so many threads");
  app.add_option("--device", asked.device, "cpu or gpu, where the result holds times of both")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--backends", asked.backends,
                 "only these compete: onednn,host leaves out what frameworks ran")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--workers", asked.wanted.workers,
                 "layers that run at the same time; else as many as the cores leave room for")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--plan", asked.plan, "write there how each node of the model should run");
  auto* fused = app.add_flag("--fused", asked.fused, "the plan is that of the fused form");
  app.add_flag("--unfused", asked.unfused, "the plan is that of the unfused form")->excludes(fused);
  app.add_option("--format", asked.formats, about_formats())
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--layers", asked.layers, "rows of a model's table: a number, or all");
  app.add_option("-o,--output", asked.output,
                 "write there, whole or not at all; into a folder as report.md and so on");
  app.add_flag("-q,--quiet", asked.quiet, "only the figures: no explanations, layers or advice");
  app.add_flag("--models", asked.models, "only list the models that the results hold");
  app.add_flag("--merge", asked.merge,
               "put the samples of several runs of the same cases together");
  app.add_option(
      "--missing", asked.missing,
      "write there the benanza_bench filter (--benchmark_filter) for what was not measured");
  app.add_flag("--machine", asked.machine, "what the machine can do at most, in place of models");
  app.add_option("--algorithms", asked.algorithms,
                 "every algorithm of the layers with this in their names, or of this node: its "
                 "time, or why it has none");
  app.add_flag("--versions", asked.versions,
               "where one version of a library is faster or slower than another");
  app.add_option("--framework", asked.frameworks,
                 "what a framework took: scripts/measure_framework's file, or a trace of ONNX "
                 "Runtime, OpenVINO, PyTorch, TensorRT, Nsight Systems or oneDNN")
      ->allow_extra_args(false);
  app.add_option("--latency-limit", asked.latency_limit_ms,
                 "ms that a batch may take: which one gives most items a second then")
      ->check(CLI::PositiveNumber);
  app.add_option("--limit", asked.limits, about_limits())->allow_extra_args(false);
  app.add_flag("--advice", asked.advice, "all advice in full: evidence, and a command to check it");
  app.add_flag("--details", asked.details, "all figures, explanations and warnings of a model");
  app.add_option("--calls", asked.calls.logs,
                 "logs that cuDNN, cuBLAS or cublasLt wrote while a framework ran: which calls it "
                 "made, and the fastest of the results for each; without results, only the calls")
      ->allow_extra_args(false);
  app.add_option("--iteration", asked.calls.iteration,
                 "which of the framework's iterations is shown, from 1; the last by default");
  app.add_option("--layers-out", asked.calls.layers_out,
                 "write the layers of the calls there, for benanza_generate --layers");
  app.add_flag("--strict", asked.strict, "refuse (status 2) where figures would be partial");
  app.add_option("--system", asked.store.system, "whose results of a store: a number, or latest");
  app.add_option("--export", asked.store.exported, "write the results of a store as a result file");
  app.add_option("--import", asked.store.imported,
                 "add result files to the store that --store names");
  app.add_option("--store", asked.store.store, "the store that --import adds to");
  // For --help: they are called before this is reached.
  for (const command& c : commands())
    app.add_subcommand(std::string(c.name), c.about)->callback([&c] {
      throw error("a command comes first", std::string(c.name), "name it before its results");
    });
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return versions();
  }
  check_formats(asked);
  if (!asked.formats.empty()) asked.format = asked.formats.front();
  return {};
}

} // namespace benanza::analyzer
