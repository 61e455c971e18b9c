// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/model/registry.hpp>

namespace {

// lenet@batch=1
constexpr benanza::model::row nodes_0[] = {
    {5, "conv1", "i c"}, {2, "conv1_add", "0 c"}, {12, "conv1_add_relu", "1"}, {10, "pool1", "2"},
    {6, "conv2", "3 c"}, {1, "conv2_add", "4 c"}, {11, "conv2_add_relu", "5"}, {9, "pool2", "6"},
    {13, "pool2_flat", "7 c"}, {8, "fc", "8 c"}, {0, "fc_add", "9 c"},
};
const benanza::model::registration graph_0{{.name = "lenet@batch=1",
    .model = "lenet", .batch = 1, .type = benanza::numeric::f32,
    .parameters = 5994, .parameter_bytes = 23976, .streamed_weight_bytes = 23976,
    .folded = 7,
    .structure = "5cf6813f2d8322e07a5a3106afb6770c8a593a30cee38c22fc84940ca20b03dd",
    .nodes = nodes_0}};

// lenet@batch=1,fused
constexpr benanza::model::row nodes_1[] = {
    {3, "conv1", "i c c", "0 1 2"}, {10, "pool1", "0", "3"}, {4, "conv2", "1 c c", "4 5 6"}, {9, "pool2", "2", "7"},
    {13, "pool2_flat", "3 c", "8"}, {7, "fc", "4 c c", "9 10"},
};
const benanza::model::registration graph_1{{.name = "lenet@batch=1,fused",
    .model = "lenet", .batch = 1, .type = benanza::numeric::f32,
    .parameters = 5994, .parameter_bytes = 23976, .streamed_weight_bytes = 23976,
    .folded = 7, .unfused = "lenet@batch=1",
    .structure = "5cf6813f2d8322e07a5a3106afb6770c8a593a30cee38c22fc84940ca20b03dd",
    .nodes = nodes_1}};

} // namespace
