// SPDX-License-Identifier: Apache-2.0
// oneDNN as a backend: every implementation that the library has for a layer and a type is one
// algorithm. f32, bf16, u8s8u8 and s8s8s8; sources, weights and results in the layouts that an
// implementation prefers, brought there outside timing.
//
//   const backend::registration<onednn::library> here{"onednn"};
//   onednn::library lib;   lib.enumerate(layer, numeric::f32, {.threads = 1})[0].id ==
//   "brgconv:avx512_core"
#pragma once

#include "../../op/kinds.hpp"
#include "execution.hpp"
#include "graph_attention.hpp"
#include "recurrent.hpp"
#include "refusals.hpp"
#include "through_f32.hpp"

namespace benanza::backend::onednn {

class library final : public backend::library {
public:
  /// `name`: the token in case names; one of several versions has its version in it.
  explicit library(std::string name = "onednn")
      : name_(std::move(name)) {
    const auto muted_stdout = logs_dispatch() ? std::make_unique<caught_output>() : nullptr;
    device_ = std::make_shared<device>();
  }

  std::string_view name() const override { return name_; }

  std::map<std::string, std::string> facts() const override {
    const dnnl_version_t& v = *dnnl_version();
    const auto runtime = [](unsigned r) -> std::string {
      switch (r) {
      case DNNL_RUNTIME_SEQ: return "sequential";
      case DNNL_RUNTIME_OMP: return "OpenMP";
      case DNNL_RUNTIME_TBB: return "TBB";
      case DNNL_RUNTIME_THREADPOOL: return "threadpool";
      default: return "other";
      }
    };
    return {{"version", std::to_string(v.major) + '.' + std::to_string(v.minor) + '.' +
                            std::to_string(v.patch)},
            {"hash", v.hash ? v.hash : ""},
            {"threading", runtime(v.cpu_runtime)},
            {"instruction_set", effective_instruction_set()}};
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting& s) override {
    const auto muted_stdout = logs_dispatch() ? std::make_unique<caught_output>() : nullptr;
    std::vector<algorithm> out;
    try {
      for (recurrent_offer& o : recurrent_offers(l, t, s, device_->engine))
        out.push_back(std::move(o.what));
      for (offer& o : offers(l, t, s, device_->engine))
        out.push_back(std::move(o.what));
      for (widened_offer& o : widened_offers(l, t, s, device_->engine)) {
        o.what.index = static_cast<int>(out.size());
        out.push_back(std::move(o.what));
      }
#ifdef BENANZA_ONEDNN_GRAPH
      if (auto attention = listed_attention(l, t, s, *device_))
        out.push_back(std::move(*attention));
#endif
    } catch (const dnnl::error&) {
      out.clear(); // a layer on which the library gives up is one that it does not have
    }
    return out;
  }

  std::vector<refused_algorithm> refused(const op::layer& l, numeric t, const setting& s) override {
    std::vector<refused_algorithm> out;
    std::vector<std::string> absent;
    try {
      caught_output heard;
      const std::vector<offer> there = offers(l, t, s, device_->engine, nullptr, &absent);
      for (refused_algorithm& r : refusals_of(heard.text())) {
        const std::string text = plain_name(r.id);
        if (std::none_of(there.begin(), there.end(),
                         [&](const offer& o) { return o.what.id.find(text) != std::string::npos; }))
          out.push_back({text, std::move(r.why)});
      }
    } catch (const dnnl::error& e) {
      out.push_back({"any", refusal(e, "").what()});
    }
    const std::string version = facts().at("version");
    for (const std::string& kind : absent)
      out.push_back({kind, "oneDNN " + version + " has none for this layer on this processor"});
    return out;
  }

  bool log_calls(bool on) override {
    return dnnl_set_verbose(on ? 1 : 0) == dnnl_success;
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& values, const setting& s) override {
    const std::string where = op::name(l) + ", " + a.id;
    try {
      for (recurrent_offer& o : recurrent_offers(l, t, s, device_->engine))
        if (o.what.id == a.id)
          return std::make_unique<recurrent_execution>(device_, std::move(o), l, t, values, s);
      for (offer& o : offers(l, t, s, device_->engine, &values))
        if (o.what.id == a.id) {
          if (values.output_scale != 1 && !o.made_by->scales)
            throw error("oneDNN cannot scale this layer's result");
          return std::make_unique<execution>(device_, std::move(o), values, s);
        }
      for (widened_offer& o : widened_offers(l, t, s, device_->engine))
        if (o.what.id == a.id)
          return std::make_unique<widened_execution>(device_, std::move(o), values, s);
#ifdef BENANZA_ONEDNN_GRAPH
      if (a.id == graph_attention_id)
        if (auto graph = attention_graph_of(l, t, s, *device_))
          return std::make_unique<attention_execution>(device_, std::move(*graph),
                                                       op::get<op::attention>(l), t, values, s);
#endif
    } catch (const dnnl::error& e) {
      throw refusal(e, where);
    } catch (const error& e) {
      throw error(e.what(), where);
    } catch (const std::bad_alloc&) {
      throw error("there is not enough memory for the operands", where, "use a smaller batch");
    }
    throw error("oneDNN does not offer this algorithm here", where,
                "list the layer's algorithms again");
  }

private:
  std::string name_;
  std::shared_ptr<device> device_{};
};

} // namespace benanza::backend::onednn
