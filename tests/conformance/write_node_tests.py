#!/usr/bin/env python3
"""Writes the node tests of the installed onnx, which come without data, in the layout of Debian's libonnx-testdata:

    write_node_tests.py FOLDER
"""
import argparse
import pathlib
import warnings

import numpy as np
import onnx.backend.test.case.model as model
import onnx.backend.test.case.node as node
from onnx.backend.test import cmd_tools


def arrays(value):
    """NumPy's scalars, which onnx does not write, as arrays of rank 0."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def collect():
    np.random.seed(0)  # some tests draw numbers; the same ones every time
    cases = node.collect_testcases()
    for case in cases:
        case.data_sets = [tuple([arrays(value) for value in side] for side in data) for data in case.data_sets]
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    # The writer of onnx takes the tests of models alone.
    model.collect_testcases = collect
    cmd_tools.generate_data(argparse.Namespace(output=str(options.folder)))


if __name__ == "__main__":
    main()
