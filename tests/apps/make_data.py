#!/usr/bin/env python3
"""Writes the small models and arrays in data/. make_data.py FOLDER"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
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
# It runs in parts: the shape of the result depends on the data.
save("nonzero", [helper.make_node("NonZero", ["x"], ["y"])], [tensor("x", ["batch", 3])],
     [tensor("y", [2, None], TensorProto.INT64)])
unknown = helper.make_graph(
    [helper.make_node("First", ["x"], ["t"], domain="example"), helper.make_node("Second", ["t"], ["y"], domain="example")],
    "unknown", [tensor("x", [1])], [tensor("y", [1])])
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("example", 1)]
onnx.save(helper.make_model(unknown, opset_imports=opsets, ir_version=8), folder / "unknown.onnx")

# As scikit-learn's exporter lays out a pipeline: a scaler, two trees for three classes with names, and a map for each row.
forest_nodes = [
    helper.make_node("Scaler", ["x"], ["scaled"], domain="ai.onnx.ml", offset=[1.0, 0.0, -1.0], scale=[2.0, 1.0, 0.5]),
    helper.make_node("TreeEnsembleClassifier", ["scaled"], ["label", "shares"], domain="ai.onnx.ml",
                     nodes_treeids=[0] * 5 + [1] * 3, nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
                     nodes_featureids=[0, 0, 2, 0, 0, 1, 0, 0],
                     nodes_modes=["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
                     nodes_values=[0.5, 0, 1.0, 0, 0, -1.0, 0, 0], nodes_truenodeids=[1, 0, 3, 0, 0, 1, 0, 0],
                     nodes_falsenodeids=[2, 0, 4, 0, 0, 2, 0, 0],
                     class_treeids=[0] * 9 + [1] * 6, class_nodeids=[1, 1, 1, 3, 3, 3, 4, 4, 4, 1, 1, 1, 2, 2, 2],
                     class_ids=[0, 1, 2] * 5,
                     class_weights=[0.5, 0.0, 0.0, 0.125, 0.25, 0.125, 0.0, 0.0, 0.5, 0.0, 0.375, 0.125, 0.25, 0.25, 0.0],
                     classlabels_strings=["iris", "lily", "rose"], post_transform="NONE"),
    helper.make_node("ZipMap", ["shares"], ["probabilities"], domain="ai.onnx.ml",
                     classlabels_strings=["iris", "lily", "rose"]),
]
share = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
forest = helper.make_graph(forest_nodes, "forest", [tensor("x", [None, 3])],
                           [tensor("label", [None], TensorProto.STRING),
                            helper.make_value_info("probabilities", helper.make_sequence_type_proto(share))])
forest = helper.make_model(forest, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
                           ir_version=8)
onnx.save(forest, folder / "forest.onnx")
x = np.array([[1, -2, 4], [2, 3, 0], [3, -1, 5], [0, 0, 0]], np.float32)
session = onnxruntime.InferenceSession(forest.SerializeToString(), providers=["CPUExecutionProvider"])
label, maps = session.run(None, {"x": x})
keys = list(maps[0])
np.savez(folder / "forest_reference.npz", **{
    "in:x": x, "out:label": np.array(label, "U"), "out:probabilities.keys": np.array(keys),
    "out:probabilities.values": np.array([[each[key] for key in keys] for each in maps], np.float32)})

x = np.array([[1, 2, 4], [-3, -2, 0]], np.float32)
y = np.maximum(x * np.array([2, -1, 0.5], np.float32) + np.array([1, 0, -1], np.float32), 0)
np.savez(folder / "affine_reference.npz", **{"in:x": x, "out:y": y})
np.savez(folder / "affine_wrong.npz", **{"in:x": x, "out:y": y + np.float32(0.01)})
np.save(folder / "x.npy", x)
np.save(folder / "x_integers.npy", x.astype(np.int64))
np.save(folder / "x_four_columns.npy", np.zeros((2, 4), np.float32))
(folder / "x.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
