#!/usr/bin/env python3
"""Writes pickles as CPython writes them, for the tests to read.

    make_pickles.py FOLDER

FOLDER gets the pickles and list.txt, one line for each: file, number of rows (0: it must be refused), 1 if it
names its rows' files, and the words that the refusal must hold. Arrays are numpy's where there is a numpy;
and always stand-ins that are pickled as numpy 1 and numpy 2 pickle theirs. The pixel in row i and column j is
i * 131 + j * 7 + j // 32 modulo 256, the label of row i is i modulo 10.
"""

import os
import pickle
import pickletools
import random
import sys
import types

COLUMNS = 3072
count = 0


def pixels(rows):
    return [[(i * 131 + j * 7 + (j >> 5)) & 255 for j in range(COLUMNS)] for i in range(rows)]


def flat(rows, by_columns):
    p = pixels(rows)
    if by_columns:
        return bytes(p[i][j] for j in range(COLUMNS) for i in range(rows))
    return b"".join(bytes(row) for row in p)


def keep(data, rows, names=False, words=""):
    global count
    file = f"{count:04d}.pickle"
    count += 1
    with open(os.path.join(folder, file), "wb") as f:
        f.write(data)
    print(file, rows, int(names), words, sep="\t", file=index)


def text(v):
    """The strings in `v` as bytes."""
    return v.encode() if isinstance(v, str) else [text(x) for x in v] if isinstance(v, list) else v


def batch(array, rows, as_bytes, names=True, shuffle=None):
    d = {
        "batch_label": "training batch 1 of 5",
        "labels": [i % 10 for i in range(rows)],
        "data": array,
    }
    if names:
        d["filenames"] = [f"row_{i}.png" for i in range(rows)]
    if shuffle:
        items = list(d.items())
        shuffle.shuffle(items)
        d = dict(items)
    if as_bytes:
        d = {k.encode(): text(v) for k, v in d.items()}
    return d


def stand_ins(root):
    """Modules that look like numpy's to pickle; `root` is numpy.core or numpy._core."""
    names = ("numpy", root, root + ".multiarray", root + ".numeric")
    modules = {name: types.ModuleType(name) for name in names}
    sys.modules.update(modules)

    def named(module, name, thing):
        thing.__module__, thing.__qualname__, thing.__name__ = module, name, name
        setattr(modules[module], name, thing)
        return thing

    reconstruct = named(root + ".multiarray", "_reconstruct", lambda *a: None)
    frombuffer = named(root + ".numeric", "_frombuffer", lambda *a: None)

    class dtype:
        def __reduce__(self):
            return dtype, ("u1", False, True), (3, "|", None, None, None, -1, -1, 0)

        def __init__(self, *a):
            pass

    class ndarray:
        def __init__(self, rows, order="C", readonly=False, buffer=True):
            self.rows, self.order, self.readonly, self.buffer = rows, order, readonly, buffer

        def __reduce_ex__(self, protocol):
            data, shape = flat(self.rows, self.order == "F"), (self.rows, COLUMNS)
            if protocol >= 5 and self.buffer:
                data = pickle.PickleBuffer(data if self.readonly else bytearray(data))
                return frombuffer, (data, one_dtype, shape, self.order)
            return reconstruct, (ndarray, (0,), b"b"), (1, shape, one_dtype, self.order == "F", data)

    named("numpy", "dtype", dtype)
    named("numpy", "ndarray", ndarray)
    one_dtype = dtype()
    return ndarray, modules


def accepted(make_arrays):
    """Every kind of array, protocol and key, plain and optimized."""
    for array, rows in make_arrays:
        for protocol in (2, 3, 4, 5):
            for as_bytes in (False, True):
                data = pickle.dumps(batch(array, rows, as_bytes), protocol)
                keep(data, rows, True)
                keep(pickletools.optimize(data), rows, True)


def drawn(ndarray, number):
    rng = random.Random(number)
    for _ in range(number):
        rows = rng.randint(1, 4)
        array = ndarray(rows, rng.choice("CF"), rng.random() < 0.5, rng.random() < 0.7)
        names = rng.random() < 0.7
        data = pickle.dumps(batch(array, rows, rng.random() < 0.5, names, rng), rng.randint(2, 5))
        keep(pickletools.optimize(data) if rng.random() < 0.3 else data, rows, names)


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def refused(array):
    def one(words, protocol=2, **changes):
        keep(pickle.dumps(batch(array, 1, False) | changes, protocol), 0, words=words)

    one("ASCII or protocol-1 pickle", 0)
    one("ASCII or protocol-1 pickle", 1)
    for protocol in (2, 3, 4, 5):
        one("is not a known constructor", protocol, data=Call(os.system, "true"))
        one("labels must be a list of int", protocol, labels=Call(os.system, "true"))
        one("is not a known constructor", protocol, data=Call(eval, "1"))
        one("", protocol, filenames=[Call(eval, "1")])
        one("labels must be a list of int", protocol, labels=(1,))
        one("labels must be a list of int", protocol, labels={1: 2})
        one("opcode BINFLOAT: not accepted", protocol, labels=[1.0])
        one("opcode LONG1: not accepted", protocol, labels=[1 << 40])
        one("label 10 of row 0 is not below 10", protocol, labels=[10])
        one("labels has 2 entries", protocol, labels=[1, 2])
        one("filenames has 3 entries", protocol, filenames=["a", "b", "c"])
        one("key 'more'", protocol, more=1)
        one("an array is expected", protocol, data=[1, 2, 3])
        one("an array is expected", protocol, data=None)
        one("a text is expected", protocol, filenames=[None])
    for data in (b"", pickle.dumps([1], 2), pickle.dumps("x", 4), pickle.dumps(None, 5)):
        keep(data, 0)


def numpy_arrays(np):
    a = np.array(pixels(3), np.uint8)
    readonly = a.copy()
    readonly.flags.writeable = False
    wide = np.zeros((6, COLUMNS), np.uint8)
    wide[::2] = a
    return [(a, 3), (np.asfortranarray(a), 3), (readonly, 3), (wide[::2], 3), (a[:1], 1)]


def numpy_refused(np):
    a = np.array(pixels(1), np.uint8)
    for protocol in (2, 3, 4, 5):
        for words, changes in (
            ("labels must be a list of int", {"labels": np.array([1])}),
            ("", {"labels": [np.int64(1)]}),
            ("dtype 'u1'", {"data": a.astype(np.int32)}),
            ("dtype 'u1'", {"data": a.astype(np.int8)}),
            ("", {"data": a.reshape(1, 3, 32, 32)}),
            ("", {"data": a.reshape(-1)}),
            ("", {"data": a[:, :-1]}),
            ("", {"data": a[:0]}),
        ):
            keep(pickle.dumps(batch(a, 1, False) | changes, protocol), 0, words=words)


folder = sys.argv[1]
with open(os.path.join(folder, "list.txt"), "w") as index:
    for root in ("numpy.core", "numpy._core"):
        ndarray, modules = stand_ins(root)
        accepted(
            [
                (ndarray(2, order, readonly, buffer), 2)
                for order in "CF"
                for readonly in (False, True)
                for buffer in (False, True)
            ]
        )
        drawn(ndarray, 150)
        refused(ndarray(1))
        for name in modules:
            del sys.modules[name]
    try:
        import numpy
    except ImportError:
        numpy = None
    if numpy:
        accepted(numpy_arrays(numpy))
        numpy_refused(numpy)
