"""Single samples by a loader's sampler, where the loader draws or mixes records; and samples from workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from apldata import CenterCrop, Field, Sampling, ToFloat32, Writer  # noqa: E402
from apldata.torch import DataLoader  # noqa: E402

COUNT = 21


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("drawn") / "s")
    label = Field("label", "u8", (), "target", classes=("a", "b", "c"))
    with Writer(path, {"image": ("u8", (3, 12, 12)), "label": label}) as writer:
        for k in range(COUNT):
            writer.append(image=np.full((3, 12, 12), k), label=k % 3)
    return path


HOW: dict[str, Any] = {
    "plain": {},
    "by class": {"sampling": Sampling("label")},
    "records": {"sampling": Sampling(records=10)},
    "again": {"sampling": Sampling(weights=[1.0] * COUNT, replacement=True)},
}


def loader(db: str, how: str, **options: Any) -> DataLoader:
    given = {"batch_size": 8, "shuffle": True, "seed": 9, "transforms": [CenterCrop(8), ToFloat32()]}
    more = {"mix": [(db, "train")]} if how == "mix" else HOW[how]
    return DataLoader(db, **{**given, **more, **options})


@pytest.mark.parametrize("how", [*HOW, "mix"])
def test_one_sample_is_the_loaders(db: str, how: str) -> None:
    """It came without transforms, or not at all."""
    images = torch.cat([batch[0].clone() for batch in loader(db, how)])
    one = loader(db, how)
    seen = torch.stack([one.dataset[index][0].clone() for index in list(one.sampler)])
    assert torch.equal(seen, images)
    other = loader(db, how)
    alone = torch.utils.data.DataLoader(other.dataset, batch_size=None, sampler=other.sampler)
    assert torch.equal(torch.stack([sample[0].clone() for sample in alone]), images)


def same(samples: Any) -> Any:
    return samples


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_a_collate_fn_returns(db: str, workers: int) -> None:
    """From workers too, where the reading process waited for good."""
    parts = loader(db, "plain", shuffle=False, num_workers=0)
    given: dict[str, Any] = {"num_workers": workers, "timeout": 60 if workers else 0}
    own = torch.utils.data.DataLoader(
        parts.dataset, batch_sampler=parts.batch_sampler, collate_fn=same, **given
    )
    labels = [int(sample[1]) for samples in own for sample in samples]
    assert labels == [k % 3 for k in range(COUNT)]
