"""Convolutions, pools, products and normalizations, with ONNX Runtime as the judge, or NumPy where it does not run them."""
import numpy as np
from check_operators import Case
from onnx import helper
from pointwise_cases import TOLERANCE, constants_of, draw, draw_shape, made, partner, some_of

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64


def window(random, axes, sizes):
    """Attributes of a window that fits, by explicit pads or by a rule."""
    kernel = [random.randint(1, min(3, size)) for size in sizes]
    attributes = {"kernel_shape": kernel, "strides": [random.randint(1, 3) for _ in range(axes)]}
    rule = random.choice(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if rule == "NOTSET":
        if random.random() < 0.5:
            attributes["dilations"] = [random.randint(1, 3) if (k - 1) * 3 < size else 1 for k, size in zip(kernel, sizes)]
        if random.random() < 0.7:
            attributes["pads"] = [random.randint(0, k - 1) for k in kernel + kernel]
    else:
        attributes["auto_pad"] = rule
    return attributes


def convolution(random, number):
    axes, groups = random.randint(1, 3), random.choice([1, 1, 2, 3])
    sizes = [random.randint(3, 8) for _ in range(axes)]
    channels, results = groups * random.randint(1, 5), groups * random.randint(1, 5)
    attributes = window(random, axes, sizes) | {"group": groups}
    kernel = attributes["kernel_shape"]
    if attributes.get("auto_pad", "").startswith("SAME"):
        # ONNX Runtime begins behind the first element where steps are longer than windows; padding is never below 0.
        attributes["strides"] = [min(pair) for pair in zip(attributes["strides"], kernel)]
    if random.random() < 0.3:
        del attributes["kernel_shape"]
    x, w = draw(random, [random.randint(1, 3), channels, *sizes], f32), draw(random, [results, channels // groups, *kernel], f32)
    inputs = [x, w, draw(random, [results], f32) if random.random() < 0.5 else None]
    return Case(f"Conv_{number}", "Conv", 11, inputs, attributes, constants_of(random, inputs))


def transposed(random, number):
    axes, groups = random.randint(1, 2), random.choice([1, 1, 2])
    sizes, kernel = [random.randint(1, 6) for _ in range(axes)], [random.randint(1, 4) for _ in range(axes)]
    strides, dilations = [random.randint(1, 3) for _ in range(axes)], [random.randint(1, 2) for _ in range(axes)]
    attributes = {"strides": strides, "group": groups, "dilations": dilations}
    kind = random.choice(["pads", "none", "rule", "shape"])
    lengths = [s * (size - 1) + d * (k - 1) + 1 for size, k, s, d in zip(sizes, kernel, strides, dilations)]
    if kind == "pads":
        attributes["pads"] = [random.randint(0, min(1, length - 1) // 2) for length in lengths * 2]
        # With as much as a step, ONNX Runtime reads beyond its memory.
        attributes["output_padding"] = [random.randint(0, stride - 1) for stride in strides]
    if kind == "rule":
        attributes["auto_pad"] = random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if attributes["auto_pad"] != "VALID" and any(length < s * size for length, s, size in zip(lengths, strides, sizes)):
            return None
    if kind == "shape":
        attributes["output_shape"] = [random.randint(max(1, length - 3), length) for length in lengths]
        attributes["auto_pad"] = random.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER"])
    x = draw(random, [random.randint(1, 2), groups * random.randint(1, 4), *sizes], f32)
    w = draw(random, [x.shape[1], random.randint(1, 4), *kernel], f32)
    inputs = [x, w, draw(random, [groups * w.shape[1]], f32) if random.random() < 0.5 else None]
    return Case(f"ConvTranspose_{number}", "ConvTranspose", 11, inputs, attributes, constants_of(random, inputs))


def pool_places(size, kernel, stride, dilation, begin, end, rule, round_up):
    """Of each window along an axis: its places, which of them are data, and which are data or padding."""
    reach = (kernel - 1) * dilation + 1
    if rule.startswith("SAME"):
        padding = max((-(-size // stride) - 1) * stride + reach - size, 0)
        begin = padding // 2 if rule == "SAME_UPPER" else (padding + 1) // 2
        end = padding - begin
    room = size + begin + end - reach
    count = -(-room // stride) + 1 if round_up else room // stride + 1
    if round_up and (count - 1) * stride >= size + begin:  # would begin behind the data
        count -= 1
    places = [start * stride - begin + np.arange(kernel) * dilation for start in range(count)]
    return [(p, (p >= 0) & (p < size), (p >= -begin) & (p < size + end)) for p in places]


def pooled(op, x, attributes):
    """What the documents of the pools say, window by window."""
    axes, sizes = x.ndim - 2, x.shape[2:]
    of = lambda name, value: attributes.get(name, [value] * axes)
    pads = attributes.get("pads", [0] * 2 * axes)
    along = [pool_places(sizes[i], of("kernel_shape", 1)[i], of("strides", 1)[i], of("dilations", 1)[i], pads[i],
                         pads[axes + i], attributes.get("auto_pad", "NOTSET"), attributes.get("ceil_mode", 0))
             for i in range(axes)]
    order = "F" if attributes.get("storage_order") else "C"
    numbers = np.arange(np.prod(sizes)).reshape(sizes, order=order)
    shape = [*x.shape[:2], *[len(each) for each in along]]
    result, indices = np.zeros(shape), np.zeros(shape, i64)
    for window in np.ndindex(*shape[2:]):
        parts = [along[i][place] for i, place in enumerate(window)]
        inside = np.ix_(*[p[data] for p, data, _ in parts])
        counted = np.prod([padded.sum() for _, _, padded in parts])
        for plane in np.ndindex(*shape[:2]):
            values = x[plane][inside].astype(f64)
            if op == "MaxPool":
                result[plane + window] = values.max()
                indices[plane + window] = numbers[inside].ravel()[values.argmax()] + \
                    (plane[0] * shape[1] + plane[1]) * numbers.size
            elif op == "AveragePool":
                result[plane + window] = values.sum() / (counted if attributes["count_include_pad"] else values.size)
            else:
                result[plane + window] = (np.abs(values)**attributes["p"]).sum()**(1 / attributes["p"])
    return [result.astype(x.dtype), indices]


def pool(random, number):
    axes = random.randint(1, 3)
    sizes = [random.randint(3, 7) for _ in range(axes)]
    op = random.choice(["MaxPool", "AveragePool", "LpPool"])
    attributes = window(random, axes, sizes)
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = random.randint(0, 1)
    if op == "AveragePool":
        attributes["count_include_pad"] = random.randint(0, 1)
    if op == "LpPool":
        attributes["p"] = random.randint(1, 3)
    if op == "MaxPool":
        attributes["storage_order"] = random.randint(0, 1)
    x = draw(random, [random.randint(1, 2), random.randint(1, 3), *sizes], random.choice([f32, f32, f16]))
    results = pooled(op, x, attributes)[:random.randint(1, 2) if op == "MaxPool" else 1]
    return made(random, f"{op}_{number}", op, 22, [x], attributes, results)


def whole_pool(random, number):
    op = random.choice(["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"])
    x = draw(random, [random.randint(1, 3), random.randint(1, 4), *[random.randint(1, 9) for _ in range(random.randint(1, 3))]],
             f32)
    return Case(f"{op}_{number}", op, 13, [x], {"p": random.randint(1, 3)} if op == "GlobalLpPool" else {})


def product(random, number):
    dtype = random.choice([f32, f32, f16, f64, i32, i64, np.uint32])
    rows, inner, columns = [random.choice([0, 1, 2, 3, 5, 8, 17, 33]) if random.random() < 0.9 else 70 for _ in range(3)]
    batch = draw_shape(random, 0, 2, 3)
    a, b = [*partner(random, batch), rows, inner], [*partner(random, batch), inner, columns]
    if random.random() < 0.2:
        a = [inner]
    if random.random() < 0.2:
        b = [inner]
    inputs = [draw(random, a, dtype), draw(random, b, dtype)]
    wide = f64 if dtype in TOLERANCE else dtype
    return made(random, f"MatMul_{number}", "MatMul", 13, inputs, {},
                [np.asarray(np.matmul(inputs[0].astype(wide), inputs[1].astype(wide))).astype(dtype)])


def general_product(random, number):
    dtype = random.choice([f32, f32, f16, f64, i32, i64])
    rows, inner, columns = [random.choice([1, 2, 3, 5, 8, 17, 40]) for _ in range(3)]
    a_turned, b_turned = random.randint(0, 1), random.randint(0, 1)
    a, b = draw(random, [inner, rows] if a_turned else [rows, inner], dtype), \
        draw(random, [columns, inner] if b_turned else [inner, columns], dtype)
    c = draw(random, random.choice([[], [1], [columns], [1, columns], [rows, 1], [rows, columns]]), dtype)
    inputs = [a, b, c if random.random() < 0.7 else None]
    alpha, beta = random.choice([(1, 1), (0.5, 0.25), (2, 0)])
    wide = lambda v: v.astype(f64)
    expected = alpha * (wide(a).T if a_turned else wide(a)) @ (wide(b).T if b_turned else wide(b))
    if inputs[2] is not None:
        expected = expected + beta * wide(c)
    expected = expected if np.dtype(dtype).kind == "f" else np.trunc(expected)  # after the sum
    return made(random, f"Gemm_{number}", "Gemm", 13, inputs,
                {"transA": a_turned, "transB": b_turned, "alpha": float(alpha), "beta": float(beta)},
                [expected.astype(dtype)])


def integer_product(random, number):
    left, right = random.choice([np.uint8, np.int8]), random.choice([np.uint8, np.int8])
    rows, inner, columns = [random.choice([1, 2, 5, 17, 40]) for _ in range(3)]
    batch = draw_shape(random, 0, 2, 3)
    a, b = draw(random, [*batch, rows, inner], left, special=True), draw(random, [inner, columns], right, special=True)
    az = random.choice([None, *[draw(random, shape, left, special=True) for shape in ([], [1], [rows], [*batch, rows, 1])]])
    bz = random.choice([None, *[draw(random, shape, right, special=True) for shape in ([], [1], [columns], [1, columns])]])
    wide_a = a.astype(i64) - (0 if az is None else az.astype(i64).reshape(-1, 1) if az.ndim == 1 else az.astype(i64))
    wide_b = b.astype(i64) - (0 if bz is None else bz.astype(i64))
    inputs = [a, b, az, bz]
    return made(random, f"MatMulInteger_{number}", "MatMulInteger", 10, inputs, {}, [np.matmul(wide_a, wide_b).astype(i32)])


def channels_of(values, rank):
    return values.astype(f64).reshape(-1, *[1] * (rank - 2))


def normalization(random, number):
    op, dtype = random.choice(["BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
                               "LRN", "LpNormalization", "MeanVarianceNormalization"]), random.choice([f32, f32, f16, f64])
    channels = random.randint(1, 6)
    x = draw(random, [random.randint(1, 3), channels, *[random.randint(2, 9) for _ in range(random.randint(1, 3))]], dtype)
    wide, rank, epsilon = x.astype(f64), x.ndim, float(f32(random.choice([1e-5, 1e-2])))
    if op == "BatchNormalization":
        scale, bias, mean = [draw(random, [channels], dtype) for _ in range(3)]
        variance = draw(random, [channels], dtype, 0.5, 2)
        s, b, m, v = [channels_of(each, rank) for each in (scale, bias, mean, variance)]
        return made(random, f"{op}_{number}", op, 15, [x, scale, bias, mean, variance], {"epsilon": epsilon},
                    [(s * (wide - m) / np.sqrt(v + epsilon) + b).astype(dtype)])
    if op == "InstanceNormalization" or op == "GroupNormalization":
        groups = channels if op[0] == "I" else random.choice([g for g in range(1, channels + 1) if channels % g == 0])
        scale, bias = draw(random, [channels], dtype), draw(random, [channels], dtype)
        rows = wide.reshape(x.shape[0], groups, -1)
        rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + epsilon)
        expected = rows.reshape(x.shape) * channels_of(scale, rank) + channels_of(bias, rank)
        return made(random, f"{op}_{number}", op, 6 if op[0] == "I" else 21, [x, scale, bias],
                    {"epsilon": epsilon} | ({} if op[0] == "I" else {"num_groups": groups}), [expected.astype(dtype)])
    if op == "LayerNormalization":
        axis = random.randrange(-rank, rank)
        shape = x.shape[axis % rank:]
        shape = shape if random.random() < 0.7 else partner(random, shape)
        scale, bias = draw(random, shape, dtype), draw(random, shape, dtype) if random.random() < 0.6 else None
        along = tuple(range(axis % rank, rank))
        expected = (wide - wide.mean(along, keepdims=True)) / np.sqrt(wide.var(along, keepdims=True) + epsilon) * \
            scale.astype(f64)
        if bias is not None:
            expected = expected + bias.astype(f64)
        return made(random, f"{op}_{number}", op, 17, [x, scale, bias], {"axis": axis, "epsilon": epsilon},
                    [expected.astype(dtype)])
    if op == "LpNormalization":
        axis, p = random.randrange(-rank, rank), random.choice([1, 2])
        norm = np.abs(wide).sum(axis, keepdims=True) if p == 1 else np.sqrt((wide**2).sum(axis, keepdims=True))
        return made(random, f"{op}_{number}", op, 1, [x], {"axis": axis, "p": p}, [(wide / norm).astype(dtype)])
    if op == "MeanVarianceNormalization":
        axes = sorted(random.sample(range(rank), random.randint(1, rank)))
        mean, deviation = wide.mean(tuple(axes), keepdims=True), wide.std(tuple(axes), keepdims=True)
        if (deviation < 1e-3).any():
            return None
        return made(random, f"{op}_{number}", op, 13, [x], {"axes": axes}, [((wide - mean) / (deviation + 1e-9)).astype(dtype)])
    size, squares = random.choice([1, 2, 3, 4, 5]), np.zeros(x.shape)
    for c in range(channels):
        squares[:, c] = (wide[:, max(0, c - (size - 1) // 2):c + size // 2 + 1]**2).sum(1)
    return made(random, f"{op}_{number}", op, 13, [x], {"size": size, "alpha": 0.25, "beta": 0.5, "bias": 1.5},
                [(wide / (1.5 + 0.25 / size * squares)**0.5).astype(dtype)])


def limits_of(dtype):
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def quantization(random, number):
    """By tensor, by axis, and by blocks."""
    dtype, scales = random.choice([np.uint8, np.int8, np.uint16, np.int16]), random.choice([f32, f32, f16])
    x = draw(random, [random.randint(1, 4), random.randint(1, 4), random.choice([4, 6, 8])], scales, -40, 40)
    axis, attributes = random.randrange(3), {}
    kind = random.choice(["tensor", "axis", "blocks"])
    shape = [] if kind == "tensor" else [x.shape[axis]]
    spread = lambda v: v.reshape([-1 if i == axis else 1 for i in range(3)]) if v.ndim == 1 else v
    if kind == "axis":
        attributes["axis"] = axis if random.random() < 0.5 else axis - 3
    if kind == "blocks":
        axis, attributes = 2, {"axis": 2, "block_size": 2}
        shape, spread = [*x.shape[:2], x.shape[2] // 2], lambda v: np.repeat(v, 2, 2) if v.ndim else v
    scale = np.asarray(np.exp2(draw(random, shape, f32, -2, 2).round())).astype(scales)  # exact quotients, and ties
    zero = draw(random, shape, dtype, special=True) if random.random() < 0.7 else None
    if zero is None:
        dtype = np.uint8
    low, high = limits_of(dtype)
    offset = 0 if zero is None else spread(zero).astype(f64)
    x = np.asarray((x * 2).round() / 2).astype(scales)
    quantized = np.clip(np.rint(x.astype(f64) / spread(scale).astype(f64)) + offset, low, high).astype(dtype)
    if random.random() < 0.5:
        return made(random, f"QuantizeLinear_{number}", "QuantizeLinear", 21, [x, scale, zero], attributes, [quantized])
    back = ((quantized.astype(f64) - offset) * spread(scale).astype(f64)).astype(scales)
    return made(random, f"DequantizeLinear_{number}", "DequantizeLinear", 21, [quantized, scale, zero], attributes, [back],
                TOLERANCE[scales])


def dynamic_quantization(random, number):
    x = draw(random, draw_shape(random, 1, 3), f32, random.choice([-3, 1]), 5)
    if x.size == 0:
        return None
    return Case(f"DynamicQuantizeLinear_{number}", "DynamicQuantizeLinear", 11, [x], outputs=3)


def requantized(values, scale, zero):
    low, high = limits_of(zero.dtype)
    return np.clip(np.rint(values * scale) + int(zero), low, high).astype(zero.dtype)


def quantized_product(random, number):
    """Scales are powers of two, so that nothing is rounded but once. With one scale and zero point for all, or one for each
    row of the left factor and each column of the right one."""
    left, right, result = [random.choice([np.uint8, np.int8]) for _ in range(3)]
    opset, real = random.choice([(10, f32), (21, f32), (21, f16)])
    rows, inner, columns = [random.choice([1, 2, 5, 17]) for _ in range(3)]
    batch = draw_shape(random, 0, 2, 3)
    a, b = draw(random, [*batch, rows, inner], left, special=True), draw(random, [*batch, inner, columns], right, special=True)
    sides = [random.choice([[], [1], [rows], [*batch, rows, 1]]), random.choice([[], [1], [columns], [*batch, 1, columns]]),
             random.choice([[], [1]])]
    if 0 in batch:
        sides[0], sides[1] = [], []
    scales = [np.exp2(draw(random, shape, f32, -4, 1).round()) for shape in sides]
    scales[2] = scales[2] * 64
    az, bz, yz = [draw(random, shape, dtype, special=random.random() < 0.3)
                  for shape, dtype in zip(sides, (left, right, result))]
    of_rows = lambda v: v.astype(f64).reshape(-1, 1) if v.ndim == 1 else v.astype(f64)
    sums = np.matmul(a.astype(f64) - of_rows(az), b.astype(f64) - bz.astype(f64))
    inputs = [a, scales[0].astype(real), az, b, scales[1].astype(real), bz, scales[2].astype(real), yz]
    expected = requantized(sums, of_rows(scales[0]) * scales[1] / scales[2].reshape(()), yz.reshape(()))
    return made(random, f"QLinearMatMul_{number}", "QLinearMatMul", opset, inputs, {}, [expected])


def unpool(random, number):
    """What a pool of windows side by side gave, back at its places."""
    batch, channels, *sizes = [random.randint(1, 3) for _ in range(random.choice([3, 4]))]
    kernel = [random.randint(1, 3) for _ in sizes]
    lengths = [size * k for size, k in zip(sizes, kernel)]
    x, expected = draw(random, [batch, channels, *sizes], f32), np.zeros([batch, channels, *lengths], f32)
    places = np.zeros(x.shape, i64)
    for index in np.ndindex(x.shape):
        target = index[:2] + tuple(i * k + random.randrange(k) for i, k in zip(index[2:], kernel))
        expected[target], places[index] = x[index], np.ravel_multi_index(target, expected.shape)
    return Case(f"MaxUnpool_{number}", "MaxUnpool", 11, [x, places], {"kernel_shape": kernel, "strides": kernel}, (),
                [expected])


def determinant(random, number):
    x = draw(random, [*draw_shape(random, 0, 2), *[random.randint(1, 6)] * 2], random.choice([f32, f64]))
    return made(random, f"Det_{number}", "Det", 11, [x], {}, [np.asarray(np.linalg.det(x.astype(f64))).astype(x.dtype)], 1e-4)


def rotary(random, number):
    batch, heads, steps, size = random.randint(1, 2), random.randint(1, 3), random.randint(1, 5), 2 * random.randint(1, 5)
    x, turned = draw(random, [batch, heads, steps, size], f32), 2 * random.randint(1, size // 2)
    apart = random.randint(0, 1)
    angles = draw(random, [7, turned // 2], f32)
    places = draw(random, [batch, steps], i64, 0, 6) if random.random() < 0.6 else None
    tables = [np.cos(angles).astype(f32), np.sin(angles).astype(f32)]
    if places is None:
        tables = [np.stack([t[:steps]] * batch) for t in tables]
    cosine, sine = [(t if places is None else t[places])[:, None].astype(f64) for t in tables]
    first, second = (slice(0, turned, 2), slice(1, turned, 2)) if apart else (slice(0, turned // 2), slice(turned // 2, turned))
    expected = x.astype(f64)
    expected[..., first] = cosine * x[..., first] - sine * x[..., second]
    expected[..., second] = sine * x[..., first] + cosine * x[..., second]
    attributes = {"interleaved": apart, "rotary_embedding_dim": 0 if turned == size else turned}
    if random.random() < 0.4:
        attributes["num_heads"] = heads
        flat = lambda t: t.transpose(0, 2, 1, 3).reshape(batch, steps, -1)
        x, expected = flat(x), flat(expected)
    return made(random, f"RotaryEmbedding_{number}", "RotaryEmbedding", 23, [x, *tables, places], attributes,
                [expected.astype(f32)])


def signal_tables(random, number):
    op = random.choice(["HannWindow", "HammingWindow", "BlackmanWindow"])
    size, periodic = random.randint(2, 20), random.randint(0, 1)
    turns = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
    expected = {"HannWindow": 0.5 - 0.5 * np.cos(turns), "HammingWindow": 25 / 46 - 21 / 46 * np.cos(turns),
                "BlackmanWindow": 0.42 - 0.5 * np.cos(turns) + 0.08 * np.cos(2 * turns)}[op]
    dtype = random.choice([f32, f32, f16, f64])
    return made(random, f"{op}_{number}", op, 17, [np.asarray(size, random.choice([i32, i64]))],
                {"periodic": periodic, "output_datatype": helper.np_dtype_to_tensor_dtype(np.dtype(dtype))},
                [expected.astype(dtype)], TOLERANCE[dtype])


def mel_weights(random, number):
    """Triangles between places that lie evenly on the mel scale, rounded down to bins of the spectrum."""
    bands, length = random.randint(1, 12), random.choice([16, 31, 64, 256, 400])
    rate = random.choice([8000, 16000, 22050, 44100])
    edges = [random.choice([0.0, 20.0, 125.5]), random.choice([0.5, 0.4375, 0.3]) * rate]
    low, high = [2595 * np.log10(1 + f64(f32(edge)) / 700) for edge in edges]
    places = 700 * (10 ** ((low + (high - low) / (bands + 2) * np.arange(bands + 2)) / 2595) - 1) * (length + 1) / rate
    if np.any(np.abs(places - places.round()) < 1e-9, where=places > 0):  # rounding could go either way
        return None
    places, expected = np.floor(places).astype(int), np.zeros([length // 2 + 1, bands])
    for band, (first, middle, last) in enumerate(zip(places, places[1:], places[2:])):
        for place in range(first, last):
            expected[place, band] = (place - first) / (middle - first) if place < middle else \
                (last - place) / (last - middle)
        expected[middle, band] = 1
    dtype, whole = random.choice([f32, f64, f16]), random.choice([i32, i64])
    inputs = [np.asarray(v, whole) for v in (bands, length, rate)] + [np.asarray(edge, f32) for edge in edges]
    return made(random, f"MelWeightMatrix_{number}", "MelWeightMatrix", 17, inputs,
                {"output_datatype": helper.np_dtype_to_tensor_dtype(np.dtype(dtype))}, [expected.astype(dtype)], 1e-5)


def attention(random, number):
    batch, kv_heads, group = random.randint(1, 2), random.randint(1, 3), random.choice([1, 1, 2])
    heads, rows, columns, size, values = kv_heads * group, *[random.randint(1, 6) for _ in range(4)]
    q, k, v = [draw(random, shape, f32, -1, 1) for shape in ([batch, heads, rows, size], [batch, kv_heads, columns, size],
                                                            [batch, kv_heads, columns, values])]
    attributes, scale = {}, 1 / np.sqrt(size)
    if random.random() < 0.4:
        scale = attributes["scale"] = 0.75
    scores = scale * q.astype(f64) @ np.repeat(k, group, 1).astype(f64).transpose(0, 1, 3, 2)
    mask = None
    if random.random() < 0.6:
        mask = draw(random, partner(random, [batch, heads, rows, columns])[-4:], random.choice([f32, np.bool_]), -1, 1)
        if mask.ndim < 2 or mask.shape[-1] != columns:  # a shorter mask hides what it does not reach
            mask = draw(random, [rows, columns], f32, -1, 1)
        if mask.dtype == np.bool_:
            mask[..., 0] = True
    if random.random() < 0.4:
        attributes["is_causal"] = 1
        scores = np.where(np.tril(np.ones((rows, columns), bool)), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ np.repeat(v, group, 1).astype(f64)
    if random.random() < 0.4:  # three axes
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
        flat = lambda t: t.transpose(0, 2, 1, 3).reshape(batch, t.shape[2], -1)
        q, k, v, expected = flat(q), flat(k), flat(v), flat(expected)
    return made(random, f"Attention_{number}", "Attention", 23, [q, k, v, mask], attributes, [expected.astype(f32)])


MAKERS = [convolution, convolution, transposed, transposed, pool, pool, whole_pool, product, product, general_product,
          integer_product, normalization, normalization, quantization, quantization, dynamic_quantization, quantized_product,
          unpool, determinant, rotary, signal_tables, mel_weights, attention, attention]


def cases(random, count):
    return some_of(MAKERS, 2, random, count)
