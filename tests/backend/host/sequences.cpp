// SPDX-License-Identifier: Apache-2.0
// Attention, rotary embeddings, recurrent layers, n-grams.
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

TEST_CASE("attention of every form, in whole blocks and parts of them") {
  for (const char* name : {"Attention/1x2x3x4",
                           "Attention/1x1x1x1",
                           "Attention/2x3x197x64",
                           "Attention/1x2x130x32-k70",
                           "Attention/1x4x96x64-kv2-k128-v96",
                           "Attention/2x8x1x64-kv2-k300",
                           "Attention/1x8x1x80-k65-v40",
                           "Attention/1x12x6x64-kv3-k64",
                           "Attention/1x2x200x16-causal",
                           "Attention/1x2x30x16-k200-causal",
                           "Attention/1x2x200x16-k30-causal",
                           "Attention/1x4x150x20-kv2-causal-bshd",
                           "Attention/2x4x33x64-kv2-k65-v48-bshd",
                           "Attention/1x6x1x64-kv2-k130-bshd",
                           "Attention/2x3x100x24-k90-mask2x3x100x90",
                           "Attention/2x3x100x24-k90-mask90",
                           "Attention/2x3x70x24-k90-mask70x1",
                           "Attention/2x4x70x17-kv2-k70-causal-bshd-mask1x4x70x70",
                           "Attention/1x2x70x16-k200-causal-p130",
                           "Attention/1x2x70x16-k300-causal-p100-w33",
                           "Attention/2x2x70x16-k90-causal-p3-w9-lengths",
                           "Attention/2x4x70x16-kv2-k90-cap",
                           "Attention/2x4x70x16-kv2-k90-lengths",
                           "Attention/3x2x4x16-k2-causal-lengths",
                           "Attention/2x2x99x16-k130-causal-w70-lengths",
                           "Attention/2x8x3x64-kv2-k300-causal-p200-bshd-cached",
                           "Attention/2x8x3x64-kv2-k300-causal-p200-bshd-cached-f16",
                           "Attention/1x4x150x20-kv2-causal-bshd-bf16",
                           "Attention/2x8x1x24-kv2-k300-v40-f16-mask300",
                           "Attention/2x3x100x24-k90-mask2x3x100x90-bool",
                           "Attention/2x3x70x24-k3-mask70x1-bool",
                           "Attention/2x3x100x24-k90-causal-cap-lengths-bshd-mask1x1x100x90-bool"})
    check_floats(name);
}

TEST_CASE("rotary embeddings of every form, in whole vectors and parts of them") {
  for (const char* name :
       {"RotaryEmbedding/1x2x3x64", "RotaryEmbedding/2x3x5x20-bshd", "RotaryEmbedding/1x1x1x2",
        "RotaryEmbedding/1x2x3x64-interleaved", "RotaryEmbedding/2x3x5x70-r38-interleaved-own",
        "RotaryEmbedding/2x3x5x70-r38-t9-bshd", "RotaryEmbedding/1x2x3x2100-own",
        "RotaryEmbedding/2x3x5x70-r38-own-wide", "RotaryEmbedding/1x2x3x2100-wide",
        "RotaryEmbedding/1x2x3x70-interleaved-wide-bshd",
        "RotaryEmbedding/1x2x3x2100-interleaved-wide"})
    check_floats(name);
}

TEST_CASE("linear attention by every rule, in whole vectors and parts of them") {
  for (const char* key :
       {"1x2x3x64", "2x6x5x20-kv2-v33", "1x5x4x7-kv1-v100-gated",
        "1x4x9x16-v16-gated-per_head-past", "2x3x7x33-kv3-v5-delta",
        "1x6x6x8-kv2-v40-delta-one_rate-past-f32", "1x1x1x1-gated_delta",
        "2x4x300x24-kv2-v70-gated_delta-per_head-past", "1x8x6x128-kv4-v128-gated_delta-past-f32"})
    check_floats(std::string("LinearAttention/") + key);
}

TEST_CASE("n-grams are counted and weighed") {
  for (const char* key :
       {"12-o7-min2-max2-pool4x3", "30x200-o40-max3-skip2-pool8x30x20-tfidf", "1-o1-pool1",
        "5x90-o9-min2-max4-skip90-pool3x9x9x9-s32", "3x100-o20-max2-pool5x50-idf-s32"})
    check(std::string("TfIdfVectorizer/") + key);
}

TEST_CASE("recurrent layers of every form") {
  for (const char* name :
       {"LSTM/7x1x10-h40-b", "LSTM/300x3x60-h33-b-n3", "LSTM/7x2x5-h33-reverse-b-h0-c0-peep-n3",
        "LSTM/9x3x5-h20-bidirectional-b-len-h0-nt-n3", "LSTM/7x2x5-h8-coupled-clip-n2",
        "LSTM/5x2x3-h4-f8x0x6", "LSTM/5x2x60-h200-b-n3", "GRU/4x1x40-h200-b-after-n2",
        "GRU/4x2x40-h200-n2", "GRU/12x2x30-h40-b-n2", "GRU/7x3x10-h20-bidirectional-b-h0-after-n2",
        "GRU/7x3x10-h20-reverse-len-clip-nt-n2", "RNN/7x3x10-h20-b-len-h0-n2",
        "RNN/7x3x10-h20-bidirectional-n2-f0x2"})
    check_floats(name);
}
