"""The records of one split, and masks over them."""

from __future__ import annotations

import numpy as np
import pytest

import apldata
import apldata._reading
from apldata import Store


def test_the_records_of_a_split(store: Store, drawn: dict) -> None:
    """Numbered from 0, whatever their ids are."""
    test, label = store["test"], drawn["test"]["label"]
    assert len(test) == len(label) == 300 and test.ids.tolist() == list(range(1000, 1300))
    assert (
        test[0]["label"] == label[0]
        and test[-1]["label"] == label[-1]
        and test[np.int64(7)]["label"] == label[7]
    )
    for rows in ([3, 1, 4, 1, -1], slice(None, None, 7), range(5), np.arange(3, dtype=np.uint8), label == 3):
        chosen = label[list(rows) if isinstance(rows, range) else rows]
        assert np.array_equal(test[rows]["label"], chosen)
    assert test.get([2], fields=["label"]).keys() == {"label"}
    assert np.array_equal(test.to_numpy()["label"], label)
    assert [record["label"] for record in test] == label.tolist()
    assert repr(test).endswith("split 'test': 300 records>")
    for wrong in (300, -301, [0, 300]):
        with pytest.raises(apldata.NoRecordError, match=r"split 'test' has no record .* it has 300"):
            test[wrong]
    with pytest.raises(
        apldata.InvalidError, match=r"a mask of 1,300 bools, where .* 300 records of split 'test'"
    ):
        test[np.ones(1300, bool)]
    with pytest.raises(apldata.NotFoundError, match="none such"):
        store["none such"]


def test_masks(store: Store, drawn: dict) -> None:
    label = np.concatenate([drawn["train"]["label"], drawn["test"]["label"]])
    assert np.array_equal(store[label == 3]["label"], label[label == 3])
    assert store.get((label == 3).tolist()).ids.tolist() == np.flatnonzero(label == 3).tolist()
    assert store[np.zeros(1300, bool)].rows == 0
    with pytest.raises(
        apldata.InvalidError, match=r"a mask of 1,000 bools, where .* 1,300 records of the store"
    ):
        store[label[:1000] == 3]
    with pytest.raises(apldata.InvalidError, match="a mask of 1 bools"):
        store[[True]]
    with pytest.raises(apldata.InvalidTypeError, match="integers in one row, a slice, or a mask"):
        store[np.ones((1300, 1), bool)]


def test_masks_of_a_loader(store: Store, drawn: dict) -> None:
    """One bool for each record of the split."""
    label = drawn["test"]["label"]
    for mask in (label == 3, (label == 3).tolist()):
        with apldata.Loader(store, "test", ids=mask, shuffle=False) as loader:
            ids = np.concatenate([batch.ids for batch in loader])
        assert np.array_equal(ids, 1000 + np.flatnonzero(label == 3)) and loader.records == len(ids)
    with pytest.raises(apldata.InvalidError, match="300 records of split 'test'"):
        apldata.Loader(store, "test", ids=np.ones(1300, bool))
    with pytest.raises(apldata.InvalidError, match="at least one record"):
        apldata.Loader(store, "test", ids=np.zeros(300, bool))
    with pytest.raises(apldata.InvalidError, match="with mix, give ids"):
        apldata.Loader(store, "test", ids=label == 3, mix=[(store, "train")])


def test_splits_that_share_records(own: Store) -> None:
    """Those of one seed are refused, those of others made with a warning."""
    test = own.split("held", 0.1)
    for make in (
        lambda: own.split("val", 0.1),
        lambda: own.split("val", 0.2, stratify="label"),
        lambda: own.folds("val", 3),
        lambda: own.clients("val", 3, dirichlet=0.5, stratify="label"),
    ):
        with pytest.raises(apldata.InvalidError, match=r"the parent train-held avoids it, overlap allows it"):
            make()
    assert set(own.splits) == {"train", "test", "held", "train-held"}
    own.split("val", 0.1, parent="train-held")
    own.folds("cv", 3, parent="train-held-val")
    assert not np.isin(own.split_ids("val"), own.split_ids("held")).any()
    ids = np.concatenate([own.split_ids(f"cv-{k}") for k in range(3)])
    assert np.array_equal(np.sort(ids), own.split_ids("train-held-val"))
    again = own.split("half", 0.5, overlap=True)
    assert np.isin(own.split_ids("held"), own.split_ids("half")).all() and again.records > test.records
    with pytest.warns(UserWarning, match=r"splits rep and \S+ share \d+ records, and") as told:
        own.split("rep", 0.3, seed=1)
    assert len(told) == 1 and told[0].filename == __file__
    own.split("more", 0.3, seed=2, overlap=True)


def test_splits_of_what_has_been_replaced(own: Store) -> None:
    """They are refused until they have been made again; a script that runs again finds all as before."""
    for _ in range(2):
        own.split("held", 0.2, replace=True)
        own.split("val", 0.2, parent="train-held", replace=True)
    before = own.split_ids("train-held-val")
    with pytest.warns(UserWarning, match=r"val.split: split held, which it comes from") as told:
        own.split("held", 0.3, seed=5, replace=True)
    assert len(told) == 1 and told[0].filename == __file__
    assert set(own.splits) == {"train", "test", "held", "train-held"}
    for name in ("val", "train-held-val"):
        with pytest.raises(apldata.MismatchError, match="make it again"):
            own.split_ids(name)
        with pytest.raises(apldata.MismatchError, match="make it again"):
            apldata.Loader(own, name)
    own.split("val", 0.2, parent="train-held", replace=True)
    assert not np.array_equal(own.split_ids("train-held-val"), before)
    own.folds("cv", 2, parent="train-held-val")
    with pytest.warns(UserWarning, match=r"cv-0.split: split held, which .* \(2 more like it\)"):
        own.split("held", 0.2, replace=True)


def test_a_split_that_another_has_replaced(own: Store) -> None:
    """A store goes on with the division that it has opened first, or not at all."""
    own.split("held", 0.5)
    loader = apldata.Loader(own, "train-held", batch_size=100)
    train = set(own.split_ids("train-held").tolist())
    with Store(own.path) as other:
        other.split("held", 0.5, seed=5, replace=True)
    for name in ("held", "train-held"):
        with pytest.raises(
            apldata.MismatchError, match=r"held\.split: it has other .*: open the store again"
        ):
            apldata.Loader(own, name)
    assert {i for batch in loader for i in batch.ids.tolist()} == train
    with Store(own.path) as again:
        assert train & set(again.split_ids("held").tolist())
    own.split("held", 0.5, replace=True)
    assert not train & set(own.split_ids("held").tolist())
