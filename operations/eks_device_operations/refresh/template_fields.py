"""Every property of a launch template, read from the installed aws-cdk-lib without starting it.

`python -m eks_device_operations.refresh.template_fields` writes `launch_template_fields.json`,
on which `eks_devices.template_overrides` judges a user's own properties.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tarfile
from pathlib import Path
from typing import Any, Final

from eks_devices import instance_records
from eks_devices.extras import how_to_install

from .._outcome import OperationError
from .files import write_all

FIELDS_FILE: Final = "launch_template_fields.json"
_MEMBER: Final = "package/aws-ec2/lib/ec2.generated.js"
_TABLE: Final = re.compile(
    r"function convertCfnLaunchTemplate(\w+)PropertyToCloudFormation"
    r"\(properties\)\{(.*?)\}\):properties\}"
)
# Name: converter(properties.name), where a list names the converter of its entries.
_FIELD: Final = re.compile(
    r"[{,](\w+):(cdk\(\)\.listMapper\()?"
    r"(?:cdk\(\)\.(\w+)|convertCfnLaunchTemplate(\w+)Property)ToCloudFormation\)?\(properties\."
)
_KINDS: Final[dict[str, Any]] = {
    "string": "text",
    "number": "number",
    "boolean": "boolean",
    "cfnTag": {"Key": "text", "Value": "text"},
}


def launch_template_fields(javascript: str) -> dict[str, Any]:
    """The properties of LaunchTemplateData in CloudFormation's spelling, as a tree.

    A table is a mapping, a list has its one kind of entry, and a leaf is `text`, `number` or
    `boolean`.

    Args:
        javascript: The converters of aws-cdk-lib that write templates.

    Raises:
        OperationError: They have another form than this version knows.
    """
    tables = dict(_TABLE.findall(javascript))
    try:
        return _fields("LaunchTemplateData", tables)
    except KeyError as error:
        message = f"aws-cdk-lib writes launch templates in a way that is unknown here: {error}"
        raise OperationError(message) from None


def installed_javascript() -> str:
    """The converters of the aws-cdk-lib that is installed.

    Raises:
        OperationError: There is none.
    """
    found = importlib.util.find_spec("aws_cdk")
    folders = (found and found.submodule_search_locations) or []
    for archive in (one for folder in folders for one in Path(folder).glob("_jsii/*.jsii.tgz")):
        with tarfile.open(archive) as members:
            content = members.extractfile(_MEMBER)
            if content:
                return content.read().decode()
    raise OperationError(f"aws-cdk-lib is not installed: {how_to_install('cdk')}")


def rendered(fields: dict[str, Any]) -> str:
    """The text of the data file."""
    return json.dumps(fields, indent=1, sort_keys=True) + "\n"


def _fields(name: str, tables: dict[str, str]) -> dict[str, Any]:
    found = {
        field: _kind(leaf, table, tables, many=bool(many))
        for field, many, leaf, table in _FIELD.findall(tables[name])
    }
    if len(found) != tables[name].count("(properties."):
        raise KeyError(name)
    return found


def _kind(leaf: str, table: str, tables: dict[str, str], *, many: bool) -> Any:
    kind = _fields(table, tables) if table else _KINDS[leaf]
    return [kind] if many else kind


if __name__ == "__main__":
    text = rendered(launch_template_fields(installed_javascript()))
    write_all(instance_records.data_folder(), {FIELDS_FILE: text})
