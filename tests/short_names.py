"""Words of options that many tests write, short."""

from eks_devices import DeviceType, Mechanism, OperatingSystem

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
DOMAIN = DeviceType.COMPUTE_DOMAIN
AL2023, BOTTLEROCKET = OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET
