// SPDX-License-Identifier: Apache-2.0
// Which families make up the zoo? One function a family or a model; each takes what distinguishes
// its members and returns the finished model. zoo.cpp maps names to these calls; nothing else
// includes this.
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

namespace benanza::generator::zoo {

/// ResNet of MXNet Gluon, depth 18, 34, 50, 101 or 152, version 1 (post-activation) or 2
/// (pre-activation).
::onnx::ModelProto resnet(int depth, int version);
/// LResNet100E-IR with the ArcFace loss, 112x112 faces to 512 features (MXNet).
::onnx::ModelProto arcface();
/// ResNet-101 with dense upsampling and hybrid dilated convolution, 800x800 street scenes (MXNet).
::onnx::ModelProto duc();

/// VGG of MXNet Gluon, depth 16 or 19, with batch normalization or without.
::onnx::ModelProto vgg(int depth, bool normed);

/// Caffe's AlexNet, its variant CaffeNet, CaffeNet's R-CNN detector, and ZFNet (Caffe2).
::onnx::ModelProto alexnet();
::onnx::ModelProto caffenet();
::onnx::ModelProto rcnn();
::onnx::ModelProto zfnet();

/// BVLC's GoogLeNet, and the retrained one that the model zoo calls Inception-v1 (Caffe2).
::onnx::ModelProto googlenet();
::onnx::ModelProto inception_v1();
/// Inception with batch normalization (Caffe2).
::onnx::ModelProto inception_v2();
/// DenseNet-121 (Caffe2).
::onnx::ModelProto densenet();

/// MobileNet-v2 of width 1.0 and SqueezeNet 1.1 (MXNet Gluon), ShuffleNet-v1 with 4 groups
/// (Caffe2).
::onnx::ModelProto mobilenet();
::onnx::ModelProto squeezenet();
::onnx::ModelProto shufflenet();

/// LeNet for MNIST and a VGG-13 for FER+ (CNTK), Tiny YOLO v2 for Pascal VOC (Core ML).
::onnx::ModelProto lenet();
::onnx::ModelProto ferplus();
::onnx::ModelProto tiny_yolo();

/// BERT-base: opset 14 in pieces, 20 with operators for LayerNorm and GELU.
::onnx::ModelProto bert(std::string_view name, int opset);
/// GPT-2's smallest size: a whole text, or one token with a cache of keys and values.
::onnx::ModelProto gpt2(std::string_view name, bool decode);
/// TinyLlama: opset 17 in pieces, 23 with RMSNormalization, RotaryEmbedding and Attention.
::onnx::ModelProto llama(std::string_view name, int opset, bool decode);
/// ViT-B/16: opset 14 in pieces, 20 with operators; Swin-T.
::onnx::ModelProto vit(std::string_view name, int opset);
::onnx::ModelProto swin(std::string_view name);

::onnx::ModelProto convnext(std::string_view name);
::onnx::ModelProto efficientnet(std::string_view name);
::onnx::ModelProto mobilenet_v3(std::string_view name);
::onnx::ModelProto regnet_y(std::string_view name);
/// A detector after YOLOv8n; DDPM's U-Net; ResNet-50 with 8-bit weights and activations.
::onnx::ModelProto yolo(std::string_view name);
::onnx::ModelProto ddpm(std::string_view name);
::onnx::ModelProto resnet_qdq(std::string_view name);

/// Whisper tiny's halves; the decoder takes one token and its cache.
::onnx::ModelProto whisper_encoder(std::string_view name);
::onnx::ModelProto whisper_decoder(std::string_view name);
/// Two LSTM layers that predict the next word.
::onnx::ModelProto lstm(std::string_view name);

} // namespace benanza::generator::zoo
