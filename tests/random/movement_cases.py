"""What moves elements and computes nothing, with NumPy as the judge: negative axes and steps, no elements, scalars, every
type, inputs of the run and constants."""
import math

import numpy as np
from check_operators import Case
from onnx import helper, numpy_helper
from pointwise_cases import FLOATS, INTEGERS, constants_of, draw, draw_shape, some_of

f32, i32, i64 = np.float32, np.int32, np.int64
TYPES = FLOATS + INTEGERS + [np.bool_]


def any_array(random, *limits):
    return draw(random, draw_shape(random, *limits), random.choice(TYPES), special=True)


def made(random, name, op_type, opset, inputs, attributes, expected, constants=None):
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    return Case(name, op_type, opset, inputs, attributes, constants_of(random, inputs) if constants is None else constants,
                [np.asarray(array) for array in expected], 1e-7)


def either(random, axis, rank):
    return axis if random.random() < 0.5 else axis - rank


def cut(random, number):
    x = any_array(random, 1, 4, 7)
    axes = random.sample(range(x.ndim), random.randint(1, x.ndim))
    starts, ends, steps, expected = [], [], [], x
    for axis in axes:
        size = x.shape[axis]
        start, end = [random.choice([random.randint(-size - 2, size + 2), 2**62, -2**62]) for _ in range(2)]
        step = random.choice([1, 1, 2, 3, -1, -1, -2, -5])
        # By the document: the first place of those backwards is one that is there, which NumPy sees otherwise.
        first, last = (start + size if start < 0 else start), (end + size if end < 0 else end)
        first, last = np.clip([first, last], *([0, 0], [size, size]) if step > 0 else ([0, -1], [size - 1, size - 1]))
        expected = np.take(expected, np.arange(first, last, step) if size else np.zeros(0, i64), axis)
        starts, ends, steps = starts + [start], ends + [end], steps + [step]
    axes = [either(random, axis, x.ndim) for axis in axes]
    inputs, dtype = [x, *[np.asarray(v, i64) for v in (starts, ends, axes, steps)]], i64
    if max(map(abs, starts + ends)) < 2**31 and random.random() < 0.4:
        dtype = i32
    inputs[1:] = [v.astype(dtype) for v in inputs[1:]]
    if all(step == 1 for step in steps) and random.random() < 0.5:
        inputs.pop()
    return made(random, f"Slice_{number}", "Slice", 13, inputs, {}, [expected])


def turn(random, number):
    x = any_array(random, 0, 5)
    order = random.sample(range(x.ndim), x.ndim)
    attributes = {"perm": order} if order and random.random() < 0.8 else {}
    return made(random, f"Transpose_{number}", "Transpose", 13, [x], attributes,
                [np.transpose(x, order if attributes else None)])


def join(random, number):
    dtype, shape = random.choice(TYPES), draw_shape(random, 1, 4)
    axis, inputs = random.randrange(len(shape)), []
    for _ in range(random.randint(1, 5)):
        shape[axis] = random.randint(0, 5)
        inputs.append(draw(random, shape, dtype, special=True))
    return made(random, f"Concat_{number}", "Concat", 13, inputs, {"axis": either(random, axis, len(shape))},
                [np.concatenate(inputs, axis)])


def split(random, number):
    x = any_array(random, 1, 4, 9)
    axis = random.randrange(x.ndim)
    size, attributes = x.shape[axis], {"axis": either(random, axis, x.ndim)}
    if random.random() < 0.5 and size > 0:  # chunks of one length, the last shorter
        parts = random.randint(1, size)
        length = math.ceil(size / parts)
        if length * (parts - 1) > size:
            return None
        sizes = [length] * (parts - 1) + [size - length * (parts - 1)]
        inputs, attributes["num_outputs"] = [x], parts
    else:
        edges = sorted(random.randint(0, size) for _ in range(random.randint(0, 3)))
        sizes = np.diff([0, *edges, size]).tolist()
        inputs = [x, np.asarray(sizes, i64)]
    return made(random, f"Split_{number}", "Split", 18, inputs, attributes, np.split(x, np.cumsum(sizes)[:-1], axis))


def expand(random, number):
    x = any_array(random, 0, 3)
    shape = draw_shape(random, 0, 2) + [size if size != 1 else random.randint(0, 4) for size in x.shape]
    asked = [1 if i >= len(shape) - x.ndim and random.random() < 0.3 else size for i, size in enumerate(shape)]
    expected = np.broadcast_to(x, np.broadcast_shapes(x.shape, asked))
    return made(random, f"Expand_{number}", "Expand", 13, [x, np.asarray(asked, i64)], {}, [expected])


def tile(random, number):
    x = any_array(random, 1, 4)
    repeats = [random.choice([0, 1, 1, 2, 3]) for _ in x.shape]
    return made(random, f"Tile_{number}", "Tile", 13, [x, np.asarray(repeats, i64)], {}, [np.tile(x, repeats)])


def reshape(random, number):
    x = any_array(random, 0, 5)
    shape = list(x.shape)
    random.shuffle(shape)
    while len(shape) > 1 and random.random() < 0.5:
        shape = [shape[0] * shape[1], *shape[2:]]
    if random.random() < 0.3:
        shape.insert(random.randint(0, len(shape)), 1)
    asked, attributes = list(shape), {"allowzero": 1} if 0 in shape else {}
    if not attributes:
        for i, size in enumerate(asked):
            if i < x.ndim and size == x.shape[i] and random.random() < 0.4:
                asked[i] = 0
        if asked and random.random() < 0.5:
            asked[random.randrange(len(asked))] = -1
    return made(random, f"Reshape_{number}", "Reshape", 19, [x, np.asarray(asked, i64)], attributes, [x.reshape(shape)])


def axes_of_one(random, number):
    x = any_array(random, 0, 4)
    rank = x.ndim + random.randint(1, 3)
    axes = random.sample(range(rank), rank - x.ndim)
    wide = np.expand_dims(x, tuple(axes))
    given = np.asarray([either(random, axis, rank) for axis in axes], i64)
    if random.random() < 0.5:
        return made(random, f"Unsqueeze_{number}", "Unsqueeze", 13, [x, given], {}, [wide])
    if random.random() < 0.3:
        return made(random, f"Squeeze_{number}", "Squeeze", 13, [wide], {}, [np.squeeze(wide)])
    return made(random, f"Squeeze_{number}", "Squeeze", 13, [wide, given], {}, [x])


def flatten(random, number):
    x = any_array(random, 0, 4)
    axis = random.randint(-x.ndim, x.ndim)
    rows = math.prod(x.shape[:axis]) if axis != -x.ndim or x.ndim == 0 else 1
    rest = math.prod(x.shape[axis:]) if axis != -x.ndim or x.ndim == 0 else x.size
    if axis == 0:
        rows, rest = 1, x.size
    return made(random, f"Flatten_{number}", "Flatten", 13, [x], {"axis": axis}, [x.reshape(rows, rest)])


def gather(random, number):
    x = any_array(random, 1, 4)
    axis = random.randrange(x.ndim)
    size, shape = x.shape[axis], draw_shape(random, 0, 3)
    if size == 0:
        shape = [0]
    indices = draw(random, shape, random.choice([i32, i64]), -size, max(size - 1, 0))
    return made(random, f"Gather_{number}", "Gather", 13, [x, indices], {"axis": either(random, axis, x.ndim)},
                [np.take(x, indices, axis)])


def gather_elements(random, number):
    x = any_array(random, 1, 4)
    if x.size == 0:
        return None
    axis = random.randrange(x.ndim)
    shape = [random.randint(0, 6) if i == axis else random.randint(1, size) for i, size in enumerate(x.shape)]
    indices = draw(random, shape, random.choice([i32, i64]), -x.shape[axis], x.shape[axis] - 1)
    part = x[tuple(slice(None) if i == axis else slice(0, size) for i, size in enumerate(shape))]
    expected = np.take_along_axis(part, indices.astype(i64), axis)
    return made(random, f"GatherElements_{number}", "GatherElements", 13, [x, indices],
                {"axis": either(random, axis, x.ndim)}, [expected])


def gather_tuples(random, number):
    x = any_array(random, 1, 4)
    if x.size == 0:
        return None
    batch = random.randint(0, min(x.ndim - 1, 2))
    length = random.randint(1, x.ndim - batch)
    shape = [*x.shape[:batch], *draw_shape(random, 0, 2)]
    indices = [draw(random, shape, i64, -size, size - 1) for size in x.shape[batch:batch + length]]
    indices = np.stack(indices, -1)
    expected = np.zeros((*indices.shape[:-1], *x.shape[batch + length:]), x.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        expected[place] = x[(*place[:batch], *indices[place])]
    return made(random, f"GatherND_{number}", "GatherND", 13, [x, indices], {"batch_dims": batch}, [expected])


def reflected(places, size):
    turn_length = max(2 * size - 2, 1)
    places = np.mod(places, turn_length)
    return np.where(places >= size, turn_length - places, places)


def pad(random, number):
    """What a negative number cuts is cut first."""
    x = draw(random, [random.randint(1, 6) for _ in range(random.randint(1, 4))], random.choice(TYPES))
    axes = random.sample(range(x.ndim), random.randint(1, x.ndim))
    mode, pads, result = random.choice(["constant", "edge", "reflect", "wrap"]), [], x
    filling = draw(random, [], x.dtype.type)
    for axis in axes:
        size = x.shape[axis]
        begin, end = random.randint(-(size // 2), 3), random.randint(-((size - 1) // 2), 3)
        if mode == "reflect":  # once at most, as some other runtimes have it
            left = size + min(begin, 0) + min(end, 0)
            begin, end = min(begin, left - 1), min(end, left - 1)
        pads.append((begin, end))
        first, left = max(-begin, 0), size + min(begin, 0) + min(end, 0)
        places = np.arange(-max(begin, 0), left + max(end, 0))
        inside = (places >= 0) & (places < left)
        chosen = {"constant": lambda p, n: np.clip(p, 0, n - 1), "edge": lambda p, n: np.clip(p, 0, n - 1),
                  "reflect": reflected, "wrap": np.mod}[mode](places, left)
        result = np.take(result, first + chosen, axis)
        if mode == "constant":
            result = np.where(inside.reshape([-1 if i == axis else 1 for i in range(x.ndim)]), result, filling)
    given = [begin for begin, _ in pads] + [end for _, end in pads]
    inputs = [x, np.asarray(given, i64), filling if mode == "constant" else None,
              np.asarray([either(random, axis, x.ndim) for axis in axes], random.choice([i32, i64]))]
    return made(random, f"Pad_{number}", "Pad", 19, inputs, {"mode": mode}, [result.astype(x.dtype)],
                tuple(i for i in (1, 2, 3) if inputs[i] is not None) if random.random() < 0.7 else ())


def blocks(random, number):
    batch, channels, height, width, block = [random.randint(1, 3) for _ in range(5)]
    x = draw(random, [batch, channels * block**2, height, width], f32)
    mode = random.choice(["DCR", "CRD"])
    parts = x.reshape([batch, block, block, channels, height, width] if mode == "DCR" else
                      [batch, channels, block, block, height, width])
    order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    y = parts.transpose(order).reshape(batch, channels, height * block, width * block)
    if mode == "DCR" and random.random() < 0.5:
        return made(random, f"SpaceToDepth_{number}", "SpaceToDepth", 13, [y], {"blocksize": block}, [x])
    return made(random, f"DepthToSpace_{number}", "DepthToSpace", 13, [x], {"blocksize": block, "mode": mode}, [y])


def sizes(random, number):
    x = any_array(random, 0, 4)
    if random.random() < 0.3:
        return made(random, f"Size_{number}", "Size", 13, [x], {}, [np.asarray(x.size, i64)])
    start, end = random.randint(-6, 6), random.choice([None, random.randint(-6, 6)])
    low, high = np.clip([start if start >= 0 else start + x.ndim,
                         x.ndim if end is None else end if end >= 0 else end + x.ndim], 0, x.ndim)
    return made(random, f"Shape_{number}", "Shape", 15, [x],
                {"start": start} if end is None else {"start": start, "end": end},
                [np.asarray(x.shape[low:max(low, high)], i64)])


def triangle_and_diagonal(random, number):
    x = any_array(random, 2, 4)
    k = random.randint(-5, 5)
    if random.random() < 0.5:
        upper = random.randint(0, 1)
        return made(random, f"Trilu_{number}", "Trilu", 14, [x, np.asarray(k, i64)], {"upper": upper},
                    [(np.triu if upper else np.tril)(x, k)])
    x = draw(random, draw_shape(random, 2, 2), random.choice(TYPES))
    return made(random, f"EyeLike_{number}", "EyeLike", 9, [x], {"k": k}, [np.eye(*x.shape, k).astype(x.dtype)])


def cast(random, number):
    """Between types where every value fits both; the rest is in make_element_types.py."""
    source, target = random.choice(TYPES), random.choice(TYPES)
    x = draw(random, draw_shape(random), source, 0, 100)
    if random.random() < 0.5:
        like = draw(random, draw_shape(random), target)
        return made(random, f"CastLike_{number}", "CastLike", 19, [x, like], {}, [x.astype(target)])
    return made(random, f"Cast_{number}", "Cast", 13, [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(target))},
                [x.astype(target)])


def filled(random, number):
    shape, value = draw_shape(random, 0, 4), draw(random, [1], random.choice(TYPES), special=True)
    attributes = {"value": numpy_helper.from_array(value)} if random.random() < 0.8 else {}
    return made(random, f"ConstantOfShape_{number}", "ConstantOfShape", 9, [np.asarray(shape, i64)], attributes,
                [np.full(shape, value[0]) if attributes else np.zeros(shape, f32)])


MAKERS = [cut, cut, cut, turn, join, split, expand, tile, reshape, axes_of_one, flatten, gather, gather_elements,
          gather_tuples, pad, pad, blocks, sizes, triangle_and_diagonal, cast, cast, filled]


def cases(random, count):
    return some_of(MAKERS, 3, random, count)
