"""examples/train_{lightning,accelerate,huggingface}.py: a resumed run ends as one that never stopped."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CLASSES, ROOT

from apldata import Field, Writer

torch = pytest.importorskip("torch")

EXAMPLES = ROOT / "examples"
BATCH, STEPS = 20, 5  # of an epoch
STOPPED = 7  # in the second epoch

pytestmark = [
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not here"),
    pytest.mark.filterwarnings("ignore"),
]

# What each example is made with, the checkpoint of a step in OUT, and where the trained network is.
LIGHTNING = ("lightning", "epoch={epoch}-step={step}.ckpt", lambda made: made.model.net)
ACCELERATE = ("accelerate", "step-{step}", lambda made: made)
HUGGINGFACE = ("huggingface", "checkpoint-{step}", lambda made: made.model.net)


@pytest.fixture
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, no_gpu: None) -> Any:
    pytest.importorskip({"huggingface": "transformers"}.get(request.param, request.param))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for networks this small, more only wait for each other
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module(f"train_{request.param}")
    torch.set_num_threads(threads)
    for name in ("small_network", f"train_{request.param}"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def few(drawn: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of a hundred images to train with, and forty to test with."""
    path = str(tmp_path_factory.mktemp("stores") / "few")
    fields = [Field("image", "u8", (3, 32, 32)), Field("label", "u8", (), "target", classes=CLASSES)]
    with Writer(path, fields) as writer:
        for split, count in (("train", BATCH * STEPS), ("test", 40)):
            writer.begin(split)
            writer.extend(**{name: values[:count] for name, values in drawn[split].items()})
    return path


def weights(net: Any) -> Any:
    return torch.cat([value.detach().float().reshape(-1) for value in net.state_dict().values()])


@pytest.mark.parametrize(
    ("program", "checkpoint", "net"), [LIGHTNING, ACCELERATE, HUGGINGFACE], indirect=["program"]
)
def test_resumed_in_mid_epoch(
    program: Any,
    checkpoint: str,
    net: Any,
    few: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--epochs", "2", "--batch-size", str(BATCH), "--every", str(STOPPED), few]
    whole = weights(net(program.main([*options, str(tmp_path / "whole")])))
    assert "accuracy" in capsys.readouterr().out
    saved = tmp_path / "whole" / checkpoint.format(step=STOPPED, epoch=STOPPED // STEPS)
    rest = weights(net(program.main(["--resume", str(saved), *options, str(tmp_path / "rest")])))
    assert torch.equal(rest, whole)
