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
    ResourceClaimTemplate,
)
from eks_devices.findings import EksDevicesError

R: Any = DeviceRequest
M: Any = MatchAttribute
CORES = DeviceRequest.neuron(logical_neuron_cores=2)
ROOT, GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
GROUP4 = MatchAttribute.of("resource.aws.com/devicegroup4_id")
GROUP5 = MatchAttribute.of("resource.aws.com/devicegroup5_id")
HUGE = 10**5000
GPU, NEURON, TRN1 = "p5.48xlarge", "trn2.48xlarge", "trn1.32xlarge"
ON_TRN1 = DeviceRequest.neuron(instance_type=TRN1, name="a")
CORES_ON_TRN1 = DeviceRequest.neuron(instance_type=TRN1, logical_neuron_cores=1)
TOKEN, LIST_TOKEN = "${Token[Name.123]}", "#{Token[Name.123]}"
# How the CDK writes a number that is a token.
NUMBER_TOKEN = -1.8881545897087626e289
# Paths show a text of up to 120 characters as it is, and the beginning of a longer one.
LONG = {"<64>": "a" * 64, "<long>": f"'{'a' * 116}..."}
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
R.gpu(name="") -> MalformedName requests.''.name
R.gpu(name="Gpu") -> MalformedName requests.Gpu.name
R.gpu(name="a.b") -> MalformedName requests.a.b.name
R.gpu(name="a-") -> MalformedName requests.a-.name
R.gpu(name="gpü") -> MalformedName requests.gpü.name
R.gpu(name="a" * 64) -> MalformedName requests.<64>.name
R.gpu(name=1) -> WrongType requests.1.name
R.gpu(name=TOKEN) -> TokenNotAllowed requests.<token>.name
R.mig("") -> MalformedMigProfile requests.mig.profile
R.mig("mig-1g.10gb") -> MalformedMigProfile requests.mig.profile
R.mig("1G.10GB") -> MalformedMigProfile requests.mig.profile
R.mig("1g.10gb' || true || '") -> MalformedMigProfile requests.mig.profile
R.mig(1) -> WrongType requests.mig.profile
R.mig(None) -> WrongType requests.mig.profile
R.mig(TOKEN) -> TokenNotAllowed requests.mig.profile
R.ultraserver_node(mode=3) -> OutOfRange requests.ultraserver-node.mode
R.ultraserver_node(mode=8) -> OutOfRange requests.ultraserver-node.mode
R.ultraserver_node(mode=True) -> WrongType requests.ultraserver-node.mode
R.ultraserver_node(mode=None) -> WrongType requests.ultraserver-node.mode
R.neuron(4, logical_neuron_cores=3) -> OutOfRange requests.neuron.logical_neuron_cores
R.neuron(4, logical_neuron_cores="2") -> WrongType requests.neuron.logical_neuron_cores
R.neuron(instance_type="trn9.48xlarge") -> UnknownInstanceType requests.neuron.instance_type
R.neuron(instance_type="trn3.48xlarge") -> AnnouncedInstanceType requests.neuron.instance_type
R.neuron(instance_type="p5.48xlarge") -> NoSuchDevice requests.neuron.instance_type
R.neuron(instance_type="c7gn.16xlarge") -> NoSuchDevice requests.neuron.instance_type
R.neuron(instance_type="") -> UnknownInstanceType requests.neuron.instance_type
R.neuron(instance_type="a' || true || '") -> UnknownInstanceType requests.neuron.instance_type
R.neuron(instance_type=5) -> WrongType requests.neuron.instance_type
R.neuron(instance_type=["trn2.48xlarge"]) -> WrongType requests.neuron.instance_type
R.neuron(instance_type=TOKEN) -> TokenNotAllowed requests.neuron.instance_type
R.neuron(driver_version="") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25.4") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25.4.0.0") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25.4.x") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25.4.0\n") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="2.25.4.٣") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version="1' || true || '") -> MalformedDriverVersion requests.neuron.driver_version
R.neuron(driver_version=2.25) -> WrongType requests.neuron.driver_version
R.neuron(driver_version=HUGE) -> WrongType requests.neuron.driver_version
R.neuron(driver_version=TOKEN) -> TokenNotAllowed requests.neuron.driver_version
raw("efa", instance_type="trn2.48xlarge") -> OptionDoesNotFit requests.efa.instance_type
raw("gpu", driver_version="2.25.4.0") -> OptionDoesNotFit requests.gpu.driver_version
R.gpu().where("") -> MalformedSelector requests.gpu.selectors[0]
R.gpu().where(" \n") -> MalformedSelector requests.gpu.selectors[0]
R.gpu().where("a" * (10 * 1024 + 1)) -> MalformedSelector requests.gpu.selectors[0]
R.gpu().where("true").where("ü" * (5 * 1024 + 1)) -> MalformedSelector requests.gpu.selectors[1]
R.gpu().where("\ud800") -> MalformedSelector requests.gpu.selectors[0]
R.gpu().where(None) -> WrongType requests.gpu.selectors[0]
R.gpu().where(f"a == '{TOKEN}'") -> TokenNotAllowed requests.gpu.selectors[0]
raw("gpu", selectors=["true"] * 33) -> TooManySelectors requests.gpu.selectors
raw("gpu", selectors="true") -> WrongType requests.gpu.selectors
raw("gpu", selectors={"true"}) -> WrongType requests.gpu.selectors
raw("gpu", selectors=iter(["true"])) -> WrongType requests.gpu.selectors
raw("gpu", logical_neuron_cores=HUGE) -> OptionDoesNotFit requests.gpu.logical_neuron_cores
R.neuron(logical_neuron_cores=HUGE) -> OutOfRange requests.neuron.logical_neuron_cores
R(kind="gpu", name="gpu", count=1) -> WrongType requests.gpu.kind
raw("gpu", profile="1g.10gb") -> OptionDoesNotFit requests.gpu.profile
raw("neuron", mode=4) -> OptionDoesNotFit requests.neuron.mode
raw("gpu", logical_neuron_cores=1) -> OptionDoesNotFit requests.gpu.logical_neuron_cores
raw("ultraserver-node", count=2, mode=4) -> OutOfRange requests.ultraserver-node.count
M.of("") -> MalformedAttribute match.attribute
M.of("numaNode") -> MalformedAttribute match.attribute
M.of("dra.net/") -> MalformedAttribute match.attribute
M.of("a.b/c-d") -> MalformedAttribute match.attribute
M.of("a.b/c/d") -> MalformedAttribute match.attribute
M.of(f"a.b/{'c' * 33}") -> MalformedAttribute match.attribute
M.of(f"{'a' * 64}/c") -> MalformedAttribute match.attribute
M.of(None) -> WrongType match.attribute
M.of(TOKEN) -> TokenNotAllowed match.attribute
"""

CLAIMS = r"""
make() -> NoRequests .requests
make(requests=None) -> WrongType .requests
make(requests="gpu") -> WrongType .requests
make(requests=R.gpu()) -> WrongType .requests
make(requests={"gpu": 1}) -> WrongType .requests
make(requests={R.gpu()}) -> WrongType .requests
make(requests=frozenset([R.gpu()])) -> WrongType .requests
make(requests=iter([R.gpu()])) -> WrongType .requests
make(requests={"a": R.gpu()}.values()) -> WrongType .requests
make(R.gpu(), "efa") -> WrongType .requests[1]
make(*[R.gpu(name=f"g{index}") for index in range(33)]) -> TooManyRequests .requests
make(R.gpu(), R.efa(1), R.gpu()) -> RepeatedRequestName .requests[2].name
make(R.gpu(), name="") -> MalformedName claims.n/''.name
make(R.gpu(), name="a/b") -> MalformedName claims.n/a/b.name
make(R.gpu(), name="a..b") -> MalformedName claims.n/a..b.name
make(R.gpu(), name="a" * 254) -> MalformedName claims.n/<long>.name
make(R.gpu(), name=None) -> WrongType claims.n/None.name
make(R.gpu(), name=TOKEN) -> TokenNotAllowed claims.n/<token>.name
make(R.gpu(), namespace="") -> MalformedName claims.''/c.namespace
make(R.gpu(), namespace="a.b") -> MalformedName claims.a.b/c.namespace
make(R.gpu(), namespace="a" * 64) -> MalformedName claims.<64>/c.namespace
make(R.gpu(), namespace=None) -> WrongType claims.None/c.namespace
make(R.gpu(), namespace=LIST_TOKEN) -> TokenNotAllowed claims.<list>/c.namespace
make(R.gpu(2), match="pcieRoot") -> WrongType .match
make(R.gpu(), labels=["a"]) -> WrongType .labels
make(R.gpu(), labels={"": "b"}) -> MalformedLabelKey .labels['']
make(R.gpu(), labels={"a/b/c": "b"}) -> MalformedLabelKey .labels['a/b/c']
make(R.gpu(), labels={"a": "b c"}) -> MalformedLabelValue .labels['a']
make(R.gpu(), labels={"a": 1}) -> WrongType .labels['a']
make(R.gpu(), labels={1: "b"}) -> WrongType .labels[1]
make(R.gpu(), labels={TOKEN: "b"}) -> TokenNotAllowed .labels['<token>']
make(R.gpu(), claim_labels={"a": "b" * 64}) -> MalformedLabelValue .claim_labels['a']
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
make(R.neuron(HUGE), match=GROUP) -> DeviceGroupSize .requests[0].count
make(R.neuron(8), match=GROUP4) -> DeviceGroupSize .requests[0].count
make(R.neuron(1), match=GROUP5) -> DeviceGroupSize .match
make(R.neuron(4), R.gpu(), match=GROUP4) -> MatchDoesNotFit .requests[1]
make(R.ultraserver_node(), R.neuron(1)) -> NodeAndItsDevices .requests[1]
"""

MANIFESTS = r"""
render(R.gpu(), version="1.33") -> DraBelow134 .kubernetes_version
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
render(R.neuron(4), match=GROUP4) -> InstanceTypeNeeded .match
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
render(R.gpu(HUGE)) -> ClaimTooLarge .requests
render(R.mig("7g.80gb", 9), on=GPU) -> TooManyDevices .requests[0].count
render(R.gpu(8), R.mig("1g.10gb"), on=GPU) -> TooManyDevices .requests
render(R.gpu(7), R.mig("1g.10gb", 8), on=GPU) -> TooManyDevices .requests
render(R.mig("4g.40gb", 8), R.mig("4g.40gb", name="b"), on=GPU) -> TooManyDevices .requests[0].count
render(R.mig("4g.40gb", 8), R.mig("7g.80gb", name="b"), on=GPU) -> TooManyDevices .requests
render(R.mig("3g.71gb", 17), on="p5en.48xlarge") -> TooManyDevices .requests[0].count
render(R.neuron(1), on="inf1.6xlarge") -> NeuronDraInf1 .requests[0]
render(R.neuron(1), R.neuron(1, name="b"), on="inf1.6xlarge") -> NeuronDraInf1 .requests[0]
render(R.mig("1g.5gb"), on=GPU) -> UnknownMigProfile .requests[0].profile
render(R.mig("1g.10gb"), on="g6.xlarge") -> UnknownMigProfile .requests[0].profile
render(R.mig("1g.23gb"), on="p6e-gb200.36xlarge") -> UnknownMigProfile .requests[0].profile
render(R.ultraserver_node(), on=NEURON) -> NotInUltraServer .requests[0].mode
render(R.ultraserver_node(), on="p6e-gb200.36xlarge") -> NoSuchDevice .requests[0]
render(ON_TRN1, on=NEURON) -> OtherInstanceType .requests[0].instance_type
render(ON_TRN1, R.neuron(instance_type=NEURON)) -> OtherInstanceType .requests[1].instance_type
render(R.neuron(17, instance_type=TRN1)) -> TooManyDevices .requests[0].count
render(CORES_ON_TRN1) -> LogicalCoresNotSupported .requests[0].logical_neuron_cores
render(R.neuron(4, instance_type="inf2.48xlarge"), match=GROUP) -> NoDeviceGroups .match
render(R.ultraserver_node(instance_type=NEURON)) -> NotInUltraServer .requests[0].mode
render(CORES, on="inf2.xlarge") -> LogicalCoresNotSupported .requests[0].logical_neuron_cores
render(CORES, on=TRN1) -> LogicalCoresNotSupported .requests[0].logical_neuron_cores
render(R.neuron(1), match=GROUP, on="trn2.3xlarge") -> NoDeviceGroups .match
render(R.neuron(4), match=GROUP, on="inf2.48xlarge") -> NoDeviceGroups .match
render(R.neuron(4), R.efa(4), match=GROUP, on=TRN1) -> TooManyEfasForGroup .requests[1].count
render(R.neuron(2), R.efa(4), match=GROUP4, on=TRN1) -> TooManyEfasForGroup .requests[1].count
render(R.neuron(2), R.efa(), match=GROUP4, on=NEURON) -> EfaCountNeeded .requests[1].count
render(R.efa(4), match=GROUP4, on=GPU) -> NoDeviceGroups .match
render(R.gpu(1), R.efa(), match=ROOT, on="g6.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g6.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="g6e.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g6e.48xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="gr6.8xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="gr6.8xlarge") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(), match=ROOT, on="g4dn.metal") -> PcieRootNotShared .match
render(R.gpu(1), R.efa(1), match=ROOT, on="g4dn.metal") -> PcieRootNotShared .match
render(R.gpu(2), R.efa(), match=ROOT, on=GPU) -> PcieRootTooSmall .match
render(R.mig("7g.80gb", 2), match=ROOT, on=GPU) -> PcieRootTooSmall .match
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
domain(name="") -> MalformedName compute_domains.n/''.name
domain(name=None) -> WrongType compute_domains.n/None.name
domain(name="a" * 246) -> MalformedName compute_domains.n/<long>.channel_template
domain(namespace="a.b") -> MalformedName compute_domains.a.b/d.namespace
domain(nodes=-1) -> OutOfRange compute_domains.n/d.nodes
domain(nodes=2**31) -> OutOfRange compute_domains.n/d.nodes
domain(nodes=10**30) -> OutOfRange compute_domains.n/d.nodes
domain(nodes=True) -> WrongType compute_domains.n/d.nodes
domain(nodes=NUMBER_TOKEN) -> TokenNotAllowed compute_domains.n/d.nodes
domain(channel_template="") -> MalformedName compute_domains.n/d.channel_template
domain(allocation="All") -> WrongType compute_domains.n/d.allocation
render_domain(version="1.33") -> DraBelow134 compute_domains.n/d.kubernetes_version
render_domain(on=GPU) -> ComputeDomainNeedsNvlinkDomain compute_domains.n/d.instance_type
render_domain(on="p9.48xlarge") -> UnknownInstanceType compute_domains.n/d.instance_type
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
