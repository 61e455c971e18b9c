// SPDX-License-Identifier: Apache-2.0
// How a store is read, written as a file, and added to; without SQLite each is refused.
#include "store_commands.hpp"

#include <benanza/bound/missing.hpp>
#include <benanza/result/reader.hpp>
#include <benanza/result/store_address.hpp>
#include <benanza/result/writer.hpp>

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/reader.hpp>
#endif

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/sort.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace benanza::analyzer {

bool is_store(const std::string& path) {
  if (result::store::is_address(path)) return true;
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string start(magic.size(), ' ');
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) && start == magic;
}

std::string from_store(const std::string& store, const bound::model_bound& b) {
  const auto tried = [](const bound::hole& h) { return h.failed && !h.command.empty(); };
  const bool failed =
      ranges::any_of(b.covered.holes, tried) || ranges::any_of(b.covered.rooflines, tried);
  return " --store " + bound::shell_word(result::store::shown(store)) +
         (failed ? " --again=failed" : "");
}

#ifdef BENANZA_WITH_STORE

result::run read_from_store(const std::string& path, const std::string& system,
                            const std::string& model) {
  return result::store::read_store(path, {.system = system, .model = model});
}

std::vector<result::run> runs_in_store(const std::string& path, const std::string& system,
                                       const std::string& model) {
  const result::store::store s(path, result::store::access::read);
  return result::store::read_runs(s, {.system = system, .model = model},
                                  result::store::choose_system(s, system));
}

std::vector<std::string> systems_in_store(const std::string& path) {
  const result::store::store s(path, result::store::access::read);
  std::vector<result::store::known_system> all = s.systems();
  ranges::sort(all, ranges::less{}, [](const auto& of) { return std::pair(of.last_date, of.id); });
  std::vector<std::string> out;
  for (const result::store::known_system& one : all)
    out.push_back(std::to_string(one.id));
  return out;
}

std::string damaged_results(const result::run& r) {
  std::size_t n = 0;
  std::string first;
  for (const result::measurement& m : r.measurements)
    if (result::store::is_damaged(m) && n++ == 0) first = m.name;
  if (n == 0) return {};
  return std::to_string(n) + (n == 1 ? " result of the store is" : " results of the store are") +
         " damaged, such as " + printable(first) + ": measure again";
}

std::string export_text(const std::string& path, const std::string& system,
                        const std::string& model, std::string& lacking) {
  const result::store::store s(path, result::store::access::read);
  result::run r = result::store::read_entries(s, {.system = system, .model = model});
  lacking = damaged_results(r);
  std::erase_if(r.measurements, result::store::is_damaged);
  std::ostringstream out;
  result::write(out, r);
  return std::move(out).str();
}

void import_files(const store_request& asked, std::ostream& out) {
  std::vector<result::run> runs; // all are read before the first is added
  for (const std::string& f : asked.imported)
    runs.push_back(result::read_file(f));
  result::store::store s(asked.store, result::store::access::write);
  for (const result::run& r : runs) {
    const std::int64_t added = s.add_new(r);
    out << printable(r.source) << ": " << added << " of " << r.measurements.size()
        << " results added to " << printable(result::store::shown(asked.store)) << '\n';
  }
}

#else

namespace {
[[noreturn]] void no_store(const std::string& path) {
  throw error("this program was built without SQLite and reads no stores",
              result::store::shown(path), "install libsqlite3-dev and build it again");
}
} // namespace

result::run read_from_store(const std::string& path, const std::string&, const std::string&) {
  no_store(path);
}
std::vector<result::run> runs_in_store(const std::string& path, const std::string&,
                                       const std::string&) {
  no_store(path);
}
std::vector<std::string> systems_in_store(const std::string& path) {
  no_store(path);
}
std::string damaged_results(const result::run&) {
  return {};
}
std::string export_text(const std::string& path, const std::string&, const std::string&,
                        std::string&) {
  no_store(path);
}
void import_files(const store_request& asked, std::ostream&) {
  no_store(asked.store);
}

#endif

} // namespace benanza::analyzer
