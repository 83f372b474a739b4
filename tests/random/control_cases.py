"""Programs of If, Loop and Scan within each other, on integers, run by Python: values from around, sizes that depend on
data, turns that never happen, siblings whose values have the same names."""
import numpy as np
from known_value_cases import graph
from onnx import TensorProto
from pointwise_cases import draw, some_of
from sequence_cases import NAMES, draw_any

i64 = np.int64
ELEMENTS = {np.int64: ("int64", TensorProto.INT64), np.int32: ("int32", TensorProto.INT32)}


class Block:
    """Nodes as text and what they do, as functions of the values so far. A value is known by its kind: a number, a row of
    the program's length, a list of any length, or a table of rows."""

    def __init__(self, program, outer=None):
        self.program, self.outer = program, outer
        self.lines, self.steps = [], []
        self.own = {"number": [], "row": [], "list": [], "table": []}

    def names(self, kind):
        return self.own[kind] + (self.outer.names(kind) if self.outer else [])

    def pick(self, kind):
        if self.program.random.random() < 0.6 and self.own[kind]:
            return self.program.random.choice(self.own[kind])
        return self.program.random.choice(self.names(kind))

    def add(self, kind, text, function):
        """A node with one result; `function` takes the values."""
        name = self.program.name()
        self.lines.append(f"{name} = {text}")
        self.steps.append(lambda values: values.update({name: np.asarray(function(values))}))
        if kind:
            self.own[kind].append(name)
        return name

    def run(self, values):
        with np.errstate(over="ignore"):
            for step in self.steps:
                step(values)

    def text(self):
        return "{ " + "\n".join(self.lines) + " }"


class Program:
    def __init__(self, random, dtype, size):
        self.random, self.dtype, self.size, self.count = random, dtype, size, 0
        self.type, self.number = ELEMENTS[dtype]

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def declared(self, kind, name):
        shape = {"number": "", "row": f"[{self.size}]", "list": f"[{name}_size]"}[kind]
        return f"{self.type}{shape} {name}"

    def constant(self, block, value, kind=None, type_name=None, dtype=None):
        return block.add(kind, f"Constant<value = {type_name or self.type} {{{value}}}>()",
                         lambda values: (dtype or self.dtype)(value))

    def cast(self, block, kind, name):
        return block.add(kind, f"Cast<to = {self.number}>({name})", lambda values: values[name].astype(self.dtype))

    def wide(self, block, name):
        return block.add(None, f"Cast<to = {TensorProto.INT64}>({name})", lambda values: values[name].astype(i64))

    def compute(self, block):
        kind = self.random.choice(["row", "row", "row", "number", "number", "list", "list"])
        if kind == "row":
            op, function = self.random.choice([("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply),
                                               ("Max", np.maximum), ("Min", np.minimum)])
            a, b = block.pick("row"), block.pick(self.random.choice(["row", "number"]))
            return block.add("row", f"{op}({a}, {b})", lambda values: function(values[a], values[b]))
        if kind == "number":
            a = block.pick(self.random.choice(["row", "list"]))
            if self.random.random() < 0.5:
                return block.add("number", f"ReduceSum<keepdims = 0>({a})",
                                 lambda values: values[a].sum(dtype=self.dtype))
            size = block.add(None, f"Size({a})", lambda values: i64(values[a].size))
            return self.cast(block, "number", size)
        a, b = block.pick("list"), block.pick(self.random.choice(["row", "list"]))
        if self.random.random() < 0.5:
            return block.add("list", f"Concat<axis = 0>({a}, {b})", lambda values: np.concatenate([values[a], values[b]]))
        places = block.add(None, f"NonZero({b})", lambda values: np.asarray(np.nonzero(values[b]), i64))
        flat = block.add(None, f"Reshape({places}, {self.constant(block, '-1', None, 'int64[1]', i64)})",
                         lambda values: values[places].reshape(-1))
        if self.random.random() < 0.5:
            return self.cast(block, "list", flat)
        return block.add("list", f"Gather({b}, {flat})", lambda values: values[b][values[flat]])

    def condition(self, block):
        """A scalar, or one element with an axis."""
        name = self.comparison(block)
        if self.random.random() < 0.7:
            return name
        shape = self.constant(block, "1", None, "int64[1]", i64)
        return block.add(None, f"Reshape({name}, {shape})", lambda values: values[name].reshape(1))

    def comparison(self, block):
        a = block.pick("number")
        if self.random.random() < 0.5:
            b = block.pick("number")
            return block.add(None, f"Less({a}, {b})", lambda values: values[a] < values[b])
        two, zero = self.constant(block, 2), self.constant(block, 0)
        rest = block.add(None, f"Mod({a}, {two})", lambda values: np.mod(values[a], 2))
        return block.add(None, f"Equal({rest}, {zero})", lambda values: values[rest] == 0)

    def fill(self, block, depth):
        for _ in range(self.random.randint(0, 3)):
            self.statement(block, depth)

    def statement(self, block, depth):
        kinds = [self.compute, self.compute]
        if depth < 3:
            kinds += [self.branch, self.loop, self.scan if block.names("table") else self.loop]
        made = self.random.choice(kinds)
        if made == self.compute:
            return made(block)
        return made(block, depth)

    def outputs(self, block, kinds):
        """Names that the block gives for these kinds, which may be values from around."""
        return [block.pick(kind) for kind in kinds]

    def results(self, block, kinds, text, function):
        """A node with several results."""
        names = [self.name() for _ in kinds]
        block.lines.append(f"{', '.join(names)} = {text}")
        block.steps.append(lambda values: values.update(zip(names, function(values))))
        for kind, name in zip(kinds, names):
            block.own[kind].append(name)

    def kinds(self, low, high, choices=("number", "row", "list")):
        return [self.random.choice(choices) for _ in range(self.random.randint(low, high))]

    def branch(self, block, depth):
        condition, kinds, start, last, bodies = self.condition(block), self.kinds(1, 3), self.count, 0, []
        for _ in range(2):
            self.count = start
            body = Block(self, block)
            self.fill(body, depth + 1)
            given = self.outputs(body, kinds)
            bodies.append((body, given))
            last = max(last, self.count)
        self.count = last

        def run(values):
            body, given = bodies[0 if values[condition] else 1]
            inner = dict(values)
            body.run(inner)
            return [inner[name] for name in given]

        texts = [f"() => ({', '.join(self.declared(kind, name) for kind, name in zip(kinds, given))}) {body.text()}"
                 for body, given in bodies]
        self.results(block, kinds, f"If ({condition}) <then_branch = t {texts[0]}, else_branch = e {texts[1]}>", run)

    def bound(self, block):
        """How often, as a name, or nothing."""
        kind = self.random.choice(["number", "data", "none"])
        if kind == "none":
            return None
        if kind == "number":
            return self.constant(block, self.random.randint(0, 4), None, "int64", i64)
        a, four = block.pick("number"), self.constant(block, 4)
        rest = block.add(None, f"Mod({a}, {four})", lambda values: np.mod(values[a], 4))
        return self.wide(block, rest)

    def loop(self, block, depth):
        most, first = self.bound(block), self.condition(block) if self.random.random() < 0.4 else None
        carried, scanned = self.kinds(0, 3), self.kinds(0, 2, ("number", "row"))
        if not carried and not scanned:
            carried = ["row"]
        given = [block.pick(kind) for kind in carried]
        body = Block(self, block)
        turn, goes_on, inner_names = self.name(), self.name(), [self.name() for _ in carried]
        for kind, name in zip(carried, inner_names):
            body.own[kind].append(name)
        if self.random.random() < 0.6:
            self.cast(body, "number", turn)
        self.fill(body, depth + 1)
        limit = self.constant(body, self.random.randint(0, 3), None, "int64", i64)
        again = body.add(None, f"Less({turn}, {limit})", lambda values: values[turn] < values[limit])
        if most and self.random.random() < 0.5:
            again = goes_on
        results, rows = self.outputs(body, carried), self.outputs(body, scanned)

        def run(values):
            state, scans, turns = [values[name] for name in given], [[] for _ in scanned], 0
            holds = bool(values[first]) if first else True
            while holds and (most is None or turns < values[most]):
                inner = dict(values) | dict(zip(inner_names, state)) | {turn: i64(turns), goes_on: np.asarray(holds)}
                body.run(inner)
                state, holds, turns = [inner[name] for name in results], bool(inner[again]), turns + 1
                for scan, name in zip(scans, rows):
                    scan.append(inner[name])
            shapes = [(0,) if kind == "number" else (0, self.size) for kind in scanned]
            return state + [np.stack(scan) if scan else np.zeros(shape, self.dtype) for scan, shape in zip(scans, shapes)]

        parameters = [f"int64 {turn}", f"bool {goes_on}"] + [self.declared(*each) for each in zip(carried, inner_names)]
        declared = [f"bool {again}"] + [self.declared(*each) for each in zip(carried + scanned, results + rows)]
        stacked = ["list" if kind == "number" else "table" for kind in scanned]
        text = f"Loop ({', '.join([most or '_', first or '_', *given])}) <body = b ({', '.join(parameters)}) => " \
               f"({', '.join(declared)}) {body.text()}>"
        self.results(block, carried + stacked, text, run)

    def scan(self, block, depth):
        table = block.pick("table")
        carried, scanned = self.kinds(0, 2, ("number", "row")), self.kinds(1, 2, ("number", "row"))
        given = [block.pick(kind) for kind in carried]
        body = Block(self, block)
        row, inner_names = self.name(), [self.name() for _ in carried]
        for kind, name in zip(["row", *carried], [row, *inner_names]):
            body.own[kind].append(name)
        self.fill(body, depth + 1)
        results, rows = self.outputs(body, carried), self.outputs(body, scanned)
        backwards, turned = self.random.randint(0, 1), [self.random.randint(0, 1) for _ in scanned]

        def run(values):
            state, scans = [values[name] for name in given], [[] for _ in scanned]
            for each in values[table][::-1] if backwards else values[table]:
                inner = dict(values) | dict(zip(inner_names, state)) | {row: each}
                body.run(inner)
                state = [inner[name] for name in results]
                for scan, name in zip(scans, rows):
                    scan.append(inner[name])
            shapes = [(0,) if kind == "number" else (0, self.size) for kind in scanned]
            return state + [np.stack(scan[::-1] if back else scan) if scan else np.zeros(shape, self.dtype)
                            for scan, shape, back in zip(scans, shapes, turned)]

        parameters = [self.declared(*each) for each in zip([*carried, "row"], [*inner_names, row])]
        declared = [self.declared(*each) for each in zip(carried + scanned, results + rows)]
        stacked = ["list" if kind == "number" else "table" for kind in scanned]
        text = f"Scan ({', '.join([*given, table])}) <num_scan_inputs = 1, scan_input_directions = [{backwards}], " \
               f"scan_output_directions = {turned}, body = b ({', '.join(parameters)}) => ({', '.join(declared)}) " \
               f"{body.text()}>"
        self.results(block, carried + stacked, text, run)


def program(random, number):
    dtype, size = random.choice([np.int64, np.int64, np.int32]), random.choice([0, 1, 2, 3, 3, 5])
    maker = Program(random, dtype, size)
    block = Block(maker)
    generator = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
    shapes = {"number": [()], "row": [(size,)], "list": [(random.randint(0, 4),)], "table": [(random.randint(0, 3), size)]}
    inputs, names = [], []
    for kind, each in shapes.items():
        for shape in each:
            inputs.append(np.asarray(generator.integers(-4, 5, shape)).astype(dtype))
            names.append(f"x{len(names)}")
            block.own[kind].append(names[-1])
    for _ in range(random.randint(2, 5)):
        maker.statement(block, 0)
    values = dict(zip(names, inputs))
    block.run(values)
    made = [name for kind in block.own for name in block.own[kind] if name not in names]
    outputs = random.sample(made, min(len(made), 4))
    if not outputs:
        return None
    name = f"program_{number}"
    return graph(name, f"({', '.join(names)}) => ({', '.join(outputs)}) {block.text()}", inputs,
                 [values[output] for output in outputs], random.choice([13, 16, 18, 19, 21, 23]))


def scanned(random, number):
    """Tensors of every type along any axis, in either direction, two at once; nothing where there are no rows."""
    turns, count = random.randint(0, 4), random.randint(1, 2)
    inputs, axes, directions, lines, results, expected, parameters = [], [], [], [], [], [], []
    out_axes, out_directions = [], []
    for i in range(count):
        dtype, shape = random.choice(list(NAMES)), [random.randint(1, 3) for _ in range(random.randint(0, 2))]
        axis, out_axis = random.randint(0, len(shape)), random.randint(0, len(shape))
        x = draw_any(random, [*shape[:axis], turns, *shape[axis:]], dtype)
        back, out_back = random.randint(0, 1), random.randint(0, 1)
        rank = len(shape) + 1
        inputs.append(x)
        axes.append(random.choice([axis, axis - rank]))
        out_axes.append(random.choice([out_axis, out_axis - rank]))
        directions.append(back)
        out_directions.append(out_back)
        sizes = ", ".join(map(str, shape))
        parameters.append((f"{NAMES[dtype]}[{sizes}] e{i}", f"{NAMES[dtype]}[{sizes}] r{i}"))
        lines.append(f"r{i} = Identity(e{i})")
        rows = np.moveaxis(x, axis, 0)
        expected.append(np.moveaxis(rows[::-1] if back != out_back else rows, 0, out_axis))
        results.append(f"y{i}")
    given, made = [", ".join(each) for each in zip(*parameters)]
    text = f"({', '.join(f'x{i}' for i in range(count))}) => (turns, {', '.join(results)}) {{ " \
           f"zero = Constant<value = int64 {{0}}>() turns, {', '.join(results)} = " \
           f"Scan (zero, {', '.join(f'x{i}' for i in range(count))}) <num_scan_inputs = {count}, " \
           f"scan_input_axes = {axes}, scan_input_directions = {directions}, scan_output_axes = {out_axes}, " \
           f"scan_output_directions = {out_directions}, body = b (int64 n, {given}) => (int64 m, {made}) {{ " \
           f"one = Constant<value = int64 {{1}}>() m = Add(n, one) {' '.join(lines)} }}> }}"
    return graph(f"scanned_{number}", text, inputs, [i64(turns), *expected])


NARROW = {"int4": (22, -8, 7), "uint4": (21, 0, 15), "bfloat16": (16, -128, 128), "float8e4m3fn": (17, -16, 16)}


def narrow(random, number):
    """Elements of fewer bits than a byte are cut and joined where no byte ends; in a scan, a loop and a sequence."""
    kind, (number_of, low, high) = random.choice(list(NARROW.items()))
    shape = [random.randint(1, 4) for _ in range(random.randint(2, 3))]
    x, rest = draw(random, shape, np.int32, low, high).astype(np.float32), ", ".join(map(str, shape[1:]))
    turns = random.randint(0, shape[0])
    text = f"""(x, m) => (y, z, w) {{ c = Cast<to = {number_of}>(x)
        rows = Scan (c) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_axes = [{len(shape) - 1}],
            body = b ({kind}[{rest}] e) => ({kind}[{rest}] r) {{ r = Identity(e) }}>
        y = Cast<to = 1>(rows)
        some = Loop (m, ) <body = g (int64 i, bool a) => (bool d, {kind}[{rest}] q) {{ d = Identity(a)
            one = Constant<value = int64[1] {{1}}>() zero = Constant<value = int64[1] {{0}}>()
            at = Reshape(i, one) next = Add(at, one) u = Slice(x, at, next, zero) t = Cast<to = {number_of}>(u)
            q = Squeeze(t, zero) }}>
        z = Cast<to = 1>(some) s = SplitToSequence<axis = -1, keepdims = 0>(c)
        joined = ConcatFromSequence<axis = 0, new_axis = 1>(s) w = Cast<to = 1>(joined) }}"""
    return graph(f"narrow_{number}", text, [x, np.asarray(turns, i64)],
                 [np.moveaxis(x[::-1], 0, -1), x[:turns], np.moveaxis(x, -1, 0)], 21)


def carried(random, number):
    """A loop takes rows of any type in an order that is data, and puts them behind each other; a branch may turn that."""
    dtype, shape = random.choice(list(NAMES)), [random.randint(1, 3) for _ in range(random.randint(0, 2))]
    x = draw_any(random, [random.randint(1, 4), *shape], dtype)
    order = np.asarray([random.randrange(len(x)) for _ in range(random.randint(0, 5))], i64)
    turned, kind = np.asarray(random.random() < 0.5), NAMES[dtype]
    sizes = ", ".join(map(str, shape))
    rest = f", {sizes}" if sizes else ""
    taken = x[order]
    text = f"""(x, order, turned) => (rows, all, chosen) {{ m = Size(order)
        zero = Constant<value = int64[1] {{0}}>() none = Slice(x, zero, zero)
        all, rows = Loop (m, , none) <body = b (int64 i, bool c, {kind}[N{rest}] v) =>
                (bool d, {kind}[M{rest}] w, {kind}[{sizes}] r) {{
            d = Identity(c) at = Gather(order, i) r = Gather(x, at) axis = Constant<value = int64[1] {{0}}>()
            wide = Unsqueeze(r, axis) w = Concat<axis = 0>(wide, v) }}>
        chosen = If (turned) <then_branch = t () => ({kind}[A{rest}] y) {{ y = Concat<axis = 0>(all, rows) }},
            else_branch = e () => ({kind}[B{rest}] y) {{ y = Identity(all) }}> }}"""
    back = taken[::-1]
    return graph(f"carried_{number}", text, [x, order, turned],
                 [taken, back, np.concatenate([back, taken]) if turned else back])


def batched(random, number):
    """Scan of opset 8: each example of a batch by itself, of which only the first rows count."""
    batch, most, size = random.randint(1, 3), random.randint(1, 4), random.randint(1, 3)
    x, start = draw(random, [batch, most, size], np.float32), draw(random, [batch, size], np.float32)
    lengths = np.asarray([random.randint(0, most) for _ in range(batch)], i64) if random.random() < 0.6 else None
    sums, expected = start.copy(), np.zeros((batch, most, size), np.float32)
    for i in range(batch):
        for turn in range(most if lengths is None else lengths[i]):
            sums[i] = expected[i, turn] = sums[i] + x[i, turn]
    names = "(x, start)" if lengths is None else "(x, start, lengths)"
    kind, given = f"float[{size}]", "_" if lengths is None else "lengths"
    text = f"""{names} => (last, sums) {{ last, sums = Scan ({given}, start, x) <num_scan_inputs = 1,
        body = b ({kind} a, {kind} e) => ({kind} n, {kind} r) {{ n = Add(a, e) r = Identity(n) }}> }}"""
    return graph(f"batched_{number}", text, [x, start] + ([] if lengths is None else [lengths]), [sums, expected], 8)


def stepwise(random, number):
    """A recurrent layer with weights from around, by Scan or by Loop, whose length is data."""
    steps, batch, features, size = random.randint(0, 4), random.randint(1, 3), random.randint(1, 5), random.randint(1, 5)
    shapes = [steps, batch, features], [batch, size], [features, size], [size, size], [size]
    inputs = [draw(random, shape, np.float32, -1, 1) for shape in shapes]
    x, h, w, r, b = [array.astype(np.float64) for array in inputs]
    rows = np.zeros((steps, batch, size))
    for i in range(steps):
        h = rows[i] = np.tanh(x[i] @ w + h @ r + b)
    cell = "g = Gemm(e, w, b) k = MatMul(a, r) s = Add(g, k) n = Tanh(s) y = Identity(n)"
    kind = f"float[{batch}, {size}]"
    if random.random() < 0.5:
        node = f"Scan (h, x) <num_scan_inputs = 1, body = b ({kind} a, float[{batch}, {features}] e) => " \
               f"({kind} n, {kind} y) {{ {cell} }}>"
    else:
        node = f"Loop (m, , h) <body = b (int64 i, bool c, {kind} a) => (bool d, {kind} n, {kind} y) " \
               f"{{ d = Identity(c) e = Gather<axis = 0>(x, i) {cell} }}>"
    text = "(x, h, w, r, b) => (last, rows) { shape = Shape<end = 1>(x) axis = Constant<value = int64[1] {0}>() " \
           f"m = Squeeze(shape, axis) last, rows = {node} }}"
    case = graph(f"stepwise_{number}", text, inputs, [h.astype(np.float32), rows.astype(np.float32)])
    case.constants = (2, 3, 4) if random.random() < 0.7 else ()
    case.tolerance = 1e-5
    return case


def of_sizes():
    """Ranks that a branch or a turn decides, values that pass by, and lengths that only data say."""
    x = np.asarray([1, 2, 3], np.float32)
    axis = "z = Constant<value = int64[1] {0}>()"
    for c in (True, False):
        yield graph(f"rank_of_branch_{c}", f"""(c, x) => (y, s) {{ {axis}
            r = If (c) <then_branch = t () => (float[N, M] a) {{ a = Unsqueeze(x, z) }},
                else_branch = e () => (float[N] b) {{ b = Identity(x) }}> y = Add(r, r) s = Shape(r) }}""",
                    [np.asarray(c), x], [(x[None] if c else x) * 2, np.asarray([1, 3] if c else [3])])
    for m in (0, 3):
        turns, times = np.asarray(m, i64), lambda a: np.repeat(a[None], m, 0)
        yield graph(f"rank_grows_{m}", f"""(m, x) => (y) {{ {axis} y = Loop (m, , x) <body = b (int64 i, bool c, float a) =>
            (bool d, float e) {{ d = Identity(c) e = Unsqueeze(a, z) }}> }}""", [turns, x], [x.reshape([1] * m + [3])])
        yield graph(f"from_around_{m}", """(m, x) => (y, k) { y, k = Loop (m, ) <body = b (int64 i, bool c) =>
            (bool c, float[3] x, float[3] n) { n = Neg(x) }> }""", [turns, x], [times(x), times(-x)])
        yield graph(f"swapped_{m}", """(m, x, y) => (a, b) { a, b = Loop (m, , x, y) <body = b (int64 i, bool c, float[3] p,
            float[3] q) => (bool c, float[3] q, float[3] p) { }> }""", [turns, x, -x], [-x, x] if m % 2 else [x, -x])
        yield graph(f"turns_{m}", """(m) => (n, rows) { o = Constant<value = int64 {7}>() n, rows = Loop (m, , o) <body = b (
            int64 i, bool c, int64 p) => (bool c, int64 i, int64 i) { }> }""", [turns],
                    [np.asarray(m - 1 if m else 7, i64), np.arange(m)])
    for name, given in (("some", [0, 2, 0, 3]), ("none", [0, 0])):
        given = np.asarray(given, np.float32)
        left = given[given != 0]
        yield graph(f"{name}_not_zero", """(x) => (y, n, w) { nz = NonZero(x) z = Constant<value = int64[1] {0}>()
            p = Squeeze(nz, z) k = Gather(x, p) y = Scan (k) <num_scan_inputs = 1, body = b (float e) => (float r) {
            r = Mul(e, e) }> n = Size(y) w = ReduceSum(y) }""", [given],
                    [left * left, np.asarray(left.size), [(left * left).sum()]])
    yield graph("until_nothing_is_left", """(x) => (y, n) { t = Constant<value = bool {1}>() z = Constant<value = int64 {0}>()
        y, n = Loop (_, t, x, z) <body = b (int64 i, bool c, float[N] a, int64 k) => (bool d, float[M] o, int64 i) {
            h = Constant<value = float[1] {0.5}>() w = Mul(a, h) one = Constant<value = float {1}>() big = Greater(w, one)
            o = Compress(w, big) s = Size(o) zero = Constant<value = int64 {0}>() d = Greater(s, zero) }> }""",
                [np.asarray([8, 2, 5, 30], np.float32)], [np.zeros(0, np.float32), np.asarray(4)])
    twice = lambda a: np.concatenate([np.concatenate([a, x]) + 1, x])
    yield graph("sequence_map_in_a_loop", """(m, x) => (n, y) { s = SequenceConstruct(x, x) e = Concat<axis = 0>(x, x)
        q = SequenceInsert(s, e) r = Loop (m, , q) <body = b (int64 i, bool c, seq(float[N]) p) => (bool c, seq(float[N]) o) {
            f = Cast<to = 1>(i) o = SequenceMap (p) <body = g (float[N] a) => (float[M] b) {
                h = Add(a, f) b = Concat<axis = 0>(h, x) }> }>
        n = SequenceLength(r) y = ConcatFromSequence<axis = 0>(r) }""", [np.asarray(2), x],
                [np.asarray(3), np.concatenate([twice(x), twice(x), twice(np.concatenate([x, x]))])])


MAKERS = [program, program, program, scanned, narrow, carried, batched, stepwise]


def cases(random, count):
    yield from of_sizes()
    yield from some_of(MAKERS, 1, random, count * 2 // 5)
