"""Strings: joined, cut, matched, counted, cast and moved, with Python and the operators' documents as the judge."""
import re

import movement_cases
import newest_cases
import numpy as np
import selection_cases
from check_operators import Case
from onnx import TensorProto, helper
from pointwise_cases import constants_of, draw, draw_shape, partner, some_of

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
WORDS = ["", "a", "A", "b", "ab", "Ab", "aB", "the", "The", "and", "x y", "été", "ÉTÉ", "жук", "日本", "𝛼", "a,b", ","]
INTEGERS = [np.int8, np.int16, i32, i64, np.uint8, np.uint16, np.uint32, np.uint64]


def texts(shape, values):
    array = np.empty(int(np.prod(shape, dtype=i64)), object)
    array[:] = list(values)
    return array.reshape(shape)


def draw_words(random, shape, words=WORDS):
    return texts(shape, (random.choice(words) for _ in range(int(np.prod(shape, dtype=i64)))))


def each(function, array, dtype=object):
    result = np.empty(array.shape, dtype)
    for place in np.ndindex(array.shape):
        result[place] = function(array[place])
    return result


def made(random, name, op_type, opset, inputs, attributes, expected, constants=None):
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    return Case(name, op_type, opset, inputs, attributes, constants_of(random, inputs) if constants is None else constants,
                [np.asarray(array) for array in expected], 1e-6)


def two(random):
    shape = draw_shape(random, 0, 3, 4)
    arrays = [draw_words(random, shape), draw_words(random, partner(random, shape))]
    if random.random() < 0.5:
        arrays.reverse()
    return arrays


def concatenated(random, number):
    a, b = two(random)
    return made(random, f"StringConcat_{number}", "StringConcat", 20, [a, b], {}, [np.asarray(np.add(a, b), object)])


def compared(random, number):
    a, b = two(random)
    return made(random, f"Equal_of_texts_{number}", "Equal", 19, [a, b], {}, [np.equal(a, b).astype(bool)])


def chosen(random, number):
    a, b = two(random)
    condition = draw(random, partner(random, a.shape), np.bool_)
    return made(random, f"Where_of_texts_{number}", "Where", 16, [condition, a, b], {},
                [np.asarray(np.where(condition, a, b), object)])


def split(random, number):
    """As Python splits; pieces that are not there are empty."""
    delimiter = random.choice(["", " ", ",", ", ", "ab", "-", None])
    pieces = ["a", "b", "ab", "ba", " ", "  ", ",", ", ", "-", "é", "日本", "\t", "\n"]
    x = draw_shape(random, 0, 3, 4)
    x = texts(x, ("".join(random.choice(pieces) for _ in range(random.randint(0, 6)))
                  for _ in range(int(np.prod(x, dtype=i64)))))
    most, attributes = random.choice([None, 0, 1, 2, 9]), {}
    if delimiter is not None:
        attributes["delimiter"] = delimiter
    if most is not None:
        attributes["maxsplit"] = most
    parts = each(lambda text: text.split(delimiter or None, -1 if most is None else most), x)
    counts = each(len, parts, i64)
    longest = int(counts.max(initial=0))
    expected = np.full((*x.shape, longest), "", object)
    for place in np.ndindex(x.shape):
        expected[place][:counts[place]] = parts[place]
    return made(random, f"StringSplit_{number}", "StringSplit", 20, [x], attributes, [expected, counts])


def normalized(random, number):
    words = draw_words(random, [random.randint(0, 7)])
    stop = [random.choice(WORDS) for _ in range(random.randint(0, 5))]
    exact, change = random.randint(0, 1), random.choice(["NONE", "LOWER", "UPPER"])
    attributes = {"case_change_action": change, "is_case_sensitive": exact}
    if stop:
        attributes["stopwords"] = stop
    seen = (lambda word: word) if exact else str.lower
    apply = {"NONE": lambda word: word, "LOWER": str.lower, "UPPER": str.upper}[change]
    kept = [apply(word) for word in words if seen(word) not in map(seen, stop)] or [""]
    rows = random.random() < 0.5
    return made(random, f"StringNormalizer_{number}", "StringNormalizer", 10, [words[None] if rows else words], attributes,
                [texts([1, len(kept)] if rows else [len(kept)], kept)])


PATTERNS = [r"", r"a", r"a|ab|b", r"(?i)the|été", r"[a-z]+", r"[^a]*", r"\w+", r".", r".*b", r"(a|b){1,2}", r"^a?$",
            r"(ab?)+", r"\S+\s\S+", r"x y|a,b", r"日.", r"[а-я]{3}", r"\.", r"(?s).*"]


def matched(random, number):
    x = draw_words(random, draw_shape(random, 0, 3, 4), WORDS + ["a\nb", "aab", "abab", "."])
    pattern = random.choice(PATTERNS)
    # RE2's \w and \s are those of ASCII.
    expected = each(lambda text: re.fullmatch(pattern, text, re.ASCII if "\\" in pattern else 0) is not None, x, bool)
    return made(random, f"RegexFullMatch_{number}", "RegexFullMatch", 20, [x], {"pattern": pattern}, [expected])


def counted(random, number):
    """Each n-gram of the pool, with all the numbers of words between that may be left out."""
    vocabulary = [3, 5, 7, 9] if random.random() < 0.5 else ["a", "b", "A", "é"]
    pools, starts, most_words = [], [], random.randint(1, 3)
    for length in range(1, most_words + 1):
        grams = {tuple(random.choice(vocabulary[:3]) for _ in range(length)) for _ in range(random.randint(0, 4))}
        starts.append(sum(map(len, pools)))
        pools += sorted(grams)
    if not pools:
        return None
    places = random.sample(range(len(pools) + random.randint(0, 2)), len(pools))
    weights = [random.randint(-8, 8) / 4 for _ in pools] if random.random() < 0.6 else None
    shape = [random.randint(0, 9)] if random.random() < 0.5 else [random.randint(1, 3), random.randint(0, 9)]
    if isinstance(vocabulary[0], str):
        x = draw_words(random, shape, vocabulary)
    else:
        x = np.asarray([random.choice(vocabulary) for _ in range(int(np.prod(shape)))],
                       random.choice([i32, i64])).reshape(shape)
    least, skips, mode = random.randint(1, most_words), random.randint(0, 3), random.choice(["TF", "IDF", "TFIDF"])
    expected = np.zeros([*shape[:-1], max(places) + 1], f32)
    for row, result in zip(np.atleast_2d(x), np.atleast_2d(expected)):
        for gram, place, weight in zip(pools, places, weights or [1] * len(pools)):
            length = len(gram)
            if length < least:
                continue
            steps = range(1, 2 if length == 1 else skips + 2)
            count = sum(tuple(row[first:first + (length - 1) * step + 1:step]) == gram
                        for step in steps for first in range(len(row) - (length - 1) * step))
            result[place] = {"TF": count, "IDF": weight * min(count, 1), "TFIDF": weight * count}[mode]
    flat = [word for gram in pools for word in gram]
    attributes = {"min_gram_length": least, "max_gram_length": most_words, "max_skip_count": skips, "mode": mode,
                  "ngram_counts": starts, "ngram_indexes": places,
                  "pool_strings" if isinstance(flat[0], str) else "pool_int64s": flat}
    if weights:
        attributes["weights"] = weights
    return made(random, f"TfIdfVectorizer_{number}", "TfIdfVectorizer", 9, [x], attributes, [expected], ())


def real_text(value):
    if np.isnan(value):
        return "NaN"
    return ("INF" if value > 0 else "-INF") if np.isinf(value) else str(value)


def written(random, number):
    dtype = random.choice([f16, f32, f64, *INTEGERS])
    x = draw(random, draw_shape(random, 0, 2), dtype, special=True)
    if x.dtype.kind == "f":
        exponent = random.choice([-4, -2, 0, 3]) if dtype == f16 else random.randint(-20, 20)
        x = (x * dtype(10) ** dtype(exponent)).astype(dtype)
    like = random.random() < 0.4
    expected = [each(real_text if x.dtype.kind == "f" else str, x)]
    if like:
        return made(random, f"CastLike_to_text_{number}", "CastLike", 19, [x, draw_words(random, [2])], {}, expected)
    return made(random, f"Cast_to_text_{number}", "Cast", 19, [x], {"to": TensorProto.STRING}, expected)


def spelled(random, value):
    """One of the ways to write a number."""
    text = random.choice([str, repr])(value.item())
    if isinstance(value.item(), float) and random.random() < 0.4:
        text = random.choice(["{:e}", "{:.17E}", "{:.20f}"]).format(value)
    if random.random() < 0.3 and text[0] not in "-+":
        text = "+" + text
    return random.choice(["", "", " "]) + text + random.choice(["", "", " ", "\n"])


def read(random, number):
    dtype = random.choice([f16, f32, f64, *INTEGERS])
    x = draw(random, draw_shape(random, 0, 2), dtype, special=True)
    words = each(lambda value: spelled(random, value), x)
    if x.dtype.kind == "f":
        words = each(lambda text: random.choice([text, text.upper(), text.replace("inf", "Infinity")]), words)
        x = each(float, words, f64).astype(dtype)
    if random.random() < 0.4:
        return made(random, f"CastLike_of_text_{number}", "CastLike", 19, [words, np.zeros(3, dtype)], {}, [x])
    to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made(random, f"Cast_of_text_{number}", "Cast", 19, [words], {"to": to}, [x])


MAKING = {"Cast", "CastLike", "ConstantOfShape", "EyeLike"}  # make numbers, and do not move them
SMALL = [np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.uint8), np.dtype(np.uint16)]


def moved(random, number):
    """A case that moves numbers of a small type, with each number written as a text; zero, which pads, is an empty one."""
    while True:
        case = random.choice(movement_cases.MAKERS + MOVING_SELECTIONS)(random, number)
        if case is None or case.op_type in MAKING or case.expected[0].dtype not in SMALL or \
                case.attributes.get("reduction", "none") != "none":
            continue
        word = lambda value: "" if value == 0 else f"n° {value}"
        as_texts = lambda array: each(word, array) if array is not None and array.dtype == dtype else array
        dtype = case.expected[0].dtype
        case.name = f"text_{case.op_type}_{number}"
        case.inputs = [as_texts(array) for array in case.inputs]
        case.expected = [as_texts(array) for array in case.expected]
        return case


MOVING_SELECTIONS = [selection_cases.scatter_elements, selection_cases.compress, newest_cases.cache_update]
MAKERS = [concatenated, compared, chosen, split, split, normalized, matched, counted, counted, written, read, moved, moved,
          moved]


def by_place():
    square = texts([2, 2], "abcd")
    yield made(None, "one_hot_text", "OneHot", 11, [np.asarray([1, -2, 5]), np.asarray(2), texts([2], ["", "x"])], {},
               [texts([3, 2], ["", "x", "x", "", "", ""])], ())
    yield made(None, "reversed_text", "ReverseSequence", 10, [square, np.asarray([2, 1])], {"batch_axis": 1, "time_axis": 0},
               [texts([2, 2], "cbad")], ())
    yield made(None, "scattered_text", "ScatterND", 18, [square, np.asarray([[1], [-2]]), texts([2, 2], ["e", "", "f", "g"])],
               {}, [texts([2, 2], ["f", "g", "e", ""])], ())
    yield made(None, "centred_text", "CenterCropPad", 18, [square, np.asarray([1, 4])], {},
               [texts([1, 4], ["", "a", "b", ""])], (1,))
    yield made(None, "unique_text", "Unique", 11, [texts([5], ["b", "", "b", "é", "a"])], {},
               [texts([4], ["", "a", "b", "é"]), np.asarray([1, 4, 0, 3]), np.asarray([2, 0, 2, 3, 1]),
                np.asarray([1, 1, 2, 1])], ())


def refused():
    for text, dtype in (("", TensorProto.FLOAT), ("1,5", TensorProto.DOUBLE), ("0x10", TensorProto.INT32),
                        ("128", TensorProto.INT8), ("-1", TensorProto.UINT64), ("1e400", TensorProto.INT64),
                        ("++1", TensorProto.FLOAT), ("nan", TensorProto.INT32), ("18446744073709551616", TensorProto.UINT64)):
        yield Case(f"no_number_{text}_{dtype}", "Cast", 19, [texts([1], [text])], {"to": dtype}, error=f"'{text}' is no ")
    yield Case("no_pattern", "RegexFullMatch", 20, [texts([1], ["a"])], {"pattern": "(a"}, error="'(a'")


def cases(random, count):
    yield from by_place()
    yield from refused()
    yield from some_of(MAKERS, 1, random, count)
