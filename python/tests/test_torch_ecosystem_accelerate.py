"""Hugging Face's accelerate over apldata.torch.DataLoader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ecosystem_tools import (
    DIE_AT,
    EPOCHS,
    STEPS,
    die,
    killed,
    model,
    run_script,
    torch,
    train_loader,
    weights,
)

accelerate = pytest.importorskip("accelerate")

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_gpu")]


def train(path: str, folder: str, resume: bool = False, die_at: int = 0) -> tuple[Any, list[Any]]:
    """Saves after DIE_AT steps; accelerate keeps the state of the loader with the rest."""
    accelerator = accelerate.Accelerator(cpu=True)
    net = model()
    net, optimizer, loader = accelerator.prepare(
        net, torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9), train_loader(path)
    )
    step, seen = 0, []
    if resume:
        accelerator.load_state(folder)
        step = DIE_AT
    for _ in range(loader.epoch, EPOCHS):
        for images, labels in loader:
            if die_at and step == die_at:
                die()
            seen.append(labels.tolist())
            accelerator.backward(torch.nn.functional.cross_entropy(net(images), labels))
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            assert accelerator.gradient_state.end_of_dataloader == (step % STEPS == 0)
            if step == DIE_AT and not resume:
                accelerator.save_state(folder)
    return weights(net), seen


def train_and_die(path: str, folder: str) -> None:
    train(path, folder, die_at=DIE_AT + 2)


def test_killed_in_mid_epoch(store_path: str, tmp_path: Path) -> None:
    whole, seen = train(store_path, str(tmp_path / "whole"))
    killed(train_and_die, store_path, str(tmp_path / "killed"))
    rest, left = train(store_path, str(tmp_path / "killed"), resume=True)
    assert left == seen[DIE_AT:] and torch.equal(rest, whole)


@pytest.mark.parametrize("prepared", [False, True])
def test_skip_first_batches(store_path: str, prepared: bool) -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    loader, whole = train_loader(store_path), train_loader(store_path)
    if prepared:
        loader = accelerator.prepare(loader)
    batches = [(images.clone(), labels) for images, labels in whole]
    left = list(accelerate.skip_first_batches(loader, 4))
    assert len(left) == STEPS - 4
    assert all(
        torch.equal(a[0], b[0]) and torch.equal(a[1], b[1]) for a, b in zip(left, batches[4:], strict=True)
    )


def test_prepare_data_loader_by_itself(store_path: str) -> None:
    """The function, which rebuilds any loader of its parts."""
    made = accelerate.data_loader.prepare_data_loader(train_loader(store_path), put_on_device=False)
    for epoch in range(2):
        expected = train_loader(store_path, first_epoch=epoch)
        pairs = zip(made, expected, strict=True)
        assert all(torch.equal(a[0], b[0]) and torch.equal(a[1], b[1]) for a, b in pairs)


RANKS = """
import json, sys
import torch
from accelerate import Accelerator
from ecosystem_tools import train_loader

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(train_loader(sys.argv[1], collate_fn=lambda samples: samples.ids.tolist()))
seen = [ids for _ in range(2) for ids in loader]
with open(f"{sys.argv[2]}/{accelerator.process_index}.json", "w") as file:
    json.dump(seen, file)
accelerator.wait_for_everyone()
accelerator.end_training()
"""


def test_two_ranks(store_path: str, tmp_path: Path) -> None:
    run_script(RANKS, tmp_path, store_path, str(tmp_path), ranks=2)
    seen = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    for epoch in range(2):
        steps = slice(epoch * STEPS // 2, (epoch + 1) * STEPS // 2)
        assert sorted(i for rank in seen for ids in rank[steps] for i in ids) == list(range(1000))
