"""CEL expressions of every kind of cost: texts, lists and loops within one another."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

DEEPEST, LONGEST = 4, 3_000
OWN = "device.attributes['gpu.nvidia.com']"
Names = tuple[str, ...]


def costly(seed: int, count: int) -> list[str]:
    """Expressions that are true or false, each different and none longer than people write."""
    made = _Made(Random(seed))
    found: dict[str, None] = {}
    while len(found) < count:
        text = made.truth(0, ())
        if len(text) < LONGEST:
            found[text] = None
    return list(found)


class _Made:
    """Makes parts of expressions. `depth` is how deep a part is, `names` are variables there."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def _one(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _any(
        self, depth: int, plain: list[Callable[[], str]], deep: list[Callable[[], str]]
    ) -> str:
        return self._random.choice(plain if depth >= DEEPEST else [*plain, *deep])()

    def text(self, depth: int, names: Names) -> str:
        if names and self._random.random() < 0.3:
            return self._one(*names)

        def text() -> str:
            return self.text(depth + 1, names)

        return self._any(
            depth,
            [
                lambda: self._one("'a'", "''", "'H100'", f"'{'x' * 100}'", "device.driver"),
                lambda: f"{OWN}.productName",
                lambda: f"{OWN}['uuid']",
                lambda: f"{OWN}.?uuid.orValue('x')",
                lambda: f"string({self._one(f'{OWN}.index', '1', 'true', 'device.driver')})",
            ],
            [
                lambda: f"{text()}.{self._one('lowerAscii()', 'trim()', 'charAt(0)')}",
                lambda: f"{text()}.substring({self._random.randint(0, 3)})",
                lambda: f"{text()}.replace({text()}, {text()})",
                lambda: f"{text()}.split({text()}{self._one('', ', 2')})[0]",
                lambda: f"({text()} + {text()})",
                lambda: f"({self.truth(depth + 1, names)} ? {text()} : {text()})",
                lambda: f"{self.texts(depth + 1, names)}.join({text()})",
                lambda: f"{text()}.find({text()})",
                lambda: f"{self.texts(depth + 1, names)}[0]",
                lambda: self._bound(depth, names),
                lambda: f"strings.quote({text()})",
                lambda: f"dyn({text()})",
                lambda: f"{{'a': {text()}}}[{text()}]",
            ],
        )

    def _bound(self, depth: int, names: Names) -> str:
        name = f"v{depth}"
        inner = self.text(depth + 1, (*names, name))
        return f"cel.bind({name}, {self.text(depth + 1, names)}, {inner})"

    def texts(self, depth: int, names: Names) -> str:
        def texts() -> str:
            return self.texts(depth + 1, names)

        name = f"m{depth}"
        within = (*names, name)
        return self._any(
            depth,
            [lambda: f"[{', '.join(self.text(depth + 1, names) for _ in range(2))}]"],
            [
                lambda: f"{self.text(depth + 1, names)}.split('-')",
                lambda: f"{texts()}.map({name}, {self.text(depth + 1, within)})",
                lambda: f"{texts()}.filter({name}, {self.truth(depth + 1, within)})",
                lambda: f"({texts()} + {texts()})",
                lambda: f"{self.text(depth + 1, names)}.findAll({self.text(depth + 1, names)})",
            ],
        )

    def number(self, depth: int, names: Names) -> str:
        def text() -> str:
            return self.text(depth + 1, names)

        return self._any(
            depth,
            [
                lambda: str(self._random.randint(-5, 100)),
                lambda: self._one(f"{OWN}.index", f"int({OWN}.index)"),
            ],
            [
                lambda: f"size({text()})",
                lambda: f"{self.texts(depth + 1, names)}.size()",
                lambda: f"{text()}.indexOf({text()})",
                lambda: f"device.capacity['a'].memory.compareTo(quantity({text()}))",
            ],
        )

    def truth(self, depth: int, names: Names) -> str:
        def text() -> str:
            return self.text(depth + 1, names)

        def truth() -> str:
            return self.truth(depth + 1, names)

        def texts() -> str:
            return self.texts(depth + 1, names)

        name = f"m{depth}"
        return self._any(
            depth,
            [
                lambda: f"{text()} {self._one('==', '!=', '<', '>=')} {text()}",
                lambda: f"{text()}.{self._one('contains', 'startsWith', 'matches')}({text()})",
                lambda: f"{self.number(depth + 1, names)} > {self.number(depth + 1, names)}",
                lambda: f"has({OWN}.uuid)",
            ],
            [
                lambda: f"{text()} in {texts()}",
                lambda: f"{truth()} && {truth()}",
                lambda: f"({truth()} || {truth()})",
                lambda: f"!({truth()})",
                lambda: (
                    f"{self._one(texts(), OWN, 'device.attributes')}.all({name}, "
                    f"{self.truth(depth + 1, (*names, name))})"
                ),
                lambda: f"sets.intersects({texts()}, {texts()})",
                lambda: f"cidr({text()}).containsIP({text()})",
                lambda: f"{self._one('isQuantity', 'isSemver', 'isIP')}({text()})",
                lambda: f"device.capacity['a'].memory {self._one('==', '!=')} quantity('1Gi')",
            ],
        )
