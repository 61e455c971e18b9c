// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/model/registry.hpp>

namespace {

// lenet@batch=1
constexpr benanza::model::row nodes_0[] = {
    {3, "conv1", ""}, {2, "conv1_add", "0"}, {9, "conv1_add_relu", "1"}, {7, "pool1", "2"},
    {4, "conv2", "3"}, {1, "conv2_add", "4"}, {8, "conv2_add_relu", "5"}, {6, "pool2", "6"},
    {10, "pool2_flat", "7"}, {5, "fc", "8"}, {0, "fc_add", "9"},
};
const benanza::model::registration graph_0{{.name = "lenet@batch=1",
    .model = "lenet", .batch = 1, .type = benanza::numeric::f32,
    .parameters = 5994, .parameter_bytes = 23976, .folded = 7, .nodes = nodes_0}};

} // namespace
