// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/onednn/layout.hpp>

#include <doctest/doctest.h>

using namespace benanza;
namespace onednn = backend::onednn;

TEST_CASE("onednn: layouts are named as the library's users write them") {
  using onednn::data_type, onednn::layout_name, onednn::arranged, onednn::arrangement;
  const onednn::dims image{2, 32, 5, 7};
  CHECK(layout_name(arranged(image, data_type::f32, arrangement::plain), "nchw") == "nchw");
  CHECK(layout_name(arranged(image, data_type::f32, arrangement::channels_last), "nchw") == "nhwc");
  CHECK(layout_name(arranged(image, data_type::f32, arrangement::blocked), "nchw") ==
        (onednn::channels_in_block() == 16 ? "nChw16c" : "nChw8c"));
  CHECK(layout_name(onednn::in_blocks(image, data_type::f32, 8), "nchw") == "nChw8c");
  CHECK(layout_name(onednn::any_layout(image, data_type::f32), "nchw") == "any");
  CHECK(layout_name({image, data_type::s8, dnnl::memory::format_tag::OIhw4i16o4i}, "oihw") ==
        "OIhw4i16o4i");
  CHECK(layout_name({onednn::dims{3, 4}, data_type::f32, onednn::dims{1, 3}}, "ab") == "ba");
}
