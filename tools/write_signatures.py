#!/usr/bin/env python3
"""Writes the table of what ONNX's operators take from the schemas of the installed onnx, or compares it with them:

    write_signatures.py FILE            write src/import/onnx/signature_table.cpp; wants the newest onnx of PyPI
    write_signatures.py --check FILE    exit 1 where an operator that the installed onnx knows stands otherwise there
"""
import collections
import sys
import textwrap
from pathlib import Path

from onnx import defs

HEAD = '''#include "import/onnx/signature.h"

// Written by tools/write_signatures.py from the schemas of onnx {version}; do not edit.
namespace lapilli::onnx {{
namespace {{

constexpr std::string_view table = R"({rows})";

}}  // namespace

std::string_view signature_table() {{ return table; }}

}}  // namespace lapilli::onnx
'''
# Of integers: those that are 0 or 1, by what the documents say, those that count something, and element types.
FLAGS = set("""align_corners allowzero antialias broadcast ceil_mode center_point_box count_include_pad detect_negative
    detect_positive exclude_outside exclusive fmod input_forget interleaved inverse is_case_sensitive is_causal is_test
    keepdims largest layout linear_before_reset multi_class new_axis noop_with_empty_axes one_class onesided
    output_sequence periodic reverse saturate select_last_index sorted spatial storage_order training_mode transA transB
    upper zeros""".split())
COUNTS = set("""blocksize group hidden_size num_groups num_outputs num_scan_inputs offset_group output_height
    output_width p sample_size size""".split())
FLOAT_TYPES = {"softmax_precision", "stash_type"}
KINDS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "SPARSE_TENSOR": "p", "TYPE_PROTO": "y",
         "FLOATS": "F", "INTS": "I", "STRINGS": "S", "TENSORS": "T"}
# Operators that ONNX Runtime added and Lapilli has.
OTHERS = {("com.microsoft", "MatMulNBits"): [(1, "3-6 1-1 K:i! N:i! accuracy_level:i bits:i block_size:i! "
                                                 "weight_prepacked:i")]}


def kind(attribute):
    letter = KINDS[str(attribute.type).split(".")[-1]]
    if letter == "i":
        name = attribute.name
        letter = "b" if name in FLAGS else "n" if name in COUNTS else "d" if name in FLOAT_TYPES else "i"
    return "e" if letter == "f" and attribute.name == "epsilon" else letter


def span(least, most):
    return f"{least}-{most if most < 1000 else ''}"


def signature(schema):
    # What old files say about memory is not needed.
    attributes = [f"{name}:{kind(attribute)}{'!' if attribute.required and name != 'consumed_inputs' else ''}"
                  for name, attribute in sorted(schema.attributes.items())]
    return " ".join([span(schema.min_input, schema.max_input), span(schema.min_output, schema.max_output)] + attributes)


def signatures():
    """By domain and name: (version, text), each where it differs from the one before."""
    versions = collections.defaultdict(list)
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda schema: schema.since_version):
        before = versions[schema.domain, schema.name]
        if not before or not schema.deprecated and before[-1][1] != signature(schema):
            before.append((schema.since_version, signature(schema)))
    return versions


def rows(versions):
    lines = []
    for domain in sorted({domain for domain, _ in versions}):
        lines.append(f"domain {domain}".rstrip())
        for (_, name), history in sorted(item for item in versions.items() if item[0][0] == domain):
            for since, text in history:
                lines += textwrap.wrap(f"{name} {since} {text}", 110, subsequent_indent=" ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def read(path):
    """The table of the file, by domain and name."""
    versions, domain = collections.defaultdict(list), ""
    for line in path.read_text().split('R"(')[1].split(')"')[0].replace("\n ", " ").splitlines():
        words = line.split()
        if words[0] == "domain":
            domain = "".join(words[1:])
        else:
            versions[domain, words[0]].append((int(words[1]), " ".join(words[2:])))
    return versions


def differences(known, table):
    for operator, history in sorted(known.items()):
        for since, text in history:
            in_force = [row for row in table.get(operator, []) if row[0] <= since]
            if not in_force or in_force[-1][1] != text:
                yield f"{operator} since {since}: {text}\n  here: {in_force[-1] if in_force else 'nothing'}"


def main():
    known, path = signatures(), Path(sys.argv[-1])
    if sys.argv[1] == "--check":
        found = list(differences(known, read(path)))
        print("\n".join(found + [f"{len(known)} operators compared, {len(found)} differences"]))
        raise SystemExit(1 if found or len(known) < 100 else 0)
    import onnx
    path.write_text(HEAD.format(version=onnx.__version__, rows=rows(known | OTHERS)))


if __name__ == "__main__":
    main()
