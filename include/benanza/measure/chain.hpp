// SPDX-License-Identifier: Apache-2.0
// A whole model as one thing to run: the algorithms of a plan one after the other, each reading
// what others wrote, with weights of its own, and reorders where two layouts meet. Activations
// share memory as in a framework: what is read no more makes room; scratch memory is one for all.
// `verify` runs it once, node by node, and holds each result against the reference on the operands
// that the node really read.
//
//   chain c(plan, libraries);   c.verify();   double ns = c.time(1);
#pragma once

#include "../backend/make_operands.hpp"
#include "../backend/reference/reference.hpp"
#include "../backend/tolerance.hpp"
#include "../result/parts.hpp"
#include "../result/plan.hpp"
#include "../result/statistics.hpp"
#include "layer_subject.hpp"
#include "move_times.hpp"
#include "storage.hpp"
#include "unpack.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace benanza::measure {

/// A plan that runs.
class chain final : public backend::prepared {
public:
  chain(const result::plan& p, const library_list& libraries)
      : plan_(p)
      , libraries_(libraries) {
    place_tensors();
    for (std::size_t i = 0; i < plan_.graph.nodes.size(); ++i)
      add(static_cast<int>(i));
    for (const move& m : moves_)
      if (m.run) scratch_bytes_ = std::max(scratch_bytes_, m.run->scratch_bytes());
    const int scratch = storage_.keep(scratch_bytes_);
    storage_.allocate();
    for (move& m : moves_) {
      m.connect(storage_);
      if (m.run) m.run->connect_scratch(storage_.at(scratch));
    }
    times_ = move_times(moves_.size());
  }

  std::string ran() const override { return "plan"; }
  std::int64_t weight_bytes() const override {
    std::int64_t sum = 0;
    for (const move& m : moves_)
      if (m.run) sum += m.run->weight_bytes();
    return sum;
  }
  /// Bytes of the memory that all activations share.
  std::int64_t activation_bytes() const { return storage_.bytes() - scratch_bytes_; }
  /// How many reorders and copies stand between the layers.
  std::int64_t reorders() const {
    return std::count_if(moves_.begin(), moves_.end(), [](const move& m) { return m.node < 0; });
  }

  void run(int executions) override {
    for (int i = 0; i < executions; ++i)
      for (move& m : moves_)
        m.execute(storage_);
  }

  double time(int executions) override {
    using clock = std::chrono::steady_clock;
    const bool keep = executions == 1 && !times_.full();
    bool alone = look_ && look_(false).alone;
    double total_ns = 0;
    for (int i = 0; i < executions; ++i)
      for (std::size_t k = 0; k < moves_.size(); ++k) {
        const clock::time_point start = clock::now();
        moves_[k].execute(storage_);
        const std::chrono::duration<double, std::nano> took = clock::now() - start;
        total_ns += took.count();
        if (keep) times_.add(took.count());
        if (!look_) continue;
        const backend::sight s = look_(k + 1 == moves_.size());
        if (s.is_new) times_.looked(alone && s.alone), alone = s.alone;
      }
    if (keep) times_.end(total_ns);
    return total_ns;
  }
  void between_parts(backend::look_between look) override { look_ = std::move(look); }
  void disbelieve_sights() override { times_.disbelieve_looks(); }

  /// The nodes that run, each named "backend/algorithm node", and all reorders as one part.
  std::vector<backend::part_time> parts(const std::vector<double>& samples) const override {
    return parts_of(times_.of(samples));
  }

  backend::pieced_runs pieced() const override {
    const times_by_move by_move = times_.undisturbed();
    return {sums(by_move, [](std::size_t) { return true; }), parts_of(by_move)};
  }

  /// The result of the last node.
  void read(std::vector<double>& out) const override {
    const auto& [at, node] = *tensors_.rbegin();
    const backend::tensor_bytes plain = contents(node);
    backend::load_all(node.type, plain.data(), elements(node.dims), out);
  }

  /// Runs once, and refuses the first node whose result is not right; and a model whose result says
  /// nothing because it is not finite or everywhere the same.
  void verify(std::int64_t outputs_a_node = 60) {
    for (move& m : moves_) {
      backend::operands values;
      if (m.node >= 0) values = operands_of(m);
      m.execute(storage_);
      if (m.node >= 0) check(m, values, outputs_a_node);
    }
    std::vector<double> out;
    read(out);
    const auto [low, high] = std::minmax_element(out.begin(), out.end());
    const bool finite =
        std::all_of(out.begin(), out.end(), [](double v) { return std::isfinite(v); });
    if (!finite || (out.size() > 1 && *low == *high))
      throw error(finite ? "the model's result is everywhere the same"
                         : "the model's result is not finite",
                  plan_.graph.name);
  }

private:
  std::vector<backend::part_time> parts_of(const times_by_move& by_move) const {
    if (by_move.empty()) return {};
    std::vector<backend::part_time> out;
    const auto add = [&out](std::string name, std::vector<double> ns) {
      out.push_back({std::move(name), std::max(1.0, result::median(std::move(ns)))});
    };
    for (std::size_t k = 0; k < moves_.size(); ++k)
      if (moves_[k].node >= 0) add(part_name(moves_[k].node), by_move[k]);
    const auto between = [this](std::size_t k) { return moves_[k].node < 0; };
    if (reorders() > 0) add(std::string(result::reorders_part), sums(by_move, between));
    return out;
  }

  /// Where a result of a node, or an input of the model, stands.
  struct tensor_place {
    shape dims{};
    dtype type = dtype::f32;
    layout lies = layout::plain;
    int room = -1; ///< number in storage
    std::int64_t offset = 0;
  };
  using tensor_id = std::pair<int, int>; // node, output; inputs of the model have nodes below zero

  /// One thing that runs: a layer, a reorder, or a copy.
  struct move {
    int node = -1; ///< of the graph; -1: a reorder or a copy
    std::shared_ptr<backend::prepared> run{};
    std::vector<std::pair<int, tensor_place>> reads{}; ///< operand, and where it stands
    tensor_place writes{};
    std::int64_t copied_bytes = 0; ///< of a copy from the one place read to the one written
    backend::operands values{};    ///< operands that are no activations, for checks

    void connect(const activation_storage& s) {
      if (!run) return;
      for (const auto& [operand, place] : reads)
        run->connect(operand, s.at(place.room) + place.offset);
      run->connect_result(s.at(writes.room));
    }
    void execute(const activation_storage& s) {
      if (run)
        run->run(1);
      else
        std::memcpy(s.at(writes.room), s.at(reads[0].second.room) + reads[0].second.offset,
                    static_cast<std::size_t>(copied_bytes));
    }
  };

  const op::layer& layer_of(int node) const {
    const model::node& n = plan_.graph.nodes[static_cast<std::size_t>(node)];
    if (n.layer == model::no_layer)
      throw error("a node has no layer: " + n.op, plan_.graph.name + ", " + n.name);
    return plan_.graph.layers[static_cast<std::size_t>(n.layer)];
  }
  std::string part_name(int node) const {
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(node)];
    return result::part_name(s.backend, s.algorithm,
                             plan_.graph.nodes[static_cast<std::size_t>(node)].name);
  }
  std::string where(int node) const {
    const model::node& n = plan_.graph.nodes[static_cast<std::size_t>(node)];
    return plan_.graph.name + ", " + n.name + ", " + op::name(layer_of(node));
  }

  /// Who reads each result last: the number of a node; nodes count one move each here.
  void place_tensors() {
    const auto& nodes = plan_.graph.nodes;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
      for (const model::operand& o : model::known_operands(nodes[static_cast<std::size_t>(i)]))
        if (o.node >= 0) last_reader_[{o.node, o.output}] = i;
  }

  static bool flows(const backend::tensor& t) {
    return t.part != backend::role::vector && t.part != backend::role::weights;
  }

  /// The operand of `values` that operand `k` of the node's list is; nothing if it is none of them.
  static std::optional<std::size_t> operand_index(const op::layer& l, std::size_t k,
                                                  std::size_t listed, std::size_t made) {
    const std::size_t joined = std::visit(
        [](const auto& p) -> std::size_t {
          std::size_t n = 0;
          if constexpr (op::is_fused<std::decay_t<decltype(p)>>)
            for (const op::step& s : p.steps)
              n += s.joins;
          return n;
        },
        l);
    if (k + joined >= listed) return made - (listed - k);
    return k < made - joined ? std::optional(k) : std::nullopt;
  }

  void add(int i) {
    const model::node& n = plan_.graph.nodes[static_cast<std::size_t>(i)];
    const op::layer& l = layer_of(i);
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(i)];
    const std::vector<model::operand> listed = model::known_operands(n);
    if (const auto* v = std::get_if<op::view>(&l)) {
      if (listed.empty()) throw error("a view has no operand", where(i));
      // Where the plan does not say it, a view looks at a tensor as ONNX has it.
      const layout its =
          s.operand_layouts.empty() ? layout::plain : layouts(s.operand_layouts, i)[0];
      tensor_place p = in_layout(source(i, listed[0], v->input), its, i);
      if (elements(p.dims) != elements(v->result)) throw error("a view of another size", where(i));
      p.dims = v->result;
      p.lies = s.result_layout.empty() ? layout::plain : layouts(s.result_layout, i)[0];
      put(i, 0, p);
      return;
    }

    move m;
    m.node = i;
    m.values = backend::make_operands(l, plan_.type);
    std::vector<std::pair<std::size_t, model::operand>> flowing;
    for (std::size_t k = 0; k < listed.size(); ++k)
      if (listed[k].node != model::constant)
        if (const auto at = operand_index(l, k, listed.size(), m.values.inputs.size()))
          if (flows(m.values.inputs[*at])) flowing.emplace_back(*at, listed[k]);
    if (std::holds_alternative<op::concat>(l)) real_parts(l, flowing, m.values, i);

    const backend::algorithm a = find(l, s, i);
    m.run = prepare(l, s.backend, a, m.values, i);
    const std::vector<layout> wanted = layouts(s.operand_layouts, i);
    std::size_t activation = 0;
    for (const auto& [at, o] : flowing) {
      const layout its = wanted[std::min(activation++, wanted.size() - 1)];
      const tensor_place from = source(i, o, m.values.inputs[at].dims);
      if (!(from.dims == m.values.inputs[at].dims) || from.type != m.values.inputs[at].type)
        throw error("a node reads a tensor of other dims or another type than its layer has",
                    where(i), "only models whose shapes are all known can be run");
      m.reads.emplace_back(static_cast<int>(at), in_layout(from, its, i));
    }
    read_overwritten_constant(m, wanted.back(), i);
    m.writes = {.dims = op::output(l),
                .type = backend::result_type(l, plan_.type),
                .lies = layouts(s.result_layout, i)[0]};
    take_room(m, i);
    put_results(i, l, m.writes);
    moves_.push_back(std::move(m));
    release(i);
  }

  /// The parts of a Concat have the dims of what it joins.
  void real_parts(const op::layer& l,
                  const std::vector<std::pair<std::size_t, model::operand>>& flowing,
                  backend::operands& values, int node) {
    const auto& c = std::get<op::concat>(l);
    std::int64_t sum = 0;
    for (const auto& [at, o] : flowing) {
      const tensor_place from = source(node, o, values.inputs[at].dims);
      backend::tensor& t = values.inputs[at];
      t.dims = from.dims;
      t.bytes.resize(static_cast<std::size_t>(t.count() * size_bytes(t.type)));
    }
    for (const backend::tensor& t : values.inputs)
      sum += t.dims.size == c.whole.size ? t.dims[c.axis] : 0;
    if (sum != c.whole[c.axis])
      throw error("the parts of a Concat do not add up to the whole", where(node));
  }

  backend::library& library_named(const std::string& name, int node) const {
    for (const auto& l : libraries_)
      if (l->name() == name) return *l;
    throw error("this program has no backend \"" + name + "\"", where(node),
                "write the plan from a result of this program");
  }

  backend::algorithm find(const op::layer& l, const result::plan_step& s, int node) const {
    for (backend::algorithm& a :
         library_named(s.backend, node).enumerate(l, plan_.type, {.threads = plan_.threads}))
      if (a.id == s.algorithm) return a;
    throw error("backend " + s.backend + " does not offer \"" + s.algorithm + "\" here",
                where(node), "write the plan from a result of this machine");
  }

  std::unique_ptr<backend::prepared> prepare(const op::layer& l, const std::string& backend,
                                             const backend::algorithm& a,
                                             const backend::operands& values, int node) const {
    auto made =
        library_named(backend, node).prepare(l, plan_.type, a, values, {.threads = plan_.threads});
    if (made->ran() != a.id)
      throw error("the library ran " + made->ran() + " in place of " + a.id, where(node));
    if (made->result_bytes() == 0)
      throw error("algorithm \"" + a.id + "\" cannot stand in a chain", where(node));
    backend::choose_stack_place(*made);
    return made;
  }

  std::vector<layout> layouts(std::string_view text, int node) const {
    std::vector<layout> out;
    while (true) {
      const std::string_view word = text.substr(0, text.find(','));
      const auto l = parse_layout(word);
      if (!l) throw error("no layout is called \"" + std::string(word) + "\"", where(node));
      out.push_back(*l);
      if (word.size() == text.size()) return out;
      text.remove_prefix(word.size() + 1);
    }
  }

  /// Where an operand stands. An input of the model is made where it is read first.
  tensor_place source(int node, const model::operand& o, const shape& dims) {
    const tensor_id id{o.node >= 0 ? o.node : -1 - node, o.node >= 0 ? o.output : 0};
    const auto known = tensors_.find(id);
    if (known != tensors_.end()) return known->second;
    if (o.node >= 0) throw error("a node reads a result that is not made", where(node));
    tensor_place p{.dims = dims, .type = source_of(plan_.type)};
    const backend::operands values = backend::make_operands(layer_of(node), plan_.type);
    for (const backend::tensor& t : values.inputs)
      if (t.dims == dims && flows(t)) {
        p.type = t.type;
        p.room = storage_.hold(t.bytes);
        break;
      }
    if (p.room < 0) throw error("an input of the model has other dims than its layer", where(node));
    return tensors_[id] = p;
  }

  /// The tensor in layout `its`: itself, or a copy that a reorder makes, once for all who want it.
  tensor_place in_layout(const tensor_place& from, layout its, int node) {
    if (same_memory(from.lies, its, from.dims)) return from;
    const auto key = std::tuple(from.room, from.offset, its);
    if (const auto known = reordered_.find(key); known != reordered_.end()) return known->second;
    const op::layer l = op::reorder{.input = from.dims, .from = from.lies, .to = its};
    if (from.type != source_of(plan_.type))
      throw error("a tensor of another type would have to change its layout", where(node));
    move m;
    m.values = backend::make_operands(l, plan_.type);
    for (const auto& library : libraries_)
      for (const backend::algorithm& a :
           library->enumerate(l, plan_.type, {.threads = plan_.threads}))
        if (!m.run)
          m.run = library->prepare(l, plan_.type, a, m.values, {.threads = plan_.threads});
    if (!m.run) throw error("no backend changes this layout: " + op::name(l), where(node));
    backend::choose_stack_place(*m.run);
    m.values = {};
    m.reads.emplace_back(0, from);
    m.writes = from;
    m.writes.lies = its;
    m.writes.offset = 0;
    m.writes.room = storage_.take(m.run->result_bytes());
    const tensor_place made = m.writes;
    moves_.push_back(std::move(m));
    reordered_.emplace(key, made);
    temporary_.push_back({last_use(from, node), made.room});
    return made;
  }

  /// The last node that reads what stands in the same room as `p`.
  int last_use(const tensor_place& p, int node) const {
    int last = node;
    for (const auto& [until, room] : temporary_)
      if (room == p.room) last = std::max(last, until);
    for (const auto& [id, t] : tensors_)
      if (t.room == p.room)
        if (const auto at = last_reader_.find(id); at != last_reader_.end())
          last = std::max(last, at->second);
    return last;
  }

  /// A constant that the algorithm writes over has to be brought there again for every run.
  void read_overwritten_constant(move& m, layout its, int node) {
    const int over = m.run->overwritten();
    const auto same = [over](const auto& r) { return r.first == over; };
    if (over < 0 || std::any_of(m.reads.begin(), m.reads.end(), same)) return;
    const backend::tensor& t = m.values.inputs[static_cast<std::size_t>(over)];
    const tensor_place held{.dims = t.dims, .type = t.type, .room = storage_.hold(t.bytes)};
    m.reads.emplace_back(over, in_layout(held, its, node));
  }

  /// Room for a result: new, or that of the operand that the algorithm writes over.
  void take_room(move& m, int node) {
    const int over = m.run->overwritten();
    for (const auto& [operand, place] : m.reads) {
      if (operand != over) continue;
      const bool free_to_take =
          place.offset == 0 && !storage_.held(place.room) && last_use(place, node) <= node;
      if (free_to_take) {
        m.writes.room = place.room;
        std::erase_if(reordered_, [taken = place.room](const auto& r) {
          return std::get<0>(r.first) == taken || r.second.room == taken;
        });
        return;
      }
      m.writes.room = storage_.take(m.run->result_bytes());
      move copy{.reads = {{0, place}}, .writes = m.writes};
      copy.copied_bytes = m.run->result_bytes();
      moves_.push_back(std::move(copy));
      return;
    }
    m.writes.room = storage_.take(m.run->result_bytes());
  }

  void put(int node, int output, const tensor_place& p) { tensors_[{node, output}] = p; }

  /// The parts of a Split stand one after the other where its result is.
  void put_results(int node, const op::layer& l, const tensor_place& whole) {
    const auto* s = std::get_if<op::split>(&l);
    if (s == nullptr) return put(node, 0, whole);
    std::int64_t offset = 0;
    for (std::int64_t k = 0; k < s->parts; ++k) {
      tensor_place part = whole;
      part.dims = op::part_of(s->whole, s->axis, s->parts, k);
      part.offset = offset;
      offset += elements(part.dims) * size_bytes(part.type);
      put(node, static_cast<int>(k), part);
    }
  }

  /// Gives back the rooms that no later node reads from.
  void release(int node) {
    std::map<int, int> last; // by room
    for (const auto& [id, t] : tensors_) {
      const auto at = last_reader_.find(id);
      const bool result = id.first >= 0 && at == last_reader_.end();
      const int used = result                     ? std::numeric_limits<int>::max()
                       : at == last_reader_.end() ? node
                                                  : at->second;
      auto& l = last[t.room];
      l = std::max(l, used);
    }
    for (const auto& [until, room] : temporary_)
      last[room] = std::max(last[room], until);
    for (const auto& l : last) // room and last reader
      if (l.second <= node && storage_.release(l.first))
        std::erase_if(reordered_, [&](const auto& r) { return std::get<0>(r.first) == l.first; });
  }

  backend::tensor_bytes contents(const tensor_place& p) const {
    return unpack(storage_.at(p.room) + p.offset, p.lies, p.dims, p.type);
  }

  /// The operands that a layer is about to read.
  backend::operands operands_of(const move& m) const {
    backend::operands values = m.values;
    for (const auto& [operand, place] : m.reads)
      values.inputs[static_cast<std::size_t>(operand)].bytes = contents(place);
    return values;
  }

  void check(const move& m, const backend::operands& values, std::int64_t outputs) const {
    const op::layer& l = layer_of(m.node);
    const auto positions = backend::reference::positions_to_check(l, outputs);
    std::vector<double> expected(positions.size()), got, all;
    backend::reference::evaluate(l, plan_.type, values, positions, expected);
    const backend::tensor_bytes plain = contents(m.writes);
    for (std::int64_t p : positions)
      got.push_back(backend::load(m.writes.type, plain.data(), p));
    const backend::verdict v = backend::compare(l, plan_.type, expected, got);
    if (v.ok) return;
    const auto at = static_cast<std::size_t>(v.where);
    throw error("wrong result in the chain: output " + std::to_string(positions[at]) + " is " +
                    std::to_string(got[at]) + " and should be " + std::to_string(expected[at]),
                where(m.node));
  }

  result::plan plan_;
  const library_list& libraries_;
  activation_storage storage_{};
  std::int64_t scratch_bytes_ = 0;
  std::vector<move> moves_{};
  move_times times_{};
  backend::look_between look_{}; ///< between moves; may be empty
  std::map<tensor_id, tensor_place> tensors_{};
  std::map<tensor_id, int> last_reader_{};
  std::map<std::tuple<int, std::int64_t, layout>, tensor_place> reordered_{};
  std::vector<std::pair<int, int>> temporary_{}; ///< last reader and room of a reordered copy
};

} // namespace benanza::measure
