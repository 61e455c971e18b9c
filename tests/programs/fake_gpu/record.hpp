// SPDX-License-Identifier: Apache-2.0
// What did a process do with the fake GPU? Counts, written at its end as one line of JSON behind
// what the file BENANZA_FAKE_GPU_RECORD holds, so that every process of a run has its own line.
//
//   record r;   ++r.made["stream"];   r.write();
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace fake {

struct record {
  using counts = std::map<std::string, std::int64_t>;

  counts executions{}; ///< by "engine 4"
  counts computed{};   ///< of them, those whose results were read
  counts made{}, freed{};
  std::int64_t uploaded_bytes = 0, downloaded_bytes = 0;
  std::int64_t graphs_launched = 0, captures = 0, captures_failed = 0, flushes = 0;
  std::int64_t unordered = 0; ///< executions whose operands another stream may still be writing
  std::int64_t plan_processors = 0; ///< the most that a thread which built a plan alone might use
  std::int64_t misused = 0;         ///< calls with what was never made, or is gone
  std::string first_misuse{};

  void misuse(const std::string& what) {
    if (misused++ == 0) first_misuse = what;
  }

  void write(std::int64_t live_bytes, std::int64_t peak_bytes, std::int64_t overruns,
             const std::string& error) const {
    const char* file = std::getenv("BENANZA_FAKE_GPU_RECORD");
    if (file == nullptr || made.empty()) return;
    std::string line = "{\"executions\":" + text(executions) + ",\"computed\":" + text(computed) +
                       ",\"made\":" + text(made) + ",\"freed\":" + text(freed);
    const auto number = [&line](const char* name, std::int64_t value) {
      line.append(",\"").append(name).append("\":").append(std::to_string(value));
    };
    number("graphs_launched", graphs_launched);
    number("captures", captures);
    number("captures_failed", captures_failed);
    number("flushes", flushes);
    number("unordered", unordered);
    number("misused", misused);
    number("plan_processors", plan_processors);
    number("uploaded_bytes", uploaded_bytes);
    number("downloaded_bytes", downloaded_bytes);
    number("live_bytes", live_bytes);
    number("peak_bytes", peak_bytes);
    number("overruns", overruns);
    line += ",\"first_misuse\":\"" + first_misuse + "\",\"error\":\"" + error + "\"}\n";
    if (std::FILE* out = std::fopen(file, "a")) {
      std::fputs(line.c_str(), out);
      std::fclose(out);
    }
  }

private:
  static std::string text(const counts& all) {
    std::string out;
    for (const auto& [name, count] : all)
      out += (out.empty() ? "{\"" : ",\"") + name + "\":" + std::to_string(count);
    return out.empty() ? "{}" : out + '}';
  }
};

} // namespace fake
