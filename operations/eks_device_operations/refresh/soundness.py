"""Whether the library could use a new catalogue: every type of it is built, overrides and all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from eks_devices import instance_records
from eks_devices.instance_records import CatalogueError, Record
from eks_devices.instance_types import built

from .._outcome import WRONG, OperationError
from .records import CatalogueRecords, to_record
from .values import accelerated_faults, efa_only_faults

_MOST_TOLD: Final = 20


def require_sound(catalogue: CatalogueRecords, *, leave_out: Collection[str] = ()) -> None:
    """Fail unless every type of the catalogue can be built from its record and the overrides.

    Args:
        catalogue: The new records, without overrides.
        leave_out: Types not to look at.

    Raises:
        OperationError: With a message for each fault, which names the type and the field.
    """
    names = {*catalogue.accelerated, *instance_records.overridden_names(), *catalogue.efa_only}
    faults = [
        fault for name in sorted(names.difference(leave_out)) for fault in _faults(name, catalogue)
    ]
    if faults:
        rest = len(faults) - _MOST_TOLD
        more = [f"and {rest} faults more"] if rest > 0 else []
        raise OperationError(*faults[:_MOST_TOLD], *more, code=WRONG)


def _faults(name: str, catalogue: CatalogueRecords) -> Iterable[str]:
    try:
        record = instance_records.accelerated_record(name, catalogue.accelerated)
    except CatalogueError as error:
        return [f"{error}; or the answer is only a part: ask the Regions that offer the type too"]
    if record is not None:
        return _record_faults(name, record, accelerated_faults)
    return _record_faults(name, catalogue.efa_only[name], efa_only_faults)


def _record_faults(
    name: str, record: Record, faults_of: Callable[[Record], Iterator[str]]
) -> list[str]:
    try:
        faults = [f"{name}: {fault}" for fault in faults_of(to_record(record))]
        if not faults:
            built(record)
    except OperationError as error:  # an override has a value of another type than the API
        return list(error.messages)
    except (CatalogueError, LookupError, TypeError, ValueError, AttributeError) as error:
        return [f"{name}: no type can be built from its record and the overrides: {error!r:.200}"]
    return faults
