"""What is done with a plan outside synth: the `eks-devices` command and its parts."""

__all__: list[str] = []
