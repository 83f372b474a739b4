"""Models of one node over every element type, with inputs and the outputs of the newest onnx' reference evaluator, in
the layout of ONNX's own suite:

    make_element_types.py FOLDER [--seed N]
    lapilli_conformance --data FOLDER --expected-failures /dev/null

Needs onnx 1.23 or later, which brings ml_dtypes."""
import argparse
import pathlib
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")

FLOATS = ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"]
SMALL_FLOATS = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "FLOAT6E2M3",
                "FLOAT6E3M2", "FLOAT8E8M0"]
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "INT4", "UINT4", "INT2", "UINT2"]
ALL = FLOATS + SMALL_FLOATS + INTEGERS + ["BOOL"]


def number(name):
    return getattr(TensorProto, name)


def numpy_type(name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(number(name)))


def bounds(name):
    info = ml_dtypes.iinfo(numpy_type(name))
    return int(info.min), int(info.max)


class Suite:
    def __init__(self, folder, seed):
        self.folder, self.random, self.count = folder / "node", np.random.default_rng(seed), 0

    def add(self, name, node, inputs, outputs=None, opset=25, output_types=None, constants=()):
        """`inputs` maps names to arrays; without `outputs` the reference evaluator finds them."""
        def info(key, array):
            return helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

        given = {key: array for key, array in inputs.items() if key not in constants}
        kinds = output_types or [None] * len(node.output)
        wanted = [helper.make_tensor_value_info(key, kind or TensorProto.UNDEFINED, None)
                  for key, kind in zip(node.output, kinds)]
        graph = helper.make_graph([node], name, [info(*item) for item in given.items()], wanted,
                                  [numpy_helper.from_array(inputs[key], key) for key in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 10 if opset < 24 else 12
        if outputs is None:
            judged = onnx.ModelProto.FromString(model.SerializeToString())
            judged.opset_import[0].version = max(opset, 19)  # the evaluator does not have all older ones
            outputs = ReferenceEvaluator(judged).run(None, given)
        del graph.output[:]
        graph.output.extend(info(key, np.asarray(array)) for key, array in zip(node.output, outputs))
        model.graph.CopyFrom(graph)
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        (self.folder / name / "model.onnx").write_bytes(model.SerializeToString())
        for kind, arrays in (("input", list(given.values())), ("output", outputs)):
            for i, array in enumerate(arrays):
                path = data / f"{kind}_{i}.pb"
                path.write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())
        self.count += 1

    def bits(self, name, shape):
        """Elements of any bits that the type has."""
        dtype = numpy_type(name)
        if name == "BOOL":
            return self.random.integers(0, 2, shape).astype(bool)
        if name in ("INT4", "UINT4", "INT2", "UINT2"):
            low, high = bounds(name)
            return self.random.integers(low, high + 1, shape).astype(dtype)
        codes = self.random.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
        if name == "FLOAT4E2M1":
            codes &= 15
        if name.startswith("FLOAT6"):
            codes &= 63
        return np.ascontiguousarray(codes).view(dtype).reshape(shape)

    def reals(self, shape, scale=1.0):
        return (self.random.normal(0, scale, shape)).astype(np.float32)


def special_reals(random, target):
    """What breaks conversions: ties, neighbours of ties, subnormals, the edges of the range, zeros, and no numbers."""
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, -1e-30, 1e-42, 65504.0, 65519.9, 65520.0, 3.0e38]
    if target in SMALL_FLOATS + ["FLOAT16", "BFLOAT16"]:
        dtype = numpy_type(target)
        if dtype.itemsize == 1:
            own = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
        else:
            own = random.integers(0, 65536, 300).astype(np.uint16).view(dtype).astype(np.float64)
        own = np.unique(own[np.isfinite(own)])
        middle = (own[1:] + own[:-1]) / 2
        near = np.concatenate([np.nextafter(middle.astype(np.float32), s * np.float32(np.inf)) for s in (-1, 1)])
        values += [*own, *middle, *near, own[-1] * 1.03, own[-1] * 1.0625, own[-1] * 1.07]
    values += list(random.normal(0, 1, 40)) + list(random.normal(0, 200, 40)) + list(np.exp2(random.uniform(-30, 30, 40)))
    return np.array(values)


def cast_inputs(suite, source, target):
    random = suite.random
    if source in FLOATS:
        values = special_reals(random, target).astype(numpy_type(source))
    elif source in SMALL_FLOATS:
        values = suite.bits(source, (500,))
    elif source == "BOOL":
        values = suite.bits(source, (10,))
    else:
        low, high = bounds(source)
        values = random.integers(low, high, 200, dtype=np.uint64 if source == "UINT64" else np.int64, endpoint=True)
        near = random.integers(max(low, -300), min(high, 300), 100, endpoint=True)
        values = np.concatenate([values.astype(numpy_type(source)), near.astype(numpy_type(source))])
    if source not in INTEGERS + ["BOOL"]:
        wide = values.astype(np.float64)
        if target in INTEGERS:  # what does not fit is undefined
            low, high = bounds(target)
            values = values[np.isfinite(wide) & (np.trunc(wide) >= low) & (np.trunc(wide) <= high)]
            if target in ("INT64", "UINT64", "INT32", "UINT32"):
                values = values[np.abs(values.astype(np.float64)) < 2.0**31 * (2 if target[0] == "U" else 1)]
        if target in ("FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2"):
            values = values[~np.isnan(wide)]
    if target == "FLOAT8E8M0" and source != "BOOL":
        wide = values.astype(np.float64)
        values = values[(wide >= 2.0**-126) & (wide <= 2.0**127)]
    return values


def saturated(values, dtype):
    """As the table of Cast says, for sources of which numpy cannot clip."""
    wide = values.astype(np.float32)
    info = ml_dtypes.finfo(dtype)
    return np.clip(wide, np.float32(info.min), np.float32(info.max)).astype(dtype)


def add_casts(suite):
    for source in ALL:
        for target in ALL:
            values = cast_inputs(suite, source, target)
            modes = [{}]
            if target in SMALL_FLOATS[:4]:
                modes = [{}, {"saturate": 0}]
            if target == "FLOAT8E8M0":
                modes = [{"round_mode": mode} for mode in ("up", "down", "nearest")]
            for mode in modes:
                node = helper.make_node("Cast", ["x"], ["y"], to=number(target), **mode)
                suffix = "".join(f"_{value}" for value in mode.values())
                outputs = None
                if target in SMALL_FLOATS[:4] and not mode and source != target:
                    outputs = [saturated(values, numpy_type(target))]
                elif target == "FLOAT8E8M0":
                    outputs = [numpy_helper.to_float8e8m0(values.astype(np.float32), True, mode["round_mode"])]
                elif numpy_type(source).itemsize == 1 or source == "BFLOAT16":  # not all pairs of types convert
                    outputs = [values.astype(np.float32).astype(numpy_type(target))]
                suite.add(f"cast_{source}_{target}{suffix}", node, {"x": values}, outputs)


def add_bit_casts(suite):
    for source in ALL:
        for target in ALL:
            width = [numpy_type(name).itemsize if "4" not in name[-4:] else 0 for name in (source, target)]
            small = ("INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2", "FLOAT6E2M3", "FLOAT6E3M2", "BOOL")
            if source in small or target in small or width[0] != width[1]:
                continue
            x = suite.bits(source, (3, 5))
            node = helper.make_node("BitCast", ["x"], ["y"], to=number(target))
            suite.add(f"bitcast_{source}_{target}", node, {"x": x}, [x.view(numpy_type(target))], 26)


def add_movements(suite):
    for name in ALL:
        x, other = suite.bits(name, (3, 4, 5)), suite.bits(name, (3, 2, 5))
        suite.add(f"transpose_{name}", helper.make_node("Transpose", ["x"], ["y"], perm=[2, 0, 1]), {"x": x},
                  [x.transpose(2, 0, 1)])
        suite.add(f"concat_{name}", helper.make_node("Concat", ["x", "z"], ["y"], axis=1), {"x": x, "z": other},
                  [np.concatenate([x, other], 1)])
        indices = np.array([3, 0, -1, 2, 2])
        suite.add(f"gather_{name}", helper.make_node("Gather", ["x", "i"], ["y"], axis=1), {"x": x, "i": indices},
                  [np.take(x, indices, 1)])
        bound = {key: np.array(value) for key, value in (("s", [2, 0]), ("e", [-100, 9]), ("a", [0, 2]), ("t", [-1, 2]))}
        suite.add(f"slice_{name}", helper.make_node("Slice", ["x", *bound], ["y"]), {"x": x, **bound},
                  [x[::-1, :, ::2]], constants=tuple(bound))
        pads = np.array([0, 1, 0, 2, 0, 1])
        fill = x[:1, 0, 0].reshape(())
        suite.add(f"pad_{name}", helper.make_node("Pad", ["x", "p", "f"], ["y"]), {"x": x, "p": pads, "f": fill},
                  [np.pad(x.view(np.uint8) if x.itemsize == 1 else x, ((0, 2), (1, 0), (0, 1)),
                          constant_values=fill.view(np.uint8) if x.itemsize == 1 else fill).view(x.dtype)],
                  constants=("p", "f"))
        suite.add(f"expand_{name}", helper.make_node("Expand", ["x", "s"], ["y"]),
                  {"x": x[:, :1], "s": np.array([2, 3, 4, 5])}, [np.broadcast_to(x[:, :1], (2, 3, 4, 5)).copy()],
                  constants=("s",))
        suite.add(f"reshape_{name}", helper.make_node("Reshape", ["x", "s"], ["y"]), {"x": x, "s": np.array([5, -1])},
                  [x.reshape(5, -1)], constants=("s",))
        suite.add(f"identity_{name}", helper.make_node("Identity", ["x"], ["y"]), {"x": x}, [x])


QUANTIZED = ["INT8", "UINT8", "INT16", "UINT16", "INT4", "UINT4", "INT2", "UINT2", *SMALL_FLOATS[:7]]


def first_opset(name):
    return {"INT8": 10, "UINT8": 10, "FLOAT8E4M3FN": 19, "FLOAT8E4M3FNUZ": 19, "FLOAT8E5M2": 19, "FLOAT8E5M2FNUZ": 19,
            "INT16": 21, "UINT16": 21, "INT4": 21, "UINT4": 21, "FLOAT4E2M1": 23, "INT2": 25, "UINT2": 25}.get(name, 25)


def granularities(opset):
    shapes = {"tensor": ((), {})}
    if opset >= 13:
        shapes["axis"] = ((4,), {"axis": 1})
        shapes["last"] = ((6,), {"axis": -1})
    if opset >= 21:
        shapes["blocks"] = ((3, 4, 2), {"axis": 2, "block_size": 3})
        shapes["uneven"] = ((3, 4, 2), {"axis": 2, "block_size": 4})
        shapes["first"] = ((2, 4, 6), {"axis": 0, "block_size": 2})
    return shapes


def add_quantizations(suite):
    for name in QUANTIZED:
        dtype = numpy_type(name)
        real = name.startswith("FLOAT")
        for opset in sorted({max(first_opset(name), o) for o in (10, 13, 19, 21, 23, 24, 25)}):
            for kind, (shape, attributes) in granularities(opset).items():
                scales = ["FLOAT"] + (["FLOAT16"] if opset >= 19 else []) + (["BFLOAT16"] if opset >= 21 else [])
                for scale_name in scales:
                    scale = np.exp2(suite.random.integers(-3, 2, shape)).astype(numpy_type(scale_name))
                    if suite.random.random() < 0.5:
                        scale = suite.random.uniform(0.1, 2, shape).astype(numpy_type(scale_name))
                    spread = 20 if real or "2" in name[-1] or "4" in name[-1] else 100
                    x = suite.random.normal(0, spread, (3, 4, 6))
                    x = np.where(suite.random.random(x.shape) < 0.3, np.round(x) + 0.5, x).astype(scale.dtype)
                    zero = np.zeros(shape, dtype)
                    if not real:
                        low, high = bounds(name)
                        zero = np.asarray(suite.random.integers(low, high + 1, shape)).astype(dtype)
                    label = f"{name}_{kind}_{scale_name}_{opset}"
                    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], **attributes)
                    suite.add(f"quantize_{label}", node, {"x": x, "s": scale, "z": zero}, opset=opset,
                              constants=("s", "z") if suite.random.random() < 0.5 else ())
                    codes = suite.bits(name, (3, 4, 6))
                    if real:
                        codes = np.where(np.isfinite(codes.astype(np.float32)), codes, np.zeros((), dtype))
                    node = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"], **attributes)
                    suite.add(f"dequantize_{label}", node, {"x": codes, "s": scale, "z": zero}, opset=opset,
                              constants=("s", "z") if suite.random.random() < 0.5 else ())
    add_quantization_attributes(suite)


def add_quantization_attributes(suite):
    x = suite.reals((3, 6), 50)
    scale = np.array([0.5, 2, 0.25], np.float32)
    for target in ("INT4", "UINT16", "FLOAT8E5M2", "FLOAT8E4M3FN"):
        for saturate in (0, 1):
            node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], axis=0, output_dtype=number(target),
                                    saturate=saturate)
            suite.add(f"quantize_output_{target}_{saturate}", node, {"x": x * 300, "s": scale}, opset=23)
    for precision in ("FLOAT", "FLOAT16", "BFLOAT16"):
        node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], axis=0, precision=number(precision))
        suite.add(f"quantize_precision_{precision}", node, {"x": x, "s": scale}, opset=24)
    for output in ("FLOAT", "FLOAT16", "BFLOAT16"):
        codes = suite.bits("INT8", (3, 6))
        node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"], axis=0, output_dtype=number(output))
        suite.add(f"dequantize_output_{output}", node, {"x": codes, "s": scale.astype(np.float16)}, opset=23)
        powers = np.array([0.5, 2, 8], np.float32).astype(ml_dtypes.float8_e8m0fnu)
        suite.add(f"dequantize_powers_{output}", node, {"x": suite.bits("UINT4", (3, 6)), "s": powers},
                  opset=25)
    for i, values in enumerate([x, np.abs(x), -np.abs(x), np.zeros((2, 3), np.float32), x[:1, :1]]):
        suite.add(f"dynamic_{i}", helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"]), {"x": values},
                  opset=11)


def zero_points(suite, name, shape):
    low, high = bounds(name)
    return np.asarray(suite.random.integers(low, high + 1, shape)).astype(numpy_type(name))


def requantized(sums, factor, zero):
    """round(sums * factor) + zero point, saturated, as the specification says."""
    info = np.iinfo(zero.dtype)
    rounded = np.rint(sums.astype(np.float32) * factor.astype(np.float32)).astype(np.int64)
    return np.clip(rounded + zero.astype(np.int64), info.min, info.max).astype(zero.dtype)


def add_products(suite):
    for left in ("INT8", "UINT8"):
        for right in ("INT8", "UINT8"):
            for kind, rows, columns, batch in (("scalar", (), (), ()), ("vector", (5,), (7,), ()),
                                               ("batch", (2, 5, 1), (2, 1, 7), (2,)), ("none", None, None, ())):
                a, b = suite.bits(left, (*batch, 5, 9)), suite.bits(right, (*batch, 9, 7))
                inputs, wide = {"a": a, "b": b}, [a.astype(np.int64), b.astype(np.int64)]
                zeros = []
                if rows is not None:
                    zeros = [zero_points(suite, left, rows), zero_points(suite, right, columns)]
                    inputs.update(za=zeros[0], zb=zeros[1])
                    shaped = zeros[0].reshape(5, 1) if rows == (5,) else zeros[0]
                    wide = [wide[0] - shaped.astype(np.int64), wide[1] - zeros[1].astype(np.int64)]
                sums = (wide[0] @ wide[1]).astype(np.int32)
                label = f"{left}_{right}_{kind}"
                suite.add(f"matmulinteger_{label}", helper.make_node("MatMulInteger", list(inputs), ["y"]), inputs,
                          [sums], 10)
                if rows is None:
                    continue
                scales = [suite.random.uniform(0.01, 0.1, np.shape(z)).astype(np.float32) for z in zeros]
                scale = np.float32(suite.random.uniform(1, 5))
                zero = zero_points(suite, left, ())
                spread = scales[0].reshape(5, 1) if rows == (5,) else scales[0]
                given = {"a": a, "sa": scales[0], "za": zeros[0], "b": b, "sb": scales[1], "zb": zeros[1],
                         "s": np.asarray(scale), "z": zero}
                suite.add(f"qlinearmatmul_{label}", helper.make_node("QLinearMatMul", list(given), ["y"]), given,
                          [requantized(sums, spread * scales[1] / scale, zero)], 21)


def add_convolutions(suite):
    for left in ("INT8", "UINT8"):
        for right in ("INT8", "UINT8"):
            for kind, channels in (("scalar", ()), ("channels", (6,))):
                x, w = suite.bits(left, (2, 4, 6, 5)), suite.bits(right, (6, 2, 3, 3))
                zx, zw = zero_points(suite, left, ()), zero_points(suite, right, channels)
                attributes = {"group": 2, "pads": [1, 0, 1, 2], "strides": [2, 1]}
                wide_w = w.astype(np.float64) - (zw.reshape(6, 1, 1, 1) if channels else zw).astype(np.float64)
                conv = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
                graph = helper.make_graph([conv], "g", [], [helper.make_tensor_value_info("y", 11, None)])
                del graph.input[:]
                graph.input.extend([helper.make_tensor_value_info(key, 11, None) for key in ("x", "w")])
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
                sums = ReferenceEvaluator(model).run(None, {"x": x.astype(np.float64) - float(zx), "w": wide_w})[0]
                sums = np.rint(sums).astype(np.int32)
                label = f"{left}_{right}_{kind}"
                given = {"x": x, "w": w, "zx": zx, "zw": zw}
                suite.add(f"convinteger_{label}", helper.make_node("ConvInteger", list(given), ["y"], **attributes),
                          given, [sums], 10)
                scales = [np.asarray(np.float32(0.02)), suite.random.uniform(0.01, 0.1, channels).astype(np.float32)]
                scale, zero = np.asarray(np.float32(1.3)), zero_points(suite, left, ())
                bias = suite.random.integers(-500, 500, 6).astype(np.int32)
                factor = scales[0] * (scales[1].reshape(1, 6, 1, 1) if channels else scales[1]) / scale
                given = {"x": x, "sx": scales[0], "zx": zx, "w": w, "sw": scales[1], "zw": zw, "s": scale, "z": zero,
                         "b": bias}
                suite.add(f"qlinearconv_{label}", helper.make_node("QLinearConv", list(given), ["y"], **attributes),
                          given, [requantized(sums + bias.reshape(1, 6, 1, 1), factor, zero)], 10)


def add_bfloat16(suite):
    """Arithmetic in float32 between bfloat16 in memory."""
    def case(name, operator, inputs, attributes=None, opset=22, outputs=1):
        narrow = {key: v.astype(ml_dtypes.bfloat16) if v.dtype == np.float32 else v for key, v in inputs.items()}
        wide = {key: v.astype(np.float32) if v.dtype == ml_dtypes.bfloat16 else v for key, v in narrow.items()}
        names = [f"y{i}" for i in range(outputs)]
        node = helper.make_node(operator, list(inputs), names, **(attributes or {}))
        graph = helper.make_graph(
            [node], "g", [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                          for k, v in wide.items()], [helper.make_tensor_value_info(n, 1, None) for n in names])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        results = [np.asarray(r) for r in ReferenceEvaluator(model).run(None, wide)]
        results = [r.astype(ml_dtypes.bfloat16) if r.dtype == np.float32 else r for r in results]
        suite.add(f"bfloat16_{name}", node, narrow, results, opset)

    x, z = suite.reals((3, 4, 5)), suite.reals((3, 4, 5))
    for operator in ("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign",
                     "Sin", "Softplus", "Tanh", "Elu", "Gelu", "HardSwish", "LeakyRelu", "Mish", "Softsign"):
        case(operator.lower(), operator, {"x": x})
    case("log", "Log", {"x": np.abs(x) + 0.1})
    case("sqrt", "Sqrt", {"x": np.abs(x)})
    for operator in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Equal"):
        case(operator.lower(), operator, {"x": x, "z": z[:, :1]})
    case("pow", "Pow", {"x": np.abs(x) + 0.1, "z": z})
    case("prelu", "PRelu", {"x": x, "z": z[:1, :1]})
    case("where", "Where", {"c": x > 0, "x": x, "z": z})
    case("clip", "Clip", {"x": x, "l": np.array(-0.5, np.float32), "h": np.array(0.7, np.float32)})
    axes = {"a": np.array([1])}
    for operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                     "ReduceLogSumExp", "ReduceSumSquare"):
        case(operator.lower(), operator, {"x": x, **axes}, {"keepdims": 0})
    case("long_sum", "ReduceSum", {"x": suite.reals((2, 5000)) + 1, **axes})
    case("argmax", "ArgMax", {"x": x}, {"axis": 2})
    for operator in ("Softmax", "LogSoftmax"):
        case(operator.lower(), operator, {"x": x}, {"axis": 1})
    case("layernorm", "LayerNormalization", {"x": x, "s": suite.reals((5,)), "b": suite.reals((5,))})
    case("batchnorm", "BatchNormalization", {"x": x, "s": suite.reals((4,)), "b": suite.reals((4,)),
                                             "m": suite.reals((4,)), "v": np.abs(suite.reals((4,))) + 0.5})
    case("instancenorm", "InstanceNormalization", {"x": x, "s": suite.reals((4,)), "b": suite.reals((4,))})
    case("matmul", "MatMul", {"x": suite.reals((2, 9, 17)), "z": suite.reals((2, 17, 11))})
    case("gemm", "Gemm", {"x": suite.reals((9, 17)), "z": suite.reals((11, 17)), "c": suite.reals((11,))}, {"transB": 1})
    image = suite.reals((1, 4, 7, 8))
    case("conv", "Conv", {"x": image, "w": suite.reals((6, 4, 3, 3)), "b": suite.reals((6,))}, {"pads": [1, 1, 1, 1]})
    case("depthwise", "Conv", {"x": image, "w": suite.reals((4, 1, 3, 3))}, {"group": 4})
    case("convtranspose", "ConvTranspose", {"x": image, "w": suite.reals((4, 6, 3, 3))}, {"strides": [2, 2]})
    for operator in ("MaxPool", "AveragePool"):
        case(operator.lower(), operator, {"x": image}, {"kernel_shape": [3, 3], "strides": [2, 2]})
    case("globalaveragepool", "GlobalAveragePool", {"x": image})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.default_rng().integers(1 << 31))
    suite = Suite(options.folder, seed)
    for add in (add_casts, add_bit_casts, add_movements, add_quantizations, add_products, add_convolutions,
                add_bfloat16):
        add(suite)
        print(f"{suite.count} cases after {add.__name__}")
    print(f"seed {seed}")


if __name__ == "__main__":
    main()
