"""Whether GPUs have the memory that a selector wants, by the driver's number and not EC2's."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..published import gpu_memory
from ..quantities import MIB, amount_of
from .device_selectors import DeviceSelector, SelectorTest
from .kinds import RequestKind
from .published_names import source_of
from .requests import DeviceRequest

_MARGIN: Final = Fraction(98, 100)


def memory_selector_faults(
    path: str, request: DeviceRequest, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    """Faults of selectors for more memory than whole GPUs of a type publish, where that is known.

    Args:
        path: How faults name the request.
        request: A request of any kind.
        instance: The type of the nodes.
    """
    told = gpu_memory(instance.name) if request.kind is RequestKind.GPU else None
    most = amount_of(told) if told else None
    for index, one in enumerate(request.selectors if most is not None else ()):
        if isinstance(one, DeviceSelector) and one.test is SelectorTest.QUANTITY_AT_LEAST:
            least = amount_of(str(one.values[0]))
            if least is not None and most is not None and least > most:
                yield memory_fault(f"{path}.selectors[{index}]", one, most, instance)


def memory_fault(
    path: str, selector: DeviceSelector, most: Fraction, instance: AcceleratedInstanceType
) -> Finding:
    """The fault of a selector for more memory than any device has.

    Args:
        path: How it names the selector.
        selector: The selector.
        most: The most that a device publishes, in bytes.
        instance: The type of the nodes.
    """
    chip = instance.accelerator
    told = chip.memory_mib if chip is not None else None
    ec2 = f", though EC2 tells of {told}Mi" if told and told * MIB > most else ""
    return fault(
        "MemoryAboveDriverNumber",
        path,
        f"the driver publishes less memory for each such device of {instance.name}{ec2}, and its "
        "number is what counts",
        got=selector.values[0],
        allowed=f"at most {int(most // MIB)}Mi",
        fix=f'write "{int(most * _MARGIN // MIB)}Mi", which leaves a margin of 2 % for other '
        "versions of the driver, or use a type with more memory",
        source=source_of(RequestKind.GPU.value),
    )
