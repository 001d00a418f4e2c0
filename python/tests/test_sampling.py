"""What an epoch is made of: samples by weights, lists of records, mixes of stores."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from conftest import CLASSES, TEST, TRAIN

import apldata
from apldata import Loader, Sampling, Store


def ids_of(loader: Loader) -> np.ndarray:
    """Of one epoch, in the order of delivery."""
    return np.concatenate([batch.ids.copy() for batch in loader])


def labels_of(store: Store, ids: np.ndarray) -> np.ndarray:
    return store.to_numpy(fields=["label"])["label"][ids.astype(np.int64)]


# --------------------------------------------------------------------------------------------- sampling


def test_classes_equally_often(store):
    with Loader(store, seed=3, sampling=Sampling("label"), fields=["label"]) as loader:
        first, second = ids_of(loader), ids_of(loader)
    labels = labels_of(store, first)
    assert len(first) == TRAIN == loader.records
    assert np.bincount(labels, minlength=len(CLASSES)).tolist() == [TRAIN // len(CLASSES)] * len(CLASSES)
    for number in range(len(CLASSES)):  # each of a class's records as often as any other, give or take one
        of_class = store.where("train", label=number)
        times = Counter(first[labels == number].tolist())
        least = TRAIN // len(CLASSES) // len(of_class)
        assert {times[i] for i in of_class.tolist()} <= {least, least + 1}
    assert sorted(first) != sorted(second), "each epoch has a sample of its own"


def test_the_batches_hold_what_the_sample_says(store, drawn):
    sampling = Sampling("label", {"cat": 2, "dog": 1}, records=300)
    with Loader(store, batch_size=50, seed=1, sampling=sampling) as loader:
        assert len(loader) == 6
        for batch in loader:
            at = batch.ids.astype(np.int64)
            assert (batch["image"] == drawn["train"]["image"][at]).all()
            assert (batch["label"] == drawn["train"]["label"][at]).all()
        assert loader.receipt()["delivered"] == 300


def test_weights_by_name_number_and_array(store):
    by_name = Sampling("label", {"cat": 2, "dog": 1}, records=300)
    by_number = Sampling("label", {3: 2.0, np.int64(5): 1}, records=300)
    by_array = Sampling("label", np.array([0, 0, 0, 2, 0, 1, 0, 0, 0, 0], np.float32), records=300)
    orders = []
    for sampling in (by_name, by_number, by_array):
        with Loader(store, seed=5, sampling=sampling, fields=["label"]) as loader:
            orders.append(ids_of(loader))
    labels = labels_of(store, orders[0])
    assert (labels == 3).sum() == 200 and (labels == 5).sum() == 100
    assert (orders[0] == orders[1]).all() and (orders[0] == orders[2]).all()


def test_weights_of_records(store):
    weights = np.zeros(TRAIN)
    weights[[7, 400, 901]] = 1, 2, 3
    with Loader(store, sampling=Sampling(weights=weights, replacement=True), seed=2, fields=[]) as loader:
        times = Counter(ids_of(loader).tolist())
    assert set(times) == {7, 400, 901} and sum(times.values()) == TRAIN
    assert abs(times[901] - 500) < 80 and abs(times[400] - 333) < 80
    with Loader(store, sampling=Sampling(weights=weights, records=3), seed=2, fields=[]) as loader:
        assert sorted(ids_of(loader)) == [7, 400, 901]


def test_weights_go_with_ids_as_given(store):
    weights = np.array([3.0, 0.0, 1.0])
    orders = []
    for ids, given in (([901, 7, 400], weights), ([7, 400, 901], weights[[1, 2, 0]])):
        sampling = Sampling(weights=given, replacement=True, records=400)
        with Loader(store, sampling=sampling, ids=ids, seed=2, fields=[]) as loader:
            orders.append(ids_of(loader))
    times = Counter(orders[0].tolist())
    assert set(times) == {400, 901} and abs(times[901] - 300) < 60
    assert (orders[0] == orders[1]).all()


def test_another_subset_each_epoch(store):
    with Loader(store, sampling=Sampling(records=100), seed=4, fields=[]) as loader:
        first, second = ids_of(loader), ids_of(loader)
    assert len(set(first)) == len(set(second)) == 100
    assert len(set(first) & set(second)) < 40


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_state_in_the_middle_goes_on(store, threads):
    def loader(threads: int) -> Loader:
        sampling = Sampling("label", replacement=True)
        return Loader(store, batch_size=64, seed=6, sampling=sampling, fields=["label"], threads=threads)

    with loader(1) as whole:
        expected = ids_of(whole)
    with loader(threads) as begun:
        batches = iter(begun)
        head = [next(batches).ids.copy() for _ in range(5)]
        state = begun.state_dict()
    with loader(threads) as resumed:
        resumed.load_state_dict(state)
        assert (np.concatenate([*head, ids_of(resumed)]) == expected).all()
    with Loader(store, batch_size=64, seed=6) as other, pytest.raises(apldata.MismatchError):
        other.load_state_dict(state)


def test_a_field_may_hold_the_weights_of_records(store):
    labels = store.to_numpy("train", fields=["label"])["label"]
    for options in ({}, {"ids": [9, 4, 700, 3]}):
        given = labels[options["ids"]] if options else labels
        of_field, of_array = (
            Loader(store, "train", sampling=Sampling(weights=weights, replacement=True), seed=2, **options)
            for weights in ("label", given.astype(float))
        )
        with of_field, of_array:
            assert (ids_of(of_field) == ids_of(of_array)).all()


def test_copies_are_augmented_apart(store):
    weights = np.zeros(TRAIN)
    weights[7] = 1
    crop = [apldata.RandomCrop(32, padding=4)]
    sampling = Sampling(weights=weights, replacement=True, records=40)
    with Loader(store, sampling=sampling, transforms=crop) as loader:
        images = next(iter(loader))["image"].copy()
    assert len({image.tobytes() for image in images}) > 20


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sampling(weights={"cat": 1}), "name their field"),
        (lambda: Sampling("label", {"lion": 1}), "one of plane, car"),
        (lambda: Sampling("label", {"cat": 1, 3: 1}), "named twice"),
        (lambda: Sampling("label", {"cat": -1}), "at least 0; got -1"),
        (lambda: Sampling("label", "cat"), "weights must be"),
        (lambda: Sampling(weights=[[1.0]]), "one number for each"),
        (lambda: Sampling(weights=[1.0, 2.0]), "weights"),
        (lambda: Sampling("lebel"), "lebel"),
        (lambda: Sampling(weights="lebel"), "has no field lebel"),
        (lambda: Sampling(weights="image"), "does not hold one integer, f32 or f64 per record"),
        (lambda: Sampling("image"), "image"),
        (lambda: Sampling(records=0), "records must be"),
        (lambda: Sampling(records=TRAIN + 1), "1001"),
        (lambda: "label", "an apldata.Sampling"),
    ],
)
def test_what_will_not_do_is_told(store, make, words):
    with pytest.raises(apldata.Error, match=words):
        Loader(store, sampling=make())


def test_reuse_and_order_of_ids_do_not_go_with_a_sample(store):
    for options in ({"reuse": 2}, {"shuffle": False}):
        with pytest.raises(apldata.InvalidError):
            Loader(store, sampling=Sampling("label"), **options)


# ---------------------------------------------------------------------------------------------- subsets


def test_where(store, drawn):
    labels = drawn["train"]["label"]
    cats_and_dogs = np.flatnonzero((labels == 3) | (labels == 5))
    assert (store.where("train", label=["cat", "dog"]) == cats_and_dogs).all()
    assert (store.where("train", label=[3, "dog"]) == cats_and_dogs).all()
    assert (store.where("train", label=lambda n: (n == 3) | (n == 5)) == cats_and_dogs).all()
    both = store.where("train", label="cat", image=lambda images: images[:, 0, 0, 0] > 100)
    assert (both == np.flatnonzero((labels == 3) & (drawn["train"]["image"][:, 0, 0, 0] > 100))).all()
    assert len(store.where()) == TRAIN + TEST and store.where("test").min() == TRAIN
    for wrong in ({"label": "lion"}, {"image": 3}, {"label": lambda n: n}, {"lebel": 1}):
        with pytest.raises(apldata.Error):
            store.where("train", **wrong)


@pytest.fixture
def keyed(tmp_path):
    """A store whose only field, a u64, has neighbours among numbers that float64 cannot tell apart."""
    keys = np.array([7, 2**60, 2**60 + 1, 2**64 - 2, 2**64 - 1], np.uint64)
    with apldata.Writer(tmp_path / "keyed", [apldata.Field("key", "u64")]) as writer:
        writer.extend(key=keys)
    return Store(tmp_path / "keyed")


def test_where_tells_large_numbers_apart(keyed):
    many = [2**60 + 1, *range(1000, 10**9, 10**7)]
    assert keyed.where(key=many).tolist() == [2]
    assert keyed.where(key=[2**64 - 1, -5, 2**70]).tolist() == [4]
    assert keyed.where(key=np.array([7, -1])).tolist() == [0]
    assert keyed.where(key=[7.0, 8.5]).tolist() == [0]


def test_where_compares_numbers_exactly_and_refuses_what_is_no_text(tmp_path):
    rows = {
        "f": np.array([0.1, 0.5, 2.0], "f4"), "i": np.array([2**53, 2**53 + 1, 7]), "text": ["1", "a", "b"],
    }  # fmt: skip
    apldata.convert(rows, tmp_path / "db")
    with apldata.Store(tmp_path / "db") as store:
        assert store.where(f=0.1).tolist() == [0] and store.where(f=[2, np.float32(0.5)]).tolist() == [1, 2]
        assert store.where(i=[2**53 + 1, 0.5]).tolist() == [1]
        assert store.where(i=float(2**53)).tolist() == [0]
        with pytest.raises(apldata.InvalidTypeError, match="text must be text, or a function; got 1"):
            store.where(text=1)
        for wrong in ({"i": "7"}, {"i": None}, {"i": [7, "2"]}, {"i": 1j}, {"f": "x"}, {"f": [np.str_("2")]}):
            with pytest.raises(apldata.InvalidTypeError, match="must be a number, a list of such, or a func"):
                store.where(**wrong)
        for never in (2**70, 7.5, [float("nan"), -(2**64)]):
            with pytest.raises(apldata.InvalidError, match="i must be a number that i64 can hold; got"):
                store.where(i=never)
        assert store.where(i=[]).size == 0 and store.where(f=2**70).size == 0


def test_where_refuses_what_a_field_cannot_hold(tmp_path):
    fields = {"x": "i64", "t": str, "v": ("i16", (-1,)), "y": ("i16", (2,)), "b": "bool"}
    with apldata.Writer(tmp_path / "db", fields) as writer:
        for i in range(6):
            writer.append(x=i, t=str(i), v=range(i % 4), y=[i, i], b=i % 2)
    with apldata.Store(tmp_path / "db") as store:
        for field, wrong in (
            ("v", [0, 1]), ("v", 0), ("v", b""), ("v", "0"), ("t", b"5"), ("t", ["5", b"5"]), ("y", [1, 1]),
            ("x", [True] * 6), ("x", True), ("x", np.array([True] * 6)), ("x", np.bool_(0)), ("b", "1"),
        ):  # fmt: skip
            with pytest.raises(apldata.InvalidTypeError, match=f"^{field} must be"):
                store.where(**{field: wrong})
        for wrong in (2, -1, 0.5, [2, 3]):
            with pytest.raises(apldata.InvalidError, match="b must be a number that bool can hold; got"):
                store.where(b=wrong)
        assert store.where(x=np.array(2)).tolist() == [2] and store.where(t=np.array("5")).tolist() == [5]
        for true in (1, True, np.bool_(1), 1.0, [1, 2], np.array(True)):
            assert store.where(b=true).tolist() == [1, 3, 5]
        assert store.where(v=lambda values: np.array([len(v) == 2 for v in values])).tolist() == [2]


def test_where_tells_a_class_called_by_a_number_from_its_number(tmp_path):
    names = [str(number) for number in range(12)]
    fields = [apldata.Field("label", "u8", mark="target", classes=sorted(names))]
    with apldata.Writer(tmp_path / "db", fields) as writer:
        writer.extend(label=np.arange(12, dtype=np.uint8))
    with apldata.Store(tmp_path / "db") as store:
        assert store.where(label="10").tolist() == [2] and store.where(label=10).tolist() == [10]
        with pytest.raises(apldata.InvalidError, match="label must be one of 0, 1, 10, 11, 2, 3,"):
            store.where(label="12")


def test_a_dict_is_not_made_into_a_weight_for_each_of_too_many_numbers(keyed):
    with pytest.raises(apldata.InvalidError, match=f"below 1048576; there is a key of {2**64 - 1}"):
        Loader(keyed, sampling=Sampling("key", {7: 1}))


def test_classes_are_whole_numbers(tmp_path):
    fields = [apldata.Field("name", "utf8"), apldata.Field("mass", "f32")]
    with apldata.Writer(tmp_path / "texts", fields) as writer:
        writer.append(name="a", mass=float("nan"))
    for field in ("name", "mass"):
        with pytest.raises(apldata.InvalidError, match=f"{field} does not hold one integer"):
            Loader(tmp_path / "texts", sampling=Sampling(field, {7: 1}))


def test_only_these_records(store):
    chosen = store.where("train", label=["cat", "dog"])
    with Loader(store, ids=chosen, seed=1) as loader:
        assert loader.records == len(chosen)
        first, second = ids_of(loader), ids_of(loader)
    assert (np.sort(first) == chosen).all() and (np.sort(second) == chosen).all()
    assert (first != second).any()
    for wrong in ([], [1, 1], [TRAIN], [TRAIN + TEST], ["a"]):
        with pytest.raises(apldata.Error):
            Loader(store, ids=wrong)


# ------------------------------------------------------------------------------------------------ mixes


def test_two_stores_in_one_order(store, drawn):
    with Loader(store, batch_size=64, mix=[(store, "test")], seed=1) as loader:
        assert loader.records == TRAIN + TEST
        seen = []
        for batch in loader:
            number, own = loader.source(batch.ids)
            label = np.concatenate([drawn["train"]["label"], drawn["test"]["label"]])
            assert (batch["label"] == label[own]).all()
            seen += list(zip(number.tolist(), own.tolist(), strict=True))
    assert len(set(seen)) == TRAIN + TEST
    assert sum(number for number, _ in seen) == TEST


def test_ids_of_a_mix_are_those_of_all_its_stores(store):
    chosen = [3, 5, 2 * (TRAIN + TEST) - 1, TRAIN + TEST + TRAIN + 7]
    with Loader(store, ids=chosen, mix=[(store, "test")], seed=1) as loader:
        assert loader.records == len(chosen)
        number, own = loader.source(ids_of(loader))
    assert sorted(zip(number.tolist(), own.tolist(), strict=True)) == [
        (0, 3), (0, 5), (1, TRAIN + 7), (1, TRAIN + TEST - 1)
    ]  # fmt: skip
    for wrong in (2600, -1):
        match = f"no record {wrong}: ids are 0 to 2599, those of the other"
        with pytest.raises(apldata.NoRecordError, match=match):
            Loader(store, ids=[wrong], mix=[(store, "test")])


def test_a_mix_of_paths_outlives_its_stores(store_path):
    loader = Loader(store_path, "train", mix=[store_path, (store_path, "test")], seed=1)
    loader.store.close()
    assert len(ids_of(loader)) == 2 * TRAIN + TEST
    loader.close()


def test_stores_by_weights(store):
    for sampling in (None, Sampling(records=400), Sampling(replacement=True)):
        with Loader(store, weight=3, mix=[(store, "test", 1)], sampling=sampling, seed=1) as loader:
            number, _ = loader.source(ids_of(loader))
            records = loader.records
        assert len(number) == records == (400 if sampling and sampling.records else TRAIN + TEST)
        assert abs((number == 1).sum() - records / 4) <= (80 if sampling and sampling.replacement else 1)
    for weight, mix in (
        (1, []),
        (-1, [(store, "test", 1)]),
        (0, [(store, "test", 1)]),
        (1, [(store, "test", "1")]),
        (1, [(store, "test", 1, 1)]),
        (0, [()]),
    ):
        with pytest.raises(apldata.Error):
            Loader(store, weight=weight, mix=mix)


def test_stores_that_do_not_go_together(store_path, tmp_path):
    with apldata.Writer(tmp_path / "other", [apldata.Field("image", "u8", (3, 8, 8))]) as writer:
        writer.append(image=np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(apldata.MismatchError, match="image"):
        Loader(store_path, mix=[tmp_path / "other"])
    for wrong in (3, [3], [(store_path, 3)], [(store_path, "tset")], ["nowhere"]):
        with pytest.raises(apldata.Error):
            Loader(store_path, mix=wrong)
    with pytest.raises(apldata.InvalidError, match="1300"):
        Loader(store_path).source([1300])
