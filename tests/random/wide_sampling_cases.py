"""Resize and GridSample of float64 and of integers, which ONNX Runtime has for few types or not at all, by their documents in
float64. Integers are cut off like by a cast, but for what rounding took from them."""
from fractions import Fraction
from itertools import product

import numpy as np
from check_operators import Case
from resize_cases import COORDINATES, cubic, kinds, resized

f32, f64, i64 = np.float32, np.float64, np.int64


def cut(numbers, dtype):
    if dtype.kind == "f":
        return numbers.astype(dtype)
    if dtype.kind == "b":
        return numbers != 0
    limits = np.iinfo(dtype)
    nudged = np.trunc(numbers + np.sign(numbers) / 8192)
    return np.clip([int(x) for x in nudged.ravel()], limits.min, limits.max).astype(dtype).reshape(numbers.shape)


def values(random, shape, dtype):
    """Numbers of up to 36 bits, so that float64 holds their products with weights."""
    generator = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
    if dtype.kind == "f":
        return generator.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(max(int(limits.min), -2**36), min(int(limits.max), 2**36), shape, i64).astype(dtype)


def reflect(x, low, high):
    if high <= low:
        return low
    turn = (x - low) % (2 * (high - low))
    return low + min(turn, 2 * (high - low) - turn)


def taps(mode, padding, aligned, at, size):
    """The elements along an axis and their weights, for a coordinate in elements."""
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    if mode == "nearest":
        at = np.rint(at)
    if padding == "border":
        at = min(max(at, -3.0), size + 2.0)
    if padding == "reflection":
        at = reflect(at, low, high)
    if mode == "nearest":
        places, weights = [int(np.rint(at))], [1.0]
    else:
        before = 0 if mode == "linear" else 1
        places = [int(np.floor(at)) + i for i in range(-before, before + 2)]
        weights = [max(0.0, 1 - abs(at - p)) if mode == "linear" else cubic(at - p, -0.75) for p in places]
    for place, weight in zip(places, weights):
        if padding == "reflection":
            place = int(np.rint(reflect(place, low, high)))
        if padding != "zeros":
            place = min(max(place, 0), size - 1)
        if 0 <= place < size:
            yield place, weight


def sampled(x, grid, mode, padding, aligned):
    batch, channels, *sizes = x.shape
    result = np.zeros([batch, channels, *grid.shape[1:-1]], f64)
    for n in range(batch):
        for at in np.ndindex(*grid.shape[1:-1]):
            coordinates = grid[(n, *at)].astype(f64)[::-1]
            elements = [(c + 1) / 2 * (s - 1) if aligned else ((c + 1) * s - 1) / 2 for c, s in zip(coordinates, sizes)]
            axes = [list(taps(mode, padding, aligned, c, s)) for c, s in zip(elements, sizes)]
            for chosen in product(*axes):
                weight = np.prod([w for _, w in chosen])
                result[(n, slice(None), *at)] += weight * x[(n, slice(None), *[p for p, _ in chosen])].astype(f64)
    return cut(result, x.dtype)


TYPES = [np.dtype(t) for t in (f64, f64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, i64, np.uint64, bool)]


def grid_sample(random, number):
    dtype = random.choice(TYPES)
    axes = random.choice([1, 2, 2, 3])
    mode, padding = random.choice(["linear", "cubic"]), random.choice(["zeros", "border", "reflection"])
    aligned = random.randint(0, 1)
    shape = [random.randint(1, 2), random.randint(1, 2)] + [random.randint(2, 5) for _ in range(axes)]
    grid_type = random.choice([f32, f64]) if dtype == f64 else f32
    grid = values(random, [shape[0]] + [random.randint(1, 4) for _ in range(axes)] + [axes], np.dtype(grid_type))
    x = values(random, shape, dtype)
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    return Case(f"wide_grid_{number}_{dtype.name}", "GridSample", 20, [x, grid], attributes, (),
                [sampled(x, grid, mode, padding, aligned)], 1e-12 if dtype == f64 else 1e-9)


def resize(random, number):
    dtype = random.choice(TYPES)
    coordinates = random.choice(COORDINATES)
    attributes = {**random.choice([kind for kind in kinds() if kind["mode"] != "nearest"]),
                  "coordinate_transformation_mode": coordinates}
    axes, shape = random.sample([1, 2, 3], 2), [2, random.randint(2, 7), random.randint(2, 7), random.randint(2, 7)]
    lengths = [random.randint(1, 9) for _ in axes]
    regions, region = [(Fraction(0), Fraction(1))] * 2, None
    if coordinates == "tf_crop_and_resize":
        attributes["extrapolation_value"] = 7.0
        # A double has more digits than float32, which is what regions of other data are taken in.
        step = 1 / 7 if dtype == f64 else 1 / 8
        regions = [(Fraction(random.randint(-2, 4) * step), Fraction(random.randint(4, 10) * step)) for _ in axes]
        region = np.asarray([float(r[side]) for side in (0, 1) for r in regions], f64)
    x = values(random, shape, dtype)
    scales = [Fraction(to, shape[axis]) for axis, to in zip(axes, lengths)]
    wide = resized(x.astype(f64), axes, scales, lengths, regions, attributes)
    attributes["axes"] = axes
    constants = random.choice([(), tuple(i for i in (1, 3) if i == 3 or region is not None)])
    return Case(f"wide_resize_{number}_{dtype.name}", "Resize", 19, [x, region, None, np.asarray(lengths, i64)], attributes,
                constants, [cut(wide, dtype)], 1e-12 if dtype == f64 else 1e-9)


def cases(random, count):
    for number in range(count):
        yield (grid_sample if number % 2 else resize)(random, number)
