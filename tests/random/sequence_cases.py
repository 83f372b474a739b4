"""Sequences and optionals in small graphs, with Python's lists as the judge."""
import numpy as np
from known_value_cases import graph
from pointwise_cases import draw, draw_shape, some_of
from string_cases import draw_words

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
TYPES = {f16: 10, f32: 1, f64: 11, np.int8: 3, i32: 6, i64: 7, np.uint8: 2, np.bool_: 9, np.object_: 8}
NAMES = {f16: "float16", f32: "float", f64: "double", np.int8: "int8", i32: "int32", i64: "int64", np.uint8: "uint8",
         np.bool_: "bool", np.object_: "string"}


def draw_any(random, shape, dtype):
    return draw_words(random, shape) if dtype == np.object_ else draw(random, shape, dtype, special=True)


def either(random, position, size):
    """A place counted from either end, as a number of either type."""
    return np.asarray(position - size if position < size and random.random() < 0.5 else position, random.choice([i32, i64]))


class Text:
    """The text of a graph: its parameters get values and its results are asked for as they come."""

    def __init__(self, inputs):
        self.inputs, self.lines, self.results, self.expected, self.count = dict(inputs), [], [], [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"s{self.count} = {text}")
        return f"s{self.count}"

    def number(self, value):
        name = f"p{len(self.inputs)}"
        self.inputs[name] = value
        return name

    def result(self, text, expected):
        self.results.append(self.add(text))
        self.expected.append(np.asarray(expected))

    def case(self, random, name):
        text = f"({', '.join(self.inputs)}) => ({', '.join(self.results)}) {{ {chr(10).join(self.lines)} }}"
        case = graph(name, text, list(self.inputs.values()), self.expected)
        case.constants = tuple(i for i in range(len(self.inputs)) if random.random() < 0.2)
        return case


def joined(random, text, sequence, items, shape, axis):
    """Along an axis of the elements, or a new one where all are of one shape."""
    rank = len(shape)
    if len({item.shape for item in items}) == 1 and random.random() < 0.5:
        new = random.randint(-rank - 1, rank)
        text.result(f"ConcatFromSequence<axis = {new}, new_axis = 1>({sequence})", np.stack(items, new))
    elif rank:
        given = random.choice([axis, axis - rank])
        text.result(f"ConcatFromSequence<axis = {given}>({sequence})", np.concatenate(items, axis))


def edited(random, number):
    dtype, shape = random.choice(list(TYPES)), draw_shape(random, 0, 3, 4)
    axis, items = random.randrange(len(shape)) if shape else 0, []
    for _ in range(random.randint(1, 4)):
        if shape:
            shape[axis] = random.randint(0, 3)
        items.append(draw_any(random, shape, dtype))
    names = [f"x{i}" for i in range(len(items))]
    text = Text(zip(names, items))
    pool, now = list(zip(names, items)), []
    if random.random() < 0.5:
        sequence, now = text.add(f"SequenceConstruct({', '.join(names)})"), list(items)
    else:
        sequence = text.add(f"SequenceEmpty<dtype = {TYPES[dtype]}>()")
    for _ in range(random.randint(1, 5)):
        place = random.randint(0, len(now))
        if now and random.random() < 0.4:
            if random.random() < 0.3:
                now, sequence = now[:-1], text.add(f"SequenceErase({sequence})")
                continue
            place = min(place, len(now) - 1)
            at = text.number(either(random, place, len(now)))
            now, sequence = now[:place] + now[place + 1:], text.add(f"SequenceErase({sequence}, {at})")
            continue
        name, item = random.choice(pool)
        if random.random() < 0.3:
            now, sequence = now + [item], text.add(f"SequenceInsert({sequence}, {name})")
        else:
            at = text.number(either(random, place, len(now)))
            now, sequence = now[:place] + [item] + now[place:], text.add(f"SequenceInsert({sequence}, {name}, {at})")
    if random.random() < 0.3:
        sequence = text.add(f"Identity({sequence})")
    text.result(f"SequenceLength({sequence})", i64(len(now)))
    if now:
        place = random.randrange(len(now))
        text.result(f"SequenceAt({sequence}, {text.number(either(random, place, len(now)))})", now[place])
        joined(random, text, sequence, now, shape, axis)
    return text.case(random, f"sequence_{number}")


def cut(random, number):
    dtype, shape = random.choice(list(TYPES)), draw_shape(random, 1, 3, 6)
    x, axis = draw_any(random, shape, dtype), random.randrange(len(shape))
    size, kind = shape[axis], random.choice(["pieces", "even", "one", "alone"])
    text, given = Text({"x": x}), random.choice([axis, axis - len(shape)])
    if kind == "pieces":
        edges = sorted(random.randint(0, size) for _ in range(random.randint(0, 3)))
        sizes = np.diff([0, *edges, size])
        split, items = text.number(sizes.astype(random.choice([i32, i64]))), np.split(x, np.cumsum(sizes)[:-1], axis)
    elif kind == "even":
        length = random.randint(1, size + 2)
        split = text.number(np.asarray(length, random.choice([i32, i64])))
        items = [np.take(x, range(first, min(first + length, size)), axis) for first in range(0, size, length)]
    else:
        split, items = "", [np.take(x, [place], axis) for place in range(size)]
        if kind == "alone":
            items = [np.take(x, place, axis) for place in range(size)]
    keep = 0 if kind == "alone" else 1
    attributes = f"axis = {given}" + (f", keepdims = {keep}" if not keep or random.random() < 0.5 else "")
    sequence = text.add(f"SplitToSequence<{attributes}>(x{', ' + split if split else ''})")
    text.result(f"SequenceLength({sequence})", i64(len(items)))
    if items:
        place = random.randrange(len(items))
        text.result(f"SequenceAt({sequence}, {text.number(either(random, place, len(items)))})", items[place])
        text.result(f"ConcatFromSequence<axis = {axis}, new_axis = {1 - keep}>({sequence})", x)
    return text.case(random, f"cut_sequence_{number}")


def mapped(random, number):
    """With a second sequence, or a tensor that is the same for all; of shapes that differ."""
    rows = [draw(random, [random.randint(0, 4)], i64) for _ in range(random.randint(0, 4))]
    bias, outer = draw(random, [1], i64), draw(random, [], i64)
    names = [f"x{i}" for i in range(len(rows))]
    text = Text(list(zip(names, rows)) + [("bias", bias), ("outer", outer)])
    start = text.add(f"SequenceConstruct({', '.join(names)})" if rows else "SequenceEmpty<dtype = 7>()")
    second = random.random() < 0.5
    other = start if second else "bias"
    kind = "int64[N] b" if second else "int64[1] b"
    text.count += 2
    longer, sizes = f"s{text.count - 1}", f"s{text.count}"
    text.lines.append(f"{longer}, {sizes} = SequenceMap ({start}, {other}) <body = g (int64[N] a, {kind}) => "
                      "(int64[M] r, int64 n) { t = Add(a, b) u = Mul(t, outer) r = Concat<axis = 0>(a, u) n = Size(a) }>")
    expected = [np.concatenate([row, (row + (row if second else bias)) * outer]) for row in rows]
    text.result(f"SequenceLength({sizes})", i64(len(rows)))
    text.result(f"SequenceLength({longer})", i64(len(rows)))
    if rows:
        text.result(f"ConcatFromSequence<axis = 0>({longer})", np.concatenate(expected))
        text.result(f"ConcatFromSequence<axis = 0, new_axis = 1>({sizes})", np.asarray([row.size for row in rows], i64))
    return text.case(random, f"mapped_sequence_{number}")


def collected(random, number):
    """A loop that puts what it makes into a sequence, of sizes that differ, and one that goes through it."""
    start, turns = draw(random, [random.randint(0, 3)], f32), random.randint(0, 4)
    text = Text({"x": start, "m": np.asarray(turns, i64)})
    first = text.add("SequenceConstruct(x)" if random.random() < 0.5 else "SequenceEmpty<dtype = 1>()")
    items = [start] if "Construct" in text.lines[-1] else []
    sequence = text.add(f"""Loop (m, , {first}) <body = b (int64 i, bool c, seq(float[N]) s) => (bool d, seq(float[N]) t) {{
        d = Identity(c) f = Cast<to = 1>(i) y = Add(x, f) z = Concat<axis = 0>(y, x) t = SequenceInsert(s, z, i) }}>""")
    for turn in range(turns):
        items.insert(turn, np.concatenate([start + f32(turn), start]))
    text.result(f"SequenceLength({sequence})", i64(len(items)))
    count, zero = text.results[-1], text.add("Constant<value = float {0}>()")
    text.result(f"""Loop ({count}, , {zero}) <body = g (int64 i, bool c, float a) => (bool d, float n) {{
        d = Identity(c) e = SequenceAt({sequence}, i) l = ReduceSum<keepdims = 0>(e) n = Add(a, l) }}>""",
                np.asarray(sum((item.astype(f64).sum() for item in items), 0.0), f32))
    return text.case(random, f"collected_{number}")


def optional(random, number):
    dtype, shape = random.choice(list(TYPES)), draw_shape(random, 0, 3, 3)
    x = draw_any(random, shape, dtype)
    text = Text({"x": x, "c": np.asarray(random.random() < 0.5)})
    element, kinds = NAMES[dtype], ["tensor", "sequence", "none", "plain", "left out", *["branch"] * bool(shape)]
    kind = random.choice(kinds)
    if kind == "plain":
        text.result("OptionalHasElement(x)", True)
        text.result("OptionalGetElement(x)", x)
    elif kind == "left out":
        text.result("OptionalHasElement()", False)
    elif kind == "none":
        text.result(f"OptionalHasElement({text.add(f'Optional<type = {element}[N]>()')})", False)
    elif kind == "tensor":
        given = text.add("Optional(x)")
        text.result(f"OptionalHasElement({given})", True)
        text.result(f"OptionalGetElement({given})", x)
    elif kind == "sequence":
        given = text.add(f"Optional({text.add('SequenceConstruct(x, x)')})")
        text.result(f"OptionalHasElement({given})", True)
        text.result(f"SequenceLength({text.add(f'OptionalGetElement({given})')})", i64(2))
    else:
        given = text.add(f"""If (c) <then_branch = t () => (optional({element}[N]) o) {{ o = Optional(x) }},
            else_branch = e () => (optional({element}[N]) o) {{ o = Optional<type = {element}[N]>() }}>""")
        text.result(f"OptionalHasElement({given})", text.inputs["c"])
        text.result(f"""If ({text.results[-1]}) <then_branch = t () => ({element}[N] r) {{ r = OptionalGetElement({given}) }},
            else_branch = e () => ({element}[N] r) {{ r = Concat<axis = 0>(x, x) }}>""",
                    x if text.inputs["c"] else np.concatenate([x, x]))
    return text.case(random, f"optional_{number}")


MAKERS = [edited, edited, cut, mapped, collected, optional]


def refused():
    x, two = np.zeros(2, f32), np.asarray(2, i64)
    for op, place in (("SequenceAt", 2), ("SequenceAt", -3), ("SequenceErase", 2), ("SequenceErase", -3)):
        last = "Identity" if op == "SequenceAt" else "SequenceLength"
        yield graph(f"{op}_outside_{abs(place)}", "(x) => (y) { s = SequenceConstruct(x, x) "
                    f"p = Constant<value = int64 {{{place}}}>() t = {op}(s, p) y = {last}(t) }}", [x], [],
                    error="of 2 elements")
    yield graph("no_element", "(x) => (y) { o = Optional<type = float[N]>() y = OptionalGetElement(o) }", [x], [],
                error="has no element")
    yield graph("pieces_of_none", "(x, p) => (y) { s = SplitToSequence<axis = 0>(x, p) y = SequenceLength(s) }",
                [x, two * 0], [], error="pieces of 0")


def cases(random, count):
    yield from refused()
    yield from some_of(MAKERS, 1, random, count // 2)
