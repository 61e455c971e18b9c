// SPDX-License-Identifier: Apache-2.0
// oneDNN as a backend: every implementation that the library has for a layer and a type is one
// algorithm. f32, bf16, u8s8u8 and s8s8s8; sources, weights and results in the layouts that an
// implementation prefers, brought there outside timing.
//
//   const backend::registration<onednn::library> here{"onednn"};
//   onednn::library lib;   lib.enumerate(layer, numeric::f32, {.threads = 1})[0].id ==
//   "brgconv:avx512_core"
#pragma once

#include "execution.hpp"
#include "recurrent.hpp"

namespace benanza::backend::onednn {

class library final : public backend::library {
public:
  library()
      : device_(std::make_shared<device>()) {}

  std::string_view name() const override { return "onednn"; }

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
    std::vector<algorithm> out;
    try {
      for (recurrent_offer& o : recurrent_offers(l, t, s, device_->engine))
        out.push_back(std::move(o.what));
      for (offer& o : offers(l, t, s, device_->engine))
        out.push_back(std::move(o.what));
    } catch (const dnnl::error&) {
      out.clear(); // a layer on which the library gives up is one that it does not have
    }
    return out;
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
  std::shared_ptr<device> device_;
};

} // namespace benanza::backend::onednn
