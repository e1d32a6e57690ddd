"""Expressions of claims and classes: what API servers refuse, and what they say of a device."""
