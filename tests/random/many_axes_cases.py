"""Operators on nine to twelve axes that do not merge, by NumPy: more than kernels have loops for."""
import numpy as np
from check_operators import Case

f32, i64 = np.float32, np.int64


def shape_of(random, rank=None):
    """No axis of one element, so that none is left out; a few thousand elements."""
    rank = rank or random.randint(9, 12)
    shape = [2] * rank
    shape[random.randrange(rank)] = 3
    return shape


def values(random, shape):
    return np.random.Generator(np.random.PCG64(random.getrandbits(32))).integers(-50, 50, shape).astype(f32)


def draw(random):
    return values(random, shape_of(random))


def transpose(random):
    x = draw(random)
    order = random.choice([list(range(x.ndim))[::-1], random.sample(range(x.ndim), x.ndim)])
    return "Transpose", 13, [x], {"perm": order}, x.transpose(order)


def alternating(random, shape, first):
    return values(random, [size if i % 2 == first else 1 for i, size in enumerate(shape)])


def add(random):
    shape = shape_of(random)
    x, y = alternating(random, shape, 0), alternating(random, shape, 1)
    return "Add", 14, [x, y], {}, x + y


def where(random):
    shape = shape_of(random)
    x, y = alternating(random, shape, 0), alternating(random, shape, 1)
    condition = values(random, shape) > 0
    return "Where", 16, [condition, x, y], {}, np.where(condition, x, y)


def expand(random):
    shape = shape_of(random)
    x = alternating(random, shape, random.randint(0, 1))
    return "Expand", 13, [x, np.asarray(shape, i64)], {}, np.broadcast_to(x, shape)


def cut(random):
    rank = random.randint(9, 11)
    x = values(random, [3] * (rank - 4) + [2] * 4)
    axes = random.sample(range(rank), rank - 1)
    starts, ends, steps, at = [], [], [], [slice(None)] * rank
    for axis in axes:
        size = x.shape[axis]
        start, end, step = random.choice([(0, size, 1), (1, size, 1), (0, size - 1, 1), (size - 1, -size - 1, -1)])
        starts.append(start), ends.append(end), steps.append(step)
        at[axis] = slice(start, None if end < 0 else end, step)
    given = [np.asarray(v, i64) for v in (starts, ends, axes, steps)]
    return "Slice", 13, [x, *given], {}, x[tuple(at)]


def reduce(random):
    x = draw(random)
    axes = [i for i in range(x.ndim) if i % 2 == random.choice([0, 0, 1])] or [0]
    keep = random.randint(0, 1)
    name, of = random.choice([("ReduceSum", np.sum), ("ReduceMax", np.max)])
    opset = 13 if name == "ReduceSum" else 18
    return name, opset, [x, np.asarray(axes, i64)], {"keepdims": keep}, of(x, tuple(axes), keepdims=bool(keep))


def argmax(random):
    x, axis = draw(random), random.randint(0, 8)
    return "ArgMax", 13, [x], {"axis": axis, "keepdims": 0}, np.argmax(x, axis)


def pad(random):
    x = values(random, shape_of(random, random.randint(9, 10)))
    before, after = ([random.randint(0, 1) for _ in x.shape] for _ in range(2))
    mode = random.choice(["constant", "edge", "reflect", "wrap"])
    expected = np.pad(x, list(zip(before, after)), mode)
    return "Pad", 19, [x, np.asarray(before + after, i64)], {"mode": mode}, expected


def tile(random):
    x = values(random, shape_of(random, random.randint(9, 10)))
    repeats = [random.choice([1, 1, 1, 2]) for _ in x.shape]
    return "Tile", 13, [x, np.asarray(repeats, i64)], {}, np.tile(x, repeats)


def concat(random):
    x, axis = draw(random), random.randint(0, 8)
    y = values(random, [size + (i == axis) for i, size in enumerate(x.shape)])
    return "Concat", 13, [x, y], {"axis": axis}, np.concatenate([x, y], axis)


def gather(random):
    x, axis = draw(random), random.randint(0, 8)
    indices = np.asarray([[1, 0], [0, -1]], i64)
    return "Gather", 13, [x, indices], {"axis": axis}, np.take(x, indices, axis)


def gather_elements(random):
    x, axis = draw(random), random.randint(0, 8)
    indices = np.abs(values(random, [2] * x.ndim)).astype(i64) % x.shape[axis]
    part = x[tuple(slice(0, None if i == axis else 2) for i in range(x.ndim))]
    return "GatherElements", 13, [x, indices], {"axis": axis}, np.take_along_axis(part, indices, axis)


def scatter_elements(random):
    x, axis = draw(random), random.randint(0, 8)
    indices = np.tile(np.arange(2).reshape([2 if i == axis else 1 for i in range(x.ndim)]),
                      [1 if i == axis else 2 for i in range(x.ndim)]).astype(i64)
    updates = values(random, indices.shape)
    expected = x.copy()
    expected[tuple(slice(0, 2) for _ in x.shape)] = updates
    return "ScatterElements", 18, [x, indices, updates], {"axis": axis}, expected


def softmax(random):
    x, axis = draw(random), random.randint(0, 8)
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return "Softmax", 13, [x], {"axis": axis}, (e / e.sum(axis, keepdims=True)).astype(f32)


def cumulative(random):
    x, axis = draw(random), random.randint(0, 8)
    return "CumSum", 14, [x, np.asarray(axis, i64)], {}, np.cumsum(x, axis, dtype=f32)


def largest(random):
    x, axis = draw(random), random.randint(0, 8)
    x += np.arange(x.size, dtype=f32).reshape(x.shape) / f32(2**14)  # no two are equal
    order = np.argsort(-x, axis)
    order = np.take(order, [0, 1], axis)
    return "TopK", 11, [x, np.asarray([2], i64)], {"axis": axis}, np.take_along_axis(x, order, axis), order.astype(i64)


def product(random):
    batch = shape_of(random, 9)
    x, y = ([size if i % 2 == first else 1 for i, size in enumerate(batch)] for first in (0, 1))
    x, y = values(random, x + [2, 3]), values(random, y + [3, 2])
    return "MatMul", 13, [x, y], {}, np.matmul(x, y)


def split(random):
    x, axis = draw(random), random.randint(0, 8)
    first, second = np.split(x, [1], axis)
    return "Split", 13, [x, np.asarray([1, x.shape[axis] - 1], i64)], {"axis": axis}, first, second


def three(random):
    shape = shape_of(random)
    terms = [values(random, [size if i % 3 != k else 1 for i, size in enumerate(shape)]) for k in range(3)]
    return "Sum", 13, terms, {}, sum(terms)


def gather_nd(random):
    x = draw(random)
    indices = np.abs(values(random, [2, 3, 4])).astype(i64) % 2
    return "GatherND", 13, [x, indices], {}, x[tuple(np.moveaxis(indices, -1, 0))]


def scatter_nd(random):
    x = draw(random)
    indices = np.asarray([[0, 1, 0], [1, 1, 1]], i64)
    updates, expected = values(random, [2, *x.shape[3:]]), x.copy()
    expected[tuple(indices.T)] = updates
    return "ScatterND", 18, [x, indices, updates], {}, expected


def nonzero(random):
    x = (draw(random) > 30).astype(f32)
    return "NonZero", 13, [x], {}, np.asarray(np.nonzero(x), i64)


def nearest(random):
    x = draw(random)
    factors = [random.choice([1, 2]) if i < 9 else 1 for i in range(x.ndim)]
    expected = x
    for axis, factor in enumerate(factors):
        expected = expected.repeat(factor, axis)
    return "Resize", 13, [x, None, np.asarray(factors, f32)], {"mode": "nearest"}, expected


def layer(random):
    x, axis = draw(random), random.randint(3, 8)
    axes = tuple(range(axis, x.ndim))
    scale = values(random, x.shape[axis:])
    wide = x.astype(np.float64)
    score = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    return "LayerNormalization", 17, [x, scale], {"axis": axis}, (score * scale).astype(f32)


def named(random):
    rank = random.randint(9, 11)
    letters = "abcdefghijkl"[:rank]
    x, y = (alternating(random, shape_of(random, rank), k) for k in (0, 1))
    kept = "".join(random.sample(letters, rank))
    sizes = np.broadcast_shapes(x.shape, y.shape)
    x = values(random, [size if i % 2 == 0 else 2 for i, size in enumerate(sizes)])
    y = values(random, [size for i, size in enumerate(sizes) if i % 2 == 0])
    return ("Einsum", 12, [x, y], {"equation": f"{letters},{letters[::2]}->{kept}"},
            np.einsum(f"{letters},{letters[::2]}->{kept}", x, y))


def sum_of_part(random):
    """All of a view with gaps along each axis."""
    rank = random.randint(9, 10)
    x = values(random, [3] * rank)
    ends = ", ".join(["2"] * rank)
    text = f"""<opset_import: ["" : 18], domain: "own"> PartSum (x) => (y) {{
        starts = Constant<value_ints = [{", ".join(["0"] * rank)}]>()
        ends = Constant<value_ints = [{ends}]>()
        part = Slice(x, starts, ends)
        y = ReduceSum<keepdims = 0>(part) }}"""
    return Case("axes_of_a_part", "PartSum", 1, [x], {}, (), [np.asarray(x[(slice(2),) * rank].sum(dtype=f32))], domain="own",
                function=text)


MAKERS = [transpose, transpose, add, where, expand, cut, reduce, argmax, pad, tile, concat, gather, gather_elements,
          scatter_elements, softmax, cumulative, largest, product, split, three, gather_nd, scatter_nd, nonzero, nearest,
          layer, named]
SHAPES = {"Slice": (1, 2, 3, 4), "Expand": (1,), "ReduceSum": (1,), "ReduceMax": (1,), "Pad": (1,), "Tile": (1,), "CumSum": (1,),
          "TopK": (1,), "Split": (1,), "Resize": (2,)}


def cases(random, count):
    # 13 loops of two steps are left over, which would be 8192 dispatches.
    yield Case("axes_too_many", "Transpose", 13, [np.zeros([2] * 21, f32)], error="nested loops are left where kernels have 8")
    yield sum_of_part(random)
    for number in range(max(count // 2, len(MAKERS))):
        name, opset, inputs, attributes, *expected = MAKERS[number % len(MAKERS)](random)
        yield Case(f"axes_{number}_{name}", name, opset, inputs, attributes, SHAPES.get(name, ()),
                   [np.ascontiguousarray(e) for e in expected])
