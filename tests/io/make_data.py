#!/usr/bin/env python3
"""Writes the files in data/ with NumPy, which is the judge of its own format. make_data.py FOLDER"""
import sys
import zipfile
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
arrays = {
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
    "fortran": np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4)),
    "big_endian": np.array([1, -2, 3_000_000_000], dtype=">i8"),
    "half": np.array([0.5, -65504, np.inf], dtype=np.float16),
    "flags": np.array([[True], [False]]),
    "scalar": np.array(7, dtype=np.uint32),
    "empty": np.zeros((0, 3), dtype=np.float64),
}
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays)
np.save(folder / "vector.npy", np.array([1.5, 2.5], dtype=np.float64))
np.save(folder / "text.npy", np.array(["a", "b"]))
np.save(folder / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
np.save(folder / "records.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
with zipfile.ZipFile(folder / "bzip2.npz", "w", zipfile.ZIP_BZIP2) as archive:
    archive.write(folder / "vector.npy", "vector.npy")
