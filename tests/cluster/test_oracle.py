"""What the allocator of each minor does, by cases whose answers are known, and how it is asked."""

from __future__ import annotations

import pytest
from tests.cluster.oracle.oracle import Oracle, Scope, gates, question

from eks_device_operations._outcome import OperationError
from eks_devices.kubernetes import version_key

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
ROOT, SERIAL = f"{DRIVER}/root", f"{DRIVER}/serial"
OWN = f"device.attributes['{DRIVER}']"
EVERY = {"allocationMode": "All"}
ADMIN = {"adminAccess": True}
TOLERANT = {"tolerations": [{"operator": "Exists"}]}
CLASS = {
    "apiVersion": API,
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
}


def device(name, **attributes):
    typed = {key: {"string": value} for key, value in attributes.items()}
    return {"name": name, "attributes": typed}


def published(devices, *, of=1, **where):
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": of}
    spec = {"driver": DRIVER, "pool": pool, "devices": devices}
    spec |= where or {"nodeName": "node"}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": "x"}, "spec": spec}


def exactly(count=1, *selectors, **more):
    asked = {"deviceClassName": "gpu", "count": count} | more
    if more.get("allocationMode") == "All":
        del asked["count"]
    asked["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {"exactly": asked}


def claim(*requests, name="own", **constraint):
    devices = {"requests": [one | {"name": f"r{i}"} for i, one in enumerate(requests)]}
    if constraint:
        devices["constraints"] = [constraint]
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata} | {
        "spec": {"devices": devices}
    }


def held(*devices, **more):
    """A claim of somebody else, with what it holds."""
    results = [
        {"request": "r0", "driver": DRIVER, "pool": "pool", "device": one} | more for one in devices
    ]
    return claim(exactly(), name="other") | {
        "status": {"allocation": {"devices": {"results": results}}}
    }


def first_available(*counts):
    choices = [
        {"name": f"take-{count}", "deviceClassName": "gpu", "count": count} for count in counts
    ]
    return {"firstAvailable": choices}


def sharing(amount):
    return exactly(capacity={"requests": {"memory": amount}})


# Two devices on roots of their own; only the first tells its serial number.
TWO = [published([device("a", root="x", serial="1"), device("b", root="y")])]
MANY = [published([device(f"d{i}", root=f"x{i % 4}") for i in range(40)])]
TAINTED = [
    published([device("a") | {"taints": [{"key": "broken", "effect": "NoSchedule"}]}]),
]
SHARED = [
    published(
        [
            device("a")
            | {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
        ]
    )
]
IN_ZONE = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
    ]
}
ONE_ROOT = {"matchAttribute": ROOT}
TAINTS_ON, SHARING_ON = {"DRADeviceTaints": True}, {"DRAConsumableCapacity": True}

# What is asked, on what slices, and the devices that are given.
GIVEN = {
    "a count is one where it is left out": (
        [claim({"exactly": {"deviceClassName": "gpu"}})],
        TWO,
        "a",
    ),
    "32 devices are as many as a claim holds": (
        [claim(exactly(32))],
        MANY,
        " ".join(f"d{i}" for i in range(32)),
    ),
    "two claims of a Pod hold more": (
        [claim(exactly(20)), claim(exactly(20), name="second")],
        MANY,
        " ".join(f"d{i}" for i in range(40)),
    ),
    "a search that ends before the faulty device": (
        [claim(exactly(1, f"{OWN}.serial == '1'"))],
        TWO,
        "a",
    ),
    "a guard": ([claim(exactly(1, f"'serial' in {OWN} && {OWN}.serial == '1'"))], TWO, "a"),
    "the same root": (
        [claim(exactly(10), **ONE_ROOT)],
        MANY,
        "d0 d4 d8 d12 d16 d20 d24 d28 d32 d36",
    ),
    "all, where one matches": (
        [claim(exactly(1, f"{OWN}.root == 'y'", **EVERY), **ONE_ROOT)],
        TWO,
        "b",
    ),
    "the first that there is": ([claim(first_available(3, 2, 1))], TWO, "a b"),
    "what others left": ([claim(exactly()), held("a")], TWO, "b"),
    "an administrator's view of what is taken": (
        [claim(exactly(2, **ADMIN)), held("a")],
        TWO,
        "a b",
    ),
    "what administrators look at": ([claim(exactly(2)), held("a", adminAccess=True)], TWO, "a b"),
    "devices of every node": ([claim(exactly())], [published([device("a")], allNodes=True)], "a"),
    "devices of nodes with a label": (
        [claim(exactly())],
        [published([device("a")], nodeSelector=IN_ZONE)],
        "a",
    ),
    "no request": ([claim()], TWO, ""),
}
# What is asked in vain, without an error: other nodes are tried.
LACKING = {
    "more than there are": ([claim(exactly(3))], TWO),
    "the same root": ([claim(exactly(2), **ONE_ROOT)], TWO),
    "the same of what is not published": ([claim(exactly(), matchAttribute=f"{DRIVER}/no")], TWO),
    "a domain that nobody publishes": ([claim(exactly(1, "'x' in device.attributes['no']"))], TWO),
    "another type of attribute": ([claim(exactly(1, f"{OWN}.root == 1"))], TWO),
    "what others hold": ([claim(exactly(2)), held("a")], TWO),
    "all, with one taken": ([claim(exactly(**EVERY)), held("a")], TWO),
    "all of nothing": ([claim(exactly(**EVERY))], []),
    "devices of another node": ([claim(exactly())], [published([device("a")], nodeName="else")]),
    "no choice that there is": ([claim(first_available(4, 3))], TWO),
}
MISSING_KEY = "CEL runtime error: no such key: serial"
UNSATISFIED = "because a claim constraint would not be satisfied"
# What ends the scheduler's attempt, also for nodes that would fit.
ENDED = {
    "33 devices": ([claim(exactly(33))], MANY, "exceeds the claim limit of 32"),
    "33 devices of two requests": ([claim(exactly(8), exactly(25))], MANY, "limit of 32"),
    "all of too many": ([claim(exactly(**EVERY))], MANY, "exceeds the claim limit of 32"),
    "a missing attribute": ([claim(exactly(2, f"{OWN}.serial == '1'"))], TWO, MISSING_KEY),
    "a missing attribute of an unknown domain": (
        [claim(exactly(1, "device.attributes['no'].serial == '1'"))],
        TWO,
        MISSING_KEY,
    ),
    "all with a constraint": ([claim(exactly(**EVERY), **ONE_ROOT)], TWO, UNSATISFIED),
    "what does not compile": ([claim(exactly(1, "device.driver =="))], TWO, "CEL compile error"),
    "what is no condition": ([claim(exactly(1, "1 + 1"))], TWO, "must evaluate to bool"),
    "what turns out to be no condition": ([claim(exactly(1, f"{OWN}.root"))], TWO, "to bool"),
    "all of a pool in change": (
        [claim(exactly(**EVERY))],
        [published([device("a")], of=2)],
        "is currently being updated",
    ),
}


@pytest.fixture
def ask(oracle):
    """Asks for the devices of claims on a node, with the gates of the minor and some others."""

    def asked(claims, slices, features=None, **more):
        setting = {"classes": [CLASS], "slices": slices, "labels": {"zone": "z"}} | more
        return oracle.ask(
            claims, node="node", features=gates(oracle.minor) | (features or {}), **setting
        )

    return asked


def names(found):
    return " ".join(one.device for one in found.devices)


@pytest.mark.parametrize("case", GIVEN)
def test_given(ask, case):
    claims, slices, devices = GIVEN[case]

    found = ask(claims, slices)

    assert (found.allocated, found.error, names(found)) == (True, "", devices)


@pytest.mark.parametrize("case", LACKING)
def test_not_there(ask, case):
    claims, slices = LACKING[case]

    found = ask(claims, slices)

    assert (found.allocated, found.scope, found.error, found.devices) == (False, None, "", ())


@pytest.mark.parametrize("case", ENDED)
def test_the_attempt_ends(ask, case):
    claims, slices, error = ENDED[case]

    found = ask(claims, slices)

    assert (found.allocated, found.scope) == (False, Scope.ATTEMPT)
    assert error in found.error


def test_a_class_that_is_missing_refuses_the_pod(ask):
    found = ask([claim(exactly())], TWO, classes=[])

    assert (found.scope, found.error) == (Scope.POD, "request r0: device class gpu does not exist")


def test_a_pool_in_change_gives_devices_in_the_oldest_minor_alone(oracle, ask):
    found = ask([claim(exactly())], [published([device("a")], of=2)])

    assert (found.error, found.allocated) == ("", oracle.minor == "1.34")


def test_an_invalid_pool_ends_the_attempt_in_the_oldest_minor_alone(oracle, ask):
    found = ask([claim(exactly())], [published([device("a"), device("a")])])

    assert found.scope == (Scope.ATTEMPT if oracle.minor == "1.34" else Scope.NODE)


def test_distinct_attributes_are_compared_in_full_from_1_37(oracle, ask):
    """1.34 compares nothing, and its gate is off; after it, a request's last device counts."""
    alike, back = (
        [published([device(f"d{i}", root=root) for i, root in enumerate(roots)])]
        for roots in ("xx", "xyx")
    )

    found = [
        ask([claim(exactly(2), distinctAttribute=ROOT)], alike, SHARING_ON),
        ask([claim(*[exactly()] * 3, distinctAttribute=ROOT)], back, SHARING_ON),
        ask([claim(exactly(3), distinctAttribute=ROOT)], back, SHARING_ON),
    ]

    given = {"1.34": 3, "1.35": 1, "1.36": 1, "1.37": 0}[oracle.minor]
    assert [one.error for one in found] == ["", "", ""]
    assert [one.allocated for one in found] == [False] * (3 - given) + [True] * given


def test_taints_count_where_their_gate_is_on(oracle, ask):
    on = version_key(oracle.minor) >= (1, 36)

    assert ask([claim(exactly())], TAINTED).allocated is not on
    assert not ask([claim(exactly())], TAINTED, TAINTS_ON).allocated
    assert ask([claim(exactly(**TOLERANT))], TAINTED, TAINTS_ON).allocated


def test_a_device_is_shared_by_capacity(ask):
    fits, too_much = (
        [claim(sharing(one)), claim(sharing(one), name="second")] for one in ("40Gi", "50Gi")
    )
    taken = held("a", shareID="6f1f7c1e", consumedCapacity={"memory": "50Gi"})

    found = ask(fits, SHARED, SHARING_ON)

    assert [one.consumedCapacity for one in found.devices] == [{"memory": "40Gi"}] * 2
    assert len({one.shareID for one in found.devices}) == 2
    assert not ask(too_much, SHARED, SHARING_ON).allocated
    assert not ask([claim(sharing("40Gi")), taken], SHARED, SHARING_ON).allocated
    assert ask([claim(sharing("30Gi")), taken], SHARED, SHARING_ON).allocated


def test_a_search_ends_in_time(ask):
    devices = [device(f"d{i}", root=f"x{i % 2}") for i in range(60)]
    wanted = [exactly(2)] * 16

    found = ask([claim(*wanted, **ONE_ROOT)], [published(devices)], seconds=0.2)

    assert (found.allocated, found.scope) == (False, Scope.TIME)


def test_what_makes_no_sense_has_an_answer_and_the_next_question_too(ask):
    strange = claim(exactly()) | {"colour": "red"}

    unknown, panicked = ask([strange], TWO), ask([None], TWO)

    assert (unknown.scope, unknown.error) == (Scope.LINE, 'unknown field "claims[0].colour"')
    assert panicked.scope is Scope.PANIC
    assert "nothing is remembered" in ask([], TWO, recall="nowhere").error
    assert ask([claim(exactly())], TWO).allocated


def test_a_setting_is_remembered_and_a_question_may_differ(oracle):
    features = gates(oracle.minor)
    oracle.ask([], node="node", classes=[CLASS], slices=TWO, features=features, remember="two")

    here = oracle.ask([claim(exactly(2))], recall="two")
    elsewhere = oracle.ask([claim(exactly())], recall="two", node="else")

    assert (here.allocated, elsewhere.allocated) == (True, False)


def test_the_data_knows_every_gate_of_the_allocator(oracle):
    assert set(oracle.said("-gates").split()) <= set(gates(oracle.minor))


def test_the_allocator_is_of_its_minor(oracle):
    assert oracle.said("-version").startswith(f"v0.{oracle.minor.removeprefix('1.')}.")


def test_the_scheduler_has_the_same_allocator(binaries):
    """So that what is said by one can be compared with what the other does."""
    with Oracle("1.34") as oracle:
        assert oracle.said("-version") == binaries.version.replace("v1.", "v0.")


def test_an_oracle_that_ended_says_so(oracle):
    with Oracle(oracle.minor) as other:
        other._process.kill()
        with pytest.raises(OperationError, match=f"the oracle of {oracle.minor} ended"):
            list(other.ask_all([question([], node="node")] * 3))


def test_what_a_question_cannot_say_is_raised():
    with Oracle("1.34") as other, pytest.raises(TypeError, match="not JSON serializable"):
        other.ask([], node="node", slices=object())


def test_an_oracle_that_is_not_there_is_told(tmp_path):
    with pytest.raises(OperationError, match="make oracle builds it"):
        Oracle("1.34", {"EKS_DEVICES_ORACLE": str(tmp_path)})
