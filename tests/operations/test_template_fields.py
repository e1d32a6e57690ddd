"""The properties of launch templates, as read from the converters of aws-cdk-lib."""

import importlib.util
from pathlib import Path

import pytest

from eks_device_operations._outcome import OperationError
from eks_device_operations.refresh.template_fields import (
    FIELDS_FILE,
    installed_javascript,
    launch_template_fields,
    rendered,
)
from eks_devices import instance_records


def converter(name: str, fields: str) -> str:
    """How aws-cdk-lib writes a table, cut down to what is read."""
    return (
        f"function convertCfnLaunchTemplate{name}PropertyToCloudFormation(properties)"
        "{return cdk().canInspect(properties)?(Validator(properties).assertSuccess(),"
        f"{{{fields}}})"
        ":properties}"
    )


DISK = converter("Ebs", "Iops:cdk().numberToCloudFormation(properties.iops)")
TABLE = "convertCfnLaunchTemplateEbsPropertyToCloudFormation"


def read(fields: str) -> object:
    return launch_template_fields(DISK + converter("LaunchTemplateData", fields))


def test_leaves_have_the_kind_that_they_are_written_as():
    assert read(
        "KeyName:cdk().stringToCloudFormation(properties.keyName),"
        "TotalGB:cdk().numberToCloudFormation(properties.totalGb),"
        "Enabled:cdk().booleanToCloudFormation(properties.enabled)"
    ) == {"KeyName": "text", "TotalGB": "number", "Enabled": "boolean"}


def test_tables_and_lists_hold_what_their_converters_write():
    assert read(
        f"Ebs:{TABLE}(properties.ebs),"
        f"Disks:cdk().listMapper({TABLE})(properties.disks),"
        "Groups:cdk().listMapper(cdk().stringToCloudFormation)(properties.groups),"
        "Tags:cdk().listMapper(cdk().cfnTagToCloudFormation)(properties.tags)"
    ) == {
        "Ebs": {"Iops": "number"},
        "Disks": [{"Iops": "number"}],
        "Groups": ["text"],
        "Tags": [{"Key": "text", "Value": "text"}],
    }


@pytest.mark.parametrize(
    "fields",
    [
        "Start:cdk().dateToCloudFormation(properties.start)",
        "Cpu:convertCfnLaunchTemplateCpuPropertyToCloudFormation(properties.cpu)",
        "KeyName:somethingNew(properties.keyName)",
    ],
)
def test_a_form_that_is_unknown_is_an_error_and_no_hole_in_the_list(fields: str):
    with pytest.raises(OperationError, match="unknown here"):
        read(fields)


def test_a_library_without_launch_templates_is_an_error():
    with pytest.raises(OperationError, match="unknown here"):
        launch_template_fields("")


def test_a_missing_library_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(OperationError, match="pip install"):
        installed_javascript()


def test_the_data_file_is_up_to_date_with_the_library_that_is_installed():
    file = Path(instance_records.data_folder()) / FIELDS_FILE

    assert file.read_text("utf-8") == rendered(launch_template_fields(installed_javascript()))
