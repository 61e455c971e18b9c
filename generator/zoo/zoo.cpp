// SPDX-License-Identifier: Apache-2.0
// Which models does the zoo hold, and what does the paper say of them? Table I of the Benanza
// paper, with the function that builds each and, where our figures differ, why. The paper counts
// one multiply-accumulate for each output of a ReLU and of an elementwise Mul too; ours are those
// of Conv, Gemm and MatMul alone. Years are of
// the first publication: the paper's own are 2010 for LeNet, 2012 for Inception-v2, 2015 for
// Inception-v1 and Shufflenet, 2017 for MobileNet-v2.
#include "zoo.hpp"

#include "families.hpp"
#include "modern.hpp"

#include <benanza/core/error.hpp>

#include <array>
#include <utility>

namespace benanza::generator::zoo {
namespace {

struct member {
  entry facts;
  ::onnx::ModelProto (*make)();
};

constexpr std::string_view vgg_note =
    "Ours count the first fully connected layer (103M), which the paper all but drops: its tool "
    "leaves the Flatten before that layer at four dimensions.";

constexpr std::string_view classification = "image classification";

constexpr std::array<member, 30> members{{
    {{"arcface", "Arcface", 2018, "face recognition", 12.08e9, 412, ""}, arcface},
    {{"bvlc-alexnet", "BVLC-Alexnet", 2012, classification, 656e6, 24, ""}, alexnet},
    {{"bvlc-caffenet", "BVLC-Caffenet", 2012, classification, 721e6, 24, ""}, caffenet},
    {{"bvlc-googlenet", "BVLC-Googlenet", 2014, classification, 1.59e9, 143, ""}, googlenet},
    {{"bvlc-rcnn-ilsvrc13", "BVLC-RCNN-ILSVRC13", 2013, "object detection", 718e6, 23, ""}, rcnn},
    {{"densenet-121", "Densenet-121", 2016, classification, 2.87e9, 910,
      "2.83G are in Conv; the paper adds 16M outputs of ReLU and 16M of Mul, one each."},
     densenet},
    {{"duc", "DUC", 2017, "semantic segmentation", 34.94e9, 355,
      "673G at the published 800x800 input. The paper's figure is 34.94T, printed as G: it "
      "counts a dilated kernel by its extent, zeros included."},
     duc},
    {{"emotion-ferplus", "Emotion-Ferplus", 2016, "emotion recognition", 877e6, 52, ""}, ferplus},
    {{"inception-v1", "Inception-v1", 2014, classification, 1.44e9, 144, ""}, inception_v1},
    {{"inception-v2", "Inception-v2", 2015, classification, 2.03e9, 509, ""}, inception_v2},
    {{"lenet", "LeNet", 1998, "digit recognition", 796e3, 12,
      "787K are in Conv and MatMul; the paper adds 9.4K outputs of ReLU, one each."},
     lenet},
    {{"mobilenet-v2", "MobileNet-v2", 2018, classification, 437e6, 155,
      "429M are in Conv; the paper adds 8.2M outputs of ReLU, one each."},
     mobilenet},
    {{"resnet18-v1", "Resnet18-v1", 2015, classification, 1.82e9, 69, ""},
     [] { return resnet(18, 1); }},
    {{"resnet18-v2", "Resnet18-v2", 2016, classification, 1.82e9, 69, ""},
     [] { return resnet(18, 2); }},
    {{"resnet34-v1", "Resnet34-v1", 2015, classification, 3.67e9, 125, ""},
     [] { return resnet(34, 1); }},
    {{"resnet34-v2", "Resnet34-v2", 2016, classification, 3.67e9, 125, ""},
     [] { return resnet(34, 2); }},
    {{"resnet50-v1", "Resnet50-v1", 2015, classification, 3.87e9, 175, ""},
     [] { return resnet(50, 1); }},
    {{"resnet50-v2", "Resnet50-v2", 2016, classification, 4.10e9, 174, ""},
     [] { return resnet(50, 2); }},
    {{"resnet101-v1", "Resnet101-v1", 2015, classification, 7.58e9, 345, ""},
     [] { return resnet(101, 1); }},
    {{"resnet101-v2", "Resnet101-v2", 2016, classification, 7.81e9, 344, ""},
     [] { return resnet(101, 2); }},
    {{"resnet152-v1", "Resnet152-v1", 2015, classification, 11.30e9, 515, ""},
     [] { return resnet(152, 1); }},
    {{"resnet152-v2", "Resnet152-v2", 2016, classification, 11.53e9, 514, ""},
     [] { return resnet(152, 2); }},
    {{"shufflenet", "Shufflenet", 2017, classification, 127e6, 203,
      "125M are in Conv and Gemm; the paper adds 2.5M outputs of ReLU, one each."},
     shufflenet},
    {{"squeezenet-v1.1", "Squeezenet-v1.1", 2016, classification, 352e6, 66, ""}, squeezenet},
    {{"tiny-yolo-v2", "Tiny-Yolo-v2", 2016, "object detection", 3.13e9, 32,
      "3.49G: the sixth pooling keeps 13x13 pixels (SAME padding, stride 1), which the last three "
      "convolutions see; the paper counts 12x12. ImageScaler, which ONNX dropped, is a Mul here."},
     tiny_yolo},
    {{"vgg16-bn", "Vgg16-BN", 2014, classification, 15.38e9, 54, vgg_note},
     [] { return vgg(16, true); }},
    {{"vgg16", "Vgg16", 2014, classification, 15.38e9, 41, vgg_note},
     [] { return vgg(16, false); }},
    {{"vgg19-bn", "Vgg19-BN", 2014, classification, 19.55e9, 63, vgg_note},
     [] { return vgg(19, true); }},
    {{"vgg19", "Vgg19", 2014, classification, 19.55e9, 47, vgg_note},
     [] { return vgg(19, false); }},
    {{"zfnet512", "Zfnet512", 2013, classification, 1.48e9, 22, ""}, zfnet},
}};

} // namespace

std::span<const entry> list() {
  static const std::array<entry, members.size()> entries = [] {
    std::array<entry, members.size()> facts;
    for (std::size_t i = 0; i < members.size(); ++i)
      facts[i] = members[i].facts;
    return facts;
  }();
  return entries;
}

int year_of(std::string_view name) {
  for (const entry& e : list())
    if (e.name == name) return e.year;
  for (const modern_entry& e : modern())
    if (e.name == name) return e.year();
  return 0;
}

::onnx::ModelProto build(std::string_view name) {
  for (const member& m : members)
    if (m.facts.name == name) return m.make();
  if (std::optional<::onnx::ModelProto> newer = build_modern(name)) return *std::move(newer);
  throw error("no model of that name in the zoo", name, "zoo --list shows the names");
}

} // namespace benanza::generator::zoo
