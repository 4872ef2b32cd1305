"""The modules of a Rust crate and which uses which, read from the text of its sources."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Module = tuple[str, ...]
"""The names from the crate's root to the module; empty for the root."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'r#"(?s:.*?)"#|b?"(?:\\.|[^"\\])*"', re.DOTALL)
_USE = re.compile(r"\buse\s+([^;]+);")
_EXPORT = re.compile(r"\bpub(?:\([a-z]+\))?\s+use\s+([^;]+);")
_PATH = re.compile(r"\b(?:crate|super)(?:\s*::\s*\w+)+")
_TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:pub(?:\([a-z]+\))?\s+)?mod\s+\w+\s*")


@dataclass(frozen=True)
class Source:
    """The text of one module, without comments, strings and tests."""

    module: Module
    text: str


def _without_tests(text: str) -> str:
    """Code built outside of tests: modules of tests are cut out up to their closing brace."""
    while found := _TESTS.search(text):
        end = found.end()
        if text[end : end + 1] == "{":
            depth = 0
            for end in range(found.end(), len(text)):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                if depth == 0:
                    break
        text = text[: found.start()] + text[end + 1 :]
    return text


def sources(folder: Path) -> list[Source]:
    """The modules below a crate's ``src``; a program's root is the same as the library's."""
    found = []
    for path in sorted(folder.rglob("*.rs")):
        parts = list(path.relative_to(folder).with_suffix("").parts)
        if "tests" in parts or parts[0] == "bin":
            continue
        if parts[-1] in {"mod", "lib", "main"}:
            parts.pop()
        text = _COMMENT.sub("", _STRING.sub('""', path.read_text(encoding="utf-8")))
        found.append(Source(tuple(parts), _without_tests(text)))
    return found


def leaves(tree: str) -> Iterator[list[str]]:
    """The paths of a use tree, each as its names."""
    tree = tree.strip()
    opening = tree.find("{")
    if opening < 0:
        name = re.sub(r"\s+as\s+\w+$", "", tree)
        if name:
            yield [part.strip() for part in name.split("::")]
        return
    head = [part.strip() for part in tree[:opening].split("::") if part.strip()]
    depth, branch = 0, ""
    for letter in tree[opening + 1 : tree.rfind("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            for leaf in leaves(branch):
                yield head + leaf
            branch = ""
        else:
            branch += letter


class Crate:
    """The modules of a crate."""

    def __init__(self, found: list[Source]) -> None:
        self._sources = found
        self._modules = {source.module for source in found}
        self._exports = {
            (source.module, path[-1]): resolved
            for source in found
            for tree in _EXPORT.findall(source.text)
            for path in leaves(tree)
            if (resolved := self._absolute(path, source.module))
        }

    def _absolute(self, path: list[str], module: Module) -> list[str] | None:
        """A path from the crate's root; ``None`` for one of another crate."""
        place = list(module)
        names = [name for name in path if name != "self"]
        if names and names[0] == "crate":
            return names[1:]
        if names and names[0] == "super":
            while names and names[0] == "super":
                place, names = place[:-1], names[1:]
            return place + names
        if names and (*module, names[0]) in self._modules:
            return place + names
        return None

    def _owner(self, path: list[str]) -> Module:
        """The module that an item is declared in, looking through re-exports of its parents."""
        for length in range(len(path), -1, -1):
            module = tuple(path[:length])
            if module not in self._modules:
                continue
            rest = path[length:]
            if rest and (beyond := self._exports.get((module, rest[0]))):
                if beyond[: len(path)] == path:
                    return module
                return self._owner(beyond + rest[1:])
            return module
        return ()

    def uses(self) -> Iterator[tuple[Module, Module]]:
        """Each module with each other one that its text names."""
        for source in self._sources:
            text = source.text
            paths = [path for tree in _USE.findall(text) for path in leaves(tree)]
            paths += [re.split(r"\s*::\s*", one) for one in _PATH.findall(_USE.sub("", text))]
            for path in paths:
                if (absolute := self._absolute(path, source.module)) is not None:
                    yield source.module, self._owner(absolute)

    def circles(self) -> list[list[str]]:
        """The circles between children of one folder, each taken with all below it.

        A folder and its children may use each other: items in ``mod.rs`` are theirs.
        """
        graphs: dict[Module, dict[str, set[str]]] = {}
        for user, used in self.uses():
            shared = 0
            while shared < min(len(user), len(used)) and user[shared] == used[shared]:
                shared += 1
            if shared < len(user) and shared < len(used):
                graph = graphs.setdefault(user[:shared], {})
                graph.setdefault(user[shared], set()).add(used[shared])
        return [
            ["/".join((*folder, name)) for name in circle]
            for folder, graph in sorted(graphs.items())
            for circle in _strongly_connected(graph)
        ]


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - seen
        seen |= new
        ahead += new
    return seen


def _strongly_connected(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of more than one name that all reach each other."""
    reached = {name: _reachable(graph, name) for name in graph}
    groups = {
        tuple(sorted(other for other in graph if name in reached[other] and other in reached[name]))
        for name in graph
        if name in reached[name]
    }
    return sorted(list(group) for group in groups if len(group) > 1)
