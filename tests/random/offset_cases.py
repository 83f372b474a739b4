"""Convolutions that read where offsets say, and of quantized numbers; grids of affine matrices; NumPy computes what the
documents say, place by place."""
import functools

import numpy as np
from check_operators import Case
from network_cases import limits_of, pool_places, requantized, window
from pointwise_cases import TOLERANCE, draw, made, some_of

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
BYTES = [np.uint8, np.int8]


def sums_of(x, w, attributes):
    """A convolution of integers; what is outside is zero."""
    axes, kernel, group = x.ndim - 2, w.shape[2:], attributes["group"]
    of = lambda name, value: attributes.get(name, [value] * axes)
    pads = attributes.get("pads", [0] * 2 * axes)
    along = [pool_places(x.shape[2 + i], kernel[i], of("strides", 1)[i], of("dilations", 1)[i], pads[i], pads[axes + i],
                         attributes.get("auto_pad", "NOTSET"), 0) for i in range(axes)]
    results, channels = w.shape[0] // group, w.shape[1]
    sums = np.zeros([x.shape[0], w.shape[0], *map(len, along)], i64)
    for place in np.ndindex(sums.shape[2:]):
        parts = [along[i][at] for i, at in enumerate(place)]
        there = np.ix_(*[np.clip(p, 0, x.shape[2 + i] - 1) for i, (p, _, _) in enumerate(parts)])
        inside = np.ix_(*[data.astype(i64) for _, data, _ in parts])
        patch = x[(slice(None), slice(None), *there)] * functools.reduce(np.multiply, inside)
        for g in range(group):
            out = slice(g * results, (g + 1) * results)
            sums[(slice(None), out, *place)] = np.tensordot(patch[:, g * channels:(g + 1) * channels], w[out],
                                                            (range(1, axes + 2), range(1, axes + 2)))
    return sums


def of_channels(values, rank):
    return values.astype(f64).reshape(-1, *[1] * (rank - 2)) if values.ndim else values.astype(f64)


def quantized_operands(random):
    axes, group = random.choice([1, 2, 2, 3]), random.choice([1, 1, 2, 3])
    sizes = [random.randint(3, 6) for _ in range(axes)]
    attributes = window(random, axes, sizes) | {"group": group}
    kernel = attributes["kernel_shape"]
    if random.random() < 0.3:
        del attributes["kernel_shape"]
    x = draw(random, [random.randint(1, 2), group * random.randint(1, 3), *sizes], random.choice(BYTES), special=True)
    w = draw(random, [group * random.randint(1, 3), x.shape[1] // group, *kernel], random.choice(BYTES), special=True)
    return x, w, attributes


def limit_or_any(random, shape, dtype):
    if random.random() < 0.3:
        return np.full(shape, random.choice(limits_of(dtype)), dtype)
    return draw(random, shape, dtype, special=True)


def integer_convolution(random, number):
    x, w, attributes = quantized_operands(random)
    zero = limit_or_any(random, random.choice([[], [1]]), x.dtype.type) if random.random() < 0.7 else None
    weight_zero = limit_or_any(random, random.choice([[], [1], [w.shape[0]]]), w.dtype.type) if random.random() < 0.7 else None
    wide = w.astype(i64)
    if weight_zero is not None:
        wide = wide - weight_zero.astype(i64).reshape(-1, *[1] * (w.ndim - 1))
    sums = sums_of(x.astype(i64) - (0 if zero is None else int(zero.reshape(()))), wide, attributes)
    return made(random, f"ConvInteger_{number}", "ConvInteger", 10, [x, w, zero, weight_zero], attributes,
                [sums.astype(i32)])


def quantized_convolution(random, number):
    """Scales are powers of two, so that nothing is rounded but once."""
    x, w, attributes = quantized_operands(random)
    results, scalar, result = w.shape[0], random.choice([[], [1]]), x.dtype.type
    zero = limit_or_any(random, scalar, x.dtype.type)
    by_channel = [results] if random.random() < 0.5 else scalar
    weight_zero = limit_or_any(random, by_channel, w.dtype.type) if random.random() < 0.5 else np.zeros(by_channel, w.dtype)
    result_zero = limit_or_any(random, scalar, result)
    scales = [np.exp2(draw(random, shape, f32, -4, 1).round()).astype(f32) for shape in (scalar, by_channel, scalar)]
    scales[2] = np.asarray(scales[2] * f32(2.0**random.randint(2, 9)))
    bias = draw(random, [results], i32, -2**14, 2**14) if random.random() < 0.5 else None
    sums = sums_of(x.astype(i64) - int(zero.reshape(())),
                   w.astype(i64) - weight_zero.astype(i64).reshape(-1, *[1] * (w.ndim - 1)), attributes)
    if bias is not None:
        sums = sums + bias.astype(i64).reshape(-1, *[1] * (w.ndim - 2))
    factor = scales[0].reshape(()).astype(f64) * of_channels(scales[1], w.ndim) / scales[2].reshape(()).astype(f64)
    return made(random, f"QLinearConv_{number}", "QLinearConv", 10,
                [x, scales[0], zero, w, scales[1], weight_zero, scales[2], result_zero, bias], attributes,
                [requantized(sums, factor, result_zero.reshape(()))])


def sampled(image, place):
    """One value between its neighbours; those outside are zero."""
    low = np.floor(place).astype(i64)
    value = 0.0
    for corner in np.ndindex(*[2] * len(place)):
        at = low + corner
        if all(0 <= a < size for a, size in zip(at, image.shape)):
            value += image[tuple(at)] * np.prod(1 - np.abs(place - at))
    return value


def deformed(random, number):
    axes, group, offset_groups = random.choice([1, 2, 2, 2, 3]), random.choice([1, 1, 2]), random.choice([1, 1, 2, 3])
    channels = group * offset_groups * random.randint(1, 2)
    sizes = [random.randint(2, 5 if axes < 3 else 3) for _ in range(axes)]
    kernel = [random.randint(1, min(size, 3 if axes < 3 else 2)) for size in sizes]
    strides, dilations = [random.randint(1, 2) for _ in sizes], [random.randint(1, 2) for _ in sizes]
    pads = [random.randint(0, 2) for _ in range(2 * axes)]
    lengths = [(size + pads[i] + pads[axes + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
               for i, size in enumerate(sizes)]
    if min(lengths) < 1:
        return None
    dtype, batch, results = random.choice([f32, f32, f16, f64]), random.randint(1, 2), group * random.randint(1, 3)
    count = int(np.prod(kernel))
    x, w = draw(random, [batch, channels, *sizes], dtype), draw(random, [results, channels // group, *kernel], dtype)
    offset = draw(random, [batch, offset_groups * count * axes, *lengths], dtype, *random.choice([(-1, 1), (-3, 3), (0, 0)]))
    offset = np.asarray((offset * 4).round() / 4, dtype)
    offset.reshape(-1)[0] = random.choice([0, -100, 100])
    bias = draw(random, [results], dtype) if random.random() < 0.5 else None
    mask = draw(random, [batch, offset_groups * count, *lengths], dtype, 0, 1) if random.random() < 0.5 else None
    expected, of_group = np.zeros([batch, results, *lengths]), channels // group
    for n, c, tap, *place in np.ndindex(batch, channels, count, *lengths):
        first, at = c // (channels // offset_groups) * count + tap, (n, slice(None), *place)
        spot = np.unravel_index(tap, kernel)
        moved = [place[i] * strides[i] - pads[i] + spot[i] * dilations[i] + f64(offset[at][first * axes + i])
                 for i in range(axes)]
        value = sampled(x[n, c].astype(f64), np.asarray(moved)) * (1 if mask is None else f64(mask[at][first]))
        g = c // of_group
        out = slice(g * results // group, (g + 1) * results // group)
        expected[(n, out, *place)] += w[(out, c - g * of_group, *spot)].astype(f64) * value
    if bias is not None:
        expected += bias.astype(f64).reshape(-1, *[1] * axes)
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "group": group, "offset_group": offset_groups}
    if random.random() < 0.5:
        attributes["kernel_shape"] = kernel
    return made(random, f"DeformConv_{number}", "DeformConv", random.choice([19, 22]), [x, w, offset, bias, mask], attributes,
                [expected.astype(dtype)], TOLERANCE[dtype] * 2)


def affine_grid(random, number):
    axes, dtype, corners = random.choice([2, 2, 3]), random.choice([f32, f32, f16, f64]), random.randint(0, 1)
    batch, sizes = random.randint(1, 3), [random.randint(1, 6) for _ in range(axes)]
    if random.random() < 0.1:
        sizes[0] = 0
    theta = draw(random, [batch, axes, axes + 1], dtype, -2, 2)
    along = [np.zeros(1) if corners and size == 1 else
             -1 + 2 * np.arange(size) / (size - 1) if corners else -1 + (2 * np.arange(size) + 1) / size for size in sizes]
    places = np.stack([*np.meshgrid(*along, indexing="ij")[::-1], np.ones(sizes)], -1)
    expected = np.einsum("nij,...j->n...i", theta.astype(f64), places)
    return made(random, f"AffineGrid_{number}", "AffineGrid", 20, [theta, np.asarray([batch, 3, *sizes], i64)],
                {"align_corners": corners}, [expected.astype(dtype)])


MAKERS = [integer_convolution, quantized_convolution, quantized_convolution, deformed, deformed, affine_grid]


def cases(random, count):
    return some_of(MAKERS, 1, random, count // 4)
