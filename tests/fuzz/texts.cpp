// SPDX-License-Identifier: Apache-2.0
// Short texts: experiments, scenarios, addresses of stores, dates. What is read is written, and
// read again, as the same.
#include "mutate.hpp"

#include <benanza/measure/scenario/scenario.hpp>
#include <benanza/result/date.hpp>
#include <benanza/result/experiment.hpp>
#include <benanza/result/store_address.hpp>

namespace {
namespace br = benanza::result;

void same(const std::string& once, const std::string& twice) {
  if (once != twice) throw fuzz::finding("what is written is read as something else");
}

/// The first letter says what the rest is.
void take_text(std::string_view bytes) {
  const char kind = bytes.empty() ? ' ' : bytes[0];
  const std::string text(bytes.substr(bytes.empty() ? 0 : 1));
  const auto written = [](const std::string& from) {
    const br::experiment e = br::read_experiment(from, "e.json");
    return br::to_json(e).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  };
  if (kind == 'e') {
    const std::string once = written(text);
    same(once, written(once));
  } else if (kind == 's') {
    const std::string once = benanza::measure::name(benanza::measure::parse_scenario(text));
    same(once, benanza::measure::name(benanza::measure::parse_scenario(once)));
  } else if (kind == 'a') {
    const auto server = br::store::server_of(text);
    if (server && server->find('@') != std::string::npos) throw fuzz::finding("a user is shown");
    if (server) same(*server, br::store::server_of(*server).value_or(""));
    if (text.find("password=") != std::string::npos &&
        br::store::shown(text).find("password=") != std::string::npos)
      throw fuzz::finding("a password is shown");
  } else if (kind == 'd') {
    same(br::utc_date(text), br::utc_date(br::utc_date(text)));
  }
}

std::vector<std::string> text_samples() {
  return {
      R"(e{"benanza_experiment":1,"name":"x","note":"n","models":[{"name":"a","content":"0123"}],)"
      R"("graphs":"g.json","types":["f32"],"states":["hot"],"backends":["onednn"],"threads":[1,2],)"
      R"("effort":"quick","scenarios":["offline"],"expects":{"software":{"benanza":">=0.3 <1"}}})",
      "sserver:rate=20,percentile=99.9,seconds=3,seed=7",
      "smulti_stream:streams=8",
      "sserver:limit=50ms",
      "apostgresql://user:p%40ss@host:5432/db?sslmode=require",
      "ahost=db password=secret",
      "d2026-11-27T12:44:51-0400"};
}

const fuzz::registration texts_target{
    {.name = "texts",
     .take = take_text,
     .samples = text_samples,
     .words = {"server:", "rate=", "limit=", "1e308", "inf", "nan", ">=", "postgresql://", "%40",
               "\"expects\"", "password=", "..", "+0545"}}};
} // namespace
