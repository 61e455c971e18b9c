// SPDX-License-Identifier: Apache-2.0
// How fast does a core that is all our own begin instructions (crowd_probe.hpp)? A neighbour who
// stays from a program's first look to its last passes for the machine itself: all it measures is
// too slow, evenly and in silence. So what is not known is looked for longer than most of them stay
// without a rest, and the best ratio found is kept in a file of the user's, for the runs to come. A
// line of it: team, ratio, day, and whose ratio that is, with a tab between.
//
//   own_cores cores(usual_cores_file());
//   cores.ratio(2);   // 0.42, for a team of two threads
//   cores.found(2, 0.41);   // kept, if it is better
#pragma once

#include "../core/version.hpp"
#include "../result/output_file.hpp"
#include "crowd_probe.hpp"
#include "machine.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Where the ratios of a user are kept who has these folders for caches and himself; empty:
/// nowhere.
inline std::filesystem::path cores_file_in(const char* cache, const char* home) {
  const auto is_folder = [](const char* f) { return f != nullptr && *f == '/'; };
  std::filesystem::path in;
  if (is_folder(cache))
    in = cache;
  else if (is_folder(home))
    in = std::filesystem::path(home) / ".cache";
  return in.empty() ? in : in / "benanza" / "cores.tsv";
}

/// The same for whoever runs us. A home that is not there, as services have it, is not made.
inline std::filesystem::path usual_cores_file() {
  const char* home = std::getenv("HOME");
  std::error_code ignored;
  if (home != nullptr && !std::filesystem::is_directory(home, ignored)) home = nullptr;
  return cores_file_in(std::getenv("XDG_CACHE_HOME"), home);
}

namespace detail {
/// How the loops of a look were written and compiled: others take other times.
inline constexpr const char* kind_of_loops = BENANZA_VERSION " two chains, nothing "
#ifdef __OPTIMIZE__
                                                             "optimized "
#endif
#ifdef __FMA__
                                                             "fma "
#endif
#ifdef __AVX512F__
                                                             "avx512 "
#endif
    __VERSION__;

/// The processors that a team runs on, as OpenMP was told: two of them may be one core.
inline std::string places_of_team() {
  std::string out;
#ifdef _OPENMP
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (int id : ids)
      out += (out.empty() ? "" : ",") + std::to_string(id);
  }
#endif
  return out;
}

/// Whose ratio it is that this process finds.
inline std::string whose_cores(int team) {
  utsname system{};
  uname(&system);
  std::string who = std::string(system.nodename) + ", " + cpuinfo("model name") + " " +
                    cpuinfo("cpu family") + "." + cpuinfo("model\t") + "." + cpuinfo("stepping") +
                    ", " + kind_of_loops;
  if (team > 1) who += ", on " + places_of_team();
  return who;
}
} // namespace detail

/// The best ratios known, by the size of a team.
class own_cores {
public:
  /// A kept ratio is believed for so many days: machines move.
  static constexpr long most_days = 30;
  /// No core has a ratio outside of these: what does nothing is begun at 1 to 16 in a cycle, and
  /// the chain takes 4 to 10 cycles a step. What else the file says is not believed.
  static constexpr double least = 0.05, largest = 5;

  /// Knows nothing, and looks for nothing.
  own_cores() = default;
  /// Keeps ratios in `file`, and looks for one so long.
  explicit own_cores(std::filesystem::path file, double watch_ns = 1e9)
      : file_(std::move(file))
      , watch_ns_(watch_ns) {}

  /// The best ratio known; where none is, it is looked for. 0: it is not known.
  double ratio(int team) {
    if (watch_ns_ == 0) return 0;
    double& best = by_team_[team];
    if (best == 0) best = known(team);
    if (best == 0 && looked_for_.insert(team).second) found(team, best_ratio(team, watch_ns_));
    return best;
  }

  /// The ratio that the file holds; 0: none.
  double known(int team) const {
    if (file_.empty()) return 0;
    const std::string who = detail::whose_cores(team);
    for (const line& l : lines())
      if (l.team == team && l.who == who) return l.ratio;
    return 0;
  }

  /// A look of this run found `ratio`: it is kept if nothing better is known.
  void found(int team, double ratio) {
    if (watch_ns_ == 0 || ratio <= 0) return;
    double& best = by_team_[team];
    if (best > 0 && ratio > (1 - worth_keeping) * best) return;
    best = ratio;
    const double other = known(team); // another run may have found it meanwhile
    if (other == 0 || ratio < other) keep(team, ratio);
  }

  /// By how much better what the file holds is than `before`, as a share, if by so much that
  /// somebody was beside us unseen; else 0.
  double mistaken_by(int team, double before) const {
    const double now = known(team);
    return now > 0 && before > 0 ? crowd_account::neighbours(before / now - 1) : 0;
  }

private:
  /// What is better by less is not written down.
  static constexpr double worth_keeping = 0.005;
  struct line {
    int team = 0;
    double ratio = 0;
    long day = 0;
    std::string who{};
  };

  static long today() {
    using days = std::chrono::duration<long, std::ratio<86400>>;
    return std::chrono::duration_cast<days>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  /// The lines that are not too old; what is no such line is left out.
  std::vector<line> lines() const {
    std::vector<line> out;
    std::ifstream in(file_);
    for (std::string text; std::getline(in, text);) {
      line l;
      int end = 0;
      if (std::sscanf(text.c_str(), "%d\t%lf\t%ld\t%n", &l.team, &l.ratio, &l.day, &end) != 3 ||
          end == 0 || !(l.ratio >= least && l.ratio <= largest) || l.day + most_days < today())
        continue;
      l.who = text.substr(static_cast<std::size_t>(end));
      out.push_back(std::move(l));
    }
    return out;
  }

  /// Where it cannot be written it is looked for anew in each run.
  void keep(int team, double ratio) const {
    if (file_.empty()) return;
    const line own{team, ratio, today(), detail::whose_cores(team)};
    std::vector<line> all = lines();
    std::erase_if(all, [&](const line& l) { return l.team == own.team && l.who == own.who; });
    all.push_back(own);
    std::error_code ignored;
    std::filesystem::create_directories(file_.parent_path(), ignored);
    try {
      result::output_file next(file_.string());
      std::ofstream out(next.written_to());
      for (const line& l : all)
        out << l.team << '\t' << l.ratio << '\t' << l.day << '\t' << l.who << '\n';
      if (out.flush()) next.commit();
    } catch (const error&) {
    }
  }

  std::filesystem::path file_{};
  double watch_ns_ = 0;
  std::map<int, double> by_team_{};
  std::set<int> looked_for_{}; ///< teams
};

} // namespace benanza::measure
