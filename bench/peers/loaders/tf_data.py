"""tf.data: a TFRecord file of whole rows, cached in memory.

Crops and flips are done by NumPy in the caller: TensorFlow's own operators take several times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from common import BATCH, ROW, SHAPE, Batches, Job, Split, finished, to_bytes


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    with tf.io.TFRecordWriter(str(path / "rows.tfrecord")) as writer:
        for row in to_bytes(split):
            writer.write(row)


def rows_of(batch: Any) -> tuple[Any, Any]:
    rows = tf.reshape(tf.io.decode_raw(batch, tf.uint8), (-1, ROW))
    return tf.reshape(rows[:, 1:], (-1, *SHAPE)), rows[:, 0]


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    tf.config.threading.set_intra_op_parallelism_threads(job.threads)
    tf.config.threading.set_inter_op_parallelism_threads(job.threads)
    files = tf.data.TFRecordDataset(str(path / "rows.tfrecord"))
    data = files.cache().shuffle(50_000, seed=1, reshuffle_each_iteration=True).batch(BATCH)
    data = data.map(rows_of, num_parallel_calls=job.threads)
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    options.deterministic = True
    data = data.with_options(options).prefetch(2)
    rng = np.random.default_rng(1)
    while True:
        yield ((finished(images, job, rng), labels) for images, labels in data.as_numpy_iterator())
