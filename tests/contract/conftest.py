"""The source tree as the contract tests see it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "devices/eks_devices",
    "charts/eks_device_charts",
    "constructs/eks_device_constructs",
    "operations/eks_device_operations",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for each package, or for each Python file of the packages."""
    if "package_path" in metafunc.fixturenames:
        metafunc.parametrize("package_path", [ROOT / path for path in PACKAGES], ids=PACKAGES)
    if "source_file" in metafunc.fixturenames:
        files = [file for path in PACKAGES for file in sorted((ROOT / path).rglob("*.py"))]
        ids = [str(file.relative_to(ROOT)) for file in files]
        metafunc.parametrize("source_file", files, ids=ids)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT
