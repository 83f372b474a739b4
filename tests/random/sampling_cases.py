"""Random Resize, Upsample, GridSample, RoiAlign and others on places in images."""
import numpy as np
from check_operators import Case

f32, i64 = np.float32, np.int64


def values(random, shape, dtype=f32):
    generator = np.random.Generator(np.random.PCG64(random.randrange(2**32)))
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 100, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def resize(random, number):
    """What ONNX Runtime computes alike: up to two axes, rank 4 for cubic, whole lengths where corners are aligned."""
    mode = random.choice(["nearest", "linear", "cubic"])
    shape = [random.randint(1, 3), random.randint(1, 3), random.randint(2, 9), random.randint(2, 9)]
    coordinates = random.choice(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = random.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        attributes["cubic_coeff_a"] = random.choice([-0.75, -0.5])
        attributes["exclude_outside"] = random.randint(0, 1)
    opset = random.choice([11, 13, 18, 19])
    if opset >= 18 and mode != "nearest" and coordinates in ("half_pixel", "pytorch_half_pixel"):
        attributes["antialias"] = random.randint(0, 1)
    x = values(random, shape)
    if random.random() < 0.5 or coordinates == "align_corners":
        # Half-integers are where float32 may round a tie away; primes keep clear of them.
        sizes = shape[:2] + [random.choice([3, 5, 7, 11, 13]), random.choice([3, 5, 7, 11, 13])]
        return Case(f"resize_{number}", "Resize", opset,
                    [x, np.zeros(0, f32), np.zeros(0, f32) if opset < 13 else None, np.asarray(sizes, i64)], attributes,
                    (1, 2, 3), tolerance=1e-5)
    scales = [1, 1, random.choice([0.5, 1.5, 2, 3, 1.25]), random.choice([0.5, 1.5, 2, 3, 0.75])]
    return Case(f"resize_{number}", "Resize", opset, [x, np.zeros(0, f32), np.asarray(scales, f32)], attributes, (1, 2),
                tolerance=1e-5)


def resize_linear_1d_or_3d(random, number):
    """Linear over one axis or three, and nearest over any."""
    mode = random.choice(["nearest", "linear"])
    rank = random.choice([1, 3, 5]) if mode == "linear" else random.randint(1, 5)
    shape = [random.randint(1, 5) for _ in range(rank)]
    sizes = [random.choice([3, 5, 7, 11]) for _ in range(rank)]
    if mode == "linear" and rank >= 3:
        sizes[:2] = shape[:2]
    return Case(f"resize_rank_{number}", "Resize", 13, [values(random, shape), None, None, np.asarray(sizes, i64)],
                {"mode": mode, "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}, (3,))


def crop(random, number):
    # ONNX Runtime ignores the region of an axis that keeps its size.
    shape = [1, 2, random.randint(2, 9), random.randint(2, 9)]
    sizes = [random.choice([size for size in range(1, 10) if size != extent]) for extent in shape[2:]]
    starts, ends = [random.uniform(-0.2, 0.6) for _ in range(2)], [random.uniform(0.4, 1.2) for _ in range(2)]
    region = np.asarray([0, 0, *starts, 1, 1, *ends], f32)
    return Case(f"crop_{number}", "Resize", 13, [values(random, shape), region, None, np.asarray([*shape[:2], *sizes], i64)],
                {"mode": random.choice(["linear", "nearest"]), "coordinate_transformation_mode": "tf_crop_and_resize",
                 "extrapolation_value": 7.5}, (3,) if random.random() < 0.5 else (1, 3))


def upsample(random, number):
    opset = random.choice([7, 9])
    mode = random.choice(["nearest", "linear"])
    scales = [1.0, 1.0, random.choice([1.0, 2.0, 1.5]), random.choice([2.0, 3.0, 1.25])]
    x = values(random, [1, 2, random.randint(2, 6), random.randint(2, 6)])
    if opset == 7:
        return Case(f"upsample_{number}", "Upsample", 7, [x], {"mode": mode, "scales": scales})
    return Case(f"upsample_{number}", "Upsample", 9, [x, np.asarray(scales, f32)], {"mode": mode}, (1,))


def old_resize(random, number):
    scales = [1.0, 1.0, random.choice([0.5, 0.6, 2.0]), random.choice([0.5, 1.5, 0.8])]
    x = values(random, [1, 2, random.randint(4, 9), random.randint(4, 9)])
    return Case(f"old_resize_{number}", "Resize", 10, [x, np.asarray(scales, f32)],
                {"mode": random.choice(["nearest", "linear"])}, (1,))


def grid_sample(random, number):
    opset = random.choice([16, 20])
    axes = 3 if opset == 20 and random.random() < 0.4 else 2
    modes = ["bilinear", "nearest", "bicubic"] if opset == 16 else ["linear", "nearest", "cubic"][:5 - axes]
    shape = [random.randint(1, 2), random.randint(1, 3)] + [random.randint(1, 6) for _ in range(axes)]
    grid = values(random, [shape[0]] + [random.randint(1, 5) for _ in range(axes)] + [axes]) * f32(1.3)
    attributes = {"mode": random.choice(modes), "padding_mode": random.choice(["zeros", "border", "reflection"]),
                  "align_corners": random.randint(0, 1)}
    if attributes["align_corners"] and 1 in shape[2:]:
        attributes["align_corners"] = 0
    return Case(f"grid_{number}", "GridSample", opset, [values(random, shape), grid], attributes)


def roi_align(random, number):
    opset = random.choice([10, 16])
    count = random.randint(1, 5)
    corners = np.sort(values(random, [count, 2, 2]) * f32(8), axis=1).reshape(count, 4)
    attributes = {"mode": random.choice(["avg", "max"]), "output_height": random.randint(1, 4),
                  "output_width": random.randint(1, 4), "sampling_ratio": random.randint(0, 3),
                  "spatial_scale": random.choice([1.0, 0.5, 0.25])}
    if opset == 16:
        attributes["coordinate_transformation_mode"] = random.choice(["half_pixel", "output_half_pixel"])
    images = np.asarray([random.randint(0, 1) for _ in range(count)], i64)
    image = values(random, [2, 3, 9, 11])
    if random.random() < 0.3:
        return Case(f"roi_align_{number}", "RoiAlign", opset, [image.astype(np.float64), corners.astype(np.float64), images],
                    attributes, tolerance=1e-9)
    return Case(f"roi_align_{number}", "RoiAlign", opset, [image, corners, images], attributes)


def max_roi_pool(random, number):
    count = random.randint(1, 5)
    corners = np.sort(np.abs(values(random, [count, 2, 2])) * f32(8), axis=1).reshape(count, 4)
    images = np.asarray([[random.randint(0, 1)] for _ in range(count)], f32)
    return Case(f"max_roi_pool_{number}", "MaxRoiPool", 13,
                [values(random, [2, 3, 9, 11]), np.concatenate([images, corners], axis=1)],
                {"pooled_shape": [random.randint(1, 4), random.randint(1, 4)], "spatial_scale": random.choice([1.0, 0.5])})


def pad(random, number):
    mode = random.choice(["constant", "reflect", "edge", "wrap"])
    shape = [random.randint(3, 6) for _ in range(random.randint(1, 4))]
    pads = [random.randint(0, 2) for _ in range(2 * len(shape))]
    inputs = [values(random, shape), np.asarray(pads, i64)]
    if mode == "constant":
        inputs.append(np.asarray(random.uniform(-2, 2), f32))
    return Case(f"pad_{number}", "Pad", 19, inputs, {"mode": mode}, (1,))


def center_crop_pad(random, number):
    shape = [random.randint(1, 8) for _ in range(3)]
    return Case(f"center_{number}", "CenterCropPad", 18,
                [values(random, shape), np.asarray([random.randint(1, 8) for _ in range(2)], i64)],
                {"axes": random.choice([[0, 2], [-1, 0], [1, 2]])}, (1,))


def col2im(random, number):
    block, image = [random.randint(1, 3), random.randint(1, 3)], [random.randint(5, 8), random.randint(5, 8)]
    strides, pads = [random.randint(1, 2), random.randint(1, 2)], [random.randint(0, 1) for _ in range(4)]
    dilations = [random.randint(1, 2), random.randint(1, 2)]
    counts = [(image[i] + pads[i] + pads[i + 2] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    x = values(random, [2, 2 * block[0] * block[1], counts[0] * counts[1]])
    return Case(f"col2im_{number}", "Col2Im", 18, [x, np.asarray(image, i64), np.asarray(block, i64)],
                {"strides": strides, "pads": pads, "dilations": dilations}, (1, 2))


def cases(random, count):
    makers = [resize, resize, resize, resize_linear_1d_or_3d, crop, upsample, old_resize, grid_sample, grid_sample, roi_align,
              max_roi_pool, pad, center_crop_pad, col2im]
    for number in range(count):
        yield makers[number % len(makers)](random, number)
