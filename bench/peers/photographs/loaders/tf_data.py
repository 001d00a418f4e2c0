"""tf.data: decodes the box alone; resizes without antialiasing, which is its default."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from common import BATCH, MEAN, SIDE, STD, Batches, Job

VERSION = f"tensorflow {tf.__version__}"
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def make(path: Any, box: Any, flip: Any, number: Any) -> tuple[Any, Any]:
    window = tf.stack([box[1], box[0], box[3], box[2]])
    image = tf.image.decode_and_crop_jpeg(tf.io.read_file(path), window, channels=3)
    image = tf.image.resize(image, [SIDE, SIDE])
    image = tf.cond(flip, lambda: tf.image.flip_left_right(image), lambda: image)
    image = image * (1 / (255 * STD)) - MEAN / STD
    return tf.transpose(image, [2, 0, 1]), number


def epoch(job: Job) -> Batches:
    order = job.shuffled()
    data = tf.data.Dataset.from_tensor_slices(
        ([job.files[n] for n in order], job.boxes[order].astype("int32"), job.flips[order], order)
    )
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    data = data.map(make, num_parallel_calls=job.threads).batch(BATCH).with_options(options)
    return iter(data)
