// SPDX-License-Identifier: Apache-2.0
// Which families make up the zoo? One function a family or a model; each takes what tells its
// members apart and returns the finished model. zoo.cpp maps names to these calls; nothing else
// includes this.
#pragma once

#include <onnx/onnx_pb.h>

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

} // namespace benanza::generator::zoo
