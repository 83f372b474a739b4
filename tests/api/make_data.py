#!/usr/bin/env python3
"""Writes the small models in data/. make_data.py FOLDER"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


# y = relu((left + right) * 2 - 1), where either may have one row that is repeated
nodes = [
    helper.make_node("Add", ["left", "right"], ["sum"], name="sum"),
    helper.make_node("Mul", ["sum", "two"], ["double"], name="double"),
    helper.make_node("Sub", ["double", "one"], ["less"], name="less"),
    helper.make_node("Relu", ["less"], ["y"], name="clip"),
]
constants = [numpy_helper.from_array(np.array([value], np.float32), name) for name, value in (("two", 2), ("one", 1))]


def save(name, nodes, inputs, outputs, constants):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_data")
    onnx.checker.check_model(model)
    onnx.save(model, Path(sys.argv[1]) / f"{name}.onnx")


save("rows", nodes, [tensor("left", ["rows", 3]), tensor("right", ["others", 3])], [tensor("y", ["either", 3])], constants)

# y = relu(x A) B, where A[i][j] = (i + 2 j) % 5 - 2 and B[i][j] = (3 i + j) % 7 - 3
row, column = np.indices((16, 16))
weights = {"A": (row + 2 * column) % 5 - 2, "B": (3 * row + column) % 7 - 3}
nodes = [
    helper.make_node("MatMul", ["x", "A"], ["product"], name="first"),
    helper.make_node("Relu", ["product"], ["hidden"], name="clip"),
    helper.make_node("MatMul", ["hidden", "B"], ["y"], name="second"),
]
constants = [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()]
save("layers", nodes, [tensor("x", ["batch", 16])], [tensor("y", ["batch", 16])], constants)

# The elements that are not zero, doubled: how many there are only a run tells.
nodes = [
    helper.make_node("NonZero", ["x"], ["places"], name="find"),
    helper.make_node("Transpose", ["places"], ["rows"], name="turn"),
    helper.make_node("GatherND", ["x", "rows"], ["found"], name="take"),
    helper.make_node("Add", ["found", "found"], ["y"], name="double"),
]
save("found", nodes, [tensor("x", ["count"])], [tensor("y", ["found"])], [])

# x doubled, in the shape that the second input says.
nodes = [
    helper.make_node("Add", ["x", "x"], ["double"], name="double"),
    helper.make_node("Reshape", ["double", "shape"], ["y"], name="shaped"),
]
save("shaped", nodes, [tensor("x", ["rows", 16]), helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
     [tensor("y", ["height", "width"])], [])

# A classifier of small pictures: convolutions with a shortcut, a mean, a matrix product.
generator = np.random.default_rng(1)
shapes = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 1, 3, 3), "w3": (8, 10), "b3": (10,)}
constants = [numpy_helper.from_array(generator.normal(0, 0.3, shape).astype(np.float32), name)
             for name, shape in shapes.items()]
nodes = [
    helper.make_node("Conv", ["x", "w1", "b1"], ["wide"], name="wide", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["wide"], ["a1"], name="a1"),
    helper.make_node("Conv", ["a1", "w2"], ["each"], name="each", pads=[1, 1, 1, 1], group=8),
    helper.make_node("Sigmoid", ["each"], ["a2"], name="a2"),
    helper.make_node("Add", ["a1", "a2"], ["both"], name="both"),
    helper.make_node("GlobalAveragePool", ["both"], ["mean"], name="mean"),
    helper.make_node("Flatten", ["mean"], ["features"], name="features"),
    helper.make_node("Gemm", ["features", "w3", "b3"], ["scores"], name="scores"),
    helper.make_node("Softmax", ["scores"], ["y"], name="y"),
]
save("network", nodes, [tensor("x", ["batch", 3, 8, 8])], [tensor("y", ["batch", 10])], constants)


def external(name, dims, file, offset):
    result = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", file), ("offset", offset), ("length", 4 * dims[0] * dims[1])):
        result.external_data.add(key=key, value=str(value))
    return result


# y = the sum of one row each of four tables, 64 MiB each, that lie in a file beside the model: large.bin, all zeros.
tables = [external(f"table{i}", [16384, 1024], "large.bin", i << 26) for i in range(4)]
nodes = [helper.make_node("Gather", [f"table{i}", "row"], [f"row{i}"], name=f"take{i}") for i in range(4)]
nodes.append(helper.make_node("Sum", [f"row{i}" for i in range(4)], ["y"], name="sum"))
graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("row", TensorProto.INT64, [1])],
                          [tensor("y", [1, 1024])], tables)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), Path(sys.argv[1]) / "large.onnx")

# 2.5 GiB in huge.bin, whose elements large_data_test.cpp writes. y = the sum of some rows each of 16 tables of 128 MiB;
# z = x W, where W has 512 MiB and begins past the first 4 GiB.
tables = [external(f"table{i}", [32768, 1024], "huge.bin", i << 27) for i in range(16)]
weight = external("W", [1024, 131072], "huge.bin", (1 << 32) + 4096)
nodes = [helper.make_node("Gather", [f"table{i}", "rows"], [f"rows{i}"], name=f"take{i}") for i in range(16)]
nodes += [helper.make_node("Sum", [f"rows{i}" for i in range(16)], ["y"], name="sum"),
          helper.make_node("MatMul", ["x", "W"], ["z"], name="product")]
graph = helper.make_graph(nodes, "huge", [helper.make_tensor_value_info("rows", TensorProto.INT64, [2]),
                                          tensor("x", [1, 1024])], [tensor("y", [2, 1024]), tensor("z", [1, 131072])],
                          [*tables, weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), Path(sys.argv[1]) / "huge.onnx")
