#!/usr/bin/env python3
"""Writes what census_test.cpp expects: what ONNX's own library reads from the files of libonnx-testdata.

    python3 census.py [/usr/share/libonnx-testdata/data] > census.txt

One line a suite: its name, models, nodes, initializers, attributes and data files, and the sum of the CRC-32 of every
model and data file written out as text (`model_text` and `value_text` here, and in census_test.cpp).
"""
import pathlib
import struct
import sys
import zlib

import onnx
from onnx import numpy_helper

DTYPES = {
    0: "undefined", 1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16", 17: "float8e4m3fn",
    18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1",
}


def float_bits(value):
    return str(struct.unpack("<I", struct.pack("<f", value))[0])


def tensor_text(tensor):
    array = numpy_helper.to_array(tensor)
    if tensor.data_type == onnx.TensorProto.STRING:
        data = b"\0".join(tensor.string_data)
    elif tensor.data_type in (onnx.TensorProto.UINT4, onnx.TensorProto.INT4):
        halves = [int(value) & 15 for value in array.reshape(-1)]
        halves += [0] * (len(halves) % 2)
        data = bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2]))
    else:
        data = array.tobytes()
    return f"{DTYPES[tensor.data_type]} {list(tensor.dims)} {zlib.crc32(data)}"


def type_text(type_proto):
    kind = type_proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        declared = getattr(type_proto, kind)
        text = f"{kind[:-5]} {DTYPES[declared.elem_type]} "
        if not declared.HasField("shape"):
            return text + "*"
        dims = []
        for dim in declared.shape.dim:
            which = dim.WhichOneof("value")
            dims.append("?" if which is None else str(getattr(dim, which)) or "?")
        return text + "[" + ", ".join(dims) + "]"
    if kind in ("sequence_type", "optional_type"):
        return f"{kind[:-5]}({type_text(getattr(type_proto, kind).elem_type)})"
    if kind == "map_type":
        return f"map({DTYPES[type_proto.map_type.key_type]}, {type_text(type_proto.map_type.value_type)})"
    return "unknown"


class ModelText:
    def __init__(self, model):
        self.lines, self.nodes, self.initializers, self.attributes = [], 0, 0, 0
        self.add(f"model {model.ir_version} {model.producer_name} {model.producer_version}")
        self.add_opsets(model.opset_import)
        self.add_graph(model.graph)
        for function in sorted(model.functions, key=lambda f: (f.domain, f.name, getattr(f, "overload", ""))):
            self.add(f"function {function.domain} {function.name}")
            self.add_opsets(function.opset_import)
            self.add(f"takes [{', '.join(function.input)}] [{', '.join(function.attribute)}]")
            for attribute in function.attribute_proto:
                self.add_attribute(attribute)
            self.add(f"gives [{', '.join(function.output)}]")
            for node in function.node:
                self.add_node(node)

    def add(self, line):
        self.lines.append(line)

    def add_opsets(self, imports):
        for domain, version in sorted({("" if i.domain == "ai.onnx" else i.domain, i.version) for i in imports}):
            self.add(f"opset {domain} {version}")

    def add_graph(self, graph):
        self.add(f"graph {graph.name}")
        for role, infos in (("input", graph.input), ("output", graph.output), ("value", graph.value_info)):
            for info in infos:
                self.add(f"{role} {info.name} {type_text(info.type)}")
        for tensor in sorted(graph.initializer, key=lambda t: t.name.encode()):
            self.add(f"initializer {tensor.name} {tensor_text(tensor)}")
            self.initializers += 1
        assert not graph.sparse_initializer, "write it out when a suite has one"
        for node in graph.node:
            self.add_node(node)

    def add_node(self, node):
        self.nodes += 1
        domain = "" if node.domain == "ai.onnx" else node.domain
        self.add(f"node {node.name} {node.op_type} {domain} [{', '.join(node.input)}] [{', '.join(node.output)}]")
        for attribute in node.attribute:
            self.add_attribute(attribute)

    def add_attribute(self, attribute):
        self.attributes += 1
        a, types = attribute, onnx.AttributeProto
        line = f"attribute {a.name} {a.type} "
        if a.ref_attr_name:
            self.add(line + "-> " + a.ref_attr_name)
        elif a.type in (types.GRAPH, types.GRAPHS):
            self.add(line)
            for graph in [a.g] if a.type == types.GRAPH else a.graphs:
                self.add_graph(graph)
        elif a.type == types.SPARSE_TENSOR:
            self.add(line + sparse_text(a.sparse_tensor))
        elif a.type in (types.TENSOR, types.TENSORS):
            self.add(line + " ".join(tensor_text(t) for t in ([a.t] if a.type == types.TENSOR else a.tensors)))
        elif a.type in (types.TYPE_PROTO, types.TYPE_PROTOS):
            self.add(line + " ".join(type_text(t) for t in ([a.tp] if a.type == types.TYPE_PROTO else a.type_protos)))
        elif a.type in (types.FLOAT, types.FLOATS):
            self.add(line + " ".join(float_bits(f) for f in ([a.f] if a.type == types.FLOAT else a.floats)))
        elif a.type in (types.INT, types.INTS):
            self.add(line + " ".join(str(i) for i in ([a.i] if a.type == types.INT else a.ints)))
        else:
            strings = [a.s] if a.type == types.STRING else a.strings
            self.add(line + str(zlib.crc32(b"\0".join(strings))))


def sparse_text(sparse):
    import numpy
    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dense = numpy.zeros(list(sparse.dims), values.dtype)
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return tensor_text(numpy_helper.from_array(dense))


def proto_text(proto):
    if isinstance(proto, onnx.TensorProto):
        return tensor_text(proto)
    if isinstance(proto, onnx.SequenceProto):
        items = [*proto.tensor_values, *proto.sequence_values, *proto.optional_values]
        assert not proto.sparse_tensor_values and not proto.map_values, "write it out when a suite has one"
        return "sequence [" + "; ".join(proto_text(item) for item in items) + "]"
    field = {1: "tensor_value", 3: "sequence_value", 5: "optional_value"}.get(proto.elem_type)
    return "optional [" + (proto_text(getattr(proto, field)) if field else "") + "]"


def value_text(path, type_proto):
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(
        type_proto.WhichOneof("value"), onnx.TensorProto)()
    proto.ParseFromString(path.read_bytes())
    return proto_text(proto)


def data_files(path, model):
    """Each data file of a model with the type that the model declares."""
    if path.name != "model.onnx":
        candidates = sorted(path.parent.glob(path.stem + "_output_*.pb"))
    else:
        candidates = sorted(path.parent.glob("test_data_set_*/*.pb"))
    for file in candidates:
        declared = model.graph.input if file.name.startswith("input_") else model.graph.output
        number = int(file.stem.rsplit("_", 1)[1])
        yield file, declared[number].type if number < len(declared) else onnx.TypeProto()


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/libonnx-testdata/data")
    for suite in sorted(path for path in root.iterdir() if path.is_dir()):
        counts, checksum = [0] * 5, 0
        for path in sorted(suite.rglob("*.onnx")):
            model = onnx.load(path)
            text = ModelText(model)
            files = list(data_files(path, model))
            counts = [a + b for a, b in
                      zip(counts, (1, text.nodes, text.initializers, text.attributes, len(files)))]
            texts = ["\n".join(text.lines), *(value_text(*file) for file in files)]
            checksum += sum(zlib.crc32(t.encode()) for t in texts)
        if counts[0]:
            print(suite.name, *counts, checksum)


if __name__ == "__main__":
    main()
