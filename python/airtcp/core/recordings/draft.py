"""A scenario that is being written from recordings."""

from dataclasses import dataclass, field


@dataclass
class Draft:
    """Its `[link]`, the files that it names, and the assumptions."""

    lines: list[str] = field(default_factory=list)
    files: dict[str, bytes | str] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)

    def assume(self, what: str, option: str | None) -> None:
        """Notes an assumption with the option that overrides it, once."""
        line = what if option is None else f"{what} ({option} says otherwise)"
        if line not in self.assumed:
            self.assumed.append(line)
