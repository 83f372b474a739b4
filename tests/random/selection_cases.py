"""Orders, selections, scatters, losses and what follows from positions."""
import numpy as np
from check_operators import Case

f32, f64, f16, i32, i64 = np.float32, np.float64, np.float16, np.int32, np.int64


def shape_of(random, low=1, high=4, most=7, least=1):
    return [random.randint(least, most) for _ in range(random.randint(low, high))]


def array_of(random, shape, dtype, low=-5, high=5):
    generator = np.random.Generator(np.random.PCG64(random.randrange(1 << 30)))
    if np.issubdtype(dtype, np.floating):
        # Halves of few numbers: ties are common and sums exact.
        return np.asarray(generator.integers(2 * low, 2 * high, size=shape, endpoint=True) / 2).astype(dtype)
    if np.issubdtype(dtype, np.unsignedinteger):
        low = 0
    return np.asarray(generator.integers(low, high, size=shape, endpoint=True)).astype(dtype)


def top_k(random, number):
    dtype = random.choice([f32, f64, f16, i32, i64, np.int8, np.uint8, np.uint64])
    x = array_of(random, shape_of(random, most=random.choice([5, 70])), dtype)
    axis, largest = random.randrange(-x.ndim, x.ndim), random.randint(0, 1)
    k = random.randint(0, x.shape[axis])
    keys = -x.astype(f64) if largest else x.astype(f64)
    places = np.take(np.argsort(keys, axis=axis, kind="stable"), np.arange(k), axis=axis)
    return Case(f"top_k_{number}", "TopK", 11, [x, np.asarray([k], i64)],
                {"axis": axis, "largest": largest, "sorted": 1}, random.choice([(), (1,)]),
                [np.take_along_axis(x, places, axis), places.astype(i64)])


def running_sum(random, number):
    x = array_of(random, shape_of(random, most=random.choice([5, 80])), random.choice([f32, f64, i32, i64]))
    axis = random.randrange(-x.ndim, x.ndim)
    return Case(f"cumsum_{number}", "CumSum", 14, [x, np.asarray(axis, random.choice([i32, i64]))],
                {"exclusive": random.randint(0, 1), "reverse": random.randint(0, 1)}, random.choice([(), (1,)]))


def triangle(random, number):
    x = array_of(random, shape_of(random, 2, 4), random.choice([f32, f64, i64, np.bool_]))
    k = np.asarray(random.randint(-6, 6), i64)
    return Case(f"trilu_{number}", "Trilu", 14, [x, random.choice([None, k])], {"upper": random.randint(0, 1)},
                random.choice([(), (1,)]))


def one_hot(random, number):
    indices = array_of(random, shape_of(random, 0, 3), random.choice([i64, i32, f32]), -9, 9)
    depth = np.asarray(random.choice([[6], 6]), random.choice([i64, i32, f32]))
    values, axis = array_of(random, [2], random.choice([f32, i64, i32])), random.randint(-1 - indices.ndim, indices.ndim)
    whole = indices.astype(i64)
    places = np.expand_dims(np.where(whole < 0, whole + 6, whole), axis)
    along = np.arange(6).reshape([6 if i == axis % (indices.ndim + 1) else 1 for i in range(indices.ndim + 1)])
    return Case(f"one_hot_{number}", "OneHot", 11, [indices, depth, values], {"axis": axis}, random.choice([(), (1, 2)]),
                [np.where(places == along, values[1], values[0])])


def scatter_elements(random, number):
    dtype = random.choice([f32, f64, i32, i64, np.uint8, f16])
    data = array_of(random, shape_of(random, 1, 3), dtype)
    axis, reduction = random.randrange(data.ndim), random.choice(["none", "add", "mul", "max", "min"])
    shape = [random.randint(1, size) for size in data.shape]
    extent = data.shape[axis]
    indices = array_of(random, shape, i64, -extent, extent - 1)
    updates, expected = array_of(random, shape, dtype, -2, 2), data.copy()
    join = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    for place in np.ndindex(*shape):
        target = list(place)
        target[axis] = indices[place]
        expected[tuple(target)] = join(expected[tuple(target)], updates[place])
    if reduction == "none" and random.random() < 0.5:  # the name of opset 9
        return Case(f"scatter_{number}", "Scatter", 9, [data, indices, updates], {"axis": axis}, (), [expected])
    return Case(f"scatter_elements_{number}", "ScatterElements", 18, [data, indices, updates],
                {"axis": axis, "reduction": reduction}, (), [expected], 1e-3 if dtype == f16 else 1e-5)


def scatter_nd(random, number):
    dtype = random.choice([f32, f64, i32, i64])
    data, reduction = array_of(random, shape_of(random, 1, 3), dtype), random.choice(["none", "add", "mul", "max", "min"])
    length, tuples = random.randint(1, data.ndim), random.randint(0, 9)
    indices = np.stack([array_of(random, [tuples], i64, -size, size - 1) for size in data.shape[:length]], axis=-1)
    updates, expected = array_of(random, [tuples, *data.shape[length:]], dtype, -2, 2), data.copy()
    join = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    for i in range(tuples):
        expected[tuple(indices[i])] = join(expected[tuple(indices[i])], updates[i])
    return Case(f"scatter_nd_{number}", "ScatterND", 18, [data, indices, updates], {"reduction": reduction}, (),
                [expected])


def reverse_sequence(random, number):
    x, batch = array_of(random, shape_of(random, 2, 4), random.choice([f32, i64])), random.randint(0, 1)
    lengths = array_of(random, [x.shape[batch]], i64, 1, x.shape[1 - batch])
    return Case(f"reverse_{number}", "ReverseSequence", 10, [x, lengths], {"batch_axis": batch, "time_axis": 1 - batch})


def non_zero(random, number):
    x = array_of(random, shape_of(random, 1, 3, random.choice([4, 40])), random.choice([f32, i64, i32, np.bool_]), -1, 1)
    return Case(f"non_zero_{number}", "NonZero", 13, [x], {}, (), [np.asarray(np.nonzero(x), i64)])


def compress(random, number):
    x, axis = array_of(random, shape_of(random, 1, 3), random.choice([f32, i64, np.uint8])), None
    if random.random() < 0.6:
        axis = random.randrange(x.ndim)
    length = x.size if axis is None else x.shape[axis]
    condition = array_of(random, [random.randint(1, length)], np.bool_, 0, 1)
    return Case(f"compress_{number}", "Compress", 11, [x, condition], {} if axis is None else {"axis": axis}, (),
                [np.compress(condition, x, axis=axis)])


def unique(random, number):
    x = array_of(random, shape_of(random, 1, 3, random.choice([4, 60])), random.choice([f32, i64, i32]), -2, 2)
    axis = random.choice([None, random.randrange(x.ndim)])
    y, first, inverse, count = np.unique(x, True, True, True, axis=axis)
    inverse, attributes = inverse.reshape(-1), {"sorted": 1} if axis is None else {"sorted": 1, "axis": axis}
    if random.random() < 0.5:
        attributes["sorted"] = 0
        order = np.argsort(first)
        y, first, count, inverse = np.take(y, order, axis or 0), first[order], count[order], np.argsort(order)[inverse]
    return Case(f"unique_{number}", "Unique", 11, [x], attributes, (),
                [y, first.astype(i64), inverse.astype(i64), count.astype(i64)])


def non_max_suppression(random, number):
    batches, classes, count = random.randint(1, 2), random.randint(1, 3), random.randint(1, 60)
    generator = np.random.Generator(np.random.PCG64(random.randrange(1 << 30)))
    corner, size = generator.random((batches, count, 2)) * 3, generator.random((batches, count, 2))
    boxes = np.concatenate([corner, corner + size], axis=2).astype(f32)
    scores = generator.random((batches, classes, count)).astype(f32)
    limits = [np.asarray([random.randint(0, 20)], i64), np.asarray([random.choice([0.1, 0.4])], f32),
              random.choice([None, np.asarray([0.3], f32)])]
    return Case(f"nms_{number}", "NonMaxSuppression", 11, [boxes, scores, *limits],
                {"center_point_box": random.randint(0, 1)}, random.choice([(), (2, 3)]))


def loss(random, number):
    shape = [random.randint(1, 4), random.randint(2, 6)] + [random.randint(1, 4) for _ in range(random.randint(0, 3))]
    generator = np.random.Generator(np.random.PCG64(random.randrange(1 << 30)))
    scores = generator.standard_normal(shape).astype(random.choice([f32, f64]))
    target = array_of(random, [shape[0], *shape[2:]], random.choice([i32, i64]), 0, shape[1] - 1)
    attributes = {"reduction": random.choice(["none", "sum", "mean"])}
    if random.random() < 0.5:
        attributes["ignore_index"] = random.choice([-1, 1])
        target.reshape(-1)[0] = attributes["ignore_index"]
        target.reshape(-1)[-1] = 0
    weight = random.choice([None, generator.random(shape[1]).astype(scores.dtype) + 1])
    name = random.choice(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
    return Case(f"loss_{number}", name, 13, [scores, target, weight], attributes)


def number_range(random, number):
    dtype = random.choice([f32, f64, i64, i32])
    start, step = array_of(random, [], dtype), dtype(random.choice([-2, -1, 1, 3]))
    limit = dtype(start + step * random.randint(-1, 9))
    return Case(f"range_{number}", "Range", 11, [start, np.asarray(limit), np.asarray(step)], {},
                random.choice([(), (1,)]))


MAKERS = [top_k, running_sum, triangle, one_hot, scatter_elements, scatter_nd, reverse_sequence, non_zero, compress,
          unique, non_max_suppression, loss, number_range]


def cases(random, count):
    for number in range(count):
        yield MAKERS[number % len(MAKERS)](random, number)
