#!/usr/bin/env python3
"""Compares lapilli with ONNX Runtime on a graph whose weights are made up.

    check_network.py LAPILLI GRAPH.onnx [ARGUMENT ...]      arguments go to `lapilli verify`, such as --precision float16

GRAPH.json beside the graph says where its weights lie, and their mean and deviation, so that activations stay in a sane
range. Named dimensions are 2, those of images 32.
"""
import json
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import onnxruntime


def generator(name):
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


def write_weights(table, folder):
    with open(folder / table["file"], "wb") as file:
        for tensor in table["tensors"]:
            values = generator(tensor["name"]).standard_normal(tensor["shape"]) * tensor["std"] + tensor["mean"]
            file.seek(tensor["offset"])
            file.write(values.astype(tensor["dtype"]).tobytes())
        file.truncate(table["bytes"])


def make_input(port):
    named = [2, 2, 32, 32] if len(port.shape) == 4 else [2] * len(port.shape)
    shape = [size if isinstance(size, int) else named[axis] for axis, size in enumerate(port.shape)]
    if port.type == "tensor(float)":
        return generator(port.name).standard_normal(shape).astype(np.float32)
    if port.type == "tensor(int64)":
        return generator(port.name).integers(0, 900, shape)
    raise SystemExit(f"no values are made up for the input {port.name} of type {port.type}")


def write_reference(model, path):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    inputs = {port.name: make_input(port) for port in session.get_inputs()}
    names = [port.name for port in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, inputs)))
    for name, value in outputs.items():
        if not np.isfinite(value).all():
            raise SystemExit(f"ONNX Runtime's output {name} is not finite, so that it says nothing")
    np.savez(path, **{"in:" + name: value for name, value in inputs.items()},
             **{"out:" + name: value for name, value in outputs.items()})


def main():
    program, graph, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, reference = folder / graph.name, folder / "reference.npz"
        shutil.copy(graph, model)
        write_weights(json.loads(graph.with_suffix(".json").read_text()), folder)
        write_reference(model, reference)
        raise SystemExit(subprocess.run([program, "verify", model, "--against", reference, *arguments]).returncode)


main()
