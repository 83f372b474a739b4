#!/usr/bin/env python3
"""Compares lapilli with known values, and with ONNX Runtime on random one-node models.

    check_operators.py LAPILLI [--seed N] [--count N] [--only TEXT] [ARGUMENT ...]

Cases come from the modules *_cases.py beside this file: each has a function `cases(random, count)` that yields Case. Those
of one opset go into one model, so that a process serves many. ARGUMENT goes to `lapilli verify`.
"""
import argparse
import dataclasses
import importlib
import json
import random as random_numbers
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass
class Case:
    name: str
    op_type: str
    opset: int
    inputs: list            # arrays, or dictionaries for maps; None where an input is left out
    attributes: dict = dataclasses.field(default_factory=dict)
    constants: tuple = ()   # numbers of the inputs that the model holds
    expected: list = None   # arrays; None: what ONNX Runtime says
    tolerance: float = 1e-5
    domain: str = ""        # of the operator; `opset` is the domain's
    outputs: int = 1        # where `expected` does not tell
    function: str = ""      # text of the model's own function `op_type` of `domain`, for what takes several nodes
    error: str = ""         # part of what lapilli says where it has to refuse the case


def element_type(array):
    return TensorProto.STRING if array.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(array.dtype)


def arrays_of(name, value):
    """A value as the arrays that lapilli has for it: a map is its keys and values, maps of the same keys are one map."""
    if isinstance(value, np.ndarray):
        return {name: value.astype("U") if value.dtype.kind == "O" else value}
    maps = [value] if isinstance(value, dict) else value
    keys = list(maps[0])
    values = [np.asarray([each[key] for key in keys]) for each in maps]
    values = np.stack([v.astype(np.float32) if v.dtype == np.float64 else v for v in values])
    return {name + ".keys": np.asarray(keys), name + ".values": values[0] if isinstance(value, dict) else values}


def input_info(name, value):
    if not isinstance(value, dict):
        return helper.make_tensor_value_info(name, element_type(value), value.shape)
    arrays = arrays_of(name, value)
    values = helper.make_tensor_type_proto(element_type(arrays[name + ".values"]), [])
    return helper.make_value_info(name, helper.make_map_type_proto(element_type(arrays[name + ".keys"]), values))


def leave_out(nodes):
    """Inputs that are written as "_" are left out: the parser does not take a first one that is empty."""
    for node in nodes:
        for i, name in enumerate(node.input):
            node.input[i] = "" if name == "_" else name
        for attribute in node.attribute:
            leave_out(attribute.g.node)


def function_of(text):
    function = onnx.parser.parse_function(text)
    leave_out(function.node)
    return function


def model_of(cases):
    """One graph with a node for each case; names begin with the case's number."""
    nodes, inputs, outputs, initializers = [], [], [], []
    for number, case in enumerate(cases):
        names = ["" if array is None else f"{number}_in{i}" for i, array in enumerate(case.inputs)]
        for i, array in enumerate(case.inputs):
            if array is None:
                continue
            if i in case.constants:
                initializers.append(numpy_helper.from_array(array, names[i]))
            else:
                inputs.append(input_info(names[i], array))
        results = [f"{number}_out{i}" for i in range(len(case.expected) if case.expected else case.outputs)]
        nodes.append(helper.make_node(case.op_type, names, results, name=case.name, domain=case.domain,
                                      **case.attributes))
        for i, result in enumerate(results):
            known = bool(case.expected) and isinstance(case.expected[i], np.ndarray)
            outputs.append(helper.make_tensor_value_info(result, element_type(case.expected[i]), case.expected[i].shape)
                           if known else helper.make_empty_tensor_value_info(result))
    graph = helper.make_graph(nodes, "cases", inputs, outputs, initializers)
    functions = [function_of(case.function) for case in cases if case.function]
    opsets = {"": 18, cases[0].domain: cases[0].opset}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets.items()], ir_version=8,
                             functions=functions)


def feeds_of(cases):
    return {f"{number}_in{i}": array for number, case in enumerate(cases) for i, array in enumerate(case.inputs)
            if array is not None and i not in case.constants}


def expect_runtime(case):
    """What ONNX Runtime computes; None where it cannot."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model_of([case]).SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, feeds_of([case]))
    except Exception as error:  # the runtime's own types differ from version to version
        print(f"ONNX Runtime does not run {case.name}: {str(error)[:150]}")
        return None


def describe(case):
    shapes = [array if array is None or isinstance(array, dict) else f"{array.dtype}{list(array.shape)}" +
              (f" = {array.tolist()}" if array.size <= 8 else "") for array in case.inputs]
    return f"{case.name}: {case.op_type}-{case.opset}({', '.join(map(str, shapes))}) {case.attributes}"


def verify(program, cases, arguments):
    """The cases that fail, each with a reason. One that has to fail stands alone."""
    with tempfile.TemporaryDirectory() as folder:
        model, reference = Path(folder) / "model.onnx", Path(folder) / "reference.npz"
        onnx.save(model_of(cases), model)
        reference_arrays = {}
        for name, value in feeds_of(cases).items():
            reference_arrays.update(arrays_of("in:" + name, value))
        for number, case in enumerate(cases):
            for i, value in enumerate(case.expected or []):
                reference_arrays.update(arrays_of(f"out:{number}_out{i}", value))
            if case.error:
                reference_arrays[f"out:{number}_out0"] = np.zeros(0, np.float32)
        np.savez(reference, **reference_arrays)
        command = [program, "verify", model, "--against", reference, "--tolerance", str(cases[0].tolerance), "--json",
                   *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if cases[0].error:
        said = result.stderr + result.stdout
        return [] if result.returncode not in (0, 1) and cases[0].error in said else [(cases[0], f"says: {said[:400]}")]
    if result.returncode not in (0, 1):
        if len(cases) == 1:
            return [(cases[0], (result.stderr or result.stdout)[:400])]
        return [failure for case in cases for failure in verify(program, [case], arguments)]
    failures = []
    for output in json.loads(result.stdout)["outputs"]:
        if not output["passed"]:
            case = cases[int(output["name"].split("_")[0])]
            failures.append((case, f"relative error {output['relative_error']} {output.get('mismatch', '')}"))
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="")
    options, arguments = parser.parse_known_args()
    print("seed", options.seed)
    sys.modules["check_operators"] = sys.modules[__name__]
    groups, total, failures = {}, 0, []
    for path in sorted(Path(__file__).parent.glob("*_cases.py")):
        module = importlib.import_module(path.stem)
        generator = random_numbers.Random(f"{options.seed} {path.stem}")
        for case in module.cases(generator, options.count):
            if options.only not in case.name:
                continue
            if case.expected is None and not case.error:
                case.expected = expect_runtime(case)
            if case.expected is not None or case.error:
                alone = case.name if case.error else ""
                groups.setdefault((case.domain, case.opset, case.tolerance, alone), []).append(case)
    for group in groups.values():
        total += len(group)
        for first in range(0, len(group), 25):
            failures += verify(options.program, group[first:first + 25], arguments)
    for case, reason in failures:
        print("FAILED", describe(case), reason, sep="\n  ")
    print(f"{total - len(failures)} of {total} cases pass")
    raise SystemExit(1 if failures or total == 0 else 0)


if __name__ == "__main__":
    main()
