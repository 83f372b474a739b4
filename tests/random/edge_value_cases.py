"""Functions where drivers, and what is rounded twice, go wrong: halves, the table of pow in annex F of C, casts from float64
next to a tie, and angles far from 0. Angles' values are those of the C library."""
import numpy as np
from known_cases import case, f32
from known_value_cases import f16, graph

f64, inf, nan = np.float64, np.inf, np.nan
EXACT = 1e-30


def halves():
    rows = {"small": ([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, -0.7, 0.2, -2.75, 3.25],
                      [-4, -2, -2, 0, 0, 2, 2, 4, -1, 0, -3, 3]),
            "middle": ([709.5, -709.5, 710.5, 1023.5], [710, -710, 710, 1024]), "nothing": ([0.5, -0.5], [0, 0])}
    for name, (x, expected) in rows.items():
        for dtype in (f16, f32, f64):
            yield case(f"Round_{name}_{dtype.__name__}", "Round", 11, [np.asarray(x, dtype)], [np.asarray(expected, dtype)],
                       tolerance=EXACT)
    rows = [([1e15 + 0.5, -1e15 - 0.5, 1e15 + 1.5], [1e15, -1e15, 1e15 + 2]),
            ([4503599627370495.5, 4503599627370494.5, 9007199254740993.0], [4503599627370496.0, 4503599627370494.0, 9007199254740992.0]),
            ([0.49999999999999994, -0.49999999999999994, 0.5000000000000001], [0, 0, 1]), ([1e300, -inf, nan], [1e300, -inf, nan])]
    for number, (x, expected) in enumerate(rows):
        yield case(f"Round_float64_{number}", "Round", 11, [np.asarray(x)], [np.asarray(expected, f64)], tolerance=EXACT)
    x = np.asarray([-2.5, -0.5, -0.25, 0.25, 0.75, 2.5])
    large = np.asarray([1e15 + 0.5, -1e15 - 0.5, 4503599627370495.5, -4503599627370495.5])
    yield case("Round_float64_down", "Floor", 13, [x], [np.asarray([-3.0, -1, -1, 0, 0, 2])], tolerance=EXACT)
    yield case("Round_float64_up", "Ceil", 13, [x], [np.asarray([-2.0, 0, 0, 1, 1, 3])], tolerance=EXACT)
    yield case("Round_float64_far_down", "Floor", 13, [large],
               [np.asarray([1e15, -1e15 - 1, 4503599627370495, -4503599627370496])], tolerance=EXACT)
    yield case("Round_float64_far_up", "Ceil", 13, [large],
               [np.asarray([1e15 + 1, -1e15, 4503599627370496, -4503599627370495])], tolerance=EXACT)
    zeros = [np.asarray([-0.5, -0.0, -0.25, 0.0, 0.5])]
    for dtype in (f32, f64):
        yield graph(f"Round_zero_{dtype.__name__}", "(x) => (y) { z = Round(x) y = Reciprocal(z) }",
                    [zeros[0].astype(dtype)], [np.asarray([-inf, -inf, -inf, inf, inf], dtype)])


# Base, exponent and power.
POWERS = [(0, -1, inf), (-0.0, -1, -inf), (0, -3, inf), (-0.0, -3, -inf), (0, -2, inf), (-0.0, -2, inf), (0, -0.5, inf),
          (-0.0, -0.5, inf), (0, -inf, inf), (-0.0, -inf, inf), (0, 3, 0), (-0.0, 2, 0), (0, inf, 0), (-0.0, inf, 0),
          (-1, inf, 1), (-1, -inf, 1), (1, nan, 1), (1, inf, 1), (1, -inf, 1), (nan, 0, 1), (nan, -0.0, 1), (inf, 0, 1),
          (-inf, 0, 1), (0, 0, 1), (-0.0, -0.0, 1), (-2, 0.5, nan), (-2, 1 / 3, nan), (-8, -1.5, nan), (0.5, -inf, inf),
          (-0.5, -inf, inf), (2, -inf, 0), (-2, -inf, 0), (0.5, inf, 0), (-0.5, inf, 0), (2, inf, inf), (-2, inf, inf),
          (-inf, -3, 0), (-inf, -2, 0), (-inf, -0.5, 0), (-inf, 3, -inf), (-inf, 2, inf), (-inf, 0.5, inf), (-inf, 1 / 3, inf),
          (inf, -1, 0), (inf, -inf, 0), (inf, 0.5, inf), (inf, inf, inf), (-inf, inf, inf), (-inf, -inf, 0), (0, nan, nan),
          (-0.0, nan, nan), (nan, 1, nan), (nan, 2, nan), (nan, 0.5, nan), (nan, nan, nan), (-1, nan, nan), (inf, nan, nan),
          (2, nan, nan), (nan, inf, nan), (-2, 3, -8), (-2, 2, 4), (-2, -1, -0.5), (4, 0.5, 2), (2, 0.5, 1.4142135623730951),
          (9, 1.5, 27), (-1, 2047, -1), (-1, 2046, 1)]
# The reciprocal of the power tells the sign of a zero.
ZERO_POWERS = [(-0.0, 1, -inf), (-0.0, 3, -inf), (-0.0, 2, inf), (-0.0, 0.5, inf), (-0.0, inf, inf), (-inf, -1, -inf),
               (-inf, -3, -inf), (-inf, -2, inf), (-inf, -0.5, inf), (-inf, -inf, inf), (-2, -inf, inf), (-0.5, inf, inf)]


def powers():
    for dtype in (f16, f32, f64):
        name, tolerance = dtype.__name__, {f16: 1e-3, f32: 1e-6, f64: 1e-12}[dtype]
        x, y, expected = [np.asarray(column, dtype) for column in zip(*POWERS)]
        yield case(f"Pow_{name}", "Pow", 15, [x, y], [expected], tolerance=tolerance)
        for exponent in (2, 3, 0.5, 1 / 3, -1, -3, -0.5, 0, inf, nan):
            chosen = [row for row in POWERS if row[1] == exponent or (exponent != exponent and row[1] != row[1])]
            x, _, expected = [np.asarray(column, dtype) for column in zip(*chosen)]
            yield case(f"Pow_{name}_of_{exponent}", "Pow", 15, [x, np.asarray(exponent, dtype)], [expected], (1,), tolerance)
        x, y, expected = [np.asarray(column, dtype) for column in zip(*ZERO_POWERS)]
        yield graph(f"Pow_zero_{name}", "(x, y) => (w) { z = Pow(x, y) w = Reciprocal(z) }", [x, y], [expected])


def casts():
    step, little = 2.0**-10, 2.0**-40
    x = [1 + step / 2 + little, 1 + step / 2 - little, 1 + 1.5 * step - little, 1 + 1.5 * step + little, 1 + step / 2]
    halves_of = [1 + step, 1, 1 + step, 1 + 2 * step, 1]
    far, far_halves = [65519.999, -65519.999, 65519.99999999999, 65520.0, 1e300], [65504, -65504, 65504, inf, inf]
    tiny = 2.0**-24
    low, low_halves = [tiny / 2 * (1 + little), tiny / 2, tiny * 1.5 * (1 - little)], [tiny, 0, tiny]
    for constants in ((), (0,)):
        for number, (values, expected) in enumerate(((x, halves_of), (far, far_halves), (low, low_halves))):
            yield case(f"Cast_half_{number}_{len(constants)}", "Cast", 13, [np.asarray(values)], [np.asarray(expected, f16)],
                       constants, tolerance=EXACT, to=10)
    # The same next to the ties of types whose step at 1 is 2^-7, 2^-3 and 2^-2.
    for name, number, step in (("bfloat16", 16, 2.0**-7), ("float8e4m3fn", 17, 2.0**-3), ("float8e5m2", 19, 2.0**-2)):
        x = np.asarray([1 + step / 2 + little, 1 + step / 2 - little, 1 + 1.5 * step - little, 1 + 1.5 * step + little])
        expected = np.asarray([1 + step, 1, 1 + step, 1 + 2 * step], f32)
        yield graph(f"Cast_{name}", f"(x) => (y) {{ z = Cast<to = {number}>(x) y = Cast<to = 1>(z) }}",
                    [x], [expected], opset=19)
        yield graph(f"Cast_{name}_of_negative", f"(x) => (y) {{ z = Cast<to = {number}>(x) y = Cast<to = 1>(z) }}",
                    [-x], [-expected], opset=19)


# Angles as they are in their type, with sine and cosine.
NEAR_ANGLES = {f32: [(8000, 0.9978430323623818, 0.06564512751032302), (8191.5, -0.9794975520550289, -0.20145606349327386),
                     (22, -0.008851309290403876, -0.9999608263946371), (1.5707963705062866, 0.999999999999999, -4.371139000186241e-08)],
               f64: [(1e5, 0.03574879797201651, -0.9993608074382124), (355, -3.014435335948845e-05, -0.999999999545659),
                     (1048575.75, 0.08671697522837724, 0.9962329879135909), (22, -0.008851309290403876, -0.9999608263946371)]}
FAR_ANGLES = {f32: [(8192, -0.9561731528431463, 0.2928018131467037), (9000, 0.615446655696971, -0.7881785419506256),
                    (1e6, -0.34999350217129294, 0.9367521275331447), (-1e6, 0.34999350217129294, 0.9367521275331447),
                    (1e8, 0.931639027109726, -0.3633850893556905), (1e10, -0.4875060250875107, 0.873119622676856),
                    (-1.0000000200408773e20, -0.6565766778545903, 0.7542592830701055),
                    (3.0000000054977558e38, 0.8749048877644344, -0.4842947835419069),
                    (2.5736068084085175e29, 0.1452878584960634, 0.9893894269566599)],
              f64: [(1048576, 0.3304931400217347, 0.943808393901312), (-1e6, 0.34999350217129294, 0.9367521275331447),
                    (1647099.5, 0.1700049719114738, 0.9854432046167749), (3e6, -0.8784900581447479, 0.4777606280773224),
                    (1e8, 0.931639027109726, -0.3633850893556905), (-1e10, 0.4875060250875107, 0.873119622676856),
                    (1e20, -0.6452512852657808, 0.7639704044417283), (1e22, -0.8522008497671888, 0.523214785395139),
                    (-1e300, 0.8178819121159085, -0.5753861119575491),
                    (1.7976931348623157e308, 0.004961954789184062, -0.9999876894265599)]}
# Next to odd numbers of quarter turns: the cosine and the tangent.
QUARTER_TURNS = {f32: (7.729178919452902e28, -1.6147697982476211e-09, -619283318.9506139),
                 f64: (5.319372648326541e255, -4.68716592425462e-19, -2.1334853857537075e18)}


def angles():
    for dtype, tolerance in ((f32, 1e-6), (f64, 1e-14)):
        name = dtype.__name__
        for place, rows in (("near", NEAR_ANGLES[dtype]), ("far", FAR_ANGLES[dtype])):
            x, sines, cosines = np.asarray(rows, f64).T
            yield case(f"Sin_{name}_{place}", "Sin", 7, [x.astype(dtype)], [sines.astype(dtype)], tolerance=tolerance)
            yield case(f"Cos_{name}_{place}", "Cos", 7, [x.astype(dtype)], [cosines.astype(dtype)], tolerance=tolerance)
            chosen = np.abs(cosines) > 1e-3
            yield case(f"Tan_{name}_{place}", "Tan", 7, [x[chosen].astype(dtype)],
                       [(sines[chosen] / cosines[chosen]).astype(dtype)], tolerance=10 * tolerance)
        x, cosine, tangent = np.asarray(QUARTER_TURNS[dtype], dtype)
        yield case(f"Cos_{name}_quarter_turn", "Cos", 7, [x], [cosine], tolerance=tolerance)
        yield case(f"Tan_{name}_quarter_turn", "Tan", 7, [x], [tangent], tolerance=tolerance)
        no_angles = np.asarray([inf, -inf, nan], dtype)
        for op in ("Sin", "Cos", "Tan"):
            yield case(f"{op}_{name}_of_no_angle", op, 7, [no_angles], [np.full(3, nan, dtype)])


def cases(random, count):
    for make in (halves, powers, casts, angles):
        yield from make()
