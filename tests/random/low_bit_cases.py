"""Products with weights of 2, 4 and 8 bits in blocks (com.microsoft), by NumPy: whole weights, packed by the document."""
import dataclasses

import numpy as np
from check_operators import Case
from known_value_cases import refused
from pointwise_cases import draw, some_of

f16, f32, i32, u8 = np.float16, np.float32, np.int32, np.uint8


def pack(numbers, bits):
    """The last axis as bytes, the lowest bits first; what is missing in the last byte is 0."""
    per_byte = 8 // bits
    short = -numbers.shape[-1] % per_byte
    padded = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], short), u8)], -1)
    groups = padded.reshape(*numbers.shape[:-1], -1, per_byte) << (bits * np.arange(per_byte)).astype(u8)
    return np.bitwise_or.reduce(groups, -1).astype(u8)


def product(name, generator, x, rows, bits, block, zero_points="", bias=False, groups=False):
    columns, dtype = x.shape[-1], x.dtype
    blocks = -(-columns // block)
    numbers = generator.integers(0, 1 << bits, (rows, blocks * block)).astype(u8)
    scales = np.exp2(generator.integers(-3, 2, (rows, blocks))).astype(dtype)
    zeros = np.full((rows, blocks), 1 << (bits - 1), u8)
    if zero_points:
        zeros = generator.integers(0, 1 << bits, (rows, blocks)).astype(u8)
    given = {"": None, "packed": pack(zeros, bits).ravel(), "plain": zeros.astype(dtype)}[zero_points]
    group = generator.permutation(np.arange(columns) // block).astype(i32) if groups else None
    own = np.arange(columns) // block if group is None else group
    weights = (numbers[:, :columns].astype(np.float64) - zeros[:, own]) * scales[:, own]
    added = generator.integers(-4, 5, rows).astype(dtype) if bias else None
    expected = x.astype(np.float64) @ weights.T + (0 if added is None else added.astype(np.float64))
    inputs = [x, pack(numbers.reshape(rows, blocks, block), bits), scales.ravel(), given, group, added]
    while inputs[-1] is None:
        inputs.pop()
    return Case(name, "MatMulNBits", 1, inputs, {"K": columns, "N": rows, "bits": bits, "block_size": block},
                tuple(i for i in range(1, len(inputs)) if inputs[i] is not None and generator.integers(0, 4)),
                [expected.astype(dtype)], 2e-3 if dtype == f16 else 1e-5, domain="com.microsoft")


def random_product(random, number):
    generator = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
    columns, batch = random.choice([1, 16, 31, 64, 96, 130]), random.choice([[], [1], [5], [2, 3], [0, 2]])
    x = np.asarray(draw(random, [*batch, columns], random.choice([f32, f32, f16])))
    return product(f"low_bit_product_{number}", generator, x, random.choice([1, 3, 8, 17]), random.choice([2, 4, 8]),
                   random.choice([16, 32, 64]), random.choice(["", "packed", "plain"]), random.random() < 0.3,
                   random.random() < 0.2)


def cases(random, count):
    # onnxruntime#24546, #19446: an odd number of blocks, so that a row's zero points end within a byte.
    generator = np.random.Generator(np.random.PCG64(9))
    x = generator.integers(-3, 4, (2, 96)).astype(f32)
    for zero_points in ("", "packed", "plain"):
        yield product(f"low_bit_odd_blocks_{zero_points}", generator, x, 3, 4, 32, zero_points)
    numbers, scales = np.zeros((3, 3, 16), u8), np.ones(9, f32)
    for name, error, attributes in (("bits", "bits is 3", {"bits": 3}), ("block", "block_size is 24", {"block_size": 24}),
                                    ("columns", "K is 0", {"K": 0}), ("shape", "uint8[3, 3, 16]", {"bits": 8})):
        case = refused(f"low_bit_{name}", "MatMulNBits", 1, [x, numbers, scales], error,
                       **{"K": 96, "N": 3, "bits": 4, "block_size": 32} | attributes)
        yield dataclasses.replace(case, domain="com.microsoft")
    yield from some_of([random_product], 1, random, count)
