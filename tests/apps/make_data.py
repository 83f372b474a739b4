#!/usr/bin/env python3
"""Writes the small models and arrays in data/. make_data.py FOLDER"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = Path(sys.argv[1])


def save(name, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(a, n) for n, a in initializers])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_data")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / f"{name}.onnx")


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


# y = relu(x * factor + offset), for any batch
save(
    "affine",
    [
        helper.make_node("Mul", ["x", "factor"], ["scaled"], name="scale"),
        helper.make_node("Add", ["scaled", "offset"], ["sum"], name="shift"),
        helper.make_node("Relu", ["sum"], ["y"], name="clip"),
    ],
    [tensor("x", ["batch", 3])],
    [tensor("y", ["batch", 3])],
    [("factor", np.array([2, -1, 0.5], np.float32)), ("offset", np.array([1, 0, -1], np.float32))],
)
save(
    "two_inputs",
    [helper.make_node("Add", ["left", "right"], ["sum"]), helper.make_node("Sub", ["left", "right"], ["difference"])],
    [tensor("left", [2]), tensor("right", [2])],
    [tensor("sum", [2]), tensor("difference", [2])],
)
unknown = helper.make_graph(
    [helper.make_node("First", ["x"], ["t"], domain="example"), helper.make_node("Second", ["t"], ["y"], domain="example")],
    "unknown", [tensor("x", [1])], [tensor("y", [1])])
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("example", 1)]
onnx.save(helper.make_model(unknown, opset_imports=opsets, ir_version=8), folder / "unknown.onnx")

x = np.array([[1, 2, 4], [-3, -2, 0]], np.float32)
y = np.maximum(x * np.array([2, -1, 0.5], np.float32) + np.array([1, 0, -1], np.float32), 0)
np.savez(folder / "affine_reference.npz", **{"in:x": x, "out:y": y})
np.savez(folder / "affine_wrong.npz", **{"in:x": x, "out:y": y + np.float32(0.01)})
np.save(folder / "x.npy", x)
np.save(folder / "x_integers.npy", x.astype(np.int64))
np.save(folder / "x_four_columns.npy", np.zeros((2, 4), np.float32))
(folder / "x.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
