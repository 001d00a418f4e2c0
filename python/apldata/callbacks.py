"""apldata.callbacks: figures of a loader, beside the losses: TensorBoard, Weights & Biases and Prometheus."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from ._arguments import flag, path_of, text, whole, wrong_type
from ._loader import Loader

__all__ = ["TensorBoard", "Wandb", "Watch", "lightning", "prometheus_text", "write_prometheus"]


class Watch:
    """Figures of a loader, between one call and the next.

    Args:
        loader: an `apldata.Loader`, or a framework's, such as `apldata.torch.DataLoader`.
    """

    def __init__(self, loader: Loader) -> None:
        if not isinstance(loader, Loader):
            raise wrong_type("loader", "an apldata.Loader", loader)
        self.loader = loader
        self._before = loader.stats()

    def figures(self) -> dict[str, float]:
        """Since the last call: `records_per_second`; `stall`, the fraction of the time that the loop waited;
        `megabytes_read_per_second`; `cores`, how many the process used. At this moment: `memory_megabytes`
        and `queued` batches. Since the loader was opened: `wait_p99_milliseconds`. `load_state_dict()` opens
        it again."""
        now, before = self.loader.stats(), self._before
        if now["elapsed"] < before["elapsed"] or now["batches"] < before["batches"]:
            before = {**dict.fromkeys(before, 0.0), "bytes": {"read": 0}}
        self._before = now
        seconds = max(now["elapsed"] - before["elapsed"], 1e-9)
        return {
            "records_per_second": (now["records"] - before["records"]) / seconds,
            "stall": (now["starved"] - before["starved"]) / seconds,
            "megabytes_read_per_second": (now["bytes"]["read"] - before["bytes"]["read"]) / seconds / 1e6,
            "cores": max(now["cpu"] - before["cpu"], 0.0) / seconds,
            "memory_megabytes": now["memory"] / 1e6,
            "queued": float(now["queued"]),
            "wait_p99_milliseconds": now["wait"]["p99"] * 1e3,
        }


class _Every:
    """Calls `log` with figures and a step, at every so manyeth step."""

    def __init__(
        self, loader: Loader, log: Callable[[dict[str, float], int], object], every: int, prefix: str
    ) -> None:
        self._watch, self._log = Watch(loader), log
        self._every, self._prefix = whole("every", every, 1), text("prefix", prefix)
        self._steps = 0

    def __call__(self, step: int | None = None) -> None:
        """After a step of training.

        Args:
            step: its number, as the losses are logged with; None: steps are counted here.
        """
        self._steps += 1
        if self._steps % self._every == 0:
            figures = {f"{self._prefix}/{name}": value for name, value in self._watch.figures().items()}
            self._log(figures, self._steps if step is None else step)


class TensorBoard(_Every):
    """Logs a loader's figures by `SummaryWriter.add_scalar`.

        watch = TensorBoard(loader, SummaryWriter())
        for step, batch in enumerate(loader):
            ...
            watch(step)

    Args:
        loader: see `Watch`, which says what the figures are.
        writer: a `torch.utils.tensorboard.SummaryWriter`, or tensorboardX's.
        every: steps between two figures.
        prefix: of the figures' names.
    """

    def __init__(self, loader: Loader, writer: Any, *, every: int = 50, prefix: str = "data") -> None:
        if not callable(getattr(writer, "add_scalar", None)):
            raise wrong_type("writer", "a SummaryWriter", writer)

        def log(figures: dict[str, float], step: int) -> None:
            for name, value in figures.items():
                writer.add_scalar(name, value, step)

        super().__init__(loader, log, every, prefix)


class Wandb(_Every):
    """Logs a loader's figures to Weights & Biases, by `run.log`; online or offline, as the run is.

    Args:
        loader: see `Watch`, which says what the figures are.
        run: what `wandb.init()` has returned.
        every: steps between two figures.
        prefix: of the figures' names.
        commit: False: the figures are committed together with what training logs for the step afterwards.
    """

    def __init__(
        self, loader: Loader, run: Any, *, every: int = 50, prefix: str = "data", commit: bool = False
    ) -> None:
        if not callable(getattr(run, "log", None)):
            raise wrong_type("run", "what wandb.init() returns", run)
        commits = bool(flag("commit", commit))
        super().__init__(
            loader, lambda figures, step: run.log(figures, step=step, commit=commits), every, prefix
        )


def lightning(loader: Loader, *, every: int = 50, prefix: str = "data") -> Any:
    """A Lightning callback that logs a loader's figures by the trainer's own loggers, whichever they are.

        trainer = Trainer(callbacks=[apldata.callbacks.lightning(loader)])

    Args:
        loader: the one used for training; see `Watch`, which says what the figures are.
        every: steps between two figures.
        prefix: of the figures' names.

    Raises:
        ImportError: neither lightning nor pytorch_lightning is installed.
    """
    try:
        from lightning.pytorch import Callback  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from pytorch_lightning import Callback  # type: ignore[no-redef, assignment, import-not-found, unused-ignore]

    class Figures(Callback):  # type: ignore[misc, valid-type, unused-ignore]
        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            def log(figures: dict[str, float], step: int) -> None:
                for logger in trainer.loggers:
                    logger.log_metrics(figures, step=step)

            self._every = _Every(loader, log, every, prefix)

        def on_train_batch_end(self, trainer: Any, *others: Any) -> None:
            self._every(trainer.global_step)

    return Figures()


# --------------------------------------------------------------------------------------------- Prometheus


def _label(value: str) -> str:
    """A label's value, in UTF-8."""
    return os.fsencode(value).decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def prometheus_text(loaders: Mapping[str, Loader]) -> str:
    """What loaders have done, in Prometheus's text format: counters of seconds, records and bytes, and how
    much they hold.

    Args:
        loaders: by name, such as ``{"train": loader}``; the names become the label `loader`.
    """
    if not isinstance(loaders, Mapping) or not all(isinstance(one, Loader) for one in loaders.values()):
        raise wrong_type("loaders", "a dict of names and loaders", loaders)
    return _core.metrics(
        [
            (loader._pass.reader, _label(text("name", name)), _label(loader.store.path), _label(loader.split))
            for name, loader in loaders.items()
        ]
    )


def write_prometheus(loaders: Mapping[str, Loader], path: str | os.PathLike[str]) -> None:
    """Writes `prometheus_text()` to a file, such as one ending in .prom in the folder of node_exporter's
    textfile collector. The file is replaced as a whole, so that nobody reads half of it.

    Args:
        loaders: by their names.
        path: of the file.
    """
    where = os.fspath(path_of("path", path))
    folder = os.path.dirname(where) or "."
    content = prometheus_text(loaders).encode()
    fd, temporary = tempfile.mkstemp(prefix=".apldata-", dir=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)  # a collector is another user
        os.replace(temporary, where)
    except BaseException:
        os.unlink(temporary)
        raise
