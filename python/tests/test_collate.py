"""Values of varying shape as arrays, in each framework's own way."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from collate_tools import COUNT, boxes, make, tokens

import apldata
from apldata import (
    EdgeIndex,
    Edges,
    InvalidError,
    InvalidTypeError,
    Loader,
    MismatchError,
    Nodes,
    Pack,
    Pad,
    Ragged,
    RaggedArray,
    Windows,
    Writer,
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return make(tmp_path_factory.mktemp("collate") / "db")


def test_padded(db):
    seen = []
    for batch in Loader(db, batch_size=8, collate={"tokens": Pad(fill=7), "sound": Pad(3, fill=-1)}):
        rows, lengths, mask = batch["tokens"], batch["tokens_lengths"], batch["tokens_mask"]
        assert rows.dtype == np.uint16 and lengths.dtype == np.int64 and mask.dtype == bool
        assert rows.shape == mask.shape == (batch.rows, lengths.max())
        for i, row, length, known in zip(batch.ids, rows, lengths, mask, strict=True):
            assert row[:length].tolist() == tokens(int(i)).tolist() == row[known].tolist()
            assert (row[length:] == 7).all()
        assert batch["sound"].shape == (batch.rows, 2, 3)
        assert batch["sound_mask"].sum(1).tolist() == [i % 4 for i in batch.ids.tolist()]
        names = [
            "tokens",
            "boxes",
            "sound",
            "label",
            "tokens_lengths",
            "tokens_mask",
            "sound_lengths",
            "sound_mask",
        ]
        assert list(batch) == names
        assert isinstance(batch["boxes"], list)
        seen += batch.ids.tolist()
    assert sorted(seen) == list(range(COUNT))


def test_ragged(db):
    for batch in Loader(db, batch_size=8, collate={"tokens": Ragged(), "boxes": Ragged()}):
        rows = batch["boxes"]
        assert isinstance(rows, RaggedArray) and len(rows) == batch.rows
        assert rows.values.shape == (rows.offsets[-1], 4) and rows.offsets.dtype == np.int64
        assert rows.lengths.tolist() == [i % 3 for i in batch.ids.tolist()]
        for i, row, found in zip(batch.ids.tolist(), batch["tokens"], rows, strict=True):
            assert row.tolist() == tokens(i).tolist() and found.tolist() == boxes(i).tolist()
        assert rows[-1].tolist() == boxes(int(batch.ids[-1])).tolist()
        assert [row.tolist() for row in rows[:2]] == [boxes(i).tolist() for i in batch.ids[:2].tolist()]
        with pytest.raises(IndexError):
            rows[batch.rows]
    assert repr(rows) == f"RaggedArray({len(rows)} rows, values=float32[{rows.offsets[-1]}, 4])"


def test_functions_over_batches_get_what_was_collated(db):
    def double(batch):
        batch["tokens"] = batch["tokens"] * 2

    for batch in Loader(db, batch_size=8, collate={"tokens": Pad()}, transforms=[double]):
        for i, row, length in zip(batch.ids.tolist(), batch["tokens"], batch["tokens_lengths"], strict=True):
            assert row[:length].tolist() == (tokens(i) * 2).tolist()


def test_a_state_may_be_taken_and_resumed_by_another_collation(db):
    loader = Loader(db, batch_size=8, collate={"tokens": Pad()})
    epoch = iter(loader)
    next(epoch)
    other = Loader(db, batch_size=8, collate={"tokens": Ragged()})
    other.load_state_dict(loader.state_dict())
    assert next(iter(other)).ids.tolist() == next(epoch).ids.tolist()


def test_a_state_of_a_collation_that_counts_otherwise_is_refused_by_its_name(db):
    packed = Loader(db, batch_size=8, collate={"tokens": Pack(16)})
    next(iter(packed))
    for collate in ({"tokens": Pad()}, None, {"tokens": Windows(4)}):
        with pytest.raises(MismatchError, match=r"^the state is of another order: collation differs$"):
            Loader(db, batch_size=8, collate=collate).load_state_dict(packed.state_dict())


def test_refusals(db):
    for collate, error, told in (
        ({"nothing": Pad()}, InvalidError, "collate: 'nothing' is not a field that is read"),
        ({"tokens": "pad"}, InvalidTypeError, "a collation, such as Pad()"),
        ([Pad()], InvalidTypeError, "collate must be a dict from names of fields to collations"),
        (
            {"label": Pad()},
            InvalidError,
            "field label: is u8; pad is for fields with one varying dimension",
        ),
        ({"sound": Ragged()}, InvalidError, "field sound: is i16[2,*]; ragged is for fields"),
        ({"tokens": Pad(fill=-1)}, InvalidError, "field tokens: u16 cannot hold fill -1 exactly"),
    ):
        with pytest.raises(error, match=None) as raised:
            Loader(db, collate=collate)
        assert told in str(raised.value)
    with pytest.raises(InvalidError, match="truncate"):
        Pad(truncate=True)
    with pytest.raises(InvalidError, match="record 13: field tokens is 9 long, and is to be padded to 5"):
        next(iter(Loader(db, shuffle=False, ids=range(10, 20), collate={"tokens": Pad(5)})))
    row = next(iter(Loader(db, shuffle=False, collate={"tokens": Pad(5, truncate=True)})))["tokens"]
    assert row.shape == (COUNT, 5)


def test_names_that_the_store_has_are_not_taken(tmp_path):
    with Writer(tmp_path / "db", {"x": ("u8", (-1,)), "x_mask": "u8"}) as w:
        w.append(x=[1], x_mask=1)
    with pytest.raises(InvalidError, match="adds an array 'x_mask' to batches, and the store has a field"):
        Loader(tmp_path / "db", collate={"x": Pad()})


def test_collations_are_values():
    assert Pad(3) == Pad(3) != Pad(4) and pickle.loads(pickle.dumps(Pad(3, fill=1))) == Pad(3, fill=1)
    array = RaggedArray(np.arange(3), np.array([0, 1, 3]))
    assert [row.tolist() for row in pickle.loads(pickle.dumps(array))] == [[0], [1, 2]]
    assert not subprocess.run([sys.executable, "-c", "import apldata.collation"], check=True).returncode
    assert apldata.collation.Pad is Pad


def test_packed(db):
    loader = Loader(db, batch_size=4, seed=3, collate={"tokens": Pack(16)})
    found: dict[int, list[int]] = {i: [] for i in range(COUNT)}
    rows = 0
    for batch in loader:
        assert list(batch) == ["tokens", "segment_ids", "positions"]
        assert {batch[name].shape for name in batch} == {(batch.rows, 16)}
        for piece in batch.pieces:
            i, at, end = piece["id"], piece["start"], piece["start"] + piece["length"]
            assert piece["offset"] == len(found[i])
            found[i] += batch["tokens"][piece["row"], at:end].tolist()
            assert batch["positions"][piece["row"], at:end].tolist() == list(range(end - at))
            assert len(set(batch["segment_ids"][piece["row"], at:end].tolist())) == 1
        rows += batch.rows
    assert found == {i: tokens(i).tolist() for i in range(COUNT)}
    assert rows == -(-sum(map(len, found.values())) // 16)
    assert next(iter(Loader(db))).pieces is None


def test_packed_without_segments(db):
    both = [Loader(db, batch_size=4, seed=3, collate={"tokens": Pack(16, segments=s)}) for s in (True, False)]
    for one, other in zip(*both, strict=True):
        assert list(other) == ["tokens"] and np.array_equal(one["tokens"], other["tokens"])
        assert np.array_equal(one.pieces, other.pieces)
    with pytest.raises(TypeError, match="segments must be"):
        Pack(16, segments="no")


def test_packed_resumes_with_other_rows(db):
    loader = Loader(db, batch_size=4, seed=3, collate={"tokens": Pack(16)})
    whole = np.concatenate([batch["tokens"].ravel() for batch in loader])
    loader.set_epoch(0)
    first = next(iter(loader))["tokens"].ravel().copy()
    other = Loader(db, batch_size=3, seed=3, collate={"tokens": Pack(10)})
    other.load_state_dict(loader.state_dict())
    rest = np.concatenate([batch["tokens"].ravel() for batch in other])
    count = sum(len(tokens(i)) for i in range(COUNT))
    assert np.concatenate([first, rest])[:count].tolist() == whole[:count].tolist()
    with pytest.raises(InvalidError, match="field label: is not packed, as field tokens is"):
        Loader(db, collate={"tokens": Pack(16)}, fields=["tokens", "label"])


def test_windows(db):
    loader = Loader(db, batch_size=4, seed=3, collate={"tokens": Windows(4, stride=3)})
    expected = [(i, at) for i in range(COUNT) for at in range(0, len(tokens(i)) - 3, 3)]
    assert len(loader) == -(-len(expected) // 4)
    found = []
    for batch in loader:
        assert list(batch) == ["tokens"] and batch["tokens"].shape == (batch.rows, 4)
        for number, row, piece in zip(batch.ids.tolist(), batch["tokens"], batch.pieces, strict=True):
            i, at = expected[number]
            assert (piece["id"], piece["offset"], piece["length"]) == (i, at, 4)
            assert row.tolist() == tokens(i)[at : at + 4].tolist()
            found.append(number)
    assert sorted(found) == list(range(len(expected))) != found


def test_windows_over_the_whole_stream(db):
    stream = np.concatenate([tokens(i) for i in range(COUNT)])
    loader = Loader(db, batch_size=4, shuffle=False, collate={"tokens": Windows(11, stride=10, join=True)})
    rows = np.concatenate([batch["tokens"] for batch in loader])
    assert rows.tolist() == [stream[at : at + 11].tolist() for at in range(0, len(stream) - 10, 10)]
    first = next(iter(loader))
    other = Loader(db, batch_size=7, shuffle=False, collate={"tokens": Windows(11, 10, True)})
    other.load_state_dict(loader.state_dict())
    assert next(iter(other)).ids.tolist() == list(range(first.rows, first.rows + 7))
    with pytest.raises(InvalidError, match="no value is as long as a window, which has 99"):
        Loader(db, collate={"tokens": Windows(99)})


def test_windows_in_torch(db):
    torch = pytest.importorskip("torch")
    from apldata.torch import DataLoader

    for (w,) in DataLoader(db, batch_size=4, shuffle=True, collate={"tokens": Windows(5, 4, join=True)}):
        w = w.long()
        x, y = w[:, :-1], w[:, 1:]
        assert x.shape[1] == 4 and torch.equal(x[:, 1:], y[:, :-1])


def graph(i: int) -> dict[str, np.ndarray]:
    nodes, edges = i % 6 + 1, i * 7 % 11
    ends = np.stack([np.arange(edges) % nodes, np.arange(edges) * 3 % nodes])
    return {
        "x": np.arange(3 * nodes, dtype="f4").reshape(-1, 3) + i, "edge_index": ends.astype("i8"),
        "edge_attr": np.arange(2 * edges, dtype="f4").reshape(-1, 2) - i, "y": np.float32(i),
    }  # fmt: skip


def graphs(path, change=lambda i, made: made) -> str:
    fields = {"x": ("f32", (-1, 3)), "edge_index": ("i64", (2, -1)), "edge_attr": ("f32", (-1, 2))}
    with Writer(path, {**fields, "y": "f32"}) as w:
        for i in range(COUNT):
            w.append(**change(i, graph(i)))
    return str(path)


GRAPHS = {"x": Nodes(), "edge_index": EdgeIndex(), "edge_attr": Edges()}


def test_batches_of_like_lengths(tmp_path):
    lengths = np.random.default_rng(0).lognormal(4, 1, 2000).astype(int) + 1
    with Writer(tmp_path / "db", {"tokens": ("u16", (-1,))}) as w:
        for n in lengths:
            w.append(tokens=np.ones(n, "u2"))

    def padded(how):
        seen, size = [], 0
        for batch in Loader(tmp_path / "db", batch_size=20, collate={"tokens": how}):
            assert batch["tokens_lengths"].tolist() == lengths[batch.ids].tolist()
            seen += batch.ids.tolist()
            size += batch["tokens"].size
        assert sorted(seen) == list(range(2000))
        return size - lengths.sum()

    assert padded(Pad(bucket=50)) * 10 < padded(Pad())
    with pytest.raises(InvalidError, match="buckets are for strict order that is shuffled"):
        Loader(tmp_path / "db", shuffle=False, collate={"tokens": Pad(bucket=50)})


def test_graphs(tmp_path):
    def same(batch):
        batch["y"] = batch["y"] + 0
        batch["x"] = batch["x"] * 1

    db = graphs(tmp_path / "db")
    for options in ({}, {"transforms": [same]}):
        for batch in Loader(db, batch_size=8, collate=GRAPHS, **options):
            made = [graph(i) for i in batch.ids.tolist()]
            starts = np.cumsum([0, *(len(one["x"]) for one in made)])
            assert batch["ptr"].tolist() == starts.tolist()
            assert batch["batch"].tolist() == [k for k, one in enumerate(made) for _ in one["x"]]
            assert np.array_equal(batch["x"], np.concatenate([one["x"] for one in made]))
            assert np.array_equal(batch["edge_attr"], np.concatenate([one["edge_attr"] for one in made]))
            ends = [one["edge_index"] + start for one, start in zip(made, starts, strict=False)]
            assert np.array_equal(batch["edge_index"], np.concatenate(ends, axis=1))
            assert batch["edge_index"].dtype == np.int64 and batch["y"].shape == (batch.rows,)


def test_graphs_are_those_of_pytorch_geometric(tmp_path):
    data = pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    from apldata.torch import DataLoader

    db = graphs(tmp_path / "db")
    fields = ["x", "edge_index", "edge_attr", "y"]
    loader = DataLoader(db, batch_size=8, collate=GRAPHS, fields=fields, as_dict=True)
    for batch, plain in zip(loader, Loader(db, batch_size=8, shuffle=False, fields=["y"]), strict=True):
        made = [graph(i) for i in plain.ids.tolist()]
        theirs = data.Batch.from_data_list([
            data.Data(**{name: torch.from_numpy(np.atleast_1d(value)) for name, value in one.items()})
            for one in made
        ])  # fmt: skip
        for name in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
            assert torch.equal(batch[name], theirs[name]), name
        ours = data.Data(**batch)
        assert ours.num_nodes == theirs.num_nodes and ours.num_edges == theirs.num_edges and ours.validate()


def test_edges_lead_to_nodes(tmp_path):
    def wrong(i, made):
        return made | {"edge_index": np.array([[0, 0], [0, 9]])} if i == 12 else made

    def uneven(i, made):
        return made | {"edge_attr": made["edge_attr"][:-1]} if i == 12 else made

    collate = {name: how for name, how in GRAPHS.items() if name != "edge_attr"}
    with pytest.raises(InvalidError, match=r"^record 12: field edge_index has an edge to node 9, of a gr"):
        list(Loader(graphs(tmp_path / "a", wrong), collate=collate))
    with pytest.raises(InvalidError, match="record 12: field edge_index is 7 long, and field edge_a"):
        list(Loader(graphs(tmp_path / "b", uneven), collate=GRAPHS))
    with pytest.raises(InvalidError, match="field edge_index: edges lead to nodes, and no field is"):
        Loader(tmp_path / "a", collate={"edge_index": EdgeIndex()})
    with pytest.raises(InvalidError, match=r"field x: is f32\[\*,3\]; edge_index is i32 or i64, of shape"):
        Loader(tmp_path / "a", collate={"x": EdgeIndex()})


def test_fields_of_nodes_are_as_long_as_each_other(tmp_path):
    """Whichever comes first, and whatever nodes edges lead to."""
    fields = {
        "x": ("f32", (-1,)),
        "z": ("f32", (-1,)),
        "edge_index": ("i64", (2, -1)),
        "late": ("f32", (-1,)),
    }
    collate = {"x": Nodes(), "z": Nodes(), "edge_index": EdgeIndex(), "late": Nodes()}
    for at, (longer, told) in enumerate(
        (("z", "x is 2 long, and field z"), ("late", "x is 2 long, and field late"))
    ):
        with Writer(tmp_path / str(at), fields) as w:
            lengths = {name: 3 if name == longer else 2 for name in ("x", "z", "late")}
            w.append(edge_index=[[0], [2]], **{name: [0] * n for name, n in lengths.items()})
        with pytest.raises(InvalidError, match=f"^record 0: field {told} of the same graph 3"):
            next(iter(Loader(tmp_path / str(at), collate=collate)))


@pytest.mark.parametrize("fill", [2**53 + 1, -(2**53) - 1, 2**60 + 1, 2**63 - 1])
def test_fill_is_as_given_or_refused(db, fill):
    for how in (Pad, Pack):
        with pytest.raises(ValueError, match="fill must be a number that a double holds exactly"):
            how(4, fill=fill)
    assert Pad(4, fill=2**53).fill == 2**53
