"""What cuts the GPUs of AL2023 nodes when they boot."""

from __future__ import annotations

from typing import Any, Final

from .._data import read_toml
from .form import Mig
from .hardware import creation_order

_UNIT: Final = "eks-devices-mig.service"
_SCRIPT_FILE: Final = "/usr/local/sbin/eks-devices-mig"
_UNITS: Final = "/etc/systemd/system"
# In seconds, of which the script waits 300 for the driver and 60 for MIG mode.
_LONGEST: Final = 600

# Runs at every boot, on nodes that are cut already too: then it changes nothing.
_SCRIPT: Final = r"""#!/bin/bash
set -euo pipefail
rebooted=/var/lib/eks-devices-mig-rebooted
IFS=, read -ra profiles <<< "$1"
fail() { echo "eks-devices-mig: $1, so this node does not join its cluster" >&2; exit 1; }
is_on() {
  local modes
  modes=$(nvidia-smi --query-gpu="mig.mode.$1" --format=csv,noheader) || return 1
  ! grep -qvx Enabled <<< "$modes"
}
is_cut() { [[ $(nvidia-smi -L | grep -c '^ *MIG ') == $((gpus * ${#profiles[@]})) ]]; }
for _ in {1..60}; do nvidia-smi -L > /dev/null 2>&1 && break; sleep 5; done
gpus=$(nvidia-smi -L | grep -c '^GPU ') || fail "the driver shows no GPU"
for try in {1..12}; do
  is_on current && break
  nvidia-smi -mig 1 || true
  if ((try > 2)) && is_on pending; then break; fi
  is_on current || sleep 5
done
if ! is_on current; then
  if ! is_on pending || [[ -e $rebooted ]]; then fail "MIG mode cannot be enabled"; fi
  echo "eks-devices-mig: MIG mode is effective after a boot" >&2
  touch "$rebooted"
  systemctl --no-block reboot
  sleep infinity
fi
if ! is_cut; then
  nvidia-smi mig -dci > /dev/null 2>&1 || true
  nvidia-smi mig -dgi > /dev/null 2>&1 || true
  nvidia-smi mig -cgi "$1" -C || fail "the GPUs cannot be cut into $1"
  is_cut || fail "the GPUs are not cut into $1"
fi
rm -f "$rebooted"
"""


def mig_commands(mig: Mig, instance_name: str) -> tuple[str, ...]:
    """Lines of bash, for user data, by which every GPU of a node is cut before it joins.

    They install a service that the kubelet requires, and start nothing themselves: the driver is
    loaded beside cloud-init, nodes with A100 GPUs must boot once more before MIG mode is
    effective, which would cut off user data, and partitions do not outlive a boot, while user data
    runs at the first one only. A node whose GPUs cannot be cut does not join; the service says why
    on the console of the instance.

    Args:
        mig: How each GPU is cut, without faults.
        instance_name: The type of the node.

    Returns:
        Nothing where nobody cuts: nodes come cut already, or the DRA driver cuts on request.

    Sources: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html,
    https://github.com/awslabs/amazon-eks-ami
    """
    cut = () if mig.is_prepared else creation_order(mig, instance_name)
    if not cut:
        return ()
    facts = read_toml("mig_nodes.toml")
    kubelet = facts["kubelet"]["unit"]
    drop_in = f"{_UNITS}/{kubelet}.d/50-eks-devices-mig.conf"
    return (
        _file(_SCRIPT_FILE, _SCRIPT),
        f"chmod 755 {_SCRIPT_FILE}",
        _file(f"{_UNITS}/{_UNIT}", _unit(facts, ",".join(cut))),
        f"mkdir -p {drop_in.rpartition('/')[0]}",
        _file(drop_in, f"[Unit]\nRequires={_UNIT}\nAfter={_UNIT}\n"),
        "systemctl daemon-reload",
    )


def _file(path: str, text: str) -> str:
    return f"cat > {path} <<'EKS_DEVICES'\n{text}EKS_DEVICES"


def _unit(facts: dict[str, Any], profiles: str) -> str:
    refresh = facts["device_list"]["unit"]
    lines = (
        "[Unit]",
        "Description=Cut the GPUs into MIG partitions",
        f"After={' '.join(facts['driver']['units'])}",
        f"Before={facts['kubelet']['unit']}",
        "[Service]",
        "Type=oneshot",
        "RemainAfterExit=yes",
        f"TimeoutStartSec={_LONGEST}",
        "StandardOutput=journal+console",
        f"ExecStart={_SCRIPT_FILE} {profiles}",
        # Without the dash the unit would fail on an AMI that has no such list.
        f"ExecStartPost=-/usr/bin/systemctl --no-block restart {refresh}",
    )
    return "".join(f"{line}\n" for line in lines)
