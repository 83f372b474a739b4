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
graph = helper.make_graph(nodes, "rows", [tensor("left", ["rows", 3]), tensor("right", ["others", 3])],
                          [tensor("y", ["either", 3])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_data")
onnx.checker.check_model(model)
onnx.save(model, Path(sys.argv[1]) / "rows.onnx")
