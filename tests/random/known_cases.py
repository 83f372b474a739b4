"""Values that follow from the specification alone. Most are from reports of users of other engines, who are named."""
import numpy as np
from check_operators import Case

f32, i64 = np.float32, np.int64


def case(name, op_type, opset, inputs, expected, constants=(), tolerance=1e-6, **attributes):
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    return Case(name, op_type, opset, inputs, attributes, constants, [np.asarray(array) for array in expected], tolerance)


def resize(name, x, expected, sizes=None, scales=None, opset=19, **attributes):
    inputs = [np.asarray(x, f32), None, None if scales is None else np.asarray(scales, f32)]
    if sizes is not None:
        inputs.append(np.asarray(sizes, i64))
    return case(name, "Resize", opset, inputs, [np.asarray(expected, f32)], (2, 3), **attributes)


def cubic(distance, a):
    x = abs(distance)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def cubic_rows(size, results, scale, half_pixel, a, exclude_outside=False):
    """The matrix that resizes one axis, element by element from the formula in the operator's document."""
    rows = np.zeros((results, size))
    for i in range(results):
        at = (i + 0.5) / scale - 0.5 if half_pixel else i / scale
        taps = range(int(np.floor(at)) - 1, int(np.floor(at)) + 3)
        weights = [0.0 if exclude_outside and not 0 <= tap < size else cubic(at - tap, a) for tap in taps]
        for tap, weight in zip(taps, weights):
            rows[i, min(max(tap, 0), size - 1)] += weight / sum(weights)
    return rows


def resize_cases():
    # onnx/onnx#4276: one result of ten elements.
    ten = np.arange(10).reshape(1, 1, 1, 10)
    for mode, value in (("pytorch_half_pixel", 0), ("half_pixel", 4.5)):
        yield resize(f"one_result_{mode}", ten, [[[[value]]]], sizes=[1, 1, 1, 1], mode="linear",
                     coordinate_transformation_mode=mode)
    # onnxruntime#28291: (i + 1/2) * 20/6 - 1/2 is a tie at i = 1 and i = 4.
    twenty = np.arange(20).reshape(1, 1, 1, 20)
    for mode, places in (("round_prefer_ceil", [1, 5, 8, 11, 15, 18]), ("round_prefer_floor", [1, 4, 8, 11, 14, 18])):
        yield resize(f"ties_{mode}", twenty, [[[places]]], sizes=[1, 1, 1, 6], mode="nearest", nearest_mode=mode)
    # iree#24264: the coordinate -1/4 rounds down to -1, which is the edge.
    yield resize("floor_below_zero", [[[[0, 1, 2, 3]]]], [[[[0, 0, 0, 1, 1, 2, 2, 3]]]], scales=[1, 1, 1, 2],
                 mode="nearest", nearest_mode="floor")
    # onnxruntime#12302: cubic with the channels last.
    image = np.random.Generator(np.random.PCG64(5)).standard_normal((1, 4, 4, 1))
    rows = cubic_rows(4, 8, 2.0, True, -0.75)
    yield resize("cubic_channels_last", image, np.einsum("ih,jw,nhwc->nijc", rows, rows, image), scales=[1, 2, 2, 1],
                 mode="cubic")
    # onnx/onnx#4583: fractional scales and a coefficient of one's own; 5 * 1.6 and 5 * 0.6 are whole.
    square = np.arange(25.0).reshape(1, 1, 5, 5)
    down, across = cubic_rows(5, 8, 1.6, False, -0.5, True), cubic_rows(5, 3, 0.6, False, -0.5, True)
    yield resize("cubic_fractional", square, np.einsum("ih,jw,nchw->ncij", down, across, square),
                 scales=[1, 1, 1.6, 0.6], mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1,
                 coordinate_transformation_mode="asymmetric")
    # 3 / 0.6 is 5, though 0.6 is no float32.
    yield resize("scale_of_tenths", [[[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]]], [[[[0, 1, 3, 5, 6, 8]]]],
                 scales=[1, 1, 1, 0.6], mode="nearest", nearest_mode="floor",
                 coordinate_transformation_mode="asymmetric")
    # Integers: a constant stays what it is, whatever its weights are rounded to.
    for dtype in (np.uint8, np.int32):
        yield case(f"constant_{np.dtype(dtype).name}", "Resize", 19,
                   [np.full((1, 1, 5, 7), 200, dtype), None, None, np.asarray([1, 1, 12, 17], i64)],
                   [np.full((1, 1, 12, 17), 200, dtype)], (3,), mode="linear")
    # Integers of 64 bits keep all of them.
    wide = np.asarray([[2**60 + 1, -2**61 - 1, 7]], i64)
    yield case("nearest_int64", "Resize", 19, [wide, None, np.asarray([1, 2], f32)], [np.repeat(wide, 2, axis=1)], (2,),
               mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")


def window_cases():
    ones = np.ones((1, 1, 4, 4), f32)
    # onnxruntime#26734: an odd pad goes last.
    yield case("same_upper", "Conv", 13, [ones, np.ones((1, 1, 3, 3), f32)], [np.asarray([[[[9, 6], [6, 4]]]], f32)],
               auto_pad="SAME_UPPER", strides=[2, 2])
    # onnxruntime#22031: (4 - 1) * 2 + 3 - 2 + 1 = 8.
    yield case("transposed_length", "ConvTranspose", 13, [np.ones((1, 1, 4), f32), np.ones((1, 1, 3), f32)],
               [np.asarray([[[1, 2, 1, 2, 1, 2, 1, 1]]], f32)], strides=[2], pads=[1, 1], output_padding=[1])
    # As long as a step, where elements of the window lie further apart.
    yield case("transposed_with_room", "ConvTranspose", 13, [np.ones((1, 1, 4), f32), np.ones((1, 1, 2), f32)],
               [np.asarray([[[1, 1, 2, 2, 1, 1, 0]]], f32)], strides=[1], dilations=[2], output_padding=[1])
    # onnx/onnx#4958: the last window would begin behind the data.
    for pool in ("MaxPool", "AveragePool"):
        yield case(f"{pool}_round_up", pool, 19, [np.asarray([[[1, 2, 3, 4]]], f32)], [np.asarray([[[1, 3]]], f32)],
                   kernel_shape=[1], strides=[2], ceil_mode=1)
    # onnx/onnx#1922: a window wholly in padding has the mean 0.
    yield case("window_in_padding", "AveragePool", 19, [np.asarray([[[1, 2, 3, 4, 5]]], f32)],
               [np.asarray([[[0, 1.5, 3.5, 5, 0]]], f32)], kernel_shape=[2], strides=[2], pads=[2, 3])
    # And no largest element; its place is said to be the plane's first.
    yield case("largest_in_padding", "MaxPool", 12, [np.asarray([[[1, 2, 3, 4, 5]]], f32)],
               [np.asarray([[[-np.inf, 2, 4, 5, -np.inf]]], f32), np.asarray([[[0, 1, 3, 4, 0]]])], kernel_shape=[2],
               strides=[2], pads=[2, 3])


def movement_cases():
    rows = np.arange(12, dtype=f32).reshape(3, 4)
    # onnxruntime#6442: the row in front is row 1.
    yield case("reflect_rows", "Pad", 18, [rows, np.asarray([1, 0, 0, 0], i64)], [rows[[1, 0, 1, 2]]], (1,),
               mode="reflect")
    # onnxruntime#11828: what is cut is cut first; the one element that is left is all that can be reflected.
    yield case("reflect_after_cut", "Pad", 18, [np.arange(5, dtype=f32), np.asarray([-4, 4], i64)],
               [np.full(5, 4, f32)], (1,), mode="reflect")
    yield case("wrap", "Pad", 19, [np.arange(3, dtype=f32), np.asarray([2, 4], i64)],
               [np.asarray([1, 2, 0, 1, 2, 0, 1, 2, 0], f32)], (1,), mode="wrap")
    yield case("wrap_after_cut", "Pad", 19, [np.arange(5, dtype=f32), np.asarray([-2, 3], i64)],
               [np.asarray([2, 3, 4, 2, 3, 4], f32)], (1,), mode="wrap")
    for dtype in (f32, np.int64, np.uint8):
        yield case(f"value_of_the_run_{np.dtype(dtype).name}", "Pad", 18,
                   [np.asarray([[1, 2]], dtype), np.asarray([0, 1, 1, 0], i64), np.asarray(9, dtype)],
                   [np.asarray([[9, 1, 2], [9, 9, 9]], dtype)], (1,))
    # onnx/onnx#7735: no elements backwards are no elements.
    yield case("nothing_backwards", "Slice", 13,
               [np.zeros((0,), f32), np.asarray([-1], i64), np.asarray([-2**62], i64), np.asarray([0], i64),
                np.asarray([-1], i64)], [np.zeros((0,), f32)], (1, 2, 3, 4))


def cases(random, count):
    yield from resize_cases()
    yield from window_cases()
    yield from movement_cases()
