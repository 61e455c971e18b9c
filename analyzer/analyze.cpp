// SPDX-License-Identifier: Apache-2.0
// Who answers what the command line asks for?
#include "analyze.hpp"

#include "command_line.hpp"
#include "commands.hpp"
#include "formats.hpp"
#include "library_commands.hpp"
#include "machines.hpp"
#include "model_commands.hpp"
#include "read_results.hpp"
#include "report/machine.hpp"

#include <benanza/core/out_of_memory.hpp>
#include <benanza/result/device.hpp>
#include <benanza/result/store_address.hpp>
#include <range/v3/algorithm/count.hpp>

#include <cstddef>
#include <exception>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
/// The page of the machine in place of the models'.
status report_machine(const result::run& run, const answer& to) {
  const std::string lacking = report::machine_shortfall(run);
  to.check(lacking, run.source);
  to.write(report::machine_answer(run, to.asked.details));
  return to.partial(lacking);
}

/// The page of a framework's calls in place of the models'.
status report_calls(std::istream& in, const answer& to) {
  const request& asked = to.asked;
  const std::size_t limit = layer_limit(asked.layers.value_or("10"));
  check_no_report(asked);
  if (ranges::count(asked.files, "-") + ranges::count(asked.calls.logs, "-") > 1)
    throw error("standard input is named twice", "-", "name it once");
  if (!asked.plan.empty() || asked.machine)
    throw error("--calls goes with neither --plan nor --machine", asked.calls.logs.front());
  const std::vector<trace::call_log> logs = read_logs(asked.calls, in);
  const std::string lacking = log_shortfall(logs);
  to.check(lacking, {});
  std::optional<result::run> run;
  if (!asked.files.empty()) run = read_all(asked, in);
  if (run) choose_backends(*run, asked);
  // The calls are a GPU's, and are compared with a GPU's times where there are any.
  if (run)
    choose_device(*run, asked.device.empty() && result::devices(*run).size() > 1
                            ? std::string(result::gpu_device)
                            : asked.device);
  if (run && run->graphs.empty()) run->graphs.push_back(loose_layers(*run));
  const report::tables::chapter said =
      calls_report(logs, run ? &*run : nullptr, asked.wanted, asked.calls,
                   {.partial = !lacking.empty(), .limit = limit});
  if (!asked.calls.layers_out.empty()) write_file(asked.calls.layers_out, layers_of_calls(logs));
  to.write(said);
  return to.partial(lacking);
}

/// --import, which reports nothing but how much was new.
status import_results(const request& asked, std::ostream& out) {
  check_no_report(asked);
  const store_request& s = asked.store;
  if (s.store.empty()) throw error("--import needs --store", s.imported.front(), "name the store");
  if (!s.exported.empty() || !asked.files.empty())
    throw error("--import takes nothing but --store", "", "export or analyse in a second step");
  import_files(s, out);
  return status::complete;
}

/// --export, which reports nothing.
status export_results(const answer& to) {
  const request& asked = to.asked;
  check_no_report(asked);
  if (asked.files.size() != 1 || !is_store(asked.files.front()))
    throw error("--export needs a store, and one only",
                asked.files.empty() ? std::string() : result::store::shown(asked.files.front()));
  std::string lacking;
  write_file(asked.store.exported,
             export_text(asked.files.front(), asked.store.system, asked.wanted.model, lacking));
  return to.partial(lacking);
}

/// Bounds, plans and lists of what was measured.
status report_results(std::istream& in, const answer& to) {
  const request& asked = to.asked;
  const std::size_t rows =
      layer_limit(asked.layers.value_or("10")); // refused before anything is read
  if (asked.models || !asked.algorithms.empty() || asked.versions || asked.machine)
    check_no_report(asked);
  check_system(asked.files, asked.store.system);
  std::vector<result::run> runs =
      read_each(asked.files, asked.store.system, asked.wanted.model, in);
  if (asked.formats == std::vector<std::string>{"html"}) {
    std::vector<std::vector<result::run>> machines = by_machine(std::move(runs));
    if (machines.size() > 1) return report_machines(std::move(machines), to);
    runs = std::move(machines.front());
  }
  result::run run = put_together(std::move(runs), asked);
  choose_backends(run, asked);
  if (asked.models) return list_models(run, to);
  choose_device(run, asked.device, asked.machine);
  if (!asked.algorithms.empty()) return list_algorithms(run, to);
  if (asked.versions) return report_versions(run, rows, to);
  return asked.machine ? report_machine(run, to) : report_models(run, rows, to);
}
} // namespace

status parse_and_respond(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
                         std::ostream& err) {
  if (!arguments.empty())
    if (const command* c = find_command(arguments.front())) {
      arguments.erase(arguments.begin());
      return c->run(std::move(arguments), {in, out, err});
    }
  request asked;
  if (const std::string told = parse(std::move(arguments), asked); !told.empty()) {
    write_stream(out, told, "standard output");
    return status::complete;
  }
  const answer to{asked, out, err};
  if (!asked.store.store.empty() && asked.store.imported.empty())
    throw error("--store says where --import adds to, and nothing is imported",
                result::store::shown(asked.store.store),
                "to analyse a store, name it like a result file");
  if (!asked.store.imported.empty()) return import_results(asked, out);
  if (!asked.store.exported.empty()) return export_results(to);
  if (!asked.calls.logs.empty()) return report_calls(in, to);
  if (asked.calls.iteration || !asked.calls.layers_out.empty())
    throw error("--iteration and --layers-out are about calls", "", "name a log with --calls");
  return report_results(in, to);
}

int analyze(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
            std::ostream& err) {
  try {
    return static_cast<int>(parse_and_respond(std::move(arguments), in, out, err));
  } catch (const std::exception& e) {
    err << "benanza_analyze: " << reason(e) << '\n';
  }
  return static_cast<int>(status::refused);
}

} // namespace benanza::analyzer
