#!/usr/bin/env python3
"""Says which operators of `lapilli ops --json` have no case in tests/random:

    operator_cases.py LAPILLI FOLDER

Counted is what a module *_cases.py names: as a string of its own, or as a node of the text of a graph.
"""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

# Operators that cannot have one, and why.
LEFT_OUT = {
    "Gradient": "tests/ops/gradient_test.cpp holds it against differences",
    "ImageDecoder": "what decodes is the application's; ONNX's suite has one for each format",
}


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def texts_of(path):
    tree = ast.parse(path.read_text())
    docstrings = {node.value for node in ast.walk(tree) if is_docstring(node)}
    return [node.value for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings]


def main():
    output = subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, check=True).stdout
    names = sorted({operator["name"] for operator in json.loads(output)["operators"]})
    texts = [text for path in sorted(Path(sys.argv[2]).glob("*_cases.py")) for text in texts_of(path)]
    alone, together = set(texts), "\n".join(texts)
    named = {name for name in names if name in alone or re.search(rf"\b{name} *[(<]", together)}
    missing, idle = [name for name in names if name not in named | LEFT_OUT.keys()], sorted(named & LEFT_OUT.keys())
    print("\n".join([f"{name} has no case" for name in missing] + [f"{name} has a case after all" for name in idle]))
    print(f"{len(named)} of {len(names)} operators have cases, {len(LEFT_OUT)} are left out")
    raise SystemExit(1 if missing or idle or len(names) < 100 else 0)


if __name__ == "__main__":
    main()
