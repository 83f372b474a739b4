"""The whole grid of Resize, by its document in exact fractions: what ONNX Runtime and the reference evaluator compute in
float32 falls on other sides of ties, and neither has every cell."""
from fractions import Fraction
from math import ceil, floor

import numpy as np
from check_operators import Case

f32, i64 = np.float32, np.int64
half = Fraction(1, 2)

COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
               "tf_crop_and_resize"]
NEAREST = {"round_prefer_floor": lambda x: ceil(x - half), "round_prefer_ceil": lambda x: floor(x + half), "floor": floor,
           "ceil": ceil}


def coordinate(mode, place, scale, size, results, region):
    """Where a result lies among `size` elements; `scale` times `size` is its length before rounding down."""
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and results > 1):
        return (place + half) / scale - half
    if mode == "half_pixel_symmetric":
        adjustment = Fraction(results) / (scale * size)
        return Fraction(size, 2) * (1 - adjustment) + (place + half) / scale - half
    if mode == "align_corners":
        return Fraction(place) * (size - 1) / (scale * size - 1) if scale * size != 1 else Fraction(0)
    if mode == "asymmetric":
        return Fraction(place) / scale
    if mode == "tf_crop_and_resize":
        begin, end = region
        if results > 1:
            return begin * (size - 1) + Fraction(place) * (end - begin) * (size - 1) / (scale * size - 1)
        return half * (begin + end) * (size - 1)
    return Fraction(0)


def cubic(distance, a):
    x = abs(distance)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def row_of(at, scale, size, attributes):
    """The weights of an axis' elements for the result at this coordinate."""
    row, mode = [Fraction(0)] * size, attributes["mode"]
    if mode == "nearest":
        row[min(max(NEAREST[attributes["nearest_mode"]](at), 0), size - 1)] = Fraction(1)
        return row
    stretch = min(scale, Fraction(1)) if attributes.get("antialias") else Fraction(1)
    reach = (1 if mode == "linear" else 2) / stretch
    a = Fraction(attributes.get("cubic_coeff_a", -0.75))
    taps = range(floor(at - reach), ceil(at + reach) + 1)
    weigh = (lambda d: max(1 - abs(d), 0)) if mode == "linear" else (lambda d: cubic(d, a))
    weights = [weigh((tap - at) * stretch) for tap in taps]
    if attributes.get("exclude_outside"):
        weights = [weight if 0 <= tap < size else 0 for tap, weight in zip(taps, weights)]
    for tap, weight in zip(taps, weights):
        row[min(max(tap, 0), size - 1)] += Fraction(weight) / Fraction(sum(weights) or 1)
    return row


def resized(x, axes, scales, lengths, regions, attributes):
    mode, result, outside = attributes["coordinate_transformation_mode"], x.astype(np.float64), np.zeros(x.shape, bool)
    for axis, scale, length, region in zip(axes, scales, lengths, regions):
        size = x.shape[axis]
        places = [coordinate(mode, place, scale, size, length, region) for place in range(length)]
        matrix = np.asarray([row_of(at, scale, size, attributes) for at in places]).astype(np.float64)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
        beyond = np.asarray([mode == "tf_crop_and_resize" and not 0 <= at <= size - 1 for at in places])
        outside = np.take(outside, [0] * length, axis) | beyond.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.where(outside, attributes.get("extrapolation_value", 0), result).astype(x.dtype)


def kinds():
    for nearest in NEAREST:
        yield {"mode": "nearest", "nearest_mode": nearest}
    for antialias in (0, 1):
        for excluded in (0, 1):
            yield {"mode": "linear", "antialias": antialias, "exclude_outside": excluded}
            yield {"mode": "cubic", "antialias": antialias, "exclude_outside": excluded, "cubic_coeff_a": -0.5}


# From one element, to one, up, down, and as it was.
SIZES = {(1, 3), (4, 1), (5, 8), (7, 3), (3, 3)}
SCALES = {(1, Fraction(3)), (4, Fraction(1, 4)), (5, Fraction(8, 5)), (7, Fraction(1, 2)), (3, Fraction(1))}


def draw(random, name, coordinates, attributes, by_scales, opset=19):
    attributes = {"coordinate_transformation_mode": coordinates, **attributes}
    axes = random.sample(sorted(SCALES if by_scales else SIZES), random.choice([2, 3, 5]))
    shape = [size for size, _ in axes]
    lengths = [floor(size * to) if by_scales else to for size, to in axes]
    scales = [Fraction(to) if by_scales else Fraction(to, size) for size, to in axes]
    regions, region_input, numbers = [(Fraction(0), Fraction(1))] * len(axes), None, list(range(len(axes)))
    if coordinates == "tf_crop_and_resize":
        regions = [(Fraction(random.randint(-2, 4), 8), Fraction(random.randint(4, 10), 8)) for _ in axes]
        attributes["extrapolation_value"] = 7.5
        region_input = np.asarray([float(edge) for side in (0, 1) for edge in [r[side] for r in regions]], f32)
    if opset >= 18 and random.random() < 0.5:  # the axes in some order, among others
        order = random.sample(numbers, len(numbers))
        shape, numbers = [2] + [shape[i] for i in order], [1 + order.index(i) for i in numbers]
        attributes["axes"] = [n if random.random() < 0.5 else n - len(shape) for n in numbers]
    x = np.random.Generator(np.random.PCG64(random.getrandbits(32))).integers(-9, 9, shape).astype(f32)
    expected = resized(x, numbers, scales, lengths, regions, attributes)
    given = [x, region_input, np.asarray([float(s) for s in scales], f32), None]
    if not by_scales:
        given[2:] = [None, np.asarray(lengths, i64)]
    constants = random.choice([(), tuple(i for i in (1, 2, 3) if given[i] is not None)])
    return Case(name, "Resize", opset, given, attributes, constants, [expected])


def aspect(random, number):
    """Sizes that keep the aspect ratio: one scale for all axes, and lengths rounded half up."""
    policy, coordinates = random.choice(["not_larger", "not_smaller"]), random.choice(COORDINATES[:5])
    shape, asked = [random.randint(1, 9) for _ in range(2)], [random.randint(1, 9) for _ in range(2)]
    scale = (min if policy == "not_larger" else max)(Fraction(to, size) for to, size in zip(asked, shape))
    lengths = [floor(scale * size + half) for size in shape]
    attributes = {"coordinate_transformation_mode": coordinates, "keep_aspect_ratio_policy": policy, "axes": [2, 1],
                  **random.choice(list(kinds()))}
    if min(lengths) == 0:
        return None
    x = np.random.Generator(np.random.PCG64(random.getrandbits(32))).integers(-9, 9, [2, *shape[::-1]]).astype(f32)
    expected = resized(x, [2, 1], [scale] * 2, lengths, [None] * 2, attributes)
    return Case(f"aspect_{number}", "Resize", 19, [x, None, None, np.asarray(asked, i64)], attributes, (3,), [expected])


def cases(random, count):
    for coordinates in COORDINATES:
        for number, attributes in enumerate(kinds()):
            for by_scales in (False, True):
                name = f"grid_{coordinates}_{number}_{'scales' if by_scales else 'sizes'}"
                yield draw(random, name, coordinates, attributes, by_scales)
    for number in range(count):
        case = aspect(random, number)
        if case is not None:
            yield case
