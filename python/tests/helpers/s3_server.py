"""A server of S3 that checks signatures: moto's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

_SERVER = """
import sys
import boto3
from moto.server import ThreadedMotoServer
host, file = sys.argv[1:]
server = ThreadedMotoServer(host, 0, verbose=False)
server.start()
url = f"http://{host}:{server.get_host_and_port()[1]}"
known = dict(endpoint_url=url, region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
iam, s3 = boto3.client("iam", **known), boto3.client("s3", **known)
iam.create_user(UserName="me")
key = iam.create_access_key(UserName="me")["AccessKey"]
policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'
iam.put_user_policy(UserName="me", PolicyName="all", PolicyDocument=policy)
s3.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
s3.put_object(Bucket="data", Key="a store/data.mdb", Body=open(file, "rb").read())
print(url, key["AccessKeyId"], key["SecretAccessKey"], flush=True)
sys.stdin.read()
"""


class S3(NamedTuple):
    """Where the server is, and who may read ``s3://data/a store``."""

    endpoint: str
    key: str
    secret: str

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", self.endpoint)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", self.key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", self.secret)


@contextmanager
def s3_serving(store: str, log: Path, host: str = "127.0.0.1", within: Sequence[str] = ()) -> Iterator[S3]:
    """Serves a store; `within` is a command that runs the server elsewhere. APL_MOTO: a Python with moto."""
    python = os.environ.get("APL_MOTO", sys.executable)
    if subprocess.run([python, "-c", "import moto.server, boto3"], capture_output=True).returncode:
        pytest.skip("no moto")
    environment = dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT="5")
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [*within, python, "-c", _SERVER, host, f"{store}/data.mdb"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            text=True,
        ) as server,
    ):
        assert server.stdin and server.stdout
        told = server.stdout.readline().split()
        assert len(told) == 3, log.read_text()
        try:
            yield S3(*told)
        finally:
            server.stdin.close()
