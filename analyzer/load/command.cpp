// SPDX-License-Identifier: Apache-2.0
// benanza_analyze coldstart: when does a new process have its first answer?
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../read_results.hpp"
#include "page.hpp"

#include <CLI/CLI.hpp>

namespace benanza::analyzer {

status run_coldstart(std::vector<std::string> arguments, const streams& to) {
  request asked;
  CLI::App app("When does a new process have its first answer of a model, with weights of its own "
               "and with shared ones?",
               "benanza_analyze coldstart");
  app.add_option("results", asked.files,
                 "results of benanza_bench --plan PLAN --load, and of the model's layers for its "
                 "bound; or a store; none or -: standard input");
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name");
  add_output(app, asked.format, asked.output);
  app.add_flag("--merge", asked.merge,
               "put the samples of several runs of the same cases together");
  app.add_flag("--strict", asked.strict, "refuse to report what is partial");
  if (const std::string told = parse_command(app, std::move(arguments)); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  const result::run run = read_all(asked, to.in);
  std::vector<bound::cold_start> all = bound::cold_starts(run);
  if (all.empty())
    throw error("the result holds no time of loading a model", run.source,
                "write a plan with benanza_analyze --plan PLAN, and measure it with benanza_bench "
                "--plan PLAN --load");
  std::erase_if(all, [&](const bound::cold_start& c) {
    return c.model.find(asked.wanted.model) == std::string::npos;
  });
  if (all.empty())
    throw error("no model of which anything was loaded is called so",
                "--model " + asked.wanted.model, "leave it out to see all");
  const answer answers{asked, to.out, to.err};
  const std::string lacking = report::cold_start_shortfall(all);
  answers.check(lacking, run.source);
  answers.write(report::cold_start_answer(run, all));
  return answers.partial(lacking);
}

} // namespace benanza::analyzer
