"""What holds for every test: no AWS account, no network, and no slow template validation."""

import gc
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Before anything imports aws_cdk: CDK's validation of templates takes seconds for each stack.
# A test that runs the real `cdk synth` switches it on again.
os.environ.setdefault("CDK_VALIDATION", "false")

# Before anything makes an AWS client, so that no test can meet a developer's account.
for _name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
    os.environ.pop(_name, None)
os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
os.environ["AWS_DEFAULT_REGION"] = "us-east-1"


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Refuse connections to other machines; an emulator on this one is fine."""
    connect = socket.socket.connect

    def connect_locally(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            self.close()
            message = f"a test tried to reach {address!r}; use recorded answers or an emulator"
            raise RuntimeError(message)
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_locally)
        yield


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and not through what thousands of collected tests are made of."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write the snapshots anew")


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the file of that name; --update-snapshots writes it."""
    folder = Path(request.path).parent / "snapshots"

    def compare(name: str, text: str) -> None:
        file = folder / name
        if request.config.getoption("--update-snapshots", default=False):
            folder.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"no snapshot {name}: run pytest with --update-snapshots"
        assert text == file.read_text(encoding="utf-8")

    return compare
