// SPDX-License-Identifier: Apache-2.0
// What does it take until a model's weights can be used? As cases of the model, for a plan:
// `read` from a file in the page cache into memory of the process, or `mmap` that file and read it
// there; the same from the disk (`disk_read`, `disk_mmap`), after the file has left the page cache;
// `pack` them into the layouts of the plan's algorithms; `setup`, all else that makes these ready;
// or `attach:n` to n shared objects that hold them packed already (one a model, a group of layers,
// a layer), and map their pages, by reading each (`touch`) or at once (`populate`). On a device
// also: a copy of them to it out of memory that can be paged out (`pageable`) or is pinned
// (`pinned`, and `pin` it); there the objects are another process's memory of the device (IPC), and
// `touch` is a first access. On the processor also `private:n` and `shared:n`: n processes do all
// of it at once.
//
//   group g = load_group(plan, libraries);   // model/vgg16@batch=1/f32/load/read/warm/t1 ...
#pragma once

#include "../../machine/shared_store.hpp"
#include "../../result/load_case.hpp"
#include "../chain/plan_subject.hpp"
#include "clients.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace benanza::measure::load {

using result::load_backend;

/// One way, timed by itself: what has to be there before, and what is cleared up, is not.
class load_run : public backend::prepared {
public:
  load_run(std::string way, std::int64_t bytes, std::function<double()> timed)
      : way_(std::move(way))
      , bytes_(bytes)
      , timed_(std::move(timed)) {}
  std::string ran() const override { return way_; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    double ns = 0;
    for (int i = 0; i < executions; ++i)
      ns += timed_();
    return ns;
  }
  void read(std::vector<double>& out) const override { out.clear(); }
  std::int64_t weight_bytes() const override { return bytes_; }

private:
  std::string way_;
  std::int64_t bytes_;
  std::function<double()> timed_;
};

/// The same of a plan that a device runs: its figures belong to that one.
class device_load_run final : public load_run, public backend::device_control {
public:
  using load_run::load_run;
  backend::device_control* own_device() override { return this; }
};

/// Nodes with weights of a graph, as a plan runs it.
inline int nodes_with_weights(const result::plan& p) {
  int n = 0;
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    if (!p.steps[i].backend.empty() &&
        op::cost(layer_at(p.graph, static_cast<int>(i))).constant_bytes(p.type) > 0)
      ++n;
  return n;
}

/// Into how many objects the weights are put: one, some, one a layer.
inline std::set<int> granularities(const result::plan& p) {
  const int most = std::max(1, nodes_with_weights(p));
  return {1, static_cast<int>(std::ceil(std::sqrt(most))), most};
}

/// How many clients begin at once.
inline std::vector<int> client_counts() {
  constexpr int most = 8;
  std::vector<int> out;
  for (int n = 1; n <= std::min(most, 2 * machine::entered().processors); n *= 2)
    out.push_back(n);
  return out;
}

/// The weights of a plan's model, loaded in every way.
class load_subject final : public subject {
public:
  /// `number`: of the plan on the command line of this program, which can be started as a client.
  load_subject(result::plan p, const library_list& libraries, std::optional<int> number = {})
      : plan_(std::move(p))
      , number_(number)
      , libraries_(libraries)
      , on_device_(measure::detail::on_device(plan_, libraries))
      , store_(store_name) {
    family = "model";
    key = plan_.graph.name;
    type = plan_.type;
    threads = plan_.threads;
    time_share = 5; // some take a second
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (!plan_.steps[i].backend.empty())
        loaded_bytes +=
            op::cost(layer_at(plan_.graph, static_cast<int>(i))).constant_bytes(plan_.type);
  }
  ~load_subject() override { drop(); }

  std::vector<bench_case> cases() const {
    std::vector<bench_case> out;
    std::vector<std::string> ways{"read", "mmap",  "disk_read", "disk_mmap",
                                  "pack", "setup", "touch"};
    if (on_device_)
      ways.insert(ways.end(), {"pageable", "pinned", "pin"});
    else
      ways.emplace_back("populate");
    for (const int objects : granularities(plan_))
      ways.push_back(result::load_way{"attach", objects}.text());
    if (number_ && !on_device_)
      for (const int clients : client_counts())
        for (const std::string_view way : {result::private_clients, result::shared_clients})
          ways.push_back(result::load_way{std::string(way), clients}.text());
    for (const std::string& way : ways)
      out.push_back({.name = title() + '/' + std::string(name(type)) + '/' +
                             std::string(load_backend) + '/' + way + "/warm/t" +
                             std::to_string(threads),
                     .backend = std::string(load_backend),
                     // They do not compete: each is an answer.
                     .algorithm = {.id = way, .equivalence = way},
                     .state = "warm",
                     .on_device = on_device_});
    return out;
  }

  void begin() override {
    weights_.emplace(plan_, libraries_);
    if (weights_->file_bytes() == 0)
      throw error("the model has no weights to load", key, "leave out --load");
    const built_nodes built = weights_->build();
    packed_bytes_ = built.packed_bytes();
    if (on_device_) return begin_on_device(built);
    store_.clear(); // what a run that was killed has left
    for (const int objects : granularities(plan_))
      share(built, objects);
  }
  void end() override {
    drop();
    loader_.reset();
    parts_.clear();
    packed_ = {};
    weights_.reset();
  }

  ready_case ready(const bench_case& c) override {
    const std::string& way = c.algorithm.id;
    const stopwatch timer;
    if (const auto its = result::parse_load_way(way); result::of_clients(its.name))
      return {clients(its), timer.ns()};
    const std::int64_t loaded = result::of_a_file(way) ? weights_->file_bytes() : packed_bytes_;
    const std::function<double()> timed = [this, way] { return time_of(way); };
    std::unique_ptr<load_run> run;
    if (on_device_)
      run = std::make_unique<device_load_run>(way, loaded, timed);
    else
      run = std::make_unique<load_run>(way, loaded, timed);
    check(way);
    return {std::move(run), timer.ns()};
  }

private:
  std::unique_ptr<backend::prepared> clients(const result::load_way& way) const {
    machine::check_memory(3.0 * way.count * static_cast<double>(weights_->file_bytes()),
                          way.text() + " of " + key);
    held_.front().unmap_pages(); // clients count what they map with others
    const client_link what{.file = weights_->file(),
                           .plan = number_.value(),
                           .shared = way.name == result::private_clients ? "" : key_of(1, 0)};
    return std::make_unique<clients_run>(way.text(), what, way.count, answer_);
  }

  void begin_on_device(const built_nodes& built) {
    for (const auto& library : libraries_)
      if (auto* const devices = library->own_devices(); devices != nullptr && !loader_)
        loader_ = devices->make_loader();
    if (!loader_) throw error("nothing brings weights to the device of this plan", key);
    packed_.resize(static_cast<std::size_t>(packed_bytes_));
    copy_packed(built, packed_.data());
    try {
      for (const int objects : granularities(plan_)) {
        parts_[objects] = cut(packed_, built.cuts(objects));
        loader_->share(parts_[objects]);
      }
    } catch (const backend::device_lost&) {
      throw;
    } catch (const error& e) {
      not_shared_ = e.what(); // all else can be measured
    }
  }
  std::string key_of(int objects, int number) const {
    return weights_->packed_key() + '-' + std::to_string(number) + "-of-" + std::to_string(objects);
  }
  /// Puts the weights into so many objects, those of neighbouring layers into one. All of them in
  /// one comes first.
  void share(const built_nodes& built, int objects) {
    const std::vector<std::int64_t> at = built.cuts(objects);
    for (int k = 0; k < objects; ++k) {
      const std::string its = key_of(objects, k);
      const auto i = static_cast<std::size_t>(k);
      machine::shared_object o = store_.open(its, at[i + 1] - at[i], [&](std::span<std::byte> to) {
        if (objects == 1)
          copy_packed(built, to.data());
        else
          std::memcpy(to.data(), held_.front().bytes().data() + at[i], to.size());
      });
      if (!o.intact()) throw error("shared weights are not what they were", its);
      keys_.emplace_back(objects, its);
      held_.push_back(std::move(o)); // that no other process clears them away
    }
  }
  /// The bytes between the cuts.
  static std::vector<std::span<const std::byte>> cut(std::span<const std::byte> all,
                                                     const std::vector<std::int64_t>& at) {
    std::vector<std::span<const std::byte>> out;
    for (std::size_t k = 0; k + 1 < at.size(); ++k)
      out.push_back(all.subspan(static_cast<std::size_t>(at[k]),
                                static_cast<std::size_t>(at[k + 1] - at[k])));
    return out;
  }
  void drop() {
    held_.clear();
    for (const auto& [objects, its] : keys_)
      store_.evict(its);
    keys_.clear();
  }

  /// True if so many objects, one after the other, are the weights.
  bool shares(int objects) const {
    std::size_t at = 0;
    const std::span<const std::byte> whole = held_.front().bytes();
    for (const machine::shared_object& o : attached(objects)) {
      const std::span<const std::byte> its = o.bytes();
      if (at + its.size() > whole.size() || !std::equal(its.begin(), its.end(), whole.data() + at))
        return false;
      at += its.size();
    }
    return at == whole.size();
  }

  std::vector<machine::shared_object> attached(int objects) const {
    std::vector<machine::shared_object> out;
    for (const auto& [of, its] : keys_)
      if (of == objects) {
        auto o = store_.attach(its);
        if (!o) throw error("shared weights were taken away", its);
        out.push_back(std::move(*o));
      }
    return out;
  }

  double time_of(const std::string& way) const {
    if (way == "pack") return weights_->build().packing_ns;
    if (way == "setup") return weights_->build().other_ns;
    if (way == "pageable" || way == "pinned") return loader_->copy_ns(packed_, way == "pinned");
    if (way == "pin") return loader_->pin_ns(packed_bytes_);
    if (on_device_ && way == "touch") return loader_->touch_ns(1);
    if (way == "touch" || way == "populate") {
      const auto all = attached(1);
      const stopwatch timer;
      for (const machine::shared_object& o : all)
        if (way == "touch" || !o.populate()) touch(o.bytes());
      return timer.ns();
    }
    if (result::of_a_file(way)) {
      constexpr std::size_t line = 64;
      if (result::of_a_disk(way)) weights_->leave_page_cache();
      std::optional<fresh_memory> memory;
      const stopwatch timer;
      if (way.ends_with("mmap")) {
        memory.emplace(weights_->file_bytes(), weights_->file());
        touch(memory->bytes(), line);
      } else {
        memory.emplace(weights_->file_bytes());
        read_file(weights_->file(), memory->bytes());
      }
      return timer.ns();
    }
    const int objects = result::parse_load_way(way).count;
    if (on_device_) return loader_->attach_ns(objects);
    const stopwatch timer;
    const auto all = attached(objects);
    return timer.ns();
  }

  /// What is loaded is what was stored.
  void check(const std::string& way) const {
    if (way == "touch" || way.starts_with("attach")) {
      const int objects = result::parse_load_way(way).count;
      if (!not_shared_.empty()) throw error(not_shared_);
      if (on_device_ ? !loader_->shares(parts_.at(objects)) : !shares(objects))
        throw error("the weights that another process holds are not what they were", key);
    }
    if (!result::of_a_file(way)) return;
    if (result::of_a_disk(way)) weights_->leave_page_cache();
    const fresh_memory mapped(weights_->file_bytes(), weights_->file()),
        own(weights_->file_bytes());
    read_file(weights_->file(), own.bytes());
    if (std::memcmp(mapped.bytes().data(), own.bytes().data(), own.bytes().size()) != 0)
      throw error("the weights of a file are not what they were", key);
  }

  result::plan plan_;
  std::optional<int> number_;
  const library_list& libraries_;
  bool on_device_;
  std::shared_ptr<std::optional<std::uint64_t>> answer_ = ///< of all clients
      std::make_shared<std::optional<std::uint64_t>>();
  machine::shared_store store_;
  std::optional<model_weights> weights_{};
  std::int64_t packed_bytes_ = 0;
  std::vector<std::pair<int, std::string>> keys_{}; ///< number of objects, and the key of one
  std::vector<machine::shared_object> held_{};
  std::unique_ptr<backend::weight_loader> loader_{}; ///< of a device, as all that follows
  std::vector<std::byte> packed_{};
  std::map<int, std::vector<std::span<const std::byte>>> parts_{}; ///< of it, by how many
  std::string not_shared_{}; ///< why weights are in no other process
};

/// The ways to load a plan's model, as a group.
inline group load_group(const result::plan& p, const library_list& libraries,
                        std::optional<int> number = {}) {
  const auto what = std::make_shared<load_subject>(p, libraries, number);
  return {.what = what, .cases = what->cases(), .ahead = false};
}

} // namespace benanza::measure::load
