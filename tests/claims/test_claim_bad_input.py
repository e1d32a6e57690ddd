"""Wrong inputs: each is refused with a code, a path, what was given, what is allowed, and a fix.

A row is `expression -> code path`; a path that starts with a dot is one of the claim `n/c`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from eks_devices.claims import (
    ComputeDomain,
    DeviceRequest,
    MatchAttribute,
    RequestKind,
    ResourceClaim,
    ResourceClaimTemplate,
)
from eks_devices.findings import EksDevicesError

R: Any = DeviceRequest
M: Any = MatchAttribute
ROOT, GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
GPU, NEURON, TRN1 = "p5.48xlarge", "trn2.48xlarge", "trn1.32xlarge"
TOKEN, LIST_TOKEN = "${Token[Name.123]}", "#{Token[Name.123]}"
# How the CDK writes a number that is a token.
NUMBER_TOKEN = -1.8881545897087626e289
LONG = {f"<{length}>": "a" * length for length in (63, 64, 80)}
SHORT = {**LONG, "<token>": TOKEN, "<list>": LIST_TOKEN}


def raw(kind: str, **options: Any) -> Any:
    """A request that no factory makes."""
    return R(**{"kind": RequestKind(kind), "name": kind, "count": 1, **options})


def make(*requests: Any, **options: Any) -> ResourceClaimTemplate:
    """The claim `n/c`."""
    given: dict[str, Any] = {"name": "c", "namespace": "n", "requests": list(requests)}
    return ResourceClaimTemplate(**{**given, **options})


def domain(**options: Any) -> ComputeDomain:
    """The ComputeDomain `n/d`."""
    given: dict[str, Any] = {"name": "d", "namespace": "n"}
    return ComputeDomain(**{**given, **options})


def render(
    *requests: Any, on: Any = None, version: Any = "1.34", **options: Any
) -> Callable[[], Any]:
    """Makes a claim at once, and its manifest when called."""
    claim = make(*requests, **options)
    return lambda: claim.to_dict(kubernetes_version=version, instance_type=on)


def render_domain(on: Any = None, version: Any = "1.34", **options: Any) -> Callable[[], Any]:
    """Makes a ComputeDomain at once, and its manifest when called."""
    made = domain(**options)
    return lambda: made.to_dict(kubernetes_version=version, instance_type=on)


REQUESTS = r"""
R.gpu(True) -> WrongType requests.gpu.count
R.gpu("2") -> WrongType requests.gpu.count
R.neuron(4.0) -> WrongType requests.neuron.count
R.gpu(None) -> WrongType requests.gpu.count
R.gpu(0) -> OutOfRange requests.gpu.count
R.neuron(-1) -> OutOfRange requests.neuron.count
R.efa(0) -> OutOfRange requests.efa.count
R.efa(False) -> WrongType requests.efa.count
R.gpu(NUMBER_TOKEN) -> TokenNotAllowed requests.gpu.count
R.gpu(TOKEN) -> TokenNotAllowed requests.gpu.count
R.gpu(name="") -> InvalidName requests..name
R.gpu(name="Gpu") -> InvalidName requests.Gpu.name
R.gpu(name="a.b") -> InvalidName requests.a.b.name
R.gpu(name="a-") -> InvalidName requests.a-.name
R.gpu(name="gpü") -> InvalidName requests.gpü.name
R.gpu(name="a" * 64) -> InvalidName requests.<64>.name
R.gpu(name=1) -> WrongType requests.1.name
R.gpu(name=TOKEN) -> TokenNotAllowed requests.<token>.name
R.mig("") -> InvalidMigProfile requests.mig.profile
R.mig("mig-1g.10gb") -> InvalidMigProfile requests.mig.profile
R.mig("1G.10GB") -> InvalidMigProfile requests.mig.profile
R.mig("1g.10gb' || true || '") -> InvalidMigProfile requests.mig.profile
R.mig(1) -> WrongType requests.mig.profile
R.mig(None) -> WrongType requests.mig.profile
R.mig(TOKEN) -> TokenNotAllowed requests.mig.profile
R.ultraserver_node(mode=3) -> OutOfRange requests.ultraserver-node.mode
R.ultraserver_node(mode=8) -> OutOfRange requests.ultraserver-node.mode
R.ultraserver_node(mode=True) -> WrongType requests.ultraserver-node.mode
R.ultraserver_node(mode=None) -> WrongType requests.ultraserver-node.mode
R.neuron(4, logical_neuron_cores=3) -> OutOfRange requests.neuron.logical_neuron_cores
R.neuron(4, logical_neuron_cores="2") -> WrongType requests.neuron.logical_neuron_cores
R.gpu().where("") -> InvalidSelector requests.gpu.selectors[0]
R.gpu().where(" \n") -> InvalidSelector requests.gpu.selectors[0]
R.gpu().where("a" * (10 * 1024 + 1)) -> InvalidSelector requests.gpu.selectors[0]
R.gpu().where("true").where("ü" * (5 * 1024 + 1)) -> InvalidSelector requests.gpu.selectors[1]
R.gpu().where("\ud800") -> InvalidSelector requests.gpu.selectors[0]
R.gpu().where(None) -> WrongType requests.gpu.selectors[0]
R.gpu().where(f"a == '{TOKEN}'") -> TokenNotAllowed requests.gpu.selectors[0]
raw("gpu", selectors=["true"] * 33) -> TooManySelectors requests.gpu.selectors
raw("gpu", selectors="true") -> WrongType requests.gpu.selectors
R(kind="gpu", name="gpu", count=1) -> WrongType requests.gpu.kind
raw("gpu", profile="1g.10gb") -> OptionDoesNotFit requests.gpu.profile
raw("neuron", mode=4) -> OptionDoesNotFit requests.neuron.mode
raw("gpu", logical_neuron_cores=1) -> OptionDoesNotFit requests.gpu.logical_neuron_cores
raw("ultraserver-node", count=2, mode=4) -> OutOfRange requests.ultraserver-node.count
M.of("") -> InvalidAttribute match.attribute
M.of("numaNode") -> InvalidAttribute match.attribute
M.of("dra.net/") -> InvalidAttribute match.attribute
M.of("a.b/c-d") -> InvalidAttribute match.attribute
M.of("a.b/c/d") -> InvalidAttribute match.attribute
M.of(f"a.b/{'c' * 33}") -> InvalidAttribute match.attribute
M.of(f"{'a' * 64}/c") -> InvalidAttribute match.attribute
M.of(None) -> WrongType match.attribute
M.of(TOKEN) -> TokenNotAllowed match.attribute
"""

CLAIMS = r"""
make() -> NoRequests .requests
make(requests=None) -> WrongType .requests
make(requests="gpu") -> WrongType .requests
make(requests=R.gpu()) -> WrongType .requests
make(requests={"gpu": 1}) -> WrongType .requests
make(R.gpu(), "efa") -> WrongType .requests[1]
make(*[R.gpu(name=f"g{index}") for index in range(33)]) -> TooManyRequests .requests
make(R.gpu(), R.efa(1), R.gpu()) -> DuplicateRequestName .requests[2].name
make(R.gpu(), name="") -> InvalidName claims.n/.name
make(R.gpu(), name="a/b") -> InvalidName claims.n/a/b.name
make(R.gpu(), name="a..b") -> InvalidName claims.n/a..b.name
make(R.gpu(), name="a" * 254) -> InvalidName claims.n/<80>.name
make(R.gpu(), name=None) -> WrongType claims.n/None.name
make(R.gpu(), name=TOKEN) -> TokenNotAllowed claims.n/<token>.name
make(R.gpu(), namespace="") -> InvalidName claims./c.namespace
make(R.gpu(), namespace="a.b") -> InvalidName claims.a.b/c.namespace
make(R.gpu(), namespace="a" * 64) -> InvalidName claims.<63>/c.namespace
make(R.gpu(), namespace=None) -> WrongType claims.None/c.namespace
make(R.gpu(), namespace=LIST_TOKEN) -> TokenNotAllowed claims.<list>/c.namespace
make(R.gpu(2), match="pcieRoot") -> WrongType .match
make(R.gpu(), labels=["a"]) -> WrongType .labels
make(R.gpu(), labels={"": "b"}) -> InvalidLabel .labels['']
make(R.gpu(), labels={"a/b/c": "b"}) -> InvalidLabel .labels['a/b/c']
make(R.gpu(), labels={"a": "b c"}) -> InvalidLabel .labels['a']
make(R.gpu(), labels={"a": 1}) -> WrongType .labels['a']
make(R.gpu(), claim_labels={"a": "b" * 64}) -> InvalidLabel .claim_labels['a']
make(R.efa(), R.efa(1, name="two")) -> EfaCountAmbiguous .requests[0].count
make(R.ultraserver_node(), R.ultraserver_node(name="two")) -> OutOfRange .requests[0]
make(R.neuron(1), R.efa(1), match=ROOT) -> MatchDoesNotFit .requests[0]
make(R.neuron(4), R.gpu(), match=GROUP) -> MatchDoesNotFit .requests[1]
make(R.efa(4), match=GROUP) -> MatchDoesNotFit .match
make(R.neuron(2), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(3), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(5), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(12), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(17), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(32), match=GROUP) -> DeviceGroupSize .requests[0].count
"""

MANIFESTS = r"""
render(R.gpu(), version="1.33") -> UnsupportedKubernetesVersion .kubernetes_version
render(R.gpu(), version="1.30") -> UnsupportedKubernetesVersion .kubernetes_version
render(R.gpu(), version="1.38") -> UnsupportedKubernetesVersion .kubernetes_version
render(R.gpu(), version="1.34.2") -> UnsupportedKubernetesVersion .kubernetes_version
render(R.gpu(), version=1.34) -> WrongType .kubernetes_version
render(R.gpu(), version=None) -> WrongType .kubernetes_version
render(R.gpu(), version=TOKEN) -> TokenNotAllowed .kubernetes_version
render(R.gpu(), on="p9.48xlarge") -> UnknownInstanceType .instance_type
render(R.neuron(4), on="trn3.48xlarge") -> AnnouncedInstanceType .instance_type
render(R.gpu(), on=5) -> WrongType .instance_type
render(R.efa()) -> InstanceTypeNeeded .requests[0].count
render(R.neuron(4), match=GROUP) -> InstanceTypeNeeded .match
render(R.gpu(), on=NEURON) -> NoSuchDevice .requests[0]
render(R.neuron(4), match=GROUP, on=GPU) -> NoSuchDevice .requests[0]
render(R.neuron(), on=GPU) -> NoSuchDevice .requests[0]
render(R.mig("1g.10gb"), on=NEURON) -> NoSuchDevice .requests[0]
render(R.gpu(), R.efa(), on="g6.xlarge") -> NoSuchDevice .requests[1]
render(R.gpu(), on="c7gn.16xlarge") -> NoSuchDevice .requests[0]
render(R.gpu(9), on=GPU) -> TooManyDevices .requests[0].count
render(R.gpu(5), R.gpu(4, name="b"), on=GPU) -> TooManyDevices .requests[0].count
render(R.efa(9), on=TRN1) -> TooManyDevices .requests[0].count
render(R.neuron(4), on="trn2.3xlarge") -> TooManyDevices .requests[0].count
render(R.gpu(8), R.efa(), on=GPU) -> ClaimTooLarge .requests
render(R.gpu(8), R.efa(32)) -> ClaimTooLarge .requests
render(R.mig("1g.10gb", 33)) -> ClaimTooLarge .requests
render(R.mig("1g.5gb"), on=GPU) -> UnknownMigProfile .requests[0].profile
render(R.mig("1g.10gb"), on="g6.xlarge") -> UnknownMigProfile .requests[0].profile
render(R.mig("1g.23gb"), on="p6e-gb200.36xlarge") -> UnknownMigProfile .requests[0].profile
render(R.ultraserver_node(), on=NEURON) -> NotInUltraServer .requests[0].mode
render(R.ultraserver_node(), on="p6e-gb200.36xlarge") -> NoSuchDevice .requests[0]
render(R.neuron(logical_neuron_cores=2),on=TRN1) -> NoLogicalCores .requests[0].logical_neuron_cores
render(R.neuron(1), match=GROUP, on="trn2.3xlarge") -> NoDeviceGroups .match
render(R.neuron(4), match=GROUP, on="inf2.48xlarge") -> NoDeviceGroups .match
render(R.neuron(4), R.efa(4), match=GROUP, on=TRN1) -> TooManyEfasForGroup .requests[1].count
render(R.gpu(1), R.efa(), match=ROOT, on="g6.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g6.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="g6e.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g6e.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="gr6.8xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="gr6.8xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="g4dn.metal") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g4dn.metal") -> PcieRootNotShared .match
render(R.gpu(2), R.efa(), match=ROOT, on=GPU) -> PcieRootTooSmall .match
render(R.gpu(1), R.efa(5), match=ROOT, on=GPU) -> PcieRootTooSmall .match
render(R.gpu(2), match=ROOT, on="g6.48xlarge") -> PcieRootTooSmall .match
render(R.gpu(1), R.efa(), match=ROOT, on="p4d.24xlarge") -> EfaShareNotWhole .requests[1].count
render(R.efa(), R.gpu(1), match=ROOT, on="g5.48xlarge") -> EfaShareNotWhole .requests[0].count
render(R.gpu(), R.efa(), match=ROOT, on="g7e.48xlarge") -> EfaCountNeeded .requests[1].count
render(R.mig("1g.10gb"), R.efa(), match=ROOT, on=GPU) -> EfaCountNeeded .requests[1].count
render(R.efa(), match=ROOT, on=GPU) -> EfaCountNeeded .requests[0].count
render(R.gpu(), R.efa(), match=M.of("a.b/c"), on=GPU) -> EfaCountNeeded .requests[1].count
"""

DOMAINS = r"""
domain(name="") -> InvalidName compute_domains.n/.name
domain(name=None) -> WrongType compute_domains.n/None.name
domain(name="a" * 246) -> InvalidName compute_domains.n/<80>.channel_template
domain(namespace="a.b") -> InvalidName compute_domains.a.b/d.namespace
domain(nodes=-1) -> OutOfRange compute_domains.n/d.nodes
domain(nodes=True) -> WrongType compute_domains.n/d.nodes
domain(nodes=NUMBER_TOKEN) -> TokenNotAllowed compute_domains.n/d.nodes
domain(channel_template="") -> InvalidName compute_domains.n/d.channel_template
domain(allocation="All") -> WrongType compute_domains.n/d.allocation
render_domain(version="1.33") -> UnsupportedKubernetesVersion compute_domains.n/d.kubernetes_version
render_domain(on=GPU, nodes=2) -> NoNvlinkDomain compute_domains.n/d.instance_type
render_domain(on="p9.48xlarge") -> UnknownInstanceType compute_domains.n/d.instance_type
render_domain(on="p6e-gb200.36xlarge", nodes=19) -> ComputeDomainTooLarge compute_domains.n/d.nodes
"""

TABLE = [
    row for table in (REQUESTS, CLAIMS, MANIFESTS, DOMAINS) for row in table.strip().splitlines()
]


def action(expression: str) -> Callable[[], Any]:
    """What must fail: the expression itself, or for a manifest only its last step."""
    if expression.startswith("render"):
        made: Callable[[], Any] = eval(expression)  # noqa: S307  (rows of this file)
        return made
    return lambda: eval(expression)  # noqa: S307


@pytest.mark.parametrize("row", TABLE)
def test_a_bad_input_is_refused_with_an_explanation(row):
    expression, _, expected = row.partition(" -> ")
    code, _, path = expected.partition(" ")
    for short, long in SHORT.items():
        path = path.replace(short, long)
    act = action(expression)

    with pytest.raises(EksDevicesError) as caught:
        act()

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == (code, f"claims.n/c{path}" if path[0] == "." else path)
    assert fault.got
    assert fault.allowed
    assert fault.fix
    assert fault.message


def test_the_table_holds_each_row_once():
    assert len(set(TABLE)) == len(TABLE) >= 150


def test_a_name_that_ends_in_a_newline_is_refused():
    with pytest.raises(EksDevicesError, match="InvalidName"):
        R.gpu(name="a\n")


def test_a_version_fault_names_what_is_allowed_and_why():
    with pytest.raises(EksDevicesError) as caught:
        render(R.gpu(), version="1.33")()

    (fault,) = caught.value.faults
    assert "1.34, 1.35, 1.36, 1.37" in fault.allowed
    assert "1.33" not in fault.allowed
    assert "beta" in fault.message


def test_a_value_whose_repr_fails_is_refused_like_others():
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(EksDevicesError) as caught:
        R.gpu(Hostile())

    assert caught.value.faults[0].got == "<Hostile>"


def test_faults_of_a_claim_come_together():
    with pytest.raises(EksDevicesError) as caught:
        ResourceClaim(name="", namespace="A", requests=[], labels={"-": "b"})

    assert [one.code for one in caught.value.faults] == [
        "InvalidName",
        "InvalidName",
        "InvalidLabel",
        "NoRequests",
    ]


def test_faults_of_a_request_come_together():
    with pytest.raises(EksDevicesError) as caught:
        R.mig("x", 0, name="A")

    assert [one.code for one in caught.value.faults] == [
        "InvalidName",
        "OutOfRange",
        "InvalidMigProfile",
    ]
