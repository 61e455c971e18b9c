// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/attention.hpp>

#include "checks.hpp"

#include <set>

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr attention bert{.batch = 1,
                         .heads = 12,
                         .queries = 128,
                         .head_size = 64,
                         .kv_heads = 12,
                         .keys = 128,
                         .value_size = 64};

constexpr attention changed(attention p, auto change) {
  change(p);
  return p;
}
constexpr attention masked(const shape& mask) {
  return changed(bert, [&](attention& p) { p.mask = mask; });
}
} // namespace

TEST_CASE("attention: BERT's") {
  CHECK_TWICE(bert.output() == shape{1, 12, 128, 64});
  CHECK_TWICE(bert.cost().macs == 25165824);  // 12 x 128 x 128 scores, 64 and 64 each
  CHECK_TWICE(bert.cost().other == 1179648);  // six operations a score
  CHECK_TWICE(bert.cost().sources == 294912); // three operands of 12 x 128 x 64
  CHECK_TWICE(bert.cost().weights == 0);
  CHECK_TWICE(bert.cost().bytes(numeric::f32) == 1572864);
  CHECK_TWICE(write_key(bert) == "1x12x128x64");
}

TEST_CASE("attention: what is masked is not counted") {
  constexpr attention causal = changed(bert, [](attention& p) { p.causal = true; });
  CHECK_TWICE(causal.seen_pairs() == 8256); // 1 + 2 + ... + 128
  CHECK_TWICE(causal.cost().macs == 12681216);
  CHECK_TWICE(causal.cost().other == 594432);
  CHECK_TWICE(causal.cost().sources == bert.cost().sources);
  CHECK_TWICE(write_key(causal) == "1x12x128x64-causal");
  // Keys behind the last query are never read.
  constexpr attention longer = changed(causal, [](attention& p) { p.keys = 512; });
  CHECK_TWICE(longer.cost() == causal.cost());
  CHECK_TWICE(write_key(longer) == "1x12x128x64-k512-causal");
}

TEST_CASE("attention: grouped queries, other sizes of values, the sequence before the heads") {
  constexpr attention a{.batch = 2,
                        .heads = 32,
                        .queries = 16,
                        .head_size = 64,
                        .kv_heads = 8,
                        .keys = 40,
                        .value_size = 128,
                        .sequence_major = true};
  CHECK_TWICE(write_key(a) == "2x32x16x64-kv8-k40-v128-bshd");
  CHECK_TWICE(a.query_shape() == shape{2, 16, 2048});
  CHECK_TWICE(a.key_shape() == shape{2, 40, 512});
  CHECK_TWICE(a.value_shape() == shape{2, 40, 1024});
  CHECK_TWICE(a.output() == shape{2, 16, 4096});
  CHECK_TWICE(a.cost().macs == 2 * 32 * 16 * 40 * 192);
  CHECK_TWICE(a.cost().sources == 65536 + 40960 + 81920);
  CHECK_TWICE(read_key(attention{}, "2x32x16x64-kv8-k40-v128-bshd") == a);
}

TEST_CASE("attention: masks") {
  CHECK_TWICE(masked({1, 1, 128, 128}).cost().sources == 294912 + 16384);
  CHECK_TWICE(masked({1, 1, 128, 128}).cost().other == 7 * 196608);
  CHECK_TWICE(write_key(masked({1, 1, 1, 128})) == "1x12x128x64-mask1x1x1x128");
  CHECK_TWICE(masked({128}).canonical_form() == masked({1, 1, 1, 128}));
  CHECK(read_key(attention{}, "1x12x128x64-mask1x1x1x128") == masked({1, 1, 1, 128}));
}

TEST_CASE("attention: what makes no difference is not in the key") {
  const attention one_key = changed(bert, [](attention& p) { p.keys = 1, p.causal = true; });
  CHECK(write_key(one_key.canonical_form()) == "1x12x128x64-k1");
  CHECK(one_key.canonical_form().cost() == one_key.cost());
  const attention one_head = changed(bert, [](attention& p) {
    p.heads = p.kv_heads = 1;
    p.sequence_major = true;
  });
  CHECK(write_key(one_head.canonical_form()) == "1x1x128x64");
}

TEST_CASE("attention: costs are those of counting everything that is seen") {
  for (std::int64_t queries = 1; queries <= 5; ++queries)
    for (std::int64_t keys = 1; keys <= 5; ++keys)
      for (int seen = 0; seen < 9; ++seen)
        for (int form = 0; form < 17; ++form) {
          const bool causal = seen > 0;
          const std::int64_t past = seen > 4 ? 2 : 0, window = causal ? (seen - 1) % 4 : 0;
          if (window > 0 && past + queries - window >= keys) continue; // some would see nothing
          attention a{.batch = 2,
                      .heads = 6,
                      .queries = queries,
                      .head_size = 3,
                      .kv_heads = 2,
                      .keys = keys,
                      .value_size = 4,
                      .causal = causal,
                      .past = past,
                      .window = window};
          if (form < 16)
            a.mask = {form & 1 ? 2 : 1, form & 2 ? 6 : 1, form & 4 ? queries : 1,
                      form & 8 ? keys : 1};
          a.validate();
          CAPTURE(write_key(a));
          std::int64_t scores = 0;
          std::set<std::int64_t> rows, added;
          for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t h = 0; h < 6; ++h)
              for (std::int64_t q = 0; q < queries; ++q)
                for (std::int64_t k = 0; k < keys; ++k) {
                  if (causal && k > past + q) continue;
                  if (window > 0 && k <= past + q - window) continue;
                  ++scores;
                  rows.insert((b * 2 + h / 3) * keys + k);
                  if (a.mask.empty()) continue;
                  const std::int64_t at[] = {b, h, q, k};
                  std::int64_t flat = 0;
                  for (int i = 0; i < 4; ++i)
                    flat = flat * a.mask[i] + (a.mask[i] == 1 ? 0 : at[i]);
                  added.insert(flat);
                }
          const work w = a.cost();
          CHECK(w.macs == 7 * scores);
          CHECK(w.other == (form < 16 ? 7 : 6) * scores);
          CHECK(w.sources == 2 * 6 * queries * 3 + 7 * static_cast<std::int64_t>(rows.size()) +
                                 static_cast<std::int64_t>(added.size()));
          CHECK(w.results == 2 * 6 * queries * 4);
        }
}

TEST_CASE("attention: a cache, a cap, lengths, truth values") {
  constexpr attention decode = changed(bert, [](attention& p) {
    p.queries = 4;
    p.keys = 516;
    p.causal = true;
    p.past = 512;
    p.softcap = p.lengths = false;
  });
  CHECK_TWICE(write_key(decode) == "1x12x4x64-k516-causal-p512");
  CHECK_TWICE(decode.seen_pairs() == 513 + 514 + 515 + 516);
  CHECK_TWICE(decode.seen_keys() == 516);
  constexpr attention near = changed(decode, [](attention& p) { p.window = 16; });
  CHECK_TWICE(write_key(near) == "1x12x4x64-k516-causal-p512-w16");
  CHECK_TWICE(near.seen_pairs() == 4 * 16);
  CHECK_TWICE(near.seen_keys() == 19);
  constexpr attention rich = changed(masked({128, 128}), [](attention& p) {
    p.softcap = p.lengths = p.truth_mask = p.sequence_major = p.cached = true;
  });
  CHECK(write_key(rich.canonical_form()) ==
        "1x12x128x64-cap-lengths-bshd-cached-mask1x1x128x128-bool");
  CHECK(read_key(attention{}, write_key(rich.canonical_form()).view()) == rich.canonical_form());
  CHECK_TWICE(rich.cost().other == 10 * 196608);
  CHECK_TWICE(rich.cost().fixed_bytes == 128 * 128 + 8);
  CHECK_TWICE(rich.cost().sources == bert.cost().sources);
  CHECK_TWICE(rich.key_shape() == shape{1, 12, 128, 64});
  CHECK_TWICE(rich.query_shape() == shape{1, 128, 768});
  constexpr attention half = changed(decode, [](attention& p) { p.stored = dtype::f16; });
  CHECK(write_key(half) == "1x12x4x64-k516-causal-p512-f16");
  CHECK(read_key(attention{}, write_key(half).view()) == half);
  CHECK_TWICE(half.cost().bytes(numeric::f32) ==
              decode.cost().bytes(numeric::f32) - 2 * 12 * 516 * 64 * 2);
  CHECK_TWICE(half.cost().bytes(numeric::f16) == decode.cost().bytes(numeric::f16));
  CHECK(!half.plain());
  // One query that comes after all keys but its own sees them all.
  const attention one = changed(decode, [](attention& p) {
    p.queries = 1, p.keys = 513;
    p.window = 600;
    p.sequence_major = p.cached = true;
  });
  CHECK(write_key(one.canonical_form()) == "1x12x1x64-k513");
  CHECK(one.canonical_form().cost() == one.cost());
}

TEST_CASE("attention: what is refused") {
  const auto refused = [](auto change) {
    return test::refusal_of([&] { changed(bert, change).validate(); });
  };
  CHECK_REFUSED(attention{}.validate(), "of 1 to 2^40");
  CHECK(refused([](attention& p) { p.keys = 0; }).find("2^40") != std::string::npos);
  CHECK(refused([](attention& p) { p.head_size = -64; }).find("2^40") != std::string::npos);
  CHECK(refused([](attention& p) { p.value_size = dim_limit + 1; }).find("2^40") !=
        std::string::npos);
  CHECK(refused([](attention& p) { p.kv_heads = 5; }).find("no multiple") != std::string::npos);
  CHECK(refused([](attention& p) { p.kv_heads = 24; }).find("no multiple") != std::string::npos);
  CHECK(refused([](attention& p) {
          p.mask = {2, 1, 1, 1};
        }).find("broadcast") != std::string::npos);
  CHECK(refused([](attention& p) { p.past = 3; }).find("not causal") != std::string::npos);
  CHECK(refused([](attention& p) { p.causal = true, p.window = -1; }).find("2^40") !=
        std::string::npos);
  CHECK(refused([](attention& p) { p.cached = true; }).find("bshd") != std::string::npos);
  CHECK(refused([](attention& p) { p.truth_mask = true; }).find("lacks") != std::string::npos);
  CHECK(refused([](attention& p) { p.stored = dtype::u8; }).find("stored") != std::string::npos);
  CHECK(refused([](attention& p) { p.mask = {64}; }).find("broadcast") != std::string::npos);
  CHECK(refused([](attention& p) {
          p.mask = {1, 1, 1, 1, 1};
        }).find("four dims") != std::string::npos);
  CHECK(refused([](attention& p) { p.queries = p.keys = dim_limit; }).find("2^56") !=
        std::string::npos);
  CHECK(refused([](attention& p) {
          p.heads = p.kv_heads = 1 << 20; // of all heads together where they are one dim
          p.queries = p.keys = 1;
          p.value_size = 1 << 21;
          p.sequence_major = true;
        }).find("over 2^40") != std::string::npos);
  CHECK_REFUSED(parse("Attention/1x12x128"), "of 1 to 2^40");
  CHECK_REFUSED(parse("Attention/1x12x128x64x1"), "more numbers");
  CHECK_REFUSED(parse("Attention/1x12x128x64-kv0"), "of 1 to 2^40");
  CHECK_REFUSED(parse("Attention/1x12x128x64-bshd-causal"), "does not belong here");
}
