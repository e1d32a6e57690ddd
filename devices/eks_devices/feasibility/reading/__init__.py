"""Manifests of claims and DeviceClasses, read as API servers read them."""
