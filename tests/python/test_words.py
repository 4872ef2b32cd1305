"""The words that users read: none that a protocol engineer would not use for the thing.

Relative clauses with "what" in place of a noun ("what waits behind a gap"), words with several
meanings here ("beside", "stands"), and idioms of no protocol's text. The field's term exists: name
the thing ("data buffered behind a gap").
"""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import click
import pytest
from typer.main import get_command

import airtcp
from airtcp import _core, net
from airtcp.cli.commands import app

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
    plain = " ".join(text.split())
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
    def walk(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
        yield path, command.help or ""
        for parameter in command.params:
            yield f"{path} {parameter.name}", getattr(parameter, "help", None) or ""
        for name, one in getattr(command, "commands", {}).items():
            yield from walk(one, f"{path} {name}")

    yield from walk(get_command(app), "airtcp")


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
