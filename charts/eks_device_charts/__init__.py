"""Manifests of the device managers as pure functions, and the cdk8s charts that wrap them."""

__all__: list[str] = []
