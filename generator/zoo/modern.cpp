// SPDX-License-Identifier: Apache-2.0
// What do the authors of the zoo's newer models say of them? Parameters and multiply-accumulates at
// batch 1 from papers and from the documentation of the code that trained them.
#include "modern.hpp"

#include "families.hpp"

#include <array>
#include <charconv>

namespace benanza::generator::zoo {
namespace {

struct member {
  modern_entry facts;
  ::onnx::ModelProto (*make)(std::string_view name);
};

constexpr std::string_view devlin = "Devlin et al. 2018; MACs: Jiao et al. 2019 (TinyBERT)";
constexpr std::string_view radford = "Radford et al. 2019; parameters as in its repository";
constexpr std::string_view zhang = "Zhang et al. 2024 (TinyLlama 1.1B)";
constexpr std::string_view dosovitskiy = "Dosovitskiy et al. 2020; MACs: torchvision";
constexpr std::string_view tied =
    "The output layer shares the embedding's weights; an exporter writes them twice (38.6M).";
constexpr std::string_view whisper_note = "39M are both halves; the decoder's output layer shares "
                                          "the embedding's weights (19.9M), and an "
                                          "exporter writes them twice.";

constexpr std::array<member, 21> members{{
    {{"bert-base", devlin, 110e6, 11.25e9, 128, 0, ""}, [](auto n) { return bert(n, 14); }},
    {{"bert-base-op20", devlin, 110e6, 11.25e9, 128, 0, ""}, [](auto n) { return bert(n, 20); }},
    {{"gpt2-prefill", radford, 124e6, 0, 128, 0, tied}, [](auto n) { return gpt2(n, false); }},
    {{"gpt2-decode", radford, 124e6, 0, 0, 512, tied}, [](auto n) { return gpt2(n, true); }},
    {{"tinyllama-prefill", zhang, 1.1e9, 0, 128, 0, ""},
     [](auto n) { return llama(n, 17, false); }},
    {{"tinyllama-decode", zhang, 1.1e9, 0, 0, 512, ""}, [](auto n) { return llama(n, 17, true); }},
    {{"tinyllama-prefill-op23", zhang, 1.1e9, 0, 128, 0, ""},
     [](auto n) { return llama(n, 23, false); }},
    {{"tinyllama-decode-op23", zhang, 1.1e9, 0, 0, 512, ""},
     [](auto n) { return llama(n, 23, true); }},
    {{"vit-b-16", dosovitskiy, 86e6, 17.56e9, 0, 0, ""}, [](auto n) { return vit(n, 14); }},
    {{"vit-b-16-op20", dosovitskiy, 86e6, 17.56e9, 0, 0, ""}, [](auto n) { return vit(n, 20); }},
    {{"swin-t", "Liu et al. 2021", 28.3e6, 4.5e9, 0, 0,
      "An exporter writes the biases of all pairs of a window's tokens, and the masks, as "
      "weights."},
     swin},
    {{"convnext-t", "Liu et al. 2022", 28.6e6, 4.5e9, 0, 0, ""}, convnext},
    {{"efficientnet-b0", "Tan and Le 2019", 5.3e6, 0.39e9, 0, 0, ""}, efficientnet},
    {{"mobilenet-v3-large", "Howard et al. 2019", 5.4e6, 219e6, 0, 0, ""}, mobilenet_v3},
    {{"regnet-y-400mf", "Radosavovic et al. 2020", 4.3e6, 0.4e9, 0, 0, ""}, regnet_y},
    {{"yolo-n", "own, after YOLOv8n, Jocher et al. 2023", 3.2e6, 4.35e9, 0, 0, ""}, yolo},
    {{"ddpm-unet", "Ho et al. 2020; MACs: Fang et al. 2023", 35.7e6, 6.1e9, 0, 0,
      "6.1G leave out the products within attention (0.17G)."},
     ddpm},
    {{"whisper-tiny-encoder", "Radford et al. 2022", 39e6, 0, 0, 0, whisper_note}, whisper_encoder},
    {{"whisper-tiny-decoder", "Radford et al. 2022", 39e6, 0, 0, 128, whisper_note},
     whisper_decoder},
    {{"lstm-lm", "Zaremba et al. 2014; parameters: Merity et al. 2017", 20e6, 0, 35, 0, ""}, lstm},
    {{"resnet50-qdq", "He et al. 2015; figures: torchvision", 25.6e6, 4.09e9, 0, 0, ""},
     resnet_qdq},
}};

} // namespace

std::map<std::string, std::int64_t> modern_entry::dims() const {
  std::map<std::string, std::int64_t> out;
  if (sequence > 0) out["sequence"] = sequence;
  if (past > 0) out["past"] = past;
  return out;
}

int modern_entry::year() const {
  const std::size_t at = source.find("20");
  int out = 0;
  if (at != std::string_view::npos)
    std::from_chars(source.data() + at, source.data() + at + 4, out);
  return out;
}

std::span<const modern_entry> modern() {
  static const std::array<modern_entry, members.size()> entries = [] {
    std::array<modern_entry, members.size()> facts;
    for (std::size_t i = 0; i < members.size(); ++i)
      facts[i] = members[i].facts;
    return facts;
  }();
  return entries;
}

std::optional<::onnx::ModelProto> build_modern(std::string_view name) {
  for (const member& m : members)
    if (m.facts.name == name) return m.make(name);
  return std::nullopt;
}

} // namespace benanza::generator::zoo
