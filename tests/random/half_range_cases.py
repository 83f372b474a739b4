"""What float16 has no room or no digits for, within graphs of float32: they run in both precisions."""
import dataclasses

import numpy as np
from known_value_cases import graph

f32, i64 = np.float32, np.int64
LOWEST = float(np.finfo(f32).min)


def cases(random, count):
    generator = np.random.Generator(np.random.PCG64(5))
    x = (400 * generator.standard_normal((3, 64))).astype(f32)
    wide = x.astype(np.float64)
    norm = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6)
    length = wide / np.sqrt((wide**2).sum(-1, keepdims=True))
    scores = generator.uniform(-4, 4, (2, 16)).astype(f32)
    uniform = np.full((1, 16), 1 / 16)
    kept = np.exp(scores[:1].astype(np.float64))
    rows = np.concatenate([kept / kept.sum(), uniform])
    constants = "two = Constant<value_float = 2.0>() e = Constant<value_float = 0.000001>() " \
        "last = Constant<value_ints = [-1]>()"
    results = [
        graph("half_range_mean", f"(x) => (y) {{ {constants} s = Pow(x, two) m = ReduceMean(s, last) a = Add(m, e) r = Sqrt(a) "
              "i = Reciprocal(r) y = Mul(x, i) }", [x], [norm.astype(f32)]),
        graph("half_range_sum", f"(x) => (y) {{ {constants} s = Mul(x, x) m = ReduceSum(s, last) r = Sqrt(m) y = Div(x, r) }}",
              [x], [length.astype(f32)]),
        graph("half_range_positions", "(x) => (y) { zero = Constant<value_int = 0>() c = Cast<to = 1>(x) s = CumSum(c, zero) "
              "one = Constant<value_float = 1.0>() y = Sub(s, one) }", [np.ones(5000, i64)], [np.arange(5000, dtype=f32)]),
        graph("half_range_mask", f"""(x, m) => (y) {{ l = Constant<value_float = {LOWEST!r}>() h = Mul(m, l) a = Add(x, h)
            y = Softmax<axis = -1>(a) }}""", [scores, np.asarray([[0], [1]], f32)], [rows.astype(f32)]),
    ]
    for case in results:
        yield dataclasses.replace(case, tolerance=2e-3)
