"""Cargo's version requirements (semver.org, and the Cargo Book, "Specifying Dependencies")."""

import re
from functools import total_ordering

_VERSION = re.compile(r"(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?(?:-([0-9A-Za-z.-]+))?(?:\+\S+)?")
_COMPARATOR = re.compile(r"(>=|<=|>|<|=|\^|~)?\s*(\S+)")


@total_ordering
class Version:
    """A version, which may leave out minor and patch in a requirement."""

    def __init__(self, text: str) -> None:
        """Parses it.

        Raises:
            ValueError: it is no version.
        """
        found = _VERSION.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r}: expected a version such as 1.2.3")
        given = [part for part in found.groups()[:3] if part not in (None, "*")]
        self.given = len(given)
        """How many of major, minor and patch are given."""
        self.numbers = (*map(int, given), *(0,) * (3 - len(given)))
        self.pre = found[4] or ""

    def _key(self) -> tuple[tuple[int, ...], bool, list[tuple[bool, int, str]]]:
        # Numbers sort before words, and a version before its final release (semver.org §11).
        parts = [(not one.isdigit(), int(one) if one.isdigit() else 0, one) for one in _ids(self)]
        return self.numbers, not self.pre, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: "Version") -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash((self.numbers, self.pre))


def _ids(version: Version) -> list[str]:
    return version.pre.split(".") if version.pre else []


def matches(version: str, requirement: str) -> bool:
    """Whether a version meets a requirement: comparators that all hold, separated by commas.

    Raises:
        ValueError: either cannot be read.
    """
    if requirement.strip() in ("", "*"):
        return True
    return all(_holds(Version(version), part.strip()) for part in requirement.split(","))


def _holds(version: Version, comparator: str) -> bool:
    found = _COMPARATOR.fullmatch(comparator)
    if found is None:
        raise ValueError(f"{comparator!r}: expected a comparator such as >= 1.2.3")
    operator, bound = found[1] or ("=" if "*" in found[2] else "^"), Version(found[2])
    if operator == ">=":
        return version >= bound
    if operator == "<":
        return version < bound
    if operator == ">":
        return version > bound if bound.given == 3 else version >= _after(bound, bound.given - 1)
    if operator == "<=":
        return version <= bound if bound.given == 3 else version < _after(bound, bound.given - 1)
    if operator == "=" and bound.given == 3:
        return version == bound
    return bound <= version < _after(bound, _fixed(operator, bound))


def _fixed(operator: str, bound: Version) -> int:
    """The last of major, minor and patch that may not change."""
    if operator == "=":
        return bound.given - 1
    if operator == "~":
        return min(1, bound.given - 1)
    leading = next((place for place, one in enumerate(bound.numbers) if one), bound.given - 1)
    return min(leading, bound.given - 1)


def _after(bound: Version, place: int) -> Version:
    """The first version with another number at `place`, its earlier releases included."""
    raised = (*bound.numbers[:place], bound.numbers[place] + 1, *(0,) * (2 - place))
    return Version(".".join(map(str, raised)) + "-0")
