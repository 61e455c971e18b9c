// SPDX-License-Identifier: Apache-2.0
// How is the command line of benanza_bench read? Our own options and Google Benchmark's flags stand
// in tables: name, value, help, and what it sets. CLI11 takes the words apart and writes the help.
// Google Benchmark's flags mean what they mean there, in its versions 1.7 to 1.9; the few that
// cannot are refused with the reason. As there, each may stand in the environment too:
// BENCHMARK_FILTER is --benchmark_filter.
//
//   const options o = parse_options(argc, argv);   o.types, o.threads, o.filter
#pragma once

#include "defaults.hpp"
#include "option_values.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace benanza::bench {
namespace detail {

/// One option: `value` is what the help calls its value; empty: a switch, which may have one.
struct flag {
  std::string_view name, value, help;
  void (*read)(options& o, std::string_view value, std::string_view where);
  bool again = false; ///< it may be given again
};

inline const flag own_flags[] = {
    {"--types", "{f32,tf32,f16,bf16,u8s8u8,s8s8s8,e4m3},...",
     "numeric classes: f32, bf16, u8s8u8, s8s8s8 ... (default: the models'\nown)",
     [](options& o, std::string_view v, std::string_view where) {
       o.types.clear();
       for (const std::string& t : words(v))
         if (const numeric type = numeric_class(t, where);
             std::find(o.types.begin(), o.types.end(), type) == o.types.end())
           o.types.push_back(type);
     }},
    {"--threads", "N,...", "threads (default 1); each number is a case of its own",
     [](options& o, std::string_view v, std::string_view where) {
       o.threads.clear();
       for (const std::string& t : words(v))
         o.threads.push_back(positive_number(t, where));
       std::sort(o.threads.begin(), o.threads.end());
       o.threads.erase(std::unique(o.threads.begin(), o.threads.end()), o.threads.end());
       if (o.threads.empty()) throw error("a number of threads is needed", std::string(where));
     }},
    {"--states", "{hot,llcw,coldw,cold},...",
     "what the caches hold: hot, llcw (weights in the last-level cache), coldw\n(weights in "
     "memory), cold (default: hot,llcw,coldw, without llcw where no\nmodel fits that cache)",
     [](options& o, std::string_view v, std::string_view where) {
       o.states.clear();
       for (const std::string& s : words(v))
         o.states.push_back(one_of(s, {"hot", "llcw", "coldw", "cold"}, where));
       if (o.states.empty()) throw error("hot, llcw, coldw or cold is needed", std::string(where));
       o.states_given = true;
     }},
    {"--effort", "{quick,normal,thorough,exhaustive}",
     "how long to sample: quick, normal (default), thorough or exhaustive,\nwhich stops no case "
     "early",
     [](options& o, std::string_view v, std::string_view where) {
       o.effort = *parse_effort(one_of(v, {"quick", "normal", "thorough", "exhaustive"}, where));
     }},
    {"--wait-for-quiet", "SECONDS",
     "how long a case may take samples again that noise has disturbed\n(default: twice its time "
     "limit)",
     [](options& o, std::string_view v, std::string_view where) { o.wait_s = seconds(v, where); }},
    {"--set", "NAME=VALUE,...",
     "other thresholds of measuring, such as most_other_load=0.5; may be\ngiven again",
     [](options& o, std::string_view v, std::string_view where) {
       for (const std::string& one :
            words(key_value_pairs(given(v, where, "a threshold"), where))) {
         const auto pair = split_at(one, "=");
         o.parameters.set(pair[0], pair[1]);
       }
     },
     true},
    {"--parameters", "", "print all thresholds, and end",
     [](options& o, std::string_view v, std::string_view where) {
       o.list_parameters = truth(v, where);
     }},
    {"--plan", "FILE,...", "whole models as benanza_analyze --plan wrote them, in place of layers",
     [](options& o, std::string_view v, std::string_view where) {
       o.plans = words(given(v, where, "a file", "write --plan plan.json"));
     }},
    {"--scenario", "KIND:...",
     "whole models too (those of --plan, or by the libraries' first choices),\nand how queries "
     "come to them: "
     "single_stream, multi_stream:streams=8, server:rate=20 (a second, by\nchance), "
     "server:limit=50ms (the highest rate with that latency at\npercentile=99), offline; each "
     "takes seconds=2; may be given again",
     [](options& o, std::string_view v, std::string_view where) {
       const scenario l =
           parse_scenario(given(v, where, "a scenario", "write --scenario server:rate=20"));
       if (std::find(o.scenarios.begin(), o.scenarios.end(), l) == o.scenarios.end())
         o.scenarios.push_back(l);
     },
     true},
    {"--experiment", "FILE",
     "measure what an experiment's file says, and refuse software or a machine\nthat it does not "
     "expect (--deviating: note it, and go on)",
     [](options& o, std::string_view v, std::string_view where) {
       o.experiment_file = given(v, where, "a file");
     }},
    {"--deviating", "", "with --experiment: go on where this is not what it expects",
     [](options& o, std::string_view v, std::string_view where) { o.deviating = truth(v, where); }},
    {"--write-experiment", "FILE",
     "write the experiment that these options and models are, and end",
     [](options& o, std::string_view v, std::string_view where) {
       o.experiment_out = given(v, where, "a file");
     }},
    {"--load", "",
     "with --plan: also what it takes to load the model's weights, private and\nshared between "
     "processes, of one client and several at once",
     [](options& o, std::string_view v, std::string_view where) { o.load = truth(v, where); }},
    {"--levels", "{model,layer,call}",
     "with --plan: run it with the events of model, layer or call taken, each\nwith those before "
     "it, in turns: what every level takes, and what its\nevents cost; for benanza_analyze profile",
     [](options& o, std::string_view v, std::string_view where) {
       o.levels = *parse_level(one_of(v, {"model", "layer", "call"}, where));
     }},
    {"--layers", "FILE",
     "measure the layers of a file, one a line, such as\nConv/1x64x56x56-64x3x3-s1-p1, in place of "
     "those compiled in; may be\ngiven again",
     [](options& o, std::string_view v, std::string_view where) {
       o.layer_files.push_back(given(v, where, "a file"));
     },
     true},
    {"--graphs", "FILE",
     "measure the models of a file in place of those compiled in: graphs.json,\nwhich "
     "benanza_generate writes into each folder (--no-sources: alone);\nmay be given again",
     [](options& o, std::string_view v, std::string_view where) {
       o.graph_files.push_back(given(v, where, "a file"));
     },
     true},
    {"--model", "TEXT", "only the layers of models whose names contain TEXT",
     [](options& o, std::string_view v, std::string_view) { o.model = v; }},
    {"--choices", "FILE",
     "a result or a plan that says by which algorithms the layers of sequences\nrun (default: each "
     "by what a library takes first)",
     [](options& o, std::string_view v, std::string_view where) {
       o.choices = given(v, where, "a file", "write --choices run.json");
     }},
    {"--models", "", "print the models that this program holds, and end",
     [](options& o, std::string_view v, std::string_view where) {
       o.list_models = truth(v, where);
     }},
    {"--backends", "NAME,...",
     "only these libraries: host, onednn, cudnn, cuda, cublas (default: all\nthat can run here), "
     "or "
     "with --backends=-NAME,-... all but these",
     [](options& o, std::string_view v, std::string_view where) {
       o.backends = words(given(v, where, "the name of a library"));
     }},
    {"--target", "GPU",
     "where there is no GPU, list the cases of this one too: a name, or a file\nwith a description "
     "(default for --backends cudnn: h200)",
     [](options& o, std::string_view v, std::string_view) { o.target = v; }},
    {"--describe-device", "", "print the description of this GPU, and end",
     [](options& o, std::string_view v, std::string_view where) {
       o.describe_device = truth(v, where);
     }},
    {"--all", "",
     "also reference loops and outdated instruction sets; of a GPU also managed\nmemory and memory "
     "of "
     "other processes",
     [](options& o, std::string_view v, std::string_view where) {
       o.all_algorithms = truth(v, where);
     }},
    {"--algorithms", "WHICH",
     "all (default), or proposed: only what each library would try first\n(cuDNN's heuristics, "
     "cublasLt's first few), for a short time",
     [](options& o, std::string_view v, std::string_view where) {
       o.proposed = one_of(v, {"all", "proposed"}, where) == "proposed";
     }},
    {"--refused", "",
     "also what the libraries have by name and refuse for these layers, and\nwhy: in the result, "
     "for benanza_analyze --algorithms; with\n--benchmark_list_tests printed",
     [](options& o, std::string_view v, std::string_view where) { o.refused = truth(v, where); }},
    {"--progress", "{auto,always,never}", "on stderr (default auto: on a terminal)",
     [](options& o, std::string_view v, std::string_view where) {
       const std::string mode = one_of(v, {"auto", "always", "never"}, where);
       o.campaign.progress = mode == "always"  ? progress_mode::always
                             : mode == "never" ? progress_mode::never
                                               : progress_mode::automatic;
     }},
    {"-q,--quiet", "", "only rows and errors",
     [](options& o, std::string_view v, std::string_view where) { o.quiet = truth(v, where); }},
    {"--version", "", "print the version of this program and of its libraries, and end",
     [](options& o, std::string_view v, std::string_view where) { o.version = truth(v, where); }},
};

inline const flag campaign_flags[] = {
    {"--isolate", "",
     "a process of its own measures: a crash, a hang or lack of memory costs\none case (default "
     "with --store and where a GPU is measured;\n--isolate=false)",
     [](options& o, std::string_view v, std::string_view where) {
       o.campaign.isolate = truth(v, where);
     }},
    {"--case-timeout", "SECONDS",
     "without a sign of life, then a case is given up (default 120, on a GPU\n20, and more for "
     "large layers); with --isolate",
     [](options& o, std::string_view v, std::string_view where) {
       o.campaign.case_timeout_s = timeout_seconds(v, where);
     }},
    {"--kernels", "WHOSE",
     "names of the kernels that ran on a GPU, where CUPTI is there: of the\nwinners (default), "
     "all, "
     "none",
     [](options& o, std::string_view v, std::string_view where) {
       const std::string whose = one_of(v, {"none", "winners", "all"}, where);
       o.campaign.kernels = whose == "all"    ? kernel_choice::all
                            : whose == "none" ? kernel_choice::none
                                              : kernel_choice::winners;
     }},
    {"--store", "FILE",
     "keeps each result there at once: a file of SQLite, or postgresql://...;\nwhat it holds of "
     "this machine and software is not measured again, unless\nwith less effort",
     [](options& o, std::string_view v, std::string_view where) {
       o.campaign.store = given(v, where, "a file", "write --store results.db");
     }},
    {"--by", "NAME", "who measures, kept with the run; by default no name is kept",
     [](options& o, std::string_view v, std::string_view where) {
       o.by = given(v, where, "a name", "write --by \"the lab's night run\"");
     }},
    {"--again", "",
     "measures again what is kept, the machine's limits too: everything, or what\nfailed "
     "(--again=failed)",
     [](options& o, std::string_view v, std::string_view where) {
       if (v == "true") v = "all";
       o.campaign.again = one_of(v, {"failed", "all"}, where) == "failed" ? again_mode::failed
                                                                          : again_mode::everything;
     }},
    {"--shard", "I/N", "the I-th of N parts that take about the same time",
     [](options& o, std::string_view v, std::string_view where) {
       std::tie(o.campaign.shard, o.campaign.shards) = part_of_run(v, where);
     }},
};

inline const flag google_flags[] = {
    {"--benchmark_filter", "REGEX", "cases by name; a leading '-' leaves them out",
     [](options& o, std::string_view v, std::string_view) { o.filter = v; }},
    {"--benchmark_list_tests", "", "print the names of the cases that would run, and end",
     [](options& o, std::string_view v, std::string_view where) { o.list_only = truth(v, where); }},
    {"--benchmark_min_time", "SECONDS",
     "of sampling a case, at most (default 0.1; quick 0.03, thorough 0.3,\nexhaustive 0.5)",
     [](options& o, std::string_view v, std::string_view where) {
       o.seconds = sampling_seconds(v, where);
     }},
    {"--benchmark_repetitions", "N", "independent passes of sampling, and what they have in common",
     [](options& o, std::string_view v, std::string_view where) {
       o.repetitions = positive_number(v, where);
     }},
    {"--benchmark_report_aggregates_only", "", "only that",
     [](options& o, std::string_view v, std::string_view where) {
       o.aggregates_only = truth(v, where);
     }},
    {"--benchmark_display_aggregates_only", "", "only that on the screen, all of it in files",
     [](options& o, std::string_view v, std::string_view where) {
       o.aggregates_only_displayed = truth(v, where);
     }},
    {"--benchmark_enable_random_interleaving", "",
     "layers in random order; the algorithms of one take turns anyway",
     [](options& o, std::string_view v, std::string_view where) {
       o.random_order = truth(v, where);
     }},
    {"--benchmark_dry_run", "", "run every case as shortly as can be: the times mean nothing",
     [](options& o, std::string_view v, std::string_view where) {
       o.campaign.dry_run = truth(v, where);
     }},
    {"--benchmark_format", "F", "console, json or csv",
     [](options& o, std::string_view v, std::string_view where) {
       o.format = one_of(v, {"console", "json", "csv"}, where);
     }},
    {"--benchmark_out", "FILE", "a file for the result too, whole or not there",
     [](options& o, std::string_view v, std::string_view) { o.out = v; }},
    {"--benchmark_out_format", "F", "of that file: console, json (default) or csv",
     [](options& o, std::string_view v, std::string_view where) {
       o.out_format = one_of(v, {"console", "json", "csv"}, where);
     }},
    {"--benchmark_time_unit", "U", "ns, us (default), ms or s",
     [](options& o, std::string_view v, std::string_view where) {
       o.time_unit = one_of(v, {"ns", "us", "ms", "s"}, where);
     }},
    {"--benchmark_color", "WHEN",
     "auto, true or false (default auto: on a terminal, unless NO_COLOR is set)",
     [](options& o, std::string_view v, std::string_view where) {
       o.colour = v == "auto" ? std::nullopt : std::optional(truth(v, where));
     }},
    {"--benchmark_counters_tabular", "", "counters in columns (default), or not: =false",
     [](options& o, std::string_view v, std::string_view where) { o.tabular = truth(v, where); }},
    {"--benchmark_context", "KEY=VALUE,...", "further facts for the head of a result",
     [](options& o, std::string_view v, std::string_view where) {
       o.context = key_value_pairs(v, where);
     }},
};

/// A flag that has no meaning here, unless it asks for nothing.
struct refused_flag {
  std::string_view name, nothing, why;
};
inline constexpr std::string_view no_log =
    "its log tells of Google Benchmark's own loop, and that times nothing here";
inline constexpr refused_flag refused_flags[] = {
    {"--benchmark_min_warmup_time", "0", "a case is warmed up until that makes it no faster"},
    {"--benchmark_perf_counters", "", "no counters of the processor are read"},
    {"--v", "0", no_log},
    {"--benchmark_v", "0", no_log},
};

/// Refuses one unless its value says "none": 0, or nothing where that is the flag's way to say so.
inline void refuse(const refused_flag& f, const std::string& value, std::string_view where) {
  char* end = nullptr;
  const bool none = f.nothing.empty() || value.empty()
                        ? value == f.nothing
                        : std::strtod(value.c_str(), &end) == 0 && *end == 0;
  if (!none)
    throw error("this flag means nothing here: " + std::string(f.why),
                std::string(where) + "=" + value, "leave it out");
}

/// BENCHMARK_FILTER, for --benchmark_filter; null: it is not set.
inline const char* in_environment(std::string_view flag, std::string& variable) {
  variable = flag.substr(2);
  for (char& c : variable)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return std::getenv(variable.c_str());
}

/// What stands in the environment, as if it were at the front of the command line.
inline void read_environment(options& o) {
  std::string variable;
  for (const flag& f : google_flags)
    if (const char* value = in_environment(f.name, variable)) f.read(o, value, variable);
  for (const refused_flag& f : refused_flags)
    if (const char* value = in_environment(f.name, variable);
        value != nullptr && f.name.starts_with("--benchmark"))
      refuse(f, value, variable);
}

/// What a program's own defaults are, which BACKENDS and TYPES of benanza_add_benchmarks set.
inline void read_defaults(options& o) {
  const defaults& usual = defaults::of_program();
  for (const flag& f : own_flags) {
    if (f.name == "--types" && !usual.types.empty()) f.read(o, usual.types, f.name);
    if (f.name == "--backends" && !usual.backends.empty()) f.read(o, usual.backends, f.name);
  }
}

inline void add(CLI::App& app, options& o, const flag& f, const char* group) {
  const std::string_view shown = f.name.substr(f.name.find("--"));
  const auto read = [&o, &f, shown](const std::vector<std::string>& values) {
    for (const std::string& v : values)
      f.read(o, v, shown);
    return true;
  };
  const std::string name(f.name), help(f.help);
  CLI::Option* option = app.add_option(name, read, help);
  option->group(group)->type_name(std::string(f.value));
  if (f.value.empty())
    option->expected(0)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  else if (f.again)
    option->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  else
    option->expected(1)->take_last();
}

/// The words behind the program's name, the last one first, as CLI11 takes them: it would not see
/// that `--name=` has an empty value.
inline std::vector<std::string> reversed_words(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool empty_value = word.starts_with("--") && word.find('=') + 1 == word.size();
    if (empty_value) word.pop_back();
    out.push_back(std::move(word));
    if (empty_value) out.emplace_back();
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// What goes together, and what does not.
inline void settle(options& o) {
  if (o.quiet) o.campaign.progress = progress_mode::never;
  if (o.campaign.dry_run) {
    if (!o.campaign.store.empty())
      throw error("the times of --benchmark_dry_run mean nothing, and are not kept", "--store",
                  "leave out one of the two");
    constexpr double hardly_any = 1e-9;
    o.seconds = o.wait_s = hardly_any;
    o.effort = effort::quick;
    o.repetitions = 1;
  }
  if (!o.campaign.store.empty() && !o.parameters.changed().empty())
    throw error("what is measured by other thresholds is not kept beside the rest", "--store",
                "leave out --set, or write --benchmark_out");
  if (o.load && o.plans.empty())
    throw error("what is loaded are the weights of a plan's model", "--load", "give --plan FILE");
  if (!o.plans.empty() && (!o.layer_files.empty() || !o.graph_files.empty()))
    throw error("a plan is run in place of layers", "--plan", "leave out --layers and --graphs");
  if (o.plans.empty() && o.levels != level::none)
    throw error("levels are those of a whole model's run", "--levels",
                "write a plan with benanza_analyze --plan, and give it with --plan plan.json");
}

inline constexpr const char* footer =
    "\nWith --benchmark_out=FILE results are kept in FILE.unfinished until FILE is whole: after "
    "Ctrl-C, a\ncrash or a full disk the same command goes on where it was. Google Benchmark's "
    "flags may stand in\nthe environment too (BENCHMARK_FILTER is --benchmark_filter). Refused: a "
    "number of iterations as\n--benchmark_min_time, and --benchmark_min_warmup_time, "
    "--benchmark_perf_counters and --v, which\nmean nothing here.";
} // namespace detail

/// Reads the command line; refuses unknown options and values that mean nothing.
inline options parse_options(int argc, char** argv) {
  options o;
  detail::read_environment(o);
  detail::read_defaults(o);
  CLI::App app("Measures every unique layer by every algorithm of every library.", "benanza_bench");
  app.set_help_flag("-h,--help", "print this, and end")->group("What and how");
  app.get_formatter()->column_width(34);
  app.footer(detail::footer);
  app.allow_extras();
  for (const detail::flag& f : detail::own_flags)
    detail::add(app, o, f, "What and how");
  for (const detail::flag& f : detail::campaign_flags)
    detail::add(app, o, f, "Long runs");
  for (const detail::flag& f : detail::google_flags)
    detail::add(app, o, f, "Google Benchmark's flags");
  for (const detail::refused_flag& f : detail::refused_flags) {
    const std::string name(f.name);
    app.add_option_function<std::string>(
           name, [&f](const std::string& value) { detail::refuse(f, value, f.name); })
        ->group("");
  }
  try {
    app.parse(detail::reversed_words(argc, argv));
  } catch (const CLI::CallForHelp&) {
    o.help = app.help();
    return o;
  } catch (const CLI::ParseError& e) {
    throw error(e.what(), "", "see benanza_bench --help");
  }
  if (const auto unknown = app.remaining(); !unknown.empty())
    throw error("unknown option \"" + unknown.front() + "\"", "", "see benanza_bench --help");
  detail::settle(o);
  return o;
}

} // namespace benanza::bench
