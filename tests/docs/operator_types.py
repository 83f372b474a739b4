#!/usr/bin/env python3
"""Holds the types in `lapilli ops --json` against the schemas of the installed onnx:

    operator_types.py LAPILLI

All that a schema allows has to be there; nothing else, where the installed onnx is as new as the table.
"""
import collections
import json
import subprocess
import sys

from onnx import defs

NEWEST = 28  # the opset up to which the table was written
NAMES = {"float": "float32", "double": "float64"}
# Strings that have no meaning there, or that nothing moves yet; and the parts of Split-1, an input of the data's type.
LEFT_OUT = {name: {"string"} for name in ("Col2Im", "GridSample", "NonZero", "RandomNormalLike", "RandomUniformLike",
                                          "Resize", "Upsample")} | {"Split": {"float16", "float32", "float64"}}
# Types that come free where a document is older than they are.
ADDED = {"bfloat16", "int2", "uint2"}


def allowed_types(schema, index):
    """Of one input; nothing where it has no such input."""
    inputs = schema.inputs
    if index >= len(inputs) and not (inputs and "Variadic" in str(inputs[-1].option)):
        return set()
    given = inputs[min(index, len(inputs) - 1)]
    constraints = {constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints}
    texts = [text[len("tensor("):-1] for text in constraints.get(given.type_str, [given.type_str])
             if text.startswith("tensor(") and "complex" not in text]
    return {NAMES.get(text, text) for text in texts}


def served(versions, since):
    """Those that are in force at `since` or begin later."""
    versions = sorted(versions, key=lambda schema: schema.since_version)
    return [schema for schema, after in zip(versions, versions[1:] + [None])
            if after is None or after.since_version > since]


def main():
    output = subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, check=True).stdout
    schemas = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if not schema.deprecated:
            schemas[schema.domain, schema.name].append(schema)
    problems, compared = [], 0
    for operator in json.loads(output)["operators"]:
        given = operator["input_types"]
        versions = served(schemas.get((operator["domain"], operator["name"]), []), min(operator["versions"]))
        if not given or not versions:
            continue
        compared += 1
        for i in range(max(len(schema.inputs) for schema in versions)):
            types = set().union(*(allowed_types(schema, i) for schema in versions))
            ours = set(given[min(i, len(given) - 1)])
            missing = types - ours - LEFT_OUT.get(operator["name"], set())
            unknown = ours - types - ADDED if types and defs.onnx_opset_version() >= NEWEST else set()
            if missing or unknown:
                problems.append(f"{operator['name']}, input {i}: without {sorted(missing)}, with {sorted(unknown)}")
    print("\n".join(problems))
    print(f"{compared} operators compared, {len(problems)} differences")
    raise SystemExit(1 if problems or compared < 100 else 0)


if __name__ == "__main__":
    main()
