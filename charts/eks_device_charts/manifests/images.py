"""Which image each manager runs, by Region, partition, rewritten registry or override."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from eks_devices import (
    DeviceType,
    DranetBuild,
    DriverRelease,
    EksDevicesError,
    Mechanism,
    eks_registry,
)
from eks_devices._frozen import FrozenDict
from eks_devices.components import Component, ComponentRelease
from eks_devices.findings import Finding, fault, raise_faults, shown
from eks_devices.releases import release_number
from eks_devices.typecheck import is_token, path_step, plain_text, wrong_type
from eks_devices.vocabulary import ManagerKey

ImageKey = ManagerKey | Component
# The types of keys are invariant: a user's mapping of either kind is one of these.
Overrides = Mapping[ManagerKey, str] | Mapping[Component, str] | Mapping[ImageKey, str]

_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html"
# A host or folder, then folders, without a scheme; a tag, a digest or both come after that.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(:[0-9]+)?(/[a-z0-9._-]+)*", re.ASCII)
_VERSION = re.compile(r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?", re.ASCII)
_PREFIX_FORM = 'a registry or a folder of one without a scheme, "<host>/<folder>"'
_IMAGE_FORM = 'a whole image with a tag or digest, "<host>/<name>:<tag>", and not "latest"'


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSource:
    """Where nodes pull the managers' images from.

    Args:
        region: The Region of the nodes, a literal; only EKS-owned images (EFA) need it.
        partition: The partition; the one that the Region belongs to unless named.
        registries: Prefixes of image names and what replaces them, for pull-through caches and
            clusters without internet: `{"public.ecr.aws": "<account>.dkr.ecr.../ecr-public"}`.
            The longest prefix wins; nothing is replaced unless named.
        overrides: Whole images by device type and mechanism, or by `Component`; they win over
            everything. GPUs and ComputeDomains under DRA are two managers, although they run the
            same image.

    Raises:
        EksDevicesError: A value is a token, has the wrong type or form, or names no manager.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
    """

    region: str | None = None
    partition: str | None = None
    registries: Mapping[str, str] = field(default_factory=dict)
    overrides: Overrides = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check and copy, so that a manifest never holds a token or a changed mapping."""
        for name in ("region", "partition"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        for name in ("registries", "overrides"):
            object.__setattr__(self, name, _copied(getattr(self, name)))
        raise_faults(_faults(self))

    def image(
        self, *, device_type: DeviceType, mechanism: Mechanism, build: DranetBuild | None = None
    ) -> str:
        """The image of a manager, of the named build where it has several.

        Raises:
            EksDevicesError: `RegionNeeded` for an EKS-owned image without a Region; also the
                faults of `eks_registry` and of `DriverRelease.of`.
        """
        override = self.override((device_type, mechanism))
        if override is not None:
            return override
        release = DriverRelease.of(device_type=device_type, mechanism=mechanism, build=build)
        name = release.image or f"{self._eks_registry(device_type)}/{release.repository}"
        return f"{self._rewritten(name)}:{release.tag}"

    def component_image(
        self, component: Component, *, kubernetes_version: str | None = None
    ) -> str:
        """The image of what runs beside the managers.

        Args:
            component: What runs.
            kubernetes_version: The cluster's minor, for components with releases of their own
                for each.

        Raises:
            EksDevicesError: `WrongType`, for what is no component; `NoRelease`, where none for
                the minor is known.
        """
        release = ComponentRelease.of(component)
        override = self.override(component)
        if override is not None:
            return override
        return f"{self._rewritten(release.image)}:{release.tag_for(kubernetes_version)}"

    def override(self, key: ImageKey) -> str | None:
        """The whole image that a user names for a manager or component; None for none."""
        overrides: Mapping[Any, str] = self.overrides
        return overrides.get(key)

    def image_faults(
        self, *, device_type: DeviceType, mechanism: Mechanism, build: DranetBuild | None = None
    ) -> tuple[Finding, ...]:
        """What keeps the image of a manager from being named."""
        try:
            self.image(device_type=device_type, mechanism=mechanism, build=build)
        except EksDevicesError as error:
            return error.faults
        return ()

    def _eks_registry(self, device_type: DeviceType) -> str:
        if self.region is None:
            raise EksDevicesError([_region_needed(device_type)])
        return eks_registry(region=self.region, partition=self.partition)

    def _rewritten(self, name: str) -> str:
        prefixes = [one for one in self.registries if f"{name}/".startswith(f"{one}/")]
        if not prefixes:
            return name
        longest = max(prefixes, key=len)
        return self.registries[longest] + name[len(longest) :]


def _faults(images: ImageSource) -> Iterator[Finding]:
    for name in ("region", "partition"):
        value = getattr(images, name)
        if not (value is None or isinstance(value, str)) or is_token(value):
            yield wrong_type(f"images.{name}", value, "a literal text", _FIXES[name])
    tables = {name: getattr(images, name) for name in ("registries", "overrides")}
    for name, given in tables.items():
        if not isinstance(given, FrozenDict):
            yield wrong_type(f"images.{name}", given, "a mapping to texts", "pass a mapping")
    for prefix, replacement in _items(tables["registries"]):
        yield from _prefix_faults(prefix, "images.registries")
        yield from _prefix_faults(replacement, f"images.registries[{path_step(prefix)}]")
    for key, image in _items(tables["overrides"]):
        unknown = [*_key_faults(key)]
        at = f"images.overrides[{path_step(_text(key))}]"
        wrong = [*unknown, *_image_faults(image, at)]
        yield from wrong or _release_faults(key, image, at)


def _copied(mapping: Any) -> Any:
    """A copy with plain texts; what is no mapping, or cannot be read, stays for the rules."""
    if not isinstance(mapping, Mapping):
        return mapping
    try:
        return FrozenDict((_key(key), plain_text(value)) for key, value in mapping.items())
    except Exception:  # noqa: BLE001  (a mapping of a user's may raise anything)
        return mapping


def _key(key: Any) -> Any:
    return key if isinstance(key, Component) else plain_text(key)


def _items(copy: object) -> Iterable[tuple[Any, Any]]:
    """The items of a copied mapping; none of what has a fault already."""
    return copy.items() if isinstance(copy, FrozenDict) else ()


_FIXES = {
    "region": 'pass region="us-east-2", or set env on the stack',
    "partition": 'write the partition, such as "aws-us-gov"',
}


def _text(key: object) -> str:
    """A key in words; what is no key is shown as a value is, which never raises."""
    if isinstance(key, Component):
        return str(key)
    return " by ".join(key) if _is_manager(key) else shown(key)


def _is_manager(key: object) -> TypeGuard[ManagerKey]:
    return type(key) is tuple and [type(one) for one in key] == [DeviceType, Mechanism]


def _key_faults(key: object) -> Iterator[Finding]:
    if isinstance(key, Component):
        return
    known = {release.manager for release in DriverRelease.all()}
    if not _is_manager(key):
        wanted = "(DeviceType, Mechanism) or a Component"
        yield wrong_type(
            "images.overrides", key, wanted, "write {(DeviceType.EFA, Mechanism.DRA): ...}"
        )
    elif key not in known:
        yield fault(
            "NoRelease",
            "images.overrides",
            "no driver serves this device type by this mechanism",
            got=_text(key),
            allowed=", ".join(sorted(map(_text, known))),
            fix="name one of the combinations that exist",
        )


def _prefix_faults(value: object, path: str) -> Iterator[Finding]:
    fix = "write a host, with folders if need be, without a slash at the end"
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, _PREFIX_FORM, fix)
    elif not _NAME.fullmatch(value):
        message = "this is not the beginning of an image's name"
        yield fault("MalformedRegistry", path, message, got=value, allowed=_PREFIX_FORM, fix=fix)


def _image_faults(value: object, path: str) -> Iterator[Finding]:
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, _IMAGE_FORM, "write an image name")
        return
    name = _NAME.match(value)
    version = value[name.end() :] if name else ""
    if not version or not _VERSION.fullmatch(version):
        message, code = "this is not an image with a tag or digest", "MalformedImage"
    elif version == ":latest":
        message, code = "nodes of one cluster would run different releases", "UnpinnedImage"
    else:
        return
    fix = "write the image with the tag of a release"
    yield fault(code, path, message, got=value, allowed=_IMAGE_FORM, fix=fix)


def _release_faults(key: ImageKey, image: str, path: str) -> Iterator[Finding]:
    """The fault of a release that is known not to work, where the tag names one."""
    release = _release(key)
    tag = image.partition("@")[0].rpartition(":")[2]
    number = release_number(tag)
    if release is None or not number:
        return
    if number in map(release_number, release.avoid):
        why, allowed = release.avoid_why, f"another release than {', '.join(release.avoid)}"
    elif number < release_number(release.oldest) or number[0] in release.older_majors:
        why, allowed = release.oldest_why, f"{release.oldest} or later"
    else:
        return
    fix = f"use {release.tag}, or leave the override out"
    yield fault("ImageToAvoid", path, why, got=image, allowed=allowed, fix=fix)


def _release(key: ImageKey) -> DriverRelease | ComponentRelease | None:
    if isinstance(key, Component):
        return ComponentRelease.of(key)
    releases = DriverRelease.all()
    return next((one for one in releases if one.manager == key), None)


def _region_needed(device_type: DeviceType) -> Finding:
    return fault(
        "RegionNeeded",
        "images.region",
        f"the image of the {device_type} manager is owned by EKS, whose registry depends on the "
        "Region",
        got=None,
        allowed="a Region, or an override of the image",
        fix="give the stack a Region, env=cdk.Environment(region=...), or pass "
        'images=ImageSource(region="...") of eks_device_charts',
        source=_PAGE,
    )
