#!/usr/bin/env python3
"""Makes the pictures in data/ with Pillow, and prints the numbers that prepare_test.cpp expects.

Needs Pillow, NumPy and TensorFlow; run once, with Pillow 13.0 and TensorFlow 2.21.
"""
import pathlib
import sys

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent / "data"
photos = pathlib.Path(__file__).parents[2] / "assets/photos"
random = np.random.default_rng(7)


def resized():
    noise = Image.fromarray(random.integers(0, 256, (47, 61, 3), dtype=np.uint8))
    noise.save(here / "noise.png")
    filters = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "area": Image.BOX}
    for name, kernel in filters.items():
        for width, height in [(20, 15), (80, 70), (61, 20), (33, 47)]:
            noise.resize((width, height), kernel).save(here / f"{name}_{width}x{height}.png")


def formats():
    """Four columns of one colour each, two rows; red, green, blue, white from the left."""
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]], np.uint8)
    rgb = Image.fromarray(np.broadcast_to(colors.repeat(8, axis=0), (16, 32, 3)).copy())
    rgb.save(here / "rgb.png")
    rgb.save(here / "rgb.bmp")
    rgb.save(here / "rgb.tiff")
    rgb.save(here / "rgb.ppm")
    rgb.save(here / "rgb.webp", lossless=True)
    rgb.quantize(4).save(here / "palette.png")
    rgb.convert("RGBA").save(here / "alpha.png")
    rgb.convert("L").save(here / "grey.png")
    deep = np.arange(0, 65536, 4096, dtype=np.uint16).reshape(1, 16).repeat(2, axis=0)
    Image.fromarray(deep).save(here / "grey16.png")
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    rgb.save(here / "turned.jpg", quality=95, exif=exif)
    whole = (here / "turned.jpg").read_bytes()
    (here / "truncated.jpg").write_bytes(whole[:-40])
    (here / "truncated.png").write_bytes((here / "noise.png").read_bytes()[:3000])


def numbers():
    rows, columns = [0, 1, 100, 223], [0, 3, 111, 223]

    def show(name, x):  # x: channels, height, width
        print(name, "sum", repr(float(x.astype(np.float64).sum())), "samples",
              [float(f"{x[c, r, k]:.9g}") for c in range(3) for r, k in zip(rows, columns)])

    for photo in ["chelsea", "coffee"]:
        picture = Image.open(photos / f"{photo}.png").convert("RGB")
        width, height = picture.size
        short = min(width, height)
        small = picture.resize((256 * width // short, 256 * height // short), Image.BILINEAR)
        left, top = round((small.width - 224) / 2.0), round((small.height - 224) / 2.0)
        x = np.asarray(small.crop((left, top, left + 224, top + 224)), np.float32) / np.float32(255)
        x = (x - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
        show(f"{photo} imagenet-torchvision", x.transpose(2, 0, 1))
        if "tensorflow" in sys.argv:
            import tensorflow.compat.v1 as tf
            side = int(tf.cast((224 / 256) * tf.cast(tf.minimum(height, width), tf.float32), tf.int32))
            top, left = (height - side + 1) // 2, (width - side + 1) // 2
            part = np.asarray(picture)[top:top + side, left:left + side]
            x = tf.image.resize([part], [224, 224], tf.image.ResizeMethod.BILINEAR)[0].numpy()
            x = (x - np.float32(127)) / np.float32(128)
            show(f"{photo} efficientnet-lite", x.transpose(2, 0, 1))


resized()
formats()
numbers()
