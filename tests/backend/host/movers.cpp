// SPDX-License-Identifier: Apache-2.0
// Movers, windows, grids, indices: do they bring each element to its place?
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

TEST_CASE("movers copy every element of every width") {
  for (const char* name : {"Concat/1x10x3x4-a1-n3",
                           "Concat/7-a0-n7",
                           "Concat/2x3x5-a2-n2",
                           "Concat/1x64x28x28-a1-n4",
                           "Concat/40x4x100-a2-n3",
                           "Concat/5x33x2-a2-n2",
                           "Concat/70x3-a1-n3",
                           "Split/1x10x3x4-a1-n3",
                           "Split/5x33x2-a2-n2",
                           "Split/70x4-a1-n4",
                           "Split/9-a0-n2",
                           "Split/3x5x7-a2-n4",
                           "Split/40x96x17-a1-n3",
                           "Transpose/5-o0",
                           "Transpose/3x4-o1x0",
                           "Transpose/17x33-o1x0",
                           "Transpose/64x48-o1x0",
                           "Transpose/2x3x4x5-o0x2x1x3",
                           "Transpose/2x3x4x5-o3x2x1x0",
                           "Transpose/1x3x40x30-o0x2x3x1",
                           "Transpose/1x40x30x3-o0x3x1x2",
                           "Transpose/6x2x50-o2x0x1",
                           "Transpose/30x4x20-o2x1x0",
                           "Transpose/20x30x2-o1x0x2",
                           "Transpose/20x30x4-o1x0x2",
                           "Transpose/1x12x64x36-o0x2x1x3",
                           "Transpose/2x1x3x1x2x2x3x2-o7x5x3x1x0x2x4x6",
                           "Transpose/2x19x23-o0x2x1",
                           "Transpose/130x140-o1x0",
                           "Slice/5x6x7-3x6x7-from1x0x0",
                           "Slice/5x6x7-5x6x2-from0x0x3",
                           "Slice/10x20-5x10-by2x2",
                           "Slice/10x20-10x20-from9x19-bym1xm1",
                           "Slice/10x20-4x7-from9x1-bym2x3",
                           "Slice/8-8-from7-bym1",
                           "Slice/4x4-0x4",
                           "Slice/1x8x64x64-1x4x63x63-from0x2x1x0",
                           "Slice/3x64x64-3x64x32-by1x1x2",
                           "Pad/3x4-b1x2-e2x1",
                           "Pad/3x4-bm1x2-e2xm1",
                           "Pad/1x3x5x6-b0x0x1x1-e0x0x1x1",
                           "Pad/5-b2-e3-reflect",
                           "Pad/4x5-b2x3-e3x2-reflect",
                           "Pad/4x5-b2x3-e3x2-edge",
                           "Pad/4x5-b5x6-e6x7-wrap",
                           "Pad/4x5x6-b1x0x0-e2x0x0-edge",
                           "Pad/4x5x6-bm1xm1xm1-e2x2x2-reflect",
                           "Pad/6x7-bm2xm3-em1xm2",
                           "Pad/2x3x4-b0x0x1-e0x0x0",
                           "Pad/1x64x56x56-b0x0x1x1-e0x0x1x1",
                           "Gather/10x7-3x2",
                           "Gather/10x7-5-a1",
                           "Gather/10x7-scalar",
                           "Gather/1000x768-4x8",
                           "Gather/4x9x5-6-a1-i32",
                           "Gather/3x300-200x100-a1",
                           "Gather/64x3-9000-i32"}) {
    check_all(name);
    for (const char* type : {"s64", "s32", "bool", "f16", "u16", "f64"})
      check(std::string(name) + '-' + type);
  }
  for (const char* name :
       {"DepthToSpace/1x8x3x4-k2", "DepthToSpace/2x18x3x5-k3-crd", "SpaceToDepth/1x2x6x4-k2",
        "SpaceToDepth/2x3x8x12-k4", "SpaceToDepth/2x3x6x4-k2-crd", "DepthToSpace/1x64x20x20-k2",
        "SpaceToDepth/1x16x40x40-k2"})
    check_all(name);
}

TEST_CASE("resize blends and picks as ONNX says") {
  for (const char* sampling : {"", "-asymmetric", "-align_corners", "-pytorch_half_pixel"})
    for (const char* mode : {"", "-linear", "-cubic"})
      for (const char* dims :
           {"1x2x3x4-1x2x6x8", "1x2x5x7-1x2x3x3", "1x2x4x4-1x2x9x5", "1x2x4x4-1x2x4x7",
            "1x6x5x8-1x13x11x8", "1x1x3-1x1x1", "2x3x4x5x6-2x3x8x10x12", "7-20", "1x3x4x4-2x6x4x4"})
        check_all("Resize/" + std::string(dims) + mode + sampling);
  check_floats("Upsample/1x16x14x14-1x16x28x28-asymmetric");
  check("Resize/1x64x40x40-1x64x80x80-linear");
}

TEST_CASE("resize in its rarer forms") {
  for (const char* form :
       {"-floor", "-ceil", "-round_prefer_ceil", "-tf_half_pixel_for_nn", "-asymmetric-ceil",
        "-asymmetric-round_prefer_floor", "-align_corners-floor", "-cubic-exclude",
        "-cubic-align_corners-exclude", "-tf_crop_and_resize", "-linear-tf_crop_and_resize",
        "-cubic-tf_crop_and_resize-exclude", "-tf_crop_and_resize-ceil"})
    for (const char* dims :
         {"1x2x3x4-1x2x6x8", "1x2x5x7-1x2x3x3", "1x2x9-1x2x1", "2x3x4x5-2x3x8x5"})
      check_all("Resize/" + std::string(dims) + form);
  for (const char* form : {"-linear-antialias", "-cubic-antialias", "-linear-antialias-exclude",
                           "-cubic-antialias-exclude", "-linear-asymmetric-antialias",
                           "-cubic-align_corners-antialias"})
    for (const char* dims : {"1x2x9x12-1x2x4x5", "1x2x30x7-1x2x4x9", "3x40-3x7", "2x9x8x7-2x4x3x3"})
      check_all("Resize/" + std::string(dims) + form);
  check_floats("Resize/1x2x9x8-1x2x4x3-linear-tf_crop_and_resize-axes3x2");
  check("Resize/1x3x200x300-1x3x64x64-linear-antialias");
}

TEST_CASE("grids and regions") {
  for (const char* dims : {"1x2x7x9-5x6", "2x3x8x8-20x30", "1x5x4x3x6-3x4x5", "1x1x1x1-2x2"})
    for (const char* mode : {"", "-linear", "-cubic"})
      for (const char* outside : {"", "-border", "-reflection"})
        for (const char* corners : {"", "-align_corners"})
          check_floats("GridSample/" + std::string(dims) + mode + outside + corners);
  for (const char* name :
       {"AffineGrid/2x5x6", "AffineGrid/1x40x300-align_corners", "AffineGrid/2x3x4x5",
        "AffineGrid/1x1x7x1-align_corners", "RoiAlign/2x3x20x24-9x7x7-n2",
        "RoiAlign/1x5x33x17-4x3x5", "RoiAlign/1x2x20x20-5x2x2-half_pixel",
        "RoiAlign/2x2x20x20-5x3x3-n3-max-half_pixel", "RoiAlign/1x8x40x40-20x7x7-n2-half_pixel",
        "MaxRoiPool/2x3x20x24-9x7x7", "MaxRoiPool/1x2x9x9-4x12x12"})
    check_floats(name);
  for (const char* name : {"NonMaxSuppression/1x50x1-most50", "NonMaxSuppression/2x300x4-most20",
                           "NonMaxSuppression/1x64x3-most7-centred",
                           "NonMaxSuppression/1x1x1-most1", "NonMaxSuppression/1x9x2-most0"})
    check_floats(name);
}

TEST_CASE("transposed convolutions: phases that share a product, and such that do not") {
  for (const char* name :
       {"ConvTranspose/1x24x20x30-24x2x2-s2-b", "ConvTranspose/1x7x33x65-1x2x2-s2",
        "ConvTranspose/2x6x9x7-4x3x3-s2-p1-op1-g2-b", "ConvTranspose/1x300x4x4-130x4x4-s2-p1",
        "ConvTranspose/1x3x5x6-5x3x2-s3x1-p1x0x0x1-d1x2", "ConvTranspose/1x4x6x5-6x1x1-s3x5-b",
        "ConvTranspose/1x2x40-3x5-s4-p1x2-op2-b", "ConvTranspose/1x2x70-3x16-s8-p4",
        "ConvTranspose/2x3x4x3x5-4x3x2x4-s2x1x4-p1x0x2x1x1x0-b",
        "ConvTranspose/1x8x7x7-8x3x3-s1-p1-g8", "ConvTranspose/1x2x3x3-2x5x5-s2-p2-d2"})
    check_floats(name);
}

TEST_CASE("columns, norms of windows, signals") {
  for (const char* name : {"Col2Im/1x2x8x9-2x3-s2x3",
                           "Col2Im/2x3x9x9-3x3-s1-p1",
                           "Col2Im/1x4x30-4-s3-p2x1-d2",
                           "Col2Im/1x2x5x6x7-2x2x3-s1x2x1-p1",
                           "Col2Im/1x16x40x40-3x3-s1-p1",
                           "DeformConv/1x4x9x11-5x3x3-s1-p1",
                           "DeformConv/2x6x8x7-4x3x2-s2x1-p1-d1x2-g2-og3-b-mask",
                           "DeformConv/1x2x5x5-1x1x1-s1-mask",
                           "DeformConv/1x16x30x30-24x3x3-s1-p1-b",
                           "LpPool/1x3x9x8-3x3-s2-p1",
                           "LpPool/2x2x30-power1-4-s3-d2-ceil",
                           "LpPool/1x2x5x6x7-power3-3x2x3-s1x2x1-p1",
                           "GlobalLpPool/2x3x7x7",
                           "GlobalLpPool/1x2x90-power1",
                           "GlobalLpPool/2x3x7x7-power4",
                           "AveragePool/1x2x8x9-3x3-s2-p1-ceil-ip",
                           "AveragePool/1x1x32x12-5x5-s3-d2-ceil-ip",
                           "AveragePool/1x3x9x21-3x3-s1-p1",
                           "AveragePool/2x2x40-5-s1-p2-ip",
                           "AveragePool/1x2x5x6x7-3x2x3-s1x2x1-p1",
                           "MaxPool/1x3x8x8-2x2-s2",
                           "MaxPool/2x3x13x37-3x3-s2",
                           "MaxPool/1x4x9x40-3x3-s1-p1",
                           "MaxPool/1x1x5x5-3x3-s1-p2-d2",
                           "MaxPool/1x2x30-4-s3-p3x2-d2-ceil",
                           "MaxPool/1x2x5x6x7-3x2x3-s1x2x1-p1",
                           "MaxPool/1x1x3x3-2x2-s4",
                           "MaxPool/1x2x1x64-1x7-s5-p0x3"})
    check_floats(name);
  for (const char* name : {"DFT/3x1x1-a1-n1",
                           "DFT/2x8x1-a1-n8",
                           "DFT/2x5x2-a1-n5",
                           "DFT/40x16x1-a1-n16-one",
                           "DFT/3x16x4x2-a1-n16",
                           "DFT/2x30x1-a1-n64",
                           "DFT/2x100x2-a1-n60-inverse",
                           "DFT/5x400x1-a1-n400-one",
                           "DFT/2x201x2-a1-n400-inverse-one",
                           "DFT/2x37x2-a1-n37",
                           "DFT/2x4x2-a1-n7-inverse-one",
                           "DFT/3x74x1-a1-n74",
                           "DFT/1x1000x2-a1-n1021-inverse",
                           "DFT/20x512x1-a1-n512",
                           "Det/2x2",
                           "Det/3x4x5x5",
                           "Det/70x3x3",
                           "Det/2x40x40",
                           "Det/4x1x1",
                           "Det/2x0x0"})
    check_floats(name);
  for (const char* name : {"MaxUnpool/1x2x4x4-1x2x8x8", "MaxUnpool/2x3x5-2x3x11-2x3x13",
                           "MaxUnpool/1x30x20x20-1x30x40x40"})
    check_all(name);
}

TEST_CASE("choices and repetitions of every width") {
  for (const char* name : {"Where/5-5-5",
                           "Where/3x4-4-3x1",
                           "Where/1-3x4-4",
                           "Where/4-1-1",
                           "Where/3x1-3x400-1",
                           "Where/2x3x400-1-400",
                           "Where/1x1x30x30-2x4x30x30-1",
                           "Where/40000-40000-1",
                           "Where/2x1x3x1-1x5x1x7-2x5x3x7",
                           "Expand/5-3x5",
                           "Expand/3x1-3x4",
                           "Expand/3x1-3x700",
                           "Expand/1-40000",
                           "Expand/1x8x1x64-2x8x4x64",
                           "Expand/2x1x3x1x2-2x4x3x5x2",
                           "Expand/7x5-7x5",
                           "Tile/5-15",
                           "Tile/3x4-6x12",
                           "Tile/2x3x2-4x3x6",
                           "Tile/70x30-140x90",
                           "Tile/1x64-100x64",
                           "Tile/3-0"}) {
    check_all(name);
    for (const char* type : {"s64", "s32", "bool", "f16", "u16", "f64"})
      check(std::string(name) + '-' + type);
  }
}

TEST_CASE("what indices name is read and written, in every width") {
  for (const char* name :
       {"GatherElements/5x9x4-5x3x2-a1", "GatherElements/70x300-70x90-a1",
        "GatherElements/300x70-9x70", "GatherElements/90000-70000-i32", "GatherND/7x5x3-20x2",
        "GatherND/4x5x300-4x60x1-b1-i32", "GatherND/30x400-40x1", "ScatterElements/5x9x4-5x3x2-a1",
        "ScatterElements/70x300-70x100-a1", "ScatterElements/90x170-9x170-i32",
        "ScatterElements/7-20", "ScatterND/7x5x3-20x2", "ScatterND/90x400-30x1-i32",
        "ScatterND/90000-500x1", "ScatterND/6x2-9x1", "TensorScatter/2x3x40x64-a2-n1-at",
        "TensorScatter/3x50x40-a1-n20-at-circular", "TensorScatter/2x5x3-a2-n3"}) {
    check_all(name);
    for (const char* type : {"s64", "bool"})
      check(std::string(name) + '-' + type);
  }
  for (const char* key : {"ScatterElements/5x9x4-5x30x2-a1-", "ScatterElements/90x170-9x170-",
                          "ScatterND/90x400-30x1-", "ScatterND/7x5x3-90x2-"}) {
    for (const char* reduction : {"add", "mul", "max", "min"})
      for (const char* type : {"", "-i32-s64", "-s32"})
        check(std::string(key) + reduction + type);
    for (const char* reduction : {"add", "mul", "max", "min"})
      for (const numeric narrow : {numeric::f16, numeric::bf16})
        check(std::string(key) + reduction, narrow);
    check(std::string(key) + "max", numeric::u8s8u8);
    check(std::string(key) + "min-s8");
  }
}

TEST_CASE("elements are found along any axis and in every type") {
  for (const char* family : {"ArgMax", "ArgMin"})
    for (const char* key : {"/5-a0", "/30x1500-a1", "/3x40-a0", "/2x9x700-a1", "/1x1-a1"})
      for (const char* last : {"", "-last"}) {
        check_all(std::string(family) + key + last);
        check(std::string(family) + key + last, numeric::f16);
        for (const char* type : {"-s16", "-u16", "-s32", "-u32", "-s64", "-u64", "-f64"})
          check(std::string(family) + key + last + type);
      }
  for (const char* key :
       {"/5-a0-k5", "/4x900-a1-k7", "/3x40-a0-k1", "/2x30x7-a1-k30", "/4x5-a1-k0"})
    for (const char* way : {"", "-smallest-unsorted"}) {
      check_all(std::string("TopK") + key + way);
      check(std::string("TopK") + key + way, numeric::f16);
      for (const char* type : {"-s32", "-u64", "-f64", "-bool", "-s16"})
        check(std::string("TopK") + key + way + type);
    }
  check("TopK/2x9000-a1-k400");
  for (const char* name :
       {"NonZero/7", "NonZero/3x5x40", "NonZero/2x60x300", "Compress/50x7-n40-k13-a0",
        "Compress/3x40x70-n40-k40-a1", "Compress/400-n300-k0", "Compress/30x40x50-n50-k20-a2",
        "Unique/300-n4", "Unique/40x3-a0-n4-unsorted", "Unique/3x40-n2-unsorted",
        "Unique/2x30x2-a1-n3"}) {
    check_all(name);
    for (const char* type : {"-s64", "-bool", "-f16"})
      check(std::string(name) + type);
  }
}

TEST_CASE("tensors are filled by place, in every width") {
  for (const char* name :
       {"Trilu/5x7", "Trilu/3x40x30-lower-k2", "Trilu/2x200x300-km50", "Trilu/4x5-k9",
        "Trilu/4x5-lower-km9", "ReverseSequence/9x4", "ReverseSequence/4x9-bt",
        "ReverseSequence/30x4x70", "ReverseSequence/4x300x33-bt", "OneHot/7-k20-a1",
        "OneHot/30x40-k50-a2", "OneHot/30x40-k50-a1-i32", "OneHot/5x6-k3-a0-ireal",
        "OneHot/scalar-k9-a0", "OneHot/4x1-k5-a1"}) {
    check_all(name);
    for (const char* type : {"-s64", "-u16"})
      check(std::string(name) + type);
  }
}
