"""Recurrent layers, Einsum and Fourier transforms, drawn at random, with ONNX Runtime or NumPy as the judge."""
import dataclasses

import numpy as np
import onnxruntime
from check_operators import Case, feeds_of, model_of

f32, i32, i64 = np.float32, np.int32, np.int64

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
CALLS = {"RNN": 1, "GRU": 2, "LSTM": 3}
WITH_ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"}
WITH_BETA = {"Affine", "ScaledTanh", "HardSigmoid"}
ACTIVATIONS = sorted(WITH_ALPHA | {"Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"})


def uniform(random, *shape):
    return np.random.Generator(np.random.PCG64(random.getrandbits(32))).uniform(-1, 1, shape).astype(f32)


def with_all_outputs(case, count):
    """The case with what ONNX Runtime computes for all outputs; None where it cannot."""
    case = dataclasses.replace(case, expected=[np.zeros((0,), f32)] * count)
    model = model_of([case])
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dataclasses.replace(case, expected=session.run(None, feeds_of([case])))
    except Exception as error:  # the runtime's own types differ from version to version
        print(f"ONNX Runtime does not run {case.name}: {str(error)[:150]}")
        return None


DEFAULTS = {"Affine": (1, 0), "LeakyRelu": (float(f32(0.01)), 0), "ThresholdedRelu": (1, 0), "ScaledTanh": (1, 1),
            "HardSigmoid": (float(f32(0.2)), 0.5), "Elu": (1, 0)}


def activation(name, alpha, beta):
    return {"Relu": lambda x: np.maximum(x, 0), "Tanh": np.tanh, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
            "Softsign": lambda x: x / (1 + abs(x)), "Softplus": lambda x: np.logaddexp(x, 0),
            "Affine": lambda x: alpha * x + beta, "LeakyRelu": lambda x: np.where(x < 0, alpha * x, x),
            "ThresholdedRelu": lambda x: np.where(x > alpha, x, 0), "ScaledTanh": lambda x: alpha * np.tanh(beta * x),
            "HardSigmoid": lambda x: np.clip(alpha * x + beta, 0, 1),
            "Elu": lambda x: np.where(x < 0, alpha * np.expm1(x), x)}[name]


def activations_of(attributes, kind, ways):
    alphas, betas = list(attributes.get("activation_alpha", [])), list(attributes.get("activation_beta", []))
    functions = []
    for name in attributes.get("activations", (["Sigmoid"] * (kind != "RNN") + ["Tanh"] * (1 + (kind == "LSTM"))) * ways):
        alpha, beta = DEFAULTS.get(name, (0, 0))
        alpha = alphas.pop(0) if name in WITH_ALPHA and alphas else alpha
        beta = betas.pop(0) if name in WITH_BETA and betas else beta
        functions.append(activation(name, alpha, beta))
    return functions


def step_of(kind, attributes, functions, weights, recurrent, bias, peepholes):
    """A function of x, h and c that makes the next h and c, by the equations of the operator's document."""
    clip = attributes.get("clip")
    gate = lambda f, x: f(x if clip is None else np.clip(x, -clip, clip))
    w, r = np.split(weights, GATES[kind]), np.split(recurrent, GATES[kind])
    wb, rb = np.split(bias[:len(weights)], GATES[kind]), np.split(bias[len(weights):], GATES[kind])
    total = lambda i, x, h: x @ w[i].T + h @ r[i].T + wb[i] + rb[i]

    def simple(x, h, c):
        return gate(functions[0], total(0, x, h)), c

    def gated(x, h, c):
        f, g = functions
        z, reset = gate(f, total(0, x, h)), gate(f, total(1, x, h))
        if attributes["linear_before_reset"]:
            own = gate(g, x @ w[2].T + reset * (h @ r[2].T + rb[2]) + wb[2])
        else:
            own = gate(g, x @ w[2].T + (reset * h) @ r[2].T + rb[2] + wb[2])
        return (1 - z) * own + z * h, c

    def long_short_term(x, h, c):
        f, g, last = functions
        p = np.split(peepholes, 3)
        i = gate(f, total(0, x, h) + p[0] * c)
        forget = 1 - i if attributes.get("input_forget") else gate(f, total(2, x, h) + p[2] * c)
        c = forget * c + i * gate(g, total(3, x, h))
        return gate(f, total(1, x, h) + p[1] * c) * last(c), c

    return {"RNN": simple, "GRU": gated, "LSTM": long_short_term}[kind]


def recurrent_results(kind, attributes, inputs):
    x, w, r, b, lengths, h0, c0, p = [None if array is None else array.astype(np.float64) for array in
                                      inputs + [None] * (8 - len(inputs))]
    steps, batch, ways, hidden = x.shape[0], x.shape[1], w.shape[0], r.shape[2]
    functions = activations_of(attributes, kind, ways)
    y, last_h, last_c = np.zeros((steps, ways, batch, hidden)), *np.zeros((2, ways, batch, hidden))
    for way in range(ways):
        step = step_of(kind, attributes, functions[way * CALLS[kind]:(way + 1) * CALLS[kind]], w[way], r[way],
                       np.zeros(2 * len(w[way])) if b is None else b[way], np.zeros(3 * hidden) if p is None else p[way])
        for entry in range(batch):
            h = np.zeros(hidden) if h0 is None else h0[way, entry]
            c = np.zeros(hidden) if c0 is None else c0[way, entry]
            order = list(range(steps if lengths is None else int(lengths[entry])))
            for t in order[::-1] if way == 1 or attributes["direction"] == "reverse" else order:
                h, c = step(x[t, entry], h, c)
                y[t, way, entry] = h
            last_h[way, entry], last_c[way, entry] = h, c
    return [array.astype(inputs[0].dtype) for array in (y, last_h, last_c)[:3 if kind == "LSTM" else 2]]


def number_of(x):
    """As an attribute keeps it."""
    return float(f32(x))


def draw_activations(random, count):
    names = [random.choice(ACTIVATIONS) for _ in range(count)]
    attributes = {"activations": names}
    if random.random() < 0.7:
        attributes["activation_alpha"] = [number_of(random.uniform(0.1, 1)) for name in names if name in WITH_ALPHA]
        attributes["activation_beta"] = [number_of(random.uniform(0.1, 1)) for name in names if name in WITH_BETA]
    return {key: value for key, value in attributes.items() if value}


def draw_recurrent(random, number):
    kind = random.choice(list(GATES))
    direction = random.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = random.randint(1, 6), random.randint(1, 4), random.randint(1, 7), random.randint(1, 9)
    rows = GATES[kind] * hidden
    # ONNX Runtime knows layout 1 for none of them.
    attributes = {"hidden_size": hidden, "direction": direction}
    inputs = [uniform(random, steps, batch, size), uniform(random, ways, rows, size), uniform(random, ways, rows, hidden)]
    optional = [lambda: uniform(random, ways, 2 * rows),
                lambda: np.array([random.randint(1, steps) for _ in range(batch)], i32),
                lambda: uniform(random, ways, batch, hidden)]
    if kind == "LSTM":
        optional += [lambda: uniform(random, ways, batch, hidden), lambda: uniform(random, ways, 3 * hidden)]
        if random.random() < 0.2:
            attributes["input_forget"] = 1
    if kind == "GRU":
        attributes["linear_before_reset"] = random.randint(0, 1)
    inputs += [make() if random.random() < 0.6 else None for make in optional]
    if random.random() < 0.5:
        attributes |= draw_activations(random, ways * CALLS[kind])
    if random.random() < 0.3:
        attributes["clip"] = number_of(random.uniform(0.1, 2))
    constants = (1, 2, 3) if random.random() < 0.5 else ()
    constants = tuple(i for i in constants if inputs[i] is not None)
    case = Case(f"recurrent_{number}", kind, random.choice([7, 14]), inputs, attributes, constants)
    wide = random.random() < 0.25  # ONNX Runtime has no float64 here
    if wide:
        inputs = [array if array is None or array.dtype != f32 else array.astype(np.float64) for array in inputs]
        case = dataclasses.replace(case, inputs=inputs, tolerance=1e-9)
    # ONNX Runtime has other defaults for alpha and beta than the document where directions have functions of their own.
    if wide or "activations" in attributes:
        expected = recurrent_results(kind, attributes, inputs)
        # Functions without bounds may grow from step to step until nothing can be compared.
        return dataclasses.replace(case, expected=expected) if abs(expected[0]).max() < 1e3 else None
    return with_all_outputs(case, 3 if kind == "LSTM" else 2)


EQUATIONS = ["ij,jk->ik", "ij,jk", "ij->ji", "ii->i", "ii", "ij->", "i,j->ij", "bij,bjk->bik", "bhid,bhjd->bhij",
             "...ij,...jk->...ik", "...ii->...i", "...,...->...", "i...,i...->...", "ij,ij->i", "ij,kj,k->i", "abc,cd,bde->ae",
             "bnchw,bmc->bnmhw", "i,i->", "aab,ab->b", "ba", ",ij->ij", "iij,jkk->ik", "...a,ab->...b", "ab,b,bc,cd->d"]


def draw_einsum(random, number):
    equation = random.choice(EQUATIONS)
    sizes = {}
    inputs = []
    batch = [random.randint(1, 3) for _ in range(random.randint(0, 2))]
    for term in equation.split("->")[0].split(","):
        shape = []
        for letter in term.replace("...", "*"):
            shape += batch if letter == "*" else [sizes.setdefault(letter, random.randint(1, 5))]
        inputs.append(uniform(random, *shape))
    expected = np.einsum(equation, *[array.astype(np.float64) for array in inputs])
    return Case(f"einsum_{number}_{equation}", "Einsum", 12, inputs, {"equation": equation},
                expected=[np.asarray(expected, f32)])


def complex_parts(values):
    return np.stack([values.real, values.imag], -1).astype(f32)


def draw_dft(random, number):
    shape = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
    axis = random.randrange(len(shape))
    shape[axis] = random.randint(2, 40)
    inverse, onesided = random.random() < 0.4, random.random() < 0.4
    is_complex = random.random() < 0.5 or (inverse and onesided)
    x = uniform(random, *shape, 2 if is_complex else 1)
    length = random.randint(1, 48) if random.random() < 0.5 else None
    values = x[..., 0] + 1j * x[..., 1] if is_complex else x[..., 0].astype(np.float64)
    if inverse and onesided:
        length = length or 2 * (shape[axis] - 1)
        expected = np.fft.irfft(values, length, axis)[..., None].astype(f32)
    elif inverse:
        expected = complex_parts(np.fft.ifft(values, length, axis))
    else:
        result = np.fft.fft(values, length, axis)
        if onesided:
            result = np.take(result, range(result.shape[axis] // 2 + 1), axis)
        expected = complex_parts(result)
    attributes = {"inverse": int(inverse), "onesided": int(onesided)}
    lengths = None if length is None else np.array(length, i64)
    if random.random() < 0.5:
        return Case(f"dft_{number}", "DFT", 17, [x, lengths], attributes | {"axis": axis}, (1,), [expected])
    return Case(f"dft_{number}", "DFT", 20, [x, lengths, np.array(axis - len(shape) - 1, i64)], attributes, (1, 2),
                [expected])


def draw_stft(random, number):
    step, length, frames = random.randint(1, 7), random.randint(2, 20), random.randint(1, 5)
    size = length + (frames - 1) * step + random.randint(0, step - 1)
    batch, onesided = random.randint(1, 3), random.random() < 0.6
    is_complex = random.random() < 0.3 and not onesided
    x = uniform(random, batch, size, 2 if is_complex else 1)
    window = uniform(random, length) if random.random() < 0.6 else None
    values = x[..., 0] + 1j * x[..., 1] if is_complex else x[..., 0]
    cut = np.stack([values[:, i * step:i * step + length] for i in range(frames)], 1)
    result = np.fft.fft(cut * (1 if window is None else window), axis=-1)
    if onesided:
        result = result[..., :length // 2 + 1]
    constants = random.choice([(1, 2, 3), (1, 3)])
    inputs = [x, np.array(step, i64), window, np.array(length, i64)]
    return Case(f"stft_{number}", "STFT", 17, inputs, {"onesided": int(onesided)},
                tuple(i for i in constants if inputs[i] is not None), [complex_parts(result)])


def cases(random, count):
    for number in range(count):
        for draw in (draw_recurrent, draw_einsum, draw_dft, draw_stft):
            case = draw(random, number)
            if case is not None:
                yield case
