"""Values that follow from the specification alone, of operators that compute, select and quantize, and of small graphs.
They are what users of other engines reported, who are named, each with what else is of its kind."""
import numpy as np
from check_operators import Case
from known_cases import case, f32, i64
from onnx import TensorProto

f16 = np.float16


def graph(name, text, inputs, expected, opset=18, error="", **options):
    """A function of the model. `text` has its parameters, results and nodes."""
    header = f'<domain: "known", opset_import: ["": {opset}]>\n{name} '
    return Case(name, name, 1, [np.asarray(array) for array in inputs], {}, (),
                [np.asarray(array) for array in expected], 1e-6, "known", function=header + text, error=error, **options)


def refused(name, op_type, opset, inputs, error, **attributes):
    inputs = [np.asarray(array) for array in inputs]
    return Case(name, op_type, opset, inputs, attributes, tuple(range(1, len(inputs))), error=error)


def broadcasting():
    # mnn#2560: rank 4 and rank 3.
    planes = np.arange(4 * 196 * 196, dtype=f32).reshape(4, 196, 196)
    yield case("rank_four_and_three", "Add", 14, [np.ones((1, 4, 196, 196), f32), planes], [planes[None] + 1], (1,))
    # opencv#24112: a new axis in front.
    column = np.asarray([[1], [2], [3]], f32)
    yield case("new_axis", "Expand", 13, [column, np.asarray([2, 3, 4])], [np.broadcast_to(column, (2, 3, 4))], (1,))
    # tvm#18598: slopes broadcast from the right.
    x = np.arange(-32, 32, dtype=f32).reshape(1, 4, 4, 4)
    for shape in ([4], [4, 1, 1], [1], [], [1, 4, 4, 4]):
        slope = (np.arange(np.prod(shape, dtype=int), dtype=f32) + 2).reshape(shape)
        yield case(f"slopes_{len(shape)}_{slope.size}", "PRelu", 16, [x, slope], [np.where(x < 0, x * slope, x)], (1,))


def thresholds():
    # llama.cpp#25027: at the threshold itself.
    zeros, alpha = np.asarray([-0.0, 0.0, 0.5], f32), 0.5
    rows = [("Sign", {}, [0, 0, 1]), ("ThresholdedRelu", {"alpha": alpha}, [0, 0, 0]), ("Relu", {}, [0, 0, 0.5]),
            ("Shrink", {"lambd": alpha, "bias": 9.0}, [0, 0, 0]), ("LeakyRelu", {"alpha": 2.0}, [0, 0, 0.5]),
            ("Elu", {"alpha": 3.0}, [0, 0, 0.5]), ("Selu", {}, [0, 0, 0.5 * 1.0507009873554805]),
            ("HardSigmoid", {"alpha": 1.0, "beta": 0.5}, [0.5, 0.5, 1]), ("Ceil", {}, [0, 0, 1]), ("Round", {}, [0, 0, 0])]
    for op, attributes, expected in rows:
        for dtype in (f32, f16):
            yield case(f"threshold_{op}_{dtype.__name__}", op, 22 if op == "ThresholdedRelu" else 16, [zeros.astype(dtype)],
                       [np.asarray(expected, dtype)], tolerance=1e-3 if dtype == f16 else 1e-6, **attributes)
    for op, expected in (("Greater", [0, 0, 0]), ("Less", [0, 0, 0]), ("Equal", [1, 1, 1]), ("GreaterOrEqual", [1, 1, 1]),
                         ("LessOrEqual", [1, 1, 1])):
        yield case(f"threshold_{op}", op, 16, [zeros, np.asarray([0.0, -0.0, 0.5], f32)], [np.asarray(expected, bool)])


def no_numbers():
    """What is no number stays that, whichever side it stands on."""
    for dtype in (f16, f32, np.float64):
        name, nan = dtype.__name__, np.nan
        x, y = np.asarray([nan, 1, nan, 1], dtype), np.asarray([2, nan, nan, 2], dtype)
        for op, last in (("Max", 2), ("Min", 1)):
            yield case(f"{op}_{name}_of_no_numbers", op, 13, [x, y], [np.asarray([nan, nan, nan, last], dtype)])
        for op, inputs in (("Relu", [x]), ("Sign", [x]), ("Clip", [x, np.asarray(0, dtype), np.asarray(3, dtype)])):
            yield case(f"{op}_{name}_of_no_number", op, 14, inputs, [x], (1, 2) if op == "Clip" else ())


def rows():
    # onnxruntime#4288: before opset 13, all axes from this one on are one row.
    zeros = np.zeros((1, 2, 2, 2), f32)
    for op, old, new in (("Softmax", 0.125, 0.5), ("LogSoftmax", -3 * np.log(2), -np.log(2))):
        for opset, value in ((1, old), (11, old), (13, new)):
            yield case(f"{op}_opset_{opset}", op, opset, [zeros], [np.full(zeros.shape, value, f32)], axis=1)
        # And it is the first without the attribute, where it is the last from opset 13 on.
        wide = np.zeros((1, 4, 2), f32)
        yield case(f"{op}_first", op, 11, [wide], [np.full(wide.shape, old, f32)])
        yield case(f"{op}_last", op, 13, [wide], [np.full(wide.shape, new, f32)])
    # exp(x - max) / sum(exp(x - max)): infinity less infinity is in the sum of the whole row.
    for dtype in (np.float16, f32, np.float64):
        x = np.asarray([[np.inf, 0], [0, 0], [-np.inf, np.inf], [-np.inf, 0]], dtype)
        soft = np.asarray([[np.nan, np.nan], [0.5, 0.5], [np.nan, np.nan], [0, 1]], dtype)
        yield case(f"Softmax_{dtype.__name__}_of_infinity", "Softmax", 13, [x], [soft])
        with np.errstate(divide="ignore"):
            yield case(f"LogSoftmax_{dtype.__name__}_of_infinity", "LogSoftmax", 13, [x], [np.log(soft)])
    x, labels = np.asarray([[np.inf, 0], [0, 0]], f32), np.asarray([1, 1])
    yield case("loss_of_infinity", "SoftmaxCrossEntropyLoss", 13, [x, labels],
               [np.asarray([np.nan, np.log(2)], f32)], reduction="none")
    first = np.zeros((1, 2, 2, 2), f32)
    first[0, 0, 0, 0] = 1
    yield case("Hardmax_opset_11", "Hardmax", 11, [zeros], [first], axis=1)
    yield case("Hardmax_opset_13", "Hardmax", 13, [zeros], [1 - np.arange(2, dtype=f32).reshape(1, 2, 1, 1) + zeros], axis=1)
    # opencv#25103: five axes.
    x = np.arange(120, dtype=f32).reshape(1, 2, 3, 4, 5)
    yield case("mean_of_axis_1", "ReduceMean", 13, [x], [np.arange(30, 90, dtype=f32).reshape(1, 3, 4, 5)], axes=[1],
               keepdims=0)
    # openvino#35946: what is no number counts as the largest and the smallest; the first of them is at 0.
    nothing = np.full(61, np.nan, f32)
    for op in ("ArgMax", "ArgMin"):
        yield case(f"{op}_of_no_numbers", op, 13, [nothing], [np.asarray(0, i64)], keepdims=0)
    # onnxruntime#2434: six small numbers in front of zeros.
    wide = np.zeros(1000, f32)
    wide[:6] = [0.1, 0.3, 0.05, 0.45, 0.02, 0.01]
    yield case("top_of_wide_axis", "TopK", 11, [wide, np.asarray([3])],
               [np.asarray([0.45, 0.3, 0.1], f32), np.asarray([3, 1, 0], i64)], (1,))
    for dtype in (f32, np.int32, i64):
        yield case(f"sums_of_nothing_{dtype.__name__}", "CumSum", 14, [np.zeros((0, 3), dtype), np.asarray(1, i64)],
                   [np.zeros((0, 3), dtype)], (1,))
    # onnxruntime#32438: the last axis of one.
    five, least = np.asarray([1, 5, 2, 4, 3], f32), np.asarray([3], i64)
    exponentials = np.exp(five.astype(np.float64))
    for axis in (0, -1):
        name = f"one_axis_{'last' if axis else 'first'}"
        yield case(f"{name}_softmax", "Softmax", 13, [five], [(exponentials / exponentials.sum()).astype(f32)], axis=axis)
        yield case(f"{name}_top", "TopK", 11, [five, least], [five[[1, 3, 4]], np.asarray([1, 3, 4], i64)], (1,), axis=axis)
        yield case(f"{name}_concat", "Concat", 13, [five, five[:2]], [np.concatenate([five, five[:2]])], axis=axis)
        yield case(f"{name}_split", "Split", 13, [five, np.asarray([2, 3])], [five[:2], five[2:]], (1,), axis=axis)
        yield case(f"{name}_cumsum", "CumSum", 14, [five, np.asarray(axis, i64)], [np.cumsum(five)], (1,))
        yield case(f"{name}_argmax", "ArgMax", 13, [five], [np.asarray([1], i64)], axis=axis)
        yield case(f"{name}_gather", "Gather", 13, [five, np.asarray([-1, 0])], [five[[-1, 0]]], axis=axis)
        yield case(f"{name}_hardmax", "Hardmax", 13, [five], [np.asarray([0, 1, 0, 0, 0], f32)], axis=axis)


def places():
    # onnxruntime#681: no elements among others.
    yield case("concat_with_nothing", "Concat", 13, [np.asarray([1, 2], f32), np.zeros(0, f32)], [np.asarray([1, 2], f32)],
               axis=0)
    # onnx-mlir PR 3611: tuples as long as the rank, and shorter; counted from the end.
    five_seven = np.asarray([5, 7], f32)
    yield case("scatter_from_the_end", "ScatterND", 16, [np.zeros((3, 3), f32), np.asarray([[0, 1], [2, -1]]), five_seven],
               [np.asarray([[0, 5, 0], [0, 0, 0], [0, 0, 7]], f32)])
    yield case("scatter_rows", "ScatterND", 16,
               [np.zeros((3, 2), f32), np.asarray([[-1], [0]]), np.asarray([[1, 2], [3, 4]], f32)],
               [np.asarray([[3, 4], [0, 0], [1, 2]], f32)])
    # onnxruntime#23828: batches that disagree.
    yield refused("batches_that_disagree", "GatherND", 13, [np.zeros((3, 3), f32), np.zeros((2, 1), i64)], "batch",
                  batch_dims=1)
    # onnx-mlir#1035: corners in any order, and a limit that nothing may be made for.
    boxes = np.asarray([[0, 0, 1, 1], [1, 1, 0, 0], [2, 2, 3, 3]], f32)
    scores = np.asarray([[[0.9, 0.8, 0.7]]], f32)
    for limit in (3, 1_500_000_000, 2**62):
        yield case(f"corners_in_any_order_{limit}", "NonMaxSuppression", 11,
                   [boxes[None], scores, np.asarray([limit]), np.asarray([0.5], f32)],
                   [np.asarray([[0, 0, 0], [0, 0, 2]], i64)], (2, 3))
    # tensorflow#35482: a line and two points have no area, so nothing overlaps them.
    flat = np.asarray([[0, 0, 1, 1], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]], f32)
    yield case("boxes_without_area", "NonMaxSuppression", 11,
               [flat[None], np.asarray([[[0.9, 0.8, 0.7, 0.6]]], f32), np.asarray([9]), np.asarray([0.1], f32)],
               [np.asarray([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]], i64)], (2, 3))


def quantities():
    # onnxruntime#3442: limits, and ties to even.
    x = np.asarray([-129, -128.5, -1.5, -0.5, 0.5, 1.5, 2.5, 127.5, 300], f32)
    yield case("quantized_int8", "QuantizeLinear", 13, [x, np.asarray(1, f32), np.asarray(0, np.int8)],
               [np.asarray([-128, -128, -2, 0, 0, 2, 2, 127, 127], np.int8)], (1, 2))
    yield case("quantized_uint8", "QuantizeLinear", 13, [x, np.asarray(1, f32)],
               [np.asarray([0, 0, 0, 0, 0, 2, 2, 128, 255], np.uint8)], (1,))
    # onnxruntime#17718: the axis is 1 where nothing is said.
    weight = np.asarray([[1, 2], [3, 4], [5, 6], [7, 8]], np.int8)
    yield case("default_axis", "DequantizeLinear", 13, [weight, np.asarray([1, 10], f32)],
               [(weight * [1, 10]).astype(f32)], (1,))
    yield case("default_axis_back", "QuantizeLinear", 13,
               [weight.astype(f32), np.asarray([1, 0.5], f32), np.asarray([0, 1], np.int8)],
               [weight * np.asarray([1, 2], np.int8) + np.asarray([0, 1], np.int8)], (1, 2))
    for op, x in (("DequantizeLinear", weight), ("QuantizeLinear", weight.astype(f32))):
        yield refused(f"scales_of_another_axis_{op}", op, 13, [x, np.ones(4, f32)], op)
    # onnxruntime#9365: 27 * 255 * 127 before it is scaled.
    x, w = np.full((1, 3, 3, 3), 255, np.uint8), np.full((2, 3, 3, 3), 127, np.int8)
    yield case("large_sums", "ConvInteger", 10, [x, w], [np.full((1, 2, 1, 1), 874395, np.int32)], (1,))
    scale = np.asarray([1e-4, 2e-4], f32)
    yield case("large_sums_scaled", "QLinearConv", 10,
               [x, np.asarray(1, f32), np.asarray(0, np.uint8), w, scale, np.zeros(2, np.int8), np.asarray(1, f32),
                np.asarray(0, np.uint8)], [np.asarray([[[[87]], [[175]]]], np.uint8)], (3, 4, 5))


def products():
    # iree#8782: rows that no group divides.
    yield case("rows_of_ones", "MatMul", 13, [np.ones((250, 1024), f32), np.full(1024, 0.5, f32)], [np.full(250, 512, f32)],
               (0,))
    # llama.cpp#25906: few columns. Sums of small integers are exact.
    generator = np.random.Generator(np.random.PCG64(3))
    for inner in (32, 100, 256, 1000):
        for columns in range(1, 10):
            a, b = generator.integers(-2, 3, (7, inner)), generator.integers(-2, 3, (inner, columns))
            for dtype in (f32, f16):
                yield case(f"columns_{columns}_{inner}_{dtype.__name__}", "MatMul", 13, [a.astype(dtype), b.astype(dtype)],
                           [(a @ b).astype(dtype)], (1,), 1e-7)


def statistics():
    # ncnn PR 2698: the sum is 65536, which no float16 is.
    ones = np.ones((1, 1, 256, 256), f16)
    yield case("mean_of_ones", "GlobalAveragePool", 1, [ones], [np.ones((1, 1, 1, 1), f16)])
    yield case("mean_of_ones_reduced", "ReduceMean", 18, [ones, np.asarray([2, 3])], [np.ones((1, 1, 1, 1), f16)], (1,))
    yield case("mean_of_ones_pooled", "AveragePool", 19, [ones], [np.ones((1, 1, 1, 1), f16)], kernel_shape=[256, 256])
    # onnxruntime#17692: the variance is 246016.
    row = np.asarray([[496, -496] * 64], f16)
    signs = np.sign(row)
    yield case("wide_rows", "LayerNormalization", 17, [row, np.ones(128, f16)], [signs], stash_type=1)
    yield case("wide_channels", "InstanceNormalization", 6, [row[None], np.ones(1, f16), np.zeros(1, f16)], [signs[None]])
    yield case("wide_groups", "GroupNormalization", 21, [row[None], np.ones(1, f16), np.zeros(1, f16)], [signs[None]],
               num_groups=1)
    yield case("wide_squares", "RMSNormalization", 23, [row, np.ones(128, f16)], [signs])


def graphs():
    one = np.asarray([1], f32)
    # iree#20803
    yield graph("minus_one", "(x) => (y) { one = Constant<value_float = 1.0>() s = Add(x, one) y = Sub(x, s) }", [one], [-one])
    # tvm#7270
    x = np.arange(540, dtype=f32).reshape(3, 3, 2, 3, 2, 5)
    yield graph("flat_sum", "(x) => (y) { f = Flatten<axis = 0>(x) a = Constant<value_ints = [0]>() y = ReduceSum(f, a) }",
                [x], [x.reshape(1, 540)])
    # onnxruntime#32416
    yield graph("same_type", f"(x) => (y) {{ c = Cast<to = {TensorProto.FLOAT}>(x) one = Constant<value_float = 1.0>() "
                "y = Mul(c, one) }", [one * 3], [one * 3])
    # onnxruntime#5991: a branch without nodes that returns a value around it.
    for condition, expected in ((True, -5), (False, 5)):
        yield graph(f"empty_branch_{condition}", "(c, x) => (y) { y = If (c) <then_branch = t () => (n) { n = Neg(x) }, "
                    "else_branch = e () => (x) { }> }", [np.asarray(condition), one * 5], [one * expected])
    # onnxruntime#31713: the condition ends it after three turns.
    yield graph("endless", """(most, x) => (y, rows) {
        go = Constant<value = bool {1}>()
        y, rows = Loop (most, go, x) <body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w, float[1] r) {
            o = Constant<value_float = 1.0>() w = Add(v, o) l = Constant<value_float = 3.0>() s = Less(w, l)
            n = Constant<value_ints = [0]>() d = Squeeze(s, n) r = Identity(w) }> }""",
                [np.asarray(2**63 - 1, i64), one * 0], [one * 3, np.asarray([[1], [2], [3]], f32)])
    # executorch#17299: 8400 is past what an image may measure.
    x = np.linspace(-3, 3, 84 * 8400, dtype=f32).reshape(1, 84, 8400)
    y = (1 / (1 + np.exp(-x.transpose(0, 2, 1).astype(np.float64)))).astype(f32)
    yield graph("long_rows", "(x) => (y) { t = Transpose<perm = [0, 2, 1]>(x) c = Concat<axis = 2>(t, t) y = Sigmoid(c) }",
                [x], [np.concatenate([y, y], 2)])
    # onnxruntime#22031: a number where a list of one is asked for.
    yield case("axes_without_axis", "Unsqueeze", 13, [one, np.asarray(0, i64)], [one[None]], (1,))


def recurrent():
    """onnxruntime#4187: each row of a reversed layer belongs to its own input. Gates are open, so that what is kept is the
    sum of what came before."""
    x = np.asarray([1, 2, 4], f32).reshape(3, 1, 1)
    big, ways = 40.0, {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}
    for direction, steps in ways.items():
        # h is the sum of the inputs so far: linear functions, weights of 1.
        sums = [np.cumsum(x[::step, 0, 0])[::step] for step in steps]
        y = np.stack(sums, 1).reshape(3, len(steps), 1, 1).astype(f32)
        last = np.asarray([7] * len(steps), f32).reshape(-1, 1, 1)
        ones = np.ones((len(steps), 1, 1), f32)
        yield case(f"turns_{direction}_rnn", "RNN", 14, [x, ones, ones], [y, last], (1, 2), hidden_size=1,
                   direction=direction, activations=["Affine"] * len(steps))
        # i, o and f are open (their weights are 0, their bias is large); the cell takes the input.
        w = np.tile(np.asarray([0, 0, 0, 1], f32).reshape(1, 4, 1), (len(steps), 1, 1))
        b = np.tile(np.asarray([[big, big, big, 0, 0, 0, 0, 0]], f32), (len(steps), 1))
        yield case(f"turns_{direction}_lstm", "LSTM", 14, [x, w, 0 * w, b, None, np.zeros((len(steps), 1, 1), f32)],
                   [y, last, last], (1, 2, 3), hidden_size=1, direction=direction,
                   activations=["Sigmoid", "Affine", "Affine"] * len(steps))


def refusals():
    """Sizes below 0, from wherever they come, and what nobody computes."""
    x, below = np.ones((1, 4), f32), "size below 0"
    yield refused("negative_expand", "Expand", 13, [np.ones((1, 1), f32), np.asarray([-3, -3], i64)], below)
    yield refused("negative_tile", "Tile", 13, [x, np.asarray([-1, 2], i64)], below)
    yield graph("negative_sum", """(x, s) => (y) { n = ReduceSum<keepdims = 1>(s) e = Expand(x, n) r = Abs(e)
        y = ReduceSum<keepdims = 0>(r) }""", [np.ones(1, f32), np.asarray([-1, -2], i64)], [x], error=below)
    yield graph("negative_split", """(x) => (y, z) { s = Constant<value_ints = [-2, 6]>()
        y, z = Split<axis = 1>(x, s) }""", [x], [x, x], error=below)
    yield graph("split_too_far", """(x) => (y) { s = Constant<value_ints = [1, 3]>() y = Split<axis = 1>(x, s) }""", [x], [x],
                error="2 parts for 1 outputs")
    yield graph("branch_with_less", """(c, x) => (y, z) { y, z = If (c) <then_branch = t () => (n) { n = Neg(x) },
        else_branch = e () => (m) { m = Abs(x) }> }""", [np.asarray(True), x], [x, x], error="outputs of 'then_branch': 1, of the node: 2")
    how = "one of split and num_outputs"
    yield refused("split_unsaid", "Split", 18, [x], how, axis=1)
    yield refused("split_said_twice", "Split", 18, [x, np.asarray([4], i64)], how, axis=1, num_outputs=1)
    yield refused("scalar_axis", "Softmax", 13, [np.asarray(1, f32)], "of a scalar", axis=0)
    yield refused("range_to_nowhere", "Range", 11, [f32(0), f32(np.nan), f32(1)], "has nan elements")
    yield refused("no_axis", "Concat", 13, [x], "attribute 'axis' is missing")
    yield refused("depth_mode", "DepthToSpace", 13, [np.ones((1, 4, 1, 1), f32)], "mode 'bogus'", blocksize=2, mode="bogus")
    yield refused("gelu_mode", "Gelu", 20, [x], "approximate 'bogus'", approximate="bogus")


def few_integers():
    """Few integers may be sizes, so they are followed as expressions; what is decided on them is data all the same."""
    x, ends = np.asarray([0, 1, 0, -2], i64), np.asarray([-2 ** 63, 2 ** 63 - 1], i64)
    for dtype in (np.int32, i64):
        few, name = x.astype(dtype), dtype.__name__
        yield case(f"few_{name}_as_bool", "Cast", 13, [few], [few != 0], to=TensorProto.BOOL)
        yield case(f"few_{name}_not_zero", "NonZero", 13, [few], [np.asarray([[1, 3]])])
    for number in (0, 3):
        yield graph(f"branch_of_{number}", """(n) => (y) { c = Cast<to = 9>(n) y = If (c) <
            then_branch = t () => (a) { a = Constant<value_float = 1.0>() },
            else_branch = e () => (b) { b = Constant<value_float = 2.0>() }> }""", [np.asarray(number)], [f32(1 if number else 2)])
    yield graph("no_rows", "(x) => (y) { s = Shape(x) y = Cast<to = 9>(s) }", [np.ones((0, 3), f32)], [np.asarray([False, True])])
    yield case("few_absolute", "Abs", 13, [ends], [np.abs(ends)])
    yield case("few_doubled", "Add", 13, [ends, ends], [ends + ends])


def far_steps():
    """Steps past every axis, and ranges as wide as their type."""
    x, least, most = np.arange(5), -2 ** 63, 2 ** 63 - 1
    for start, end, step in ((0, 5, most), (-1, least, least), (3, most, 2 ** 40), (4, least, -(2 ** 62))):
        yield case(f"step_{start}_{step}", "Slice", 13, [x, *(np.asarray([n]) for n in (start, end, 0, step))],
                   [x[start::-1][:1] if step < 0 else x[start:][:1]], (1, 2, 3, 4))
    yield case("wide_range", "Range", 11, [np.asarray(n) for n in (least, most, 2 ** 62)],
               [np.asarray([least, -2 ** 62, 0, 2 ** 62])], (0, 1, 2))
    yield case("wide_range_down", "Range", 11, [np.asarray(n) for n in (most, least, least)], [np.asarray([most, -1])], (0, 1, 2))


def centred():
    """The axes of MeanVarianceNormalization in any order."""
    x = np.random.default_rng(3).normal(size=(2, 3, 4, 5)).astype(f32)
    for axes in ([3, 1], [-1, 1], [-1, -2], [0, 2, 3]):
        mean, deviation = x.mean(tuple(axes), keepdims=True), x.std(tuple(axes), keepdims=True)
        yield case(f"centred_{axes[0]}_{axes[1]}", "MeanVarianceNormalization", 13, [x], [(x - mean) / deviation], axes=axes,
                   tolerance=1e-5)


def far_regions():
    """A region may be a billion elements wide: samples outside of the image are 0. The image reaches to 4, where a
    fifth sample lies."""
    image, corners = np.full((1, 1, 4, 4), 3, f32), np.asarray([[0, 0, 1e9, 1e9], [0, 0, 16, 16]], f32)
    for mode, expected in (("max", [0, 3]), ("avg", [0, 75 / 256])):
        yield case(f"far_region_{mode}", "RoiAlign", 16, [image, corners, np.zeros(2, i64)],
                   [np.asarray(expected, f32).reshape(2, 1, 1, 1)], mode=mode)


def cases(random, count):
    for make in (broadcasting, thresholds, no_numbers, rows, places, quantities, products, statistics, graphs, recurrent,
                 refusals, far_regions, few_integers, far_steps, centred):
        yield from make()
