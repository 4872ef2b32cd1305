"""The start-up cost of a short command: it imports only the modules it prints with."""

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from airtcp.cli.commands import COMMANDS

HEAVY = {"jinja2", "matplotlib", "msgspec", "numpy", "polars", "pydantic", "rich", "scipy"}

_PRINT_MODULES = """
import json, sys
from airtcp.cli import main
sys.argv[1:] = {arguments}
try:
    main()
except SystemExit as stop:
    assert (stop.code or 0) == {status}, stop.code
print()
print(json.dumps(sorted(sys.modules)))
"""


def _modules(*arguments: str, status: int = 0) -> set[str]:
    """Modules that a command has imported by its end, with that exit status."""
    done = subprocess.run(
        [sys.executable, "-c", _PRINT_MODULES.format(arguments=list(arguments), status=status)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {module.split(".")[0] for module in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("list",),
        ("list", "remedies", "rto-factor"),
        ("new", "--schema", "scenario"),
    ],
    ids=" ".join,
)
def test_a_short_command_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = _modules(*arguments)
    assert "airtcp" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize(
    "name", [name for name, one in COMMANDS.items() if not one.function.startswith("packets:")]
)
def test_the_help_of_a_command_needs_rich_alone(name: str) -> None:
    """Commands on real packets are another program, which prints its own."""
    assert _modules(name, "--help") & HEAVY <= {"rich"}


def test_a_run_imports_no_library_that_computes() -> None:
    assert _modules("run", "lossy-pipe") & HEAVY <= {"msgspec", "rich"}


def test_an_answer_imports_nothing_that_draws() -> None:
    options = ("--remedy", "bbr", "--seeds", "2", "--set", "duration=2 s")
    computes = {"msgspec", "numpy", "rich"}
    assert _modules("compare", "lossy-pipe", *options) & HEAVY <= computes
    log = str(Path(__file__).resolve().parents[2] / "recordings" / "wifi-spikes.ping")
    assert _modules("diagnose", log, "--rate", "2 Mbit/s", "--seeds", "2") & HEAVY <= computes


@pytest.mark.parametrize("options", [(), ("--json",), ("--advise",)], ids=" ".join)
def test_the_diagnosis_of_a_capture_computes_with_numpy_alone(options: tuple[str, ...]) -> None:
    capture = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "capture" / "ethernet.pcap"
    assert _modules("diagnose", str(capture), *options) & HEAVY <= {"msgspec", "numpy", "rich"}


def test_papers_import_what_draws_when_they_draw() -> None:
    assert _modules("papers", "nosuch", status=2) & HEAVY <= {"msgspec", "numpy", "rich"}


def test_the_server_of_the_lab_imports_no_library_that_computes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import airtcp.lab.server, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {name.split(".")[0] for name in done.stdout.split()} & HEAVY <= {"msgspec"}


def test_the_package_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import airtcp, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {name.split(".")[0] for name in done.stdout.split()} & HEAVY


def test_ctrl_c_is_prepared_for_before_anything_else_is_imported() -> None:
    """Until then it is a traceback, so what comes before is counted: modules of ours, and no more.

    Python's start-up imports, before any program, are in both.
    """
    print_modules = "import sys; {}print(*sys.modules)"
    alone, ours = (
        set(
            subprocess.run(
                [sys.executable, "-c", print_modules.format(first)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
        )
        for first in ("", "import airtcp.cli; ")
    )
    assert ours - alone == {"airtcp", "airtcp.cli", "airtcp.cli.stop"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_as_its_docstring_says(name: str) -> None:
    module, function = COMMANDS[name].function.split(":")
    text = inspect.getdoc(getattr(import_module(f"airtcp.cli.{module}"), function))
    assert text is not None
    assert " ".join(text.split()).startswith(COMMANDS[name].line)
    assert COMMANDS[name].load(name).name == name


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("airtcp dep", {"deploy"}),
        ("airtcp compare --seed", {"--seeds"}),
        ("airtcp list remedies rto-fac", {"rto-factor"}),
        ("airtcp compare x.toml --remedy tah", {"tahoe"}),
    ],
)
def test_the_shell_completes(typed: str, expected: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "airtcp"],
        env=os.environ
        | {
            "_AIRTCP_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == expected, done.stderr
