"""The search for devices, as the allocator of Kubernetes does it."""
