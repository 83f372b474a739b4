#!/usr/bin/env python3
"""Compares lapilli with ONNX Runtime on a graph whose weights are made up.

    check_network.py LAPILLI GRAPH.onnx [--fix DIMENSION=SIZE] [ARGUMENT ...]

Other arguments go to `lapilli verify`, such as --precision float16.

GRAPH.json beside the graph says where its weights lie, and their mean and deviation, so that activations stay in a sane
range. A graph with named dimensions runs twice: all of them are 2, then 3, and those of images 16 times that; but those
that are fixed stay as they are.
"""
import argparse
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


def make_input(port, named, fixed):
    sizes = [named, named, 16 * named, 16 * named] if len(port.shape) == 4 else [named] * len(port.shape)
    shape = [size if isinstance(size, int) else fixed.get(size, sizes[axis]) for axis, size in enumerate(port.shape)]
    if port.type == "tensor(float)":
        return generator(port.name).standard_normal(shape).astype(np.float32)
    if port.type == "tensor(int64)":
        return generator(port.name).integers(*((1, 2) if "mask" in port.name else (0, 900)), shape)
    raise SystemExit(f"no values are made up for the input {port.name} of type {port.type}")


def write_reference(session, named, fixed, path):
    inputs = {port.name: make_input(port, named, fixed) for port in session.get_inputs()}
    names = [port.name for port in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, inputs)))
    for name, value in outputs.items():
        if not np.isfinite(value).all():
            raise SystemExit(f"ONNX Runtime's output {name} is not finite, so that it says nothing")
    np.savez(path, **{"in:" + name: value for name, value in inputs.items()},
             **{"out:" + name: value for name, value in outputs.items()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--fix", action="append", default=[])
    known, arguments = parser.parse_known_args()
    program, graph = known.program, known.graph
    fixed = {name: int(size) for name, size in (text.split("=") for text in known.fix)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, reference = folder / graph.name, folder / "reference.npz"
        shutil.copy(graph, model)
        write_weights(json.loads(graph.with_suffix(".json").read_text()), folder)
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        has_names = any(not isinstance(size, int) for port in session.get_inputs() for size in port.shape)
        for named in (2, 3) if has_names else (2,):
            write_reference(session, named, fixed, reference)
            status = subprocess.run([program, "verify", model, "--against", reference, *arguments]).returncode
            if status != 0:
                raise SystemExit(status)


main()
