# SPDX-License-Identifier: Apache-2.0
# Runs the examples as their first lines say, and looks at what they print.
# Usage: cmake -DFOLDER=... -DBENCH=... [-DGENERATE=...] -P run.cmake

# expect(<regular expression> <command...>)
function(expect wanted)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE faults RESULT_VARIABLE status)
  if(NOT "${status};${said}${faults}" MATCHES "${wanted}")
    message(FATAL_ERROR "${ARGN}\nended with ${status} and said:\n${said}${faults}\nnot: ${wanted}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${FOLDER}/files)
set(run ${FOLDER}/files/run.json)
expect("^0;Conv/1x64x56x56-64x3x3-s1-p1 in f32: 231.2 Mflop, 1.75 MB, 131.9 flop/byte"
  ${FOLDER}/cost_of_a_layer Conv/1x64x56x56-64x3x3-s1-p1)
expect("^2;cost_of_a_layer: .*Convolution" ${FOLDER}/cost_of_a_layer Convolution/1x2)

expect("^[01];" ${BENCH} --effort quick --backends host,onednn --states hot
  --benchmark_filter=-^machine/ --benchmark_out=${run})
expect("^0; .* us  Relu/1x16x14x14 by (host|onednn) " ${FOLDER}/read_a_result ${run})
expect("^2;read_a_result: .*absent.json" ${FOLDER}/read_a_result absent.json)
expect("^0;lenet@batch=1: roofline [0-9.]+ ms, bound [0-9.]+ ms" ${FOLDER}/bound_in_ten_lines ${run})

expect("^0;Relu/1x16x14x14/f32/mine/loop/hot/t1" ${FOLDER}/own_backend --benchmark_list_tests
  --backends mine)
expect("^[01];.*/f32/mine/loop/hot/t1 +[0-9.]+ us" ${FOLDER}/own_backend --backends mine
  --states hot --benchmark_filter=Relu --benchmark_min_time=0.01)

if(GENERATE)
  expect("^0;" ${GENERATE} zoo lenet -q -o ${FOLDER}/files)
  expect("^0;.*Conv\\+Relu/.*11 nodes, .* fused 7 nodes" ${FOLDER}/own_pattern
    ${FOLDER}/files/lenet.onnx "Conv+Add?+Activation?")
  expect("^1;the pattern fits nowhere" ${FOLDER}/own_pattern ${FOLDER}/files/lenet.onnx "Conv+Mul")
endif()
