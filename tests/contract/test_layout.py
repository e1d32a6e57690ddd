"""Four source roots, one import package in each, one import name for each package."""

import importlib
import re
import sys
from pathlib import Path

import constructs

IMPORT_THROUGH_ROOT = re.compile(
    r"^\s*(?:from|import)\s+"
    r"(?:(?:devices|charts|constructs|operations)\.eks_device"
    r"|(?:devices|charts|constructs|operations)\s+import\s+\(?\s*eks_device)",
    re.MULTILINE,
)


def is_own(file: Path, root: Path) -> bool:
    """Whether the file is the project's, not its environment's."""
    outside = {"node_modules", "cdk.out", "build", "dist"}
    return not any(part in outside or part.startswith(".") for part in file.relative_to(root).parts)


def test_a_source_root_is_no_package(package_path: Path):
    assert not (package_path.parent / "__init__.py").exists()


def test_a_source_root_holds_one_package(package_path: Path):
    folders = [
        path.name
        for path in package_path.parent.iterdir()
        if path.is_dir() and path.name != "__pycache__"
    ]

    assert folders == [package_path.name]


def test_a_package_is_typed_and_is_imported_from_this_tree(package_path: Path):
    assert (package_path / "py.typed").is_file()

    module = importlib.import_module(package_path.name)

    assert module.__file__ is not None
    assert Path(module.__file__).resolve() == (package_path / "__init__.py").resolve()


def test_the_library_constructs_wins_over_the_source_root():
    assert "site-packages" in Path(constructs.__file__).parts


def test_the_project_folder_is_not_on_the_path(root: Path):
    assert root.resolve() not in {Path(entry).resolve() for entry in sys.path}


def test_no_file_imports_a_package_through_its_source_root(root: Path):
    files = [file for file in root.rglob("*.py") if is_own(file, root)]

    offenders = [
        str(file.relative_to(root))
        for file in files
        if IMPORT_THROUGH_ROOT.search(file.read_text(encoding="utf-8"))
    ]

    assert files
    assert offenders == []


def test_the_search_finds_each_form_of_the_banned_import():
    for line in (
        "import devices.eks_devices",
        "from devices.eks_devices import names",
        "from constructs import eks_device_constructs",
        "    from charts.eks_device_charts.manifests import x",
    ):
        assert IMPORT_THROUGH_ROOT.search(line), line
    assert not IMPORT_THROUGH_ROOT.search("from constructs import Construct")
