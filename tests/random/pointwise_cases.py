"""Element-by-element operators, reductions and orders along axes, with NumPy as the judge: every type, broadcasting, no
elements, scalars, what is no number, inputs left out."""
import math

import numpy as np
from check_operators import Case

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
FLOATS = [f32, f32, f16, f64]
INTEGERS = [np.int8, np.int16, i32, i64, np.uint8, np.uint16, np.uint32, np.uint64]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan]
TOLERANCE = {f16: 2e-3, f32: 1e-5, f64: 1e-9}


def draw_shape(random, low=0, high=4, most=5):
    zero = random.random() < 0.08
    shape = [random.randint(1, most) for _ in range(random.randint(low, high))]
    if zero and shape:
        shape[random.randrange(len(shape))] = 0
    return shape


def draw(random, shape, dtype, low=-5.0, high=5.0, special=False):
    generator = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(bool) if shape else np.asarray(random.random() < 0.5)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        if special:
            low, high = int(info.min), int(info.max)
        return np.asarray(generator.integers(max(int(low), int(info.min)), min(int(high), int(info.max)), shape,
                                             dtype=np.uint64 if dtype == np.uint64 else i64, endpoint=True)).astype(dtype)
    values = np.asarray(generator.uniform(low, high, shape))
    if special and values.size:
        places = generator.random(shape) < 0.15
        values = np.where(places, generator.choice(SPECIAL, shape), values)
    return np.asarray(values).astype(dtype)


def partner(random, shape):
    """A shape that broadcasts with another."""
    result = [size if random.random() < 0.6 else 1 for size in shape]
    return result[random.randint(0, len(result)):] if random.random() < 0.5 else result


def pair(random, dtype, **limits):
    shape = draw_shape(random)
    shapes = [shape, partner(random, shape)]
    if random.random() < 0.5:
        shapes.reverse()
    if random.random() < 0.3:
        shapes = [partner(random, shape), partner(random, shape)]
    return [draw(random, each, dtype, **limits) for each in shapes]


def constants_of(random, inputs):
    return tuple(i for i, array in enumerate(inputs) if array is not None and random.random() < 0.3)


def made(random, name, op_type, opset, inputs, attributes, expected, tolerance=None):
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    dtype = next((array.dtype.type for array in inputs if array is not None), f32)
    return Case(name, op_type, opset, inputs, attributes, constants_of(random, inputs),
                [np.asarray(array) for array in expected],
                tolerance or max(TOLERANCE.get(np.asarray(array).dtype.type, 1e-5) for array in expected)
                if dtype in TOLERANCE else 1e-5)


def some_of(makers, most, random, count):
    """Cases by `most` of the makers each time, without those that made none."""
    for number in range(count):
        for make in random.sample(makers, most):
            case = make(random, number)
            if case is not None:
                yield case


def binary(random, number):
    floats = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
    compare = {"Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
               "Equal": np.equal}
    logic = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal}
    bits = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}
    kind = random.choice(["float", "integer", "compare", "logic", "bits", "mod"])
    with np.errstate(all="ignore"):
        if kind == "float":
            op, dtype = random.choice(list(floats)), random.choice(FLOATS)
            a, b = pair(random, dtype, special=random.random() < 0.4)
            return made(random, f"{op}_{number}", op, 14, [a, b], {}, [floats[op](a, b)])
        if kind == "integer":
            op, dtype = random.choice(list(floats)), random.choice(INTEGERS)
            a, b = pair(random, dtype, special=random.random() < 0.5)
            if op != "Div":
                return made(random, f"{op}_{number}", op, 14, [a, b], {}, [floats[op](a, b)])
            b = np.asarray(np.where(b == 0, 1, b).astype(dtype))
            wide = np.vectorize(lambda x, y: abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1), otypes=[object])
            expected = wide(*np.broadcast_arrays(a, b)) if np.broadcast(a, b).size else np.zeros(np.broadcast(a, b).shape)
            info = np.iinfo(dtype)
            limit = lambda q: (int(q) - int(info.min)) % (1 << info.bits) + int(info.min)
            expected = np.asarray([limit(q) for q in np.ravel(expected)], dtype).reshape(np.shape(expected))
            return made(random, f"Div_{number}", op, 14, [a, b], {}, [expected])
        if kind == "compare":
            op, dtype = random.choice(list(compare)), random.choice(FLOATS + INTEGERS)
            a, b = pair(random, dtype, special=random.random() < 0.5)
            return made(random, f"{op}_{number}", op, 16, [a, b], {}, [compare[op](a, b)])
        if kind == "logic":
            op = random.choice(list(logic))
            a, b = pair(random, np.bool_)
            return made(random, f"{op}_{number}", op, 13, [a, b], {}, [logic[op](a, b)])
        if kind == "bits":
            op, dtype = random.choice(list(bits)), random.choice(INTEGERS)
            a, b = pair(random, dtype, special=True)
            return made(random, f"{op}_{number}", op, 18, [a, b], {}, [bits[op](a, b)])
        return modulo(random, number)


def opposite(random, number):
    x = draw(random, draw_shape(random), random.choice([np.bool_, *INTEGERS]), special=True)
    op = "Not" if x.dtype == np.bool_ else "BitwiseNot"
    return made(random, f"{op}_{number}", op, 18, [x], {}, [~x])


def modulo(random, number):
    dtype = random.choice(FLOATS + INTEGERS)
    a, b = pair(random, dtype, special=random.random() < 0.5)
    if dtype not in FLOATS:
        b = np.asarray(np.where(b == 0, 3, b).astype(dtype))
        truncated = random.random() < 0.5
        return made(random, f"Mod_{number}", "Mod", 13, [a, b], {"fmod": int(truncated)},
                    [(np.fmod if truncated else np.mod)(a, b)])
    if random.random() < 0.6 and a.size and b.size:  # quotients of any size
        a, b = [np.asarray(np.random.Generator(np.random.PCG64(random.getrandbits(32))).integers(
            0, 256, (*v.shape, v.itemsize), dtype=np.uint8)).view(dtype).reshape(v.shape) for v in (a, b)]
    with np.errstate(all="ignore"):
        return made(random, f"Mod_{number}", "Mod", 13, [a, b], {"fmod": 1}, [np.fmod(a, b)], 1e-12)


def several(random, number):
    op, dtype = random.choice(["Max", "Min", "Sum", "Mean"]), random.choice(FLOATS)
    if op in ("Max", "Min") and random.random() < 0.6:
        dtype = random.choice(INTEGERS)
    shape = draw_shape(random)
    inputs = [draw(random, partner(random, shape), dtype, special=op in ("Max", "Min") and random.random() < 0.3)
              for _ in range(random.randint(1, 5))]
    join = {"Max": np.maximum, "Min": np.minimum}.get(op, np.add)
    result = inputs[0]
    for other in inputs[1:]:
        result = join(result, other)
    return made(random, f"{op}_{number}", op, 13, inputs, {}, [result / dtype(len(inputs)) if op == "Mean" else result])


def power(random, number):
    base, exponent = random.choice([f32, f32, f16, f64, i32, i64]), random.choice([f32, f64, i32, i64])
    shape = draw_shape(random)
    if np.issubdtype(base, np.integer):
        a, b = draw(random, shape, base, -3, 3), draw(random, partner(random, shape), exponent, 0, 5)
        b = np.asarray(np.floor(b)).astype(exponent)
        expected = (a.astype(f64) ** b.astype(f64)).astype(base)
    else:
        a, b = draw(random, shape, base, 0.1, 4), draw(random, partner(random, shape), exponent, -3, 3)
        if np.issubdtype(exponent, np.integer):
            a = a * random.choice([1, -1])
        expected = (np.asarray(a).astype(f64) ** b.astype(f64)).astype(base)
    return made(random, f"Pow_{number}", "Pow", 15, [np.asarray(a, base), b], {}, [expected])


erf = np.vectorize(math.erf, otypes=[f64])
sigmoid = lambda x: 1 / (1 + np.exp(-x))
softplus = lambda x: np.logaddexp(x, 0)
# Operator: function, lowest and highest value, and whether what is no number or infinite comes too.
UNARY = {
    "Abs": (np.abs, -9, 9, True), "Neg": (np.negative, -9, 9, True), "Sign": (np.sign, -2, 2, True),
    "Ceil": (np.ceil, -9, 9, True), "Floor": (np.floor, -9, 9, True), "Round": (np.round, -9, 9, True),
    "Exp": (np.exp, -9, 9, True), "Log": (np.log, 0, 9, True), "Sqrt": (np.sqrt, 0, 9, True),
    "Reciprocal": (lambda x: 1 / x, 0.1, 9, False), "Sin": (np.sin, -99, 99, False), "Cos": (np.cos, -99, 99, False),
    "Tan": (np.tan, -1.4, 1.4, False), "Asin": (np.arcsin, -1, 1, False), "Acos": (np.arccos, -1, 1, False),
    "Atan": (np.arctan, -99, 99, True), "Sinh": (np.sinh, -9, 9, True), "Cosh": (np.cosh, -9, 9, True),
    "Tanh": (np.tanh, -12, 12, True), "Asinh": (np.arcsinh, -99, 99, True), "Acosh": (np.arccosh, 1, 99, False),
    "Atanh": (np.arctanh, -0.99, 0.99, False), "Erf": (erf, -5, 5, True), "Sigmoid": (sigmoid, -20, 20, True),
    "Softplus": (softplus, -20, 20, True), "Softsign": (lambda x: x / (1 + np.abs(x)), -9, 9, False),
    "Relu": (lambda x: np.where(x < 0, 0, x), -9, 9, True), "IsNaN": (np.isnan, -9, 9, True),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -9, 9, False),
    "Mish": (lambda x: x * np.tanh(softplus(x)), -9, 9, False),
    "Gelu": (lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), -5, 5, False),
}


def unary(random, number):
    op = random.choice(list(UNARY))
    function, low, high, special = UNARY[op]
    dtype = random.choice([f32, f16] if op == "IsNaN" else FLOATS)
    x = draw(random, draw_shape(random), dtype, low, high, special and random.random() < 0.5)
    with np.errstate(all="ignore"):
        expected = np.asarray(function(x.astype(f64)))
    expected = expected.astype(bool if op == "IsNaN" else dtype)
    return made(random, f"{op}_{number}", op, 20, [x], {}, [expected], 1e-5 if dtype == f32 else None)


def activations(w, a, b):
    """Operators with attributes: the attributes and what is expected of w."""
    expm1 = np.expm1
    return [
        ("LeakyRelu", {"alpha": b}, np.where(w < 0, b * w, w)),
        ("Elu", {"alpha": a}, np.where(w < 0, a * expm1(w), w)),
        ("Celu", {"alpha": a}, np.maximum(w, 0) + np.minimum(0, a * expm1(w / a))),
        ("Selu", {"alpha": a, "gamma": 1.5}, 1.5 * np.where(w <= 0, a * expm1(w), w)),
        ("HardSigmoid", {"alpha": a, "beta": b}, np.clip(a * w + b, 0, 1)),
        ("ThresholdedRelu", {"alpha": a}, np.where(w > a, w, 0)),
        ("Shrink", {"lambd": a, "bias": b}, np.where(w < -a, w + b, np.where(w > a, w - b, 0))),
        ("Gelu", {"approximate": "tanh"}, 0.5 * w * (1 + np.tanh(math.sqrt(2 / math.pi) * (w + 0.044715 * w**3)))),
    ]


def with_numbers(random, number):
    x, a, b = draw(random, draw_shape(random), random.choice(FLOATS)), random.uniform(0.1, 2), random.uniform(-1, 1)
    w, a, b = x.astype(f64), float(f32(a)), float(f32(b))
    op, attributes, expected = random.choice(activations(w, a, b))
    if op == "Celu" and x.dtype != f32:  # defined for float32 alone
        return None
    if op == "Shrink" or op == "ThresholdedRelu":  # away from the threshold, which the type may round
        x = np.where(np.abs(np.abs(w) - a) < 1e-2, 0, x).astype(x.dtype)
        w = x.astype(f64)
        expected = np.where(w > a, w, 0) if op == "ThresholdedRelu" else \
            np.where(w < -a, w + b, np.where(w > a, w - b, 0))
    return made(random, f"{op}_{number}", op, 20, [np.asarray(x)], attributes, [np.asarray(expected).astype(x.dtype)])


def at_edges():
    """Every function of one operand where the number line ends, and at what is no number."""
    for dtype in (f32, f16, f64):
        x = np.asarray([*SPECIAL, 1, -1, 0.5, -0.5, 1e-3, -1e-3, 3, -3, 20, -20, 6e4, -6e4], dtype)
        w, name = x.astype(f64), dtype.__name__
        with np.errstate(all="ignore"):
            results = [(op, {}, function(w)) for op, (function, *_) in UNARY.items()] + activations(w, 0.75, 0.25)
            results = [(op, attributes, np.asarray(y).astype(bool if op == "IsNaN" else dtype))
                       for op, attributes, y in results]
        for number, (op, attributes, expected) in enumerate(results):
            if dtype == f32 or op not in ("Celu", *(["IsNaN"] if dtype == f64 else [])):
                yield Case(f"{op}_{name}_at_edges_{number}", op, 20, [x], attributes, (), [expected],
                           TOLERANCE[dtype])


def cut_off(random, number):
    """Functions of real numbers, on integers: results lose their fractions."""
    op, shape = random.choice(["Erf", "Shrink", "Pow"]), draw_shape(random)
    if op == "Pow":
        x = draw(random, shape, random.choice([i32, i64]), 1, 9)
        y = draw(random, partner(random, shape), random.choice(FLOATS), 0, 4)
        y = np.asarray((y * 4).round() / 4).astype(y.dtype)
        return made(random, f"Pow_cut_off_{number}", op, 15, [x, y], {},
                    [np.trunc(x.astype(f64) ** y.astype(f64)).astype(x.dtype)])
    x = draw(random, shape, random.choice(INTEGERS), -3, 3)
    w = x.astype(f64)
    if op == "Erf":
        return made(random, f"Erf_cut_off_{number}", op, 13, [x], {}, [np.trunc(erf(w)).astype(x.dtype)])
    a = random.choice([-1.5, 0.5, 1.25, 2.0])
    b = random.choice([-2.5, -0.75, 0.0, *([] if x.dtype.kind == "u" else [0.25, 2.0])])
    expected = np.where(w < -a, w + b, np.where(w > a, w - b, 0))
    if x.dtype.kind == "u" and np.any(expected < 0):
        return None
    return made(random, f"Shrink_cut_off_{number}", op, 9, [x], {"lambd": a, "bias": b}, [np.trunc(expected).astype(x.dtype)])


def clip(random, number):
    dtype = random.choice(FLOATS + INTEGERS)
    x = draw(random, draw_shape(random), dtype, special=random.random() < 0.3)
    low, high = sorted([draw(random, [], dtype), draw(random, [], dtype)])
    low, high = [np.asarray(v, dtype) if random.random() < 0.7 else None for v in (low, high)]
    if low is not None and high is not None and random.random() < 0.2:
        low, high = high, low  # then all are `high`
    expected = x if low is None else np.maximum(x, low)
    expected = expected if high is None else np.minimum(expected, high)
    return made(random, f"Clip_{number}", "Clip", 13, [x, low, high], {}, [expected])


def where(random, number):
    shape, dtype = draw_shape(random), random.choice(FLOATS + INTEGERS + [np.bool_])
    condition = draw(random, partner(random, shape), np.bool_)
    x, y = [draw(random, partner(random, shape), dtype, special=True) for _ in range(2)]
    return made(random, f"Where_{number}", "Where", 16, [condition, x, y], {}, [np.where(condition, x, y)])


def slopes(random, number):
    x = draw(random, draw_shape(random, 1), random.choice(FLOATS))
    slope = draw(random, partner(random, x.shape), x.dtype.type)
    return made(random, f"PRelu_{number}", "PRelu", 16, [x, slope], {}, [np.where(x < 0, x * slope, x)])


def is_infinite(random, number):
    x = draw(random, draw_shape(random), random.choice(FLOATS), special=True)
    negative, positive = random.randint(0, 1), random.randint(0, 1)
    expected = (np.isneginf(x) if negative else False) | (np.isposinf(x) if positive else False)
    return made(random, f"IsInf_{number}", "IsInf", 20, [x], {"detect_negative": negative, "detect_positive": positive},
                [np.broadcast_to(expected, x.shape)])


def log_sum(x, **axes):
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x).sum(**axes))


REDUCTIONS = {
    "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod,
    "ReduceL1": lambda x, **axes: np.abs(x).sum(**axes), "ReduceSumSquare": lambda x, **axes: np.square(x).sum(**axes),
    "ReduceL2": lambda x, **axes: np.sqrt(np.square(x).sum(**axes)), "ReduceLogSumExp": log_sum,
    "ReduceLogSum": lambda x, **axes: np.log(np.sum(x, **axes)),
}


def reduction(random, number):
    op, dtype = random.choice(list(REDUCTIONS)), random.choice(FLOATS + [i32, i64])
    real = op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean")  # cut off where the type has no fractions
    low = -2 if op != "ReduceLogSum" else 0.5 if dtype in FLOATS else 1
    x = draw(random, draw_shape(random, 0, 5, random.choice([4, 4, 9])), dtype, low, 2)
    if x.size == 0 and op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceLogSum", "ReduceLogSumExp"):
        return None
    axes = random.sample(range(x.ndim), random.randint(0, x.ndim))
    keep, empty = random.randint(0, 1), random.randint(0, 1)
    wide = x.astype(f64) if dtype in FLOATS or real else x.astype(i64)
    if axes:
        expected = REDUCTIONS[op](wide, axis=tuple(axes), keepdims=bool(keep))
    elif empty:
        expected = REDUCTIONS[op](wide[None], axis=0)
    else:
        expected = REDUCTIONS[op](wide, axis=None, keepdims=bool(keep))
    given = np.asarray([a if random.random() < 0.5 else a - x.ndim for a in axes], i64)
    attributes = {"keepdims": keep, "noop_with_empty_axes": empty}
    with_axes = given if axes or random.random() < 0.5 else None
    if op != "ReduceSum" and random.random() < 0.3 and (axes or not empty):  # before opset 18
        del attributes["noop_with_empty_axes"]
        if axes:
            attributes["axes"] = given.tolist()
        return made(random, f"{op}_{number}", op, 13, [x], attributes, [np.asarray(expected).astype(dtype)])
    return made(random, f"{op}_{number}", op, 18 if op != "ReduceSum" else 13, [x, with_axes], attributes,
                [np.asarray(expected).astype(dtype)])


def extreme(random, number):
    op, dtype = random.choice(["ArgMax", "ArgMin"]), random.choice(FLOATS + INTEGERS)
    x = draw(random, draw_shape(random, 1, *random.choice([(4, 5), (2, 40)])), dtype, -3, 3)
    if dtype in FLOATS:
        x = np.round(x)
    if x.size == 0:
        return None
    axis, keep, last = random.randrange(-x.ndim, x.ndim), random.randint(0, 1), random.randint(0, 1)
    find = np.argmax if op == "ArgMax" else np.argmin
    expected = x.shape[axis] - 1 - find(np.flip(x, axis), axis) if last else find(x, axis)
    return made(random, f"{op}_{number}", op, 13, [np.asarray(x, dtype)],
                {"axis": axis, "keepdims": keep, "select_last_index": last},
                [np.asarray(np.expand_dims(expected, axis) if keep else expected).astype(i64)])


def softmax(random, number):
    op, opset = random.choice(["Softmax", "LogSoftmax", "Hardmax"]), random.choice([1, 11, 13])
    x = draw(random, draw_shape(random, 1, *random.choice([(4, 5), (3, 40)])), random.choice(FLOATS), -9, 9)
    if x.size == 0:
        return None
    axis = random.randrange(x.ndim if opset == 1 else -x.ndim, x.ndim) if opset > 1 else random.randrange(x.ndim)
    wide = x.astype(f64)
    rows = wide.reshape(math.prod(x.shape[:axis % x.ndim]), -1) if opset < 13 else wide
    along = 1 if opset < 13 else axis
    if op == "Hardmax":
        places = np.expand_dims(rows.argmax(along), along)
        result = np.zeros(rows.shape)
        np.put_along_axis(result, places, 1, along)
    else:
        shifted = rows - rows.max(along, keepdims=True)
        result = shifted - np.log(np.exp(shifted).sum(along, keepdims=True))
        result = np.exp(result) if op == "Softmax" else result
    return made(random, f"{op}_{number}", op, opset, [x], {"axis": axis}, [result.reshape(x.shape).astype(x.dtype)])


def cumulative(random, number):
    x = draw(random, draw_shape(random, 1, *random.choice([(4, 5), (2, 90)])), random.choice([f32, f64, i32, i64]), -2, 2)
    axis, exclusive, reverse = random.randrange(-x.ndim, x.ndim), random.randint(0, 1), random.randint(0, 1)
    turned = np.flip(x, axis) if reverse else x
    sums = np.cumsum(turned.astype(f64) if x.dtype.kind == "f" else turned, axis).astype(x.dtype)
    if exclusive:
        sums = np.roll(sums, 1, axis)
        sums[tuple(slice(None) if i != axis % x.ndim else slice(0, 1) for i in range(x.ndim))] = 0
    return made(random, f"CumSum_{number}", "CumSum", 14, [x, np.asarray(axis, random.choice([i32, i64]))],
                {"exclusive": exclusive, "reverse": reverse}, [np.flip(sums, axis) if reverse else sums])


MAKERS = [binary, binary, binary, opposite, modulo, several, power, unary, unary, unary, with_numbers, cut_off, clip, where,
          slopes, is_infinite, reduction, reduction, extreme, softmax, cumulative]


def cases(random, count):
    yield from at_edges()
    yield from some_of(MAKERS, 3, random, count)
