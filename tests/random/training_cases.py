"""Steps of optimizers by the equations of their documents; numbers drawn by chance, of which bounds, means and deviations
are known, or which have only one way to fall."""
import numpy as np
from check_operators import Case
from known_value_cases import graph
from pointwise_cases import TOLERANCE, constants_of, draw, draw_shape, some_of
from onnx import helper

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
TRAINING = "ai.onnx.preview.training"


def adagrad(r, t, x, g, h, a):
    g = a["norm_coefficient"] * x + g
    h = h + g * g
    return x - r / (1 + t * a["decay_factor"]) * g / (np.sqrt(h) + a["epsilon"]), h


def adam(r, t, x, g, v, h, a):
    g = a["norm_coefficient"] * x + g
    v, h = a["alpha"] * v + (1 - a["alpha"]) * g, a["beta"] * h + (1 - a["beta"]) * g * g
    if t > 0:
        r = r * np.sqrt(1 - a["beta"]**t) / (1 - a["alpha"]**t)
    return (1 - a["norm_coefficient_post"]) * (x - r * v / (np.sqrt(h) + a["epsilon"])), v, h


def momentum(r, t, x, g, v, a):
    g = a["norm_coefficient"] * x + g
    v = a["alpha"] * v + (a["beta"] if t > 0 else 1) * g
    return x - r * (g + a["alpha"] * v if a["mode"] == "nesterov" else v), v


OPTIMIZERS = {
    "Adagrad": (adagrad, 1, {"decay_factor": 0.5, "epsilon": 0.125, "norm_coefficient": 0.25}),
    "Adam": (adam, 2, {"alpha": 0.75, "beta": 0.875, "epsilon": 0.125, "norm_coefficient": 0.25,
                       "norm_coefficient_post": 0.5}),
    "Momentum": (momentum, 1, {"alpha": 0.75, "beta": 0.5, "norm_coefficient": 0.25}),
}
DEFAULTS = {"Adagrad": {"decay_factor": 0, "epsilon": float(f32(1e-6)), "norm_coefficient": 0},
            "Adam": {"alpha": float(f32(0.9)), "beta": float(f32(0.999)), "epsilon": float(f32(1e-6)), "norm_coefficient": 0,
                     "norm_coefficient_post": 0},
            "Momentum": {}}


def optimizer(random, number):
    """One tensor or several, each with its gradient and what is kept of it."""
    op, dtype, t = random.choice(list(OPTIMIZERS)), random.choice([f32, f32, f64]), random.choice([0, 0, 1, 2, 7])
    step, kept, attributes = OPTIMIZERS[op]
    if DEFAULTS[op] and random.random() < 0.3:
        attributes = {}
    if op == "Momentum":
        attributes = attributes | {"mode": random.choice(["standard", "nesterov"])}
    shapes = [draw_shape(random, 0, 3) for _ in range(random.randint(1, 3))]
    r = draw(random, random.choice([[], [1]]), dtype, 0.1, 1)
    parts = [[draw(random, shape, dtype) for shape in shapes] for _ in range(2)]
    parts += [[draw(random, shape, dtype, 0.1, 2) for shape in shapes] for _ in range(kept)]
    results = [step(r.reshape(()).astype(f64), t, *[array.astype(f64) for array in group], DEFAULTS[op] | attributes)
               for group in zip(*parts)]
    inputs = [r, np.asarray(t, i64).reshape(r.shape), *[array for part in parts for array in part]]
    expected = [np.asarray(array, dtype) for part in zip(*results) for array in part]
    return Case(f"{op}_{number}", op, 1, inputs, attributes, constants_of(random, inputs), expected, TOLERANCE[dtype],
                TRAINING)


def certain(random, number):
    """Chances of 0 and 1, and classes beside which the others weigh nothing."""
    if random.random() < 0.5:
        x = np.asarray(draw(random, draw_shape(random), random.choice([f32, f16, f64]), 0, 1).round())
        to = random.choice([None, f32, f64, i32, i64, np.bool_, np.uint8])
        return Case(f"Bernoulli_{number}", "Bernoulli", random.choice([15, 22]), [x],
                    {} if to is None else {"dtype": helper.np_dtype_to_tensor_dtype(np.dtype(to))}, (),
                    [x if to is None else x.astype(to)])
    rows, classes, samples = random.randint(1, 3), random.randint(1, 6), random.randint(1, 5)
    chosen, to = [random.randrange(classes) for _ in range(rows)], random.choice([None, i32, i64])
    x = np.full((rows, classes), -1000, random.choice([f32, f16, f64]))
    x[range(rows), chosen] = random.choice([0, 500])
    attributes = {"sample_size": samples} | ({} if to is None else {"dtype": helper.np_dtype_to_tensor_dtype(np.dtype(to))})
    return Case(f"Multinomial_{number}", "Multinomial", 7, [x], attributes, (),
                [np.repeat(np.asarray(chosen, to or i32)[:, None], samples, 1)])


COUNT = 4000


def by_chance(random, number):
    """Bounds, and a mean and a deviation that chance misses once in millions of times (six of its own deviations)."""
    to, like = random.choice(["1", "10", "11"]), random.random() < 0.5
    uniform = random.random() < 0.5
    first, second = (random.choice([(0.0, 1.0), (-3.0, 5.0), (100.0, 101.0)]) if uniform else
                     random.choice([(0.0, 1.0), (-3.0, 0.25), (10.0, 4.0)]))
    mean, deviation = ((first + second) / 2, (second - first) / 12**0.5) if uniform else (first, second)
    op, attributes = ("RandomUniformLike" if like else "RandomUniform", f"low = {first}, high = {second}") if uniform else \
        ("RandomNormalLike" if like else "RandomNormal", f"mean = {first}, scale = {second}")
    attributes += f", dtype = {to}" + random.choice(["", f", seed = {random.randint(0, 99)}.0"])
    node = f"{op}<{attributes}>(x)" if like else f"{op}<{attributes}, shape = [20, {COUNT // 20}]>()"
    lowest, highest = (first, second) if uniform else (mean - 6 * deviation, mean + 6 * deviation)
    near, wide = 6 * deviation / COUNT**0.5, 6 * deviation / (COUNT / 2)**0.5
    number_text = lambda value: f"Constant<value = float {{{value:.6f}}}>()"
    # A float16 below the upper bound may round to it, and the mean of such numbers is off by half a step.
    slack = 2e-3 * max(abs(first), abs(second)) if to == "10" else 1e-5
    text = f"""(x) => (above, below, centred, spread, size) {{
        drawn = {node} y = Cast<to = 1>(drawn)
        least = ReduceMin<keepdims = 0>(y) most = ReduceMax<keepdims = 0>(y) m = ReduceMean<keepdims = 0>(y)
        l = {number_text(lowest - slack)} h = {number_text(highest + slack)}
        above = LessOrEqual(l, least) below = LessOrEqual(most, h)
        c = {number_text(mean)} off = Sub(m, c) apart = Abs(off) n = {number_text(near + slack)} centred = Less(apart, n)
        from = Sub(y, c) squares = Mul(from, from) v = ReduceMean<keepdims = 0>(squares) s = Sqrt(v)
        d = {number_text(deviation)} wrong = Sub(s, d) error = Abs(wrong) w = {number_text(wide + slack)}
        spread = Less(error, w) size = Shape(drawn) }}"""
    x = np.zeros((20, COUNT // 20), f32)
    return graph(f"{op}_{number}", text, [x], [True, True, True, True, np.asarray(x.shape, i64)], 22)


def dropped(random, number):
    """What stays grows by what goes; where nothing is trained, or nothing goes, all stays."""
    x, training = draw(random, draw_shape(random), random.choice([f32, f16, f64])), random.choice([None, False, True])
    ratio = None if random.random() < 0.3 else np.asarray(0 if training else 0.75, random.choice([f32, f64]))
    if training and ratio is None:
        training = None
    inputs = [x, ratio, None if training is None else np.asarray(training)]
    return Case(f"Dropout_{number}", "Dropout", random.choice([12, 13, 22]), inputs, {}, constants_of(random, inputs),
                [x, np.ones(x.shape, bool)])


def half_dropped(random, number):
    ratio = random.choice([0.3, 0.5, 0.7])
    dtype, (kind, slack) = random.choice([(f32, ("float", "0.00001")), (f64, ("double", "0.000000000001"))])
    text = f"""(x, r, t) => (same, centred) {{ y, mask = Dropout(x, r, t)
        one = Constant<value = {kind} {{1}}>() rest = Sub(one, r) grown = Div(x, rest) zero = Constant<value = {kind} {{0}}>()
        wanted = Where(mask, grown, zero) off = Sub(y, wanted) size = Abs(off) most = ReduceMax<keepdims = 0>(size)
        near = Constant<value = {kind} {{{slack}}}>() same = Less(most, near)
        kept = CastLike(mask, rest) m = ReduceMean<keepdims = 0>(kept) wrong = Sub(m, rest) error = Abs(wrong)
        n = Constant<value = {kind} {{{3 / COUNT**0.5:.6f}}}>() centred = Less(error, n) }}"""
    return graph(f"half_dropped_{number}", text, [draw(random, [COUNT], dtype), np.asarray(ratio, dtype), np.asarray(True)],
                 [np.asarray(True), np.asarray(True)], 17)


MAKERS = [optimizer, optimizer, certain, by_chance, dropped, half_dropped]


def cases(random, count):
    return some_of(MAKERS, 1, random, count // 6)
