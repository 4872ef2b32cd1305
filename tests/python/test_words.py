"""The words that users read: those of a protocol engineer for the thing.

Relative clauses with "what" in place of a noun ("what waits behind a gap"), words with several
meanings here ("beside", "stands"), and idioms of no protocol's text. The field's term exists: name
the thing ("data buffered behind a gap").
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp import _core
from airtcp.cli.commands import COMMANDS
from airtcp.core import net

ROOT = Path(__file__).resolve().parents[2]
RIDDLES = re.compile(
    r"\b(beside|stands?|under way|in vain|of which|those (?:that|who|of)"
    r"|of (?:its|their|his|one's) own"
    r"|what (?:is|was|comes|came|waits?|goes|no|it|an?|the|they|others|passes|finds|does|has))\b",
    re.IGNORECASE,
)
ALLOWED = (
    # Questions, and citations.
    "what is wrong",
    "what it is",
)


def riddles(text: str) -> list[str]:
    # Names of options and keys are no words.
    plain = re.sub(r"--\w[\w-]*|\b\w+\.\w+", "", " ".join(text.split()))
    for phrase in ALLOWED:
        plain = plain.replace(phrase, "")
    return [found.group() for found in RIDDLES.finditer(plain)]


def test_a_riddle_is_found() -> None:
    assert riddles("what waits behind a gap, with a queue of its own beside it") == [
        "what waits",
        "of its own",
        "beside",
    ]
    assert riddles("data buffered behind a gap: what is wrong") == []


def remedy_texts() -> Iterator[tuple[str, str]]:
    for remedy in airtcp.remedies():
        yield f"{remedy['name']}: effect", remedy["effect"]
        yield f"{remedy['name']}: deployment", str(remedy["deployment"])
        for parameter in remedy["parameters"]:
            yield f"{remedy['name']}:{parameter['name']}", parameter["effect"]


def command_texts() -> Iterator[tuple[str, str]]:
    for name, command in COMMANDS.items():
        loaded = command.load(name)
        yield name, loaded.help or ""
        for parameter in loaded.params:
            yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""


def key_texts() -> Iterator[tuple[str, str]]:
    def walk(node: Any, path: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, dict):
            if isinstance(text := node.get("description"), str):
                yield path, text
            for key, value in node.items():
                yield from walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for value in node:
                yield from walk(value, path)

    yield from walk(json.loads(_core.schema()), "schema")


@pytest.mark.parametrize("texts", [remedy_texts, command_texts, key_texts])
def test_users_read_no_riddles(texts: Any) -> None:
    found = {where: hits for where, text in texts() if (hits := riddles(text))}
    assert not found


def test_helps_on_real_packets_have_no_riddles() -> None:
    program = net.find_program()
    found = {}
    for command in ("", "gateway", "proxy", "emulate", "deploy", "undeploy", "deployed"):
        asked = [program, *([command] if command else []), "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        if hits := riddles(done.stdout):
            found[command] = hits
    assert not found


FREQUENCIES = {
    # Occurrences per 1000 lines of comments and documents; s2n-quic, quinn and neqo have at most
    # the number in the second place.
    r"what": (6.0, 2.7),
    r"own": (3.0, 1.3),
    r"behind": (1.0, 0.8),
    r"tells?|told|hears?|heard": (1.0, 1.0),
    r"of (?:its|their|his) own": (0.3, 0.2),
    r"stands?": (0.3, 0.0),
    r"beside": (0.2, 0.0),
    r"alone": (0.9, 0.4),
    r"of which": (0.3, 0.1),
    r"under way": (0.1, 0.0),
    r"whose": (2.0, 0.5),
    r"says?": (1.0, 0.2),
    r"none": (1.2, 0.5),
    r"again": (3.0, 5.1),
    r"those (?:that|who|of)": (0.6, 0.2),
}
COMMENT = re.compile(r"\s*(?:///?!?|#(?!\[|!))\s?(.*)")


def prose(path: Path) -> Iterator[str]:
    """The lines of a file that are comments, docstrings or a document's text."""
    is_in_docstring = False
    for line in path.read_text("utf-8").splitlines():
        quotes = line.count('"""')
        if path.suffix == ".md":
            text = "" if line.startswith(("|", "```", "    ", "<!--")) else line
        elif path.suffix == ".py" and (is_in_docstring or quotes):
            text = line
            is_in_docstring ^= quotes == 1
        else:
            found = COMMENT.match(line)
            text = found.group(1) if found else ""
        if text.strip():
            yield text


@pytest.mark.needs("git")
def test_comments_and_documents_keep_to_the_trades_words() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.rs", "*.py", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    lines = [
        line
        for name in listed
        if not re.search(r"(^|/)tests?[/.]|vendor", name)
        for line in prose(ROOT / name)
    ]
    text = "\n".join(lines)
    found = {}
    for word, (most, _) in FREQUENCIES.items():
        often = (
            1000
            * len(re.findall(rf"\b(?:{word})\b", text, 0 if word == "none" else re.IGNORECASE))
            / len(lines)
        )
        if often > most:
            found[word] = round(often, 1)
    assert not found, "name the thing in place of it: see CONTRIBUTING.md"
