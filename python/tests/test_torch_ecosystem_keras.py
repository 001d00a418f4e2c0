"""Keras over apldata: on torch with apldata.torch, on TensorFlow with apldata.tf."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from ecosystem_tools import DIE_AT, EPOCHS, STEPS, run_script

SCRIPT = """
import json, os, sys
import numpy as np
import keras
from ecosystem_tools import BATCH, DIE_AT, EPOCHS, die, train_loader

path, file, mode = sys.argv[1:]
loader = train_loader(path) if keras.backend.backend() == "torch" else None
if loader is None:
    import apldata
    from apldata import Normalize, RandomFlip
    loader = apldata.Loader(path, "train", BATCH, seed=3, transforms=[RandomFlip(), Normalize()])

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
model.build((None, 3, 32, 32))
model.compile(keras.optimizers.SGD(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.test_on_batch(np.zeros((1, 3, 32, 32), "float32"), np.zeros(1, "int64"))  # else fit() draws a batch

class Watch(keras.callbacks.Callback):
    step = DIE_AT if mode == "resume" else 0
    def on_train_batch_end(self, batch, logs=None):
        self.step += 1
        if self.step == DIE_AT and mode == "die":
            self.model.save_weights(file + ".weights.h5")
            with open(file, "w") as out:
                json.dump(loader.state_dict(), out)
        if self.step == DIE_AT + 2 and mode == "die":
            die()

class Tensors:      # TensorFlow's eager tensors, an epoch for each iteration
    def __iter__(self):
        import apldata.tf
        for batch in apldata.tf.batches(loader):
            yield batch["image"], batch["label"]

if mode == "resume":
    model.load_weights(file + ".weights.h5")
    with open(file) as saved:
        loader.load_state_dict(json.load(saved))
watch = Watch()
if keras.backend.backend() == "torch":
    for epoch in range(loader.epoch, EPOCHS):
        model.fit(loader, epochs=1, callbacks=[watch], verbose=0, shuffle=False)
else:
    for epoch in range(loader.epoch, EPOCHS):
        for images, labels in Tensors():
            model.train_on_batch(images, labels)
            watch.set_model(model)
            watch.on_train_batch_end(0)
print(json.dumps({"steps": watch.step, "weights": [float(np.abs(w).sum()) for w in model.get_weights()]}))
"""


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_killed_in_mid_epoch(store_path: str, tmp_path: Path, backend: str) -> None:
    for needed in ("keras", "torch", backend):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"could not import {needed!r}")

    def run(mode: str, file: str) -> str:
        arguments = (store_path, str(tmp_path / file), mode)
        return run_script(SCRIPT, tmp_path, *arguments, KERAS_BACKEND=backend, CUDA_VISIBLE_DEVICES="")

    whole = json.loads(run("whole", "whole").splitlines()[-1])
    assert whole["steps"] == STEPS * EPOCHS
    with pytest.raises(AssertionError):  # killed
        run("die", "saved")
    rest = json.loads(run("resume", "saved").splitlines()[-1])
    assert rest == whole, DIE_AT
