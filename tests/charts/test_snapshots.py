"""One readable file for each manager, to see in a review what a change does to the objects."""

import cdk8s
import pytest

from eks_devices import Component, DriverRelease
from eks_devices.components import ComponentRelease

NAMES = (
    "compute-domain-dra",
    "efa-device-plugin",
    "efa-dra",
    "efa-dra-upstream",
    "gpu-device-plugin",
    "gpu-device-plugin-time-slicing",
    "gpu-dra",
    "neuron-device-plugin",
    "neuron-dra",
    "neuron-scheduler",
    "neuron-ultraservers",
)


WITH_A_TAG = (Component.NEURON_SCHEDULER_EXTENSION, Component.NEURON_ULTRASERVER_OPERATOR)


def without_tags(text):
    """A new release of a driver changes no snapshot."""
    images = [(one.image or one.repository, one.tag) for one in DriverRelease.all()]
    beside = map(ComponentRelease.of, WITH_A_TAG)
    for image, tag in [*images, *((one.image, one.tag) for one in beside)]:
        name = image.rpartition("/")[2]
        text = text.replace(f"/{name}:{tag}", f"/{name}:TAG")
    return text


@pytest.mark.parametrize("name", NAMES)
def test_the_objects_of_a_manager(manifests, snapshot, name):
    text = cdk8s.Yaml.stringify(*manifests(name, version="1.36"))

    snapshot(f"{name}.yaml", without_tags(text))


def test_no_tag_is_left(request):
    folder = request.path.parent / "snapshots"
    files = list(folder.iterdir())

    assert {file.name for file in files} == {f"{name}.yaml" for name in NAMES}
    for release in DriverRelease.all():
        assert not [file for file in files if f":{release.tag}" in file.read_text(encoding="utf-8")]
