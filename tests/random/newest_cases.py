"""Operators of opsets 24 to 28, which Debian's ONNX Runtime does not have: NumPy computes what their documents say."""
import numpy as np
from check_operators import Case
from onnx import helper

f32, f64, i64 = np.float32, np.float64, np.int64


def uniform(random, *shape, low=-1.0, high=1.0):
    return np.random.Generator(np.random.PCG64(random.getrandbits(32))).uniform(low, high, shape).astype(f32)


def maybe(random, make):
    return make() if random.random() < 0.5 else None


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gated_swish(random, number):
    shape = [random.randint(1, 5) for _ in range(random.randint(0, 4))]
    a, b, alpha = uniform(random, *shape, low=-8, high=8), uniform(random, *shape), round(random.uniform(-2, 2), 2)
    wide = a.astype(f64)
    return Case(f"swiglu_{number}", "SwiGLU", 28, [a, b], {"alpha": alpha}, (),
                [np.asarray(wide * sigmoid(f32(alpha) * wide) * b, f32)])


def causal_convolution(random, number):
    batch, channels, length, taps = (random.randint(1, 4), random.randint(1, 7), random.randint(1, 9), random.randint(1, 5))
    x, w = uniform(random, batch, channels, length), uniform(random, channels, 1, taps)
    bias, past = (maybe(random, lambda: uniform(random, channels)),
                  maybe(random, lambda: uniform(random, batch, channels, taps - 1)))
    padded = np.concatenate([np.zeros((batch, channels, taps - 1), f32) if past is None else past, x], 2)
    result = np.zeros(x.shape, f64)
    for place in range(length):
        result[:, :, place] = (padded[:, :, place:place + taps].astype(f64) * w[:, 0]).sum(2)
    if bias is not None:
        result += bias[:, None]
    activation = random.choice(["none", "silu", "swish"])
    if activation != "none":
        result *= sigmoid(result)
    return Case(f"causal_{number}", "CausalConvWithState", 27, [x, w, bias, past], {"activation": activation},
                random.choice([(), (1,)]), [result.astype(f32), padded[:, :, length:]])


def linear_attention(random, number):
    batch, steps, heads, group = random.randint(1, 3), random.randint(1, 7), random.randint(1, 3), random.randint(1, 3)
    keys, values = random.randint(2, 70), random.randint(2, 40)
    rule = random.choice(["linear", "gated", "delta", "gated_delta"])
    query, key = uniform(random, batch, steps, heads * group * keys), uniform(random, batch, steps, heads * keys)
    key /= np.sqrt(keys)
    value = uniform(random, batch, steps, heads * values)
    state = maybe(random, lambda: uniform(random, batch, heads, keys, values))
    decay, beta = None, None
    if rule.startswith("gated"):
        decay = uniform(random, batch, steps, heads * random.choice([1, keys]), low=-1, high=0)
    if rule.endswith("delta"):
        beta = uniform(random, batch, steps, random.choice([1, heads]), low=0, high=1)
    attributes = {"q_num_heads": heads * group, "kv_num_heads": heads, "update_rule": rule}
    if random.random() < 0.5:
        attributes["scale"] = 0.5
    scale = attributes.get("scale", 1 / np.sqrt(keys))
    s = np.zeros((batch, heads, keys, values)) if state is None else state.astype(f64)
    result = np.zeros((batch, steps, heads * group, values))
    for t in range(steps):
        k, v = key[:, t].reshape(batch, heads, keys, 1).astype(f64), value[:, t].reshape(batch, heads, 1, values)
        if decay is not None:
            s = s * np.exp(decay[:, t].astype(f64).reshape(batch, heads, -1, 1))
        if beta is not None:
            v = beta[:, t].reshape(batch, -1, 1, 1) * (v - (s * k).sum(2, keepdims=True))
        s = s + k * v
        q = query[:, t].reshape(batch, heads, group, keys).astype(f64)
        result[:, t] = (scale * q @ s).reshape(batch, heads * group, values)
    return Case(f"linear_attention_{number}", "LinearAttention", 27, [query, key, value, state, decay, beta], attributes,
                (), [result.reshape(batch, steps, -1).astype(f32), s.astype(f32)], 1e-5)


def graph_over(kind, size):
    """A modifier and what it does, by NumPy. One reads a number of its own."""
    if kind == "bias":
        node, initializers = [helper.make_node("Add", ["s", "b"], ["r"])], [helper.make_tensor("b", 1, [], [0.25])]
        apply = lambda s: s + 0.25
    elif kind == "cap":
        node, initializers, apply = [helper.make_node("Tanh", ["s"], ["r"])], [], np.tanh
    else:
        node = [helper.make_node("Mul", ["s", "s"], ["t"]), helper.make_node("Identity", ["t"], ["r"])]
        initializers, apply = [], np.square
    info = [helper.make_tensor_value_info(name, 1, size) for name in ("s", "r")]
    return helper.make_graph(node, kind, info[:1], info[1:], initializers), apply


def flex_attention(random, number):
    batch, heads, group = random.randint(1, 2), random.randint(1, 3), random.randint(1, 3)
    rows, columns, keys, values = (random.randint(1, 6) for _ in range(4))
    query = uniform(random, batch, heads * group, rows, keys)
    key, value = uniform(random, batch, heads, columns, keys), uniform(random, batch, heads, columns, values)
    attributes, size = {}, [batch, heads * group, rows, columns]
    scale = 1 / np.sqrt(keys)
    if random.random() < 0.5:
        scale = attributes["scale"] = 0.75
    scores = scale * query.astype(f64) @ np.repeat(key, group, 1).transpose(0, 1, 3, 2)
    if random.random() < 0.6:
        attributes["score_mod"], apply = graph_over(random.choice(["bias", "cap", "square"]), size)
        scores = apply(scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    if random.random() < 0.6:
        attributes["prob_mod"], apply = graph_over(random.choice(["bias", "cap", "square"]), size)
        weights = apply(weights)
    return Case(f"flex_attention_{number}", "FlexAttention", 1, [query, key, value], attributes, (),
                [(weights @ np.repeat(value, group, 1)).astype(f32)], domain="ai.onnx.preview")


def shift(random, number):
    dtype = random.choice([np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
    info = np.iinfo(dtype)
    draw = lambda low, high: np.asarray([random.randint(low, high) for _ in range(6)], dtype)
    x, counts = draw(int(info.min), int(info.max)), draw(-2 if info.min else 0, info.bits + 2)
    left = random.random() < 0.5
    outside = lambda n: n < 0 or n >= info.bits
    wrap = lambda n: (n + (-info.min if info.min else 0)) % (1 << info.bits) - (-info.min if info.min else 0)
    if left:
        results = [0 if outside(int(n)) else wrap(int(a) << int(n)) for a, n in zip(x, counts)]
    else:
        results = [(-1 if a < 0 else 0) if outside(int(n)) else int(a) >> int(n) for a, n in zip(x, counts)]
    return Case(f"shift_{number}", "BitShift", 28, [x, counts], {"direction": "LEFT" if left else "RIGHT"}, (),
                [np.asarray(results, dtype)])


def modulo(random, number):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan]
    draw = lambda: np.asarray([random.choice(special) if random.random() < 0.2 else random.uniform(-9, 9)
                               for _ in range(12)], f32)
    a, b = draw(), draw()
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.mod(a, b)
    return Case(f"modulo_{number}", "Mod", 28, [a, b], {"fmod": 0}, (), [expected])


def space_to_depth(random, number):
    batch, channels, height, width, block = (random.randint(1, 3) for _ in range(5))
    x = uniform(random, batch, channels, height * block, width * block)
    mode = random.choice(["DCR", "CRD"])
    wide = x.reshape(batch, channels, height, block, width, block)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    expected = wide.transpose(order).reshape(batch, channels * block * block, height, width)
    return Case(f"space_{number}", "SpaceToDepth", 28, [x], {"blocksize": block, "mode": mode}, (), [expected])


def half_range(random, number):
    start, step = np.float16(random.randint(-3000, 3000)), np.float16(random.choice([-3, -1, 0.5, 1, 7]))
    limit = np.float16(start + step * f32(random.randint(0, 40)))
    count = max(0, int(np.ceil((f32(limit) - f32(start)) / f32(step))))
    expected = (f32(start) + f32(step) * np.arange(count, dtype=f32)).astype(np.float16)
    return Case(f"half_range_{number}", "Range", 27, [np.asarray(v, np.float16) for v in (start, limit, step)], {}, (),
                [expected])


def swish(random, number):
    dtype = random.choice([f32, f64, np.float16])
    x = uniform(random, *[random.randint(1, 5) for _ in range(random.randint(0, 4))], low=-9, high=9)
    attributes = {"alpha": round(random.uniform(-2, 2), 2)} if random.random() < 0.7 else {}
    x, alpha = np.asarray(x, dtype), f64(f32(attributes.get("alpha", 1)))
    return Case(f"swish_{number}", "Swish", 24, [x], attributes, (),
                [np.asarray(x.astype(f64) * sigmoid(alpha * x.astype(f64)), dtype)], 2e-3 if dtype == np.float16 else 1e-5)


def running_product(random, number):
    shape = [random.randint(1, 6) for _ in range(random.randint(1, 4))]
    dtype = random.choice([f32, f64, np.float16, np.int32, i64, np.uint32, np.uint64])
    x = uniform(random, *shape, low=-3 if np.dtype(dtype).kind != "u" else 0, high=3).astype(dtype)
    axis, exclusive, reverse = random.randrange(-x.ndim, x.ndim), random.randint(0, 1), random.randint(0, 1)
    turned = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0)
    result = np.cumprod(turned.astype(f64 if x.dtype.kind == "f" else x.dtype), 0)
    if exclusive:
        result = np.concatenate([np.ones_like(result[:1]), result[:-1]])
    result = np.moveaxis(result, 0, axis)
    return Case(f"cumprod_{number}", "CumProd", 26, [x, np.asarray(axis, random.choice([np.int32, i64]))],
                {"exclusive": exclusive, "reverse": reverse}, random.choice([(), (1,)]),
                [(np.flip(result, axis) if reverse else result).astype(dtype)], 2e-3 if dtype == np.float16 else 1e-5)


def same_bits(random, number):
    width = random.choice([[np.int8, np.uint8], [np.int16, np.uint16, np.float16], [np.int32, np.uint32, f32],
                           [i64, np.uint64, f64]])
    source, target = random.choice(width), random.choice(width)
    shape = [random.randint(0, 5) for _ in range(random.randint(0, 3))]
    bits = np.random.Generator(np.random.PCG64(random.getrandbits(32))).bytes(int(np.prod(shape)) * np.dtype(source).itemsize)
    x = np.frombuffer(bits, source).reshape(shape)
    return Case(f"bits_{number}", "BitCast", 26, [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(target))}, (),
                [x.view(target)], 1e-7)


def cache_update(random, number):
    rank, dtype = random.randint(2, 4), random.choice([f32, np.float16, i64, np.int8, np.bool_])
    shape = [random.randint(1, 5) for _ in range(rank)]
    axis = random.randrange(1, rank)
    length = random.randint(1, shape[axis])
    cache = (uniform(random, *shape) * 9).astype(dtype)
    update = (uniform(random, *shape[:axis], length, *shape[axis + 1:]) * 9).astype(dtype)
    circular = random.random() < 0.5
    places = maybe(random, lambda: np.asarray([random.randint(0, shape[axis] - (1 if circular else length))
                                               for _ in range(shape[0])], i64))
    expected = cache.copy()
    for example in range(shape[0]):
        for i in range(length):
            place = (i + (0 if places is None else places[example])) % shape[axis]
            expected[example].swapaxes(0, axis - 1)[place] = update[example].swapaxes(0, axis - 1)[i]
    attributes = {"mode": "circular"} if circular else random.choice([{}, {"mode": "linear"}])
    if axis != rank - 2 or random.random() < 0.5:
        attributes = attributes | {"axis": random.choice([axis, axis - rank])}
    return Case(f"cache_update_{number}", "TensorScatter", 24, [cache, update, places], attributes,
                random.choice([(), (2,)]), [expected])


MAKERS = [gated_swish, causal_convolution, linear_attention, linear_attention, flex_attention, shift, modulo,
          space_to_depth, half_range,
          swish, running_product, same_bits, cache_update]


def cases(random, count):
    for number in range(count):
        yield MAKERS[number % len(MAKERS)](random, number)
