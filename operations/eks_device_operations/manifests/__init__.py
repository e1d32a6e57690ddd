"""Reads files of manifests, in YAML as Kubernetes reads it, and knows the place of each value."""

from ._files import ManifestDocument, Manifests, Trouble, manifests_of, read_manifests

__all__ = ["ManifestDocument", "Manifests", "Trouble", "manifests_of", "read_manifests"]
