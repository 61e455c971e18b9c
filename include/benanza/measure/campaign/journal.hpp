// SPDX-License-Identifier: Apache-2.0
// What is left of a run that did not end? Its journal, FILE.unfinished: a line that says on which
// machine, with which software and settings it measures, then a line a group with its results, each
// behind its checksum and on the disk before the next group begins. The same command goes on from
// there; another one is refused, and so are a link and a file that is no journal. A line that a
// crash cut off does not count.
//
//   journal j("run.json.unfinished", setting);   j.recall(g);   j.keep(g, all_cases(g));
#pragma once

#include "../../core/checksum.hpp"
#include "../../result/json.hpp"
#include "keeper.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace benanza::measure {

/// Facts, by section and name, that a run and what goes on from it must share.
using run_setting = std::map<std::string, std::map<std::string, std::string>>;

/// An open file, closed when it goes.
class descriptor {
public:
  explicit descriptor(int number = -1)
      : number_(number) {}
  descriptor(descriptor&& from) noexcept
      : number_(std::exchange(from.number_, -1)) {}
  descriptor& operator=(descriptor&& from) noexcept {
    std::swap(number_, from.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  operator int() const { return number_; }

private:
  int number_;
};

/// Keeps results in a file of its own.
class journal final : public keeper {
public:
  /// Opens or makes the file; `afresh` forgets what it held.
  journal(std::string path, const run_setting& setting, bool afresh)
      : path_(std::move(path)) {
    open_locked();
    const std::string header = line_of({{"benanza_unfinished", version}, {"setting", setting}});
    const std::string text = content();
    const bool torn = header.compare(0, text.size(), text) == 0 && text.size() < header.size();
    if (!torn) require_journal(checked(first_line(text)));
    if (afresh || torn) {
      shorten(0);
      append(header);
      sync_folder();
      return;
    }
    try {
      read(text, setting);
    } catch (const nlohmann::json::exception&) { // right checksums of what we do not write
      require_journal({});
    }
  }
  void recall(group& g) override {
    for (bench_case& c : g.cases)
      if (const auto found = kept_.find(c.name); found != kept_.end()) c.results = found->second;
  }

  void keep(const group& g, const case_list& which) override {
    nlohmann::json measurements = nlohmann::json::array();
    for (std::size_t i : which)
      for (const result::measurement& m : g.cases[i].results)
        measurements.emplace_back(result::to_json(m));
    append(line_of({{"measurements", std::move(measurements)}}));
  }

  void finish() override { unlink(path_.c_str()); }
  std::string place() const override { return path_; }

private:
  static constexpr int version = 1;
  static constexpr std::size_t checksum_length = 16;

  static std::string line_of(const nlohmann::json& j) {
    const std::string text = j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return fnv1a(text) + ' ' + text + '\n';
  }

  [[noreturn]] void refuse(const std::string& what, const char* remedy) const {
    throw error(what + ": " + std::strerror(errno), path_, remedy);
  }

  /// Locks the file for this process. Not by flock: a worker that is just being started would
  /// share it, and hold it a moment longer than a run that was killed.
  bool locked() const {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return fcntl(file_, F_SETLK, &whole) == 0;
  }

  void open_locked() {
    for (;;) {
      constexpr int how = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
      file_ = descriptor(open(path_.c_str(), how, 0666));
      struct stat opened {
      }, named{};
      if (file_ < 0 && errno == ELOOP)
        throw error("results are not kept behind a link", path_, aside);
      if (file_ < 0) refuse("results cannot be kept", "give a place that can be written");
      if (fstat(file_, &opened) != 0 || !S_ISREG(opened.st_mode))
        throw error("results are not kept in what is no regular file", path_, aside);
      if (!locked())
        throw error("another run keeps its results there", path_,
                    "wait for its end, or give another --benchmark_out");
      // A run that ended just now may have taken the file away.
      if (lstat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino) return;
    }
  }

  std::string content() {
    std::string text;
    char part[1 << 16];
    for (ssize_t n; (n = ::read(file_, part, sizeof part)) != 0;) {
      if (n < 0) refuse("what is kept cannot be read", "check the disk");
      text.append(part, static_cast<std::size_t>(n));
    }
    return text;
  }

  /// The JSON of a line; discarded where the line is not what was written.
  static nlohmann::json checked(std::string_view line) {
    if (line.size() < checksum_length + 1 || line[checksum_length] != ' ' ||
        fnv1a(line.substr(checksum_length + 1)) != line.substr(0, checksum_length))
      return nlohmann::json(nlohmann::json::value_t::discarded);
    return nlohmann::json::parse(line.substr(checksum_length + 1), nullptr, false);
  }

  void read(std::string_view text, const run_setting& setting) {
    bool first = true;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos && !first) break;
      const nlohmann::json j = checked(text.substr(0, end));
      if (first)
        check_header(j, setting);
      else if (!j.is_discarded())
        take(j);
      first = false;
      size_ += static_cast<off_t>(end + 1);
      text.remove_prefix(end + 1);
    }
    shorten(size_);
  }

  static std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
  }

  void require_journal(const nlohmann::json& header) const {
    if (!header.is_object() || !header.contains("benanza_unfinished"))
      throw error("this file is not what an unfinished run leaves", path_, aside);
  }

  void check_header(const nlohmann::json& j, const run_setting& setting) const {
    if (j["benanza_unfinished"] != version)
      throw error("another version of benanza_bench left this unfinished", path_, away);
    const auto before = j.at("setting").get<run_setting>();
    for (const auto& [section, table_now] : setting)
      for (const auto& [name, value] : table_now) {
        const auto table = before.find(section);
        const std::string old = table == before.end() || !table->second.contains(name)
                                    ? "nothing"
                                    : table->second.at(name);
        if (old != value)
          throw error("the unfinished run had " + section + "." + name + " \"" + old +
                          "\", this one has \"" + value + "\"",
                      path_, away);
      }
  }

  void take(const nlohmann::json& j) {
    std::map<std::string, std::vector<result::measurement>> cases;
    for (const auto& m : j.at("measurements")) {
      result::measurement one = result::measurement_from_json(m, path_);
      cases[one.name].push_back(std::move(one));
    }
    for (auto& [name, passes] : cases)
      kept_[name] = std::move(passes);
  }

  void append(const std::string& line) {
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t n = write(file_, line.data() + done, line.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) give_up();
      done += static_cast<std::size_t>(n);
    }
    if (fdatasync(file_) != 0) give_up();
    size_ += static_cast<off_t>(line.size());
  }

  [[noreturn]] void give_up() {
    const int reason = errno;
    if (size_ == 0)
      unlink(path_.c_str());
    else
      shorten(size_);
    errno = reason;
    refuse("results cannot be kept", "make room, then give the same command again");
  }

  void shorten(off_t to) {
    if (ftruncate(file_, to) != 0 || lseek(file_, to, SEEK_SET) < 0)
      refuse("results cannot be kept", "check the disk");
  }

  /// Makes the file's name as durable as its content.
  void sync_folder() const {
    const auto folder = std::filesystem::absolute(path_).parent_path();
    const descriptor f(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (f >= 0) fsync(f);
  }

  static constexpr const char* aside = "move it away";
  static constexpr const char* away =
      "give the same command on the same machine, move the file away, or give --again";

  std::string path_;
  descriptor file_;
  off_t size_ = 0;
  std::map<std::string, std::vector<result::measurement>> kept_;
};

} // namespace benanza::measure
