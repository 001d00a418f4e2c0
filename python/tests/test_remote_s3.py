"""Stores in S3: signatures, credentials, and what is said where they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from remote_server import Handler, serving
from remote_tools import epochs, stand_alone
from s3_server import s3_serving

from apldata import StorageError, Store


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)


def test_s3(store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_serving(store_path, tmp_path / "moto.log") as s3:
        s3.use(monkeypatch)
        assert epochs("s3://data/a store") == epochs(store_path)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
        with pytest.raises(StorageError, match="denied: SignatureDoesNotMatch") as caught:
            Store("s3://data/a store")
        assert "hush" not in str(caught.value) and s3.key not in str(caught.value)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        (tmp_path / ".aws").mkdir()
        (tmp_path / ".aws/credentials").write_text(
            f"[other]\naws_access_key_id = x\n"
            f"[default]\naws_access_key_id = {s3.key}\naws_secret_access_key={s3.secret}\n"
        )
        Store("s3://data/a store").close()


def test_renewed_credentials_are_taken(
    store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What expires in a long run is read again, once, when access is denied."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "old")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    good = "old"

    def check(handler: Handler, first: int, end: int) -> bool:
        if f"Credential={good}/" in handler.headers["Authorization"]:
            return False
        handler.answer(403, b"<Error><Code>ExpiredToken</Code></Error>")
        return True

    path = Path(store_path)
    with serving(path.parent) as server:
        server.fault = check
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        with Store(f"s3://{path.name}") as store:
            good = "new"
            with pytest.raises(StorageError, match="the credentials have expired: ExpiredToken"):
                store[0]
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "new")
            assert store[0]["image"].shape == (3, 32, 32)
