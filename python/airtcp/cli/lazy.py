"""Commands imported on first use: imports would dominate the time of a short command."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from airtcp.cli.errors import FAILURE, os_error_words, say, usage_words
from airtcp.core.extras import EXTRAS, with_remedy

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Every argument is for airtcp-net, including `--help`."""

FORMER = ""
"""The section of former names of commands: they work, and nothing lists or completes them."""

FORMER_OPTIONS = {"--beside": "--under-load"}
"""Former names of options, up to version 0.2."""


@dataclass(frozen=True)
class LazyCommand:
    """One command: its function, and its line in `airtcp --help`, which imports no command."""

    section: str
    """Heading of its section."""
    function: str
    """The function as "module:name", the module relative to `airtcp.cli`."""
    line: str
    """The first sentence of the function's docstring."""
    passed_on: bool = False
    """Whether airtcp-net parses its arguments."""

    def load(self, name: str) -> TyperCommand:
        """The command itself."""
        module, _, function = self.function.partition(":")
        single = typer.Typer(
            add_completion=False,
            rich_markup_mode="rich",
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        settings = PASSED_ON if self.passed_on else None
        single.command(name, context_settings=settings)(
            getattr(import_module(f"airtcp.cli.{module}"), function)
        )
        command = typer.main.get_command(single)
        assert isinstance(command, TyperCommand)
        return command


def _renamed(argument: str) -> str:
    """An argument with the present name of an option, with a warning if it has a former one."""
    option, equals, value = argument.partition("=")
    present = FORMER_OPTIONS.get(option)
    if present is None:
        return argument
    say(f"airtcp: {option} is {present} now; write that")
    return f"{present}{equals}{value}"


class LazyGroup(TyperGroup):
    """A group of commands from a table; each is loaded when it is run or completed.

    Until then a stand-in has its name and its line.
    """

    table: ClassVar[Mapping[str, LazyCommand]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, help=entry.line, hidden=entry.section == FORMER))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command line; as a program, it ends with a one-line message on an error."""
        given = (args, prog_name, complete_var, False, windows_expand_args)
        if not standalone_mode:
            return super().main(*given, **extra)
        try:
            status = super().main(*given, **extra)
        except typer.TyperException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                say(error.format_message())
            else:
                say(f"airtcp: {usage_words(error)}")
            sys.exit(error.exit_code)
        except typer.Abort:
            sys.exit(FAILURE)
        except ModuleNotFoundError as error:
            if error.name not in EXTRAS:
                raise
            say(f"airtcp: {with_remedy(error)}")
            sys.exit(FAILURE)
        except OSError as error:
            # Help and completion are printed before a command could report an error.
            say(f"airtcp: {os_error_words(error)}")
            sys.exit(FAILURE)
        # Commands return nothing; a returned value is the status of a `typer.Exit`.
        sys.exit(status if isinstance(status, int) else 0)

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> tuple[str | None, "Command | None", list[str]]:
        """Loads and returns the requested command."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, stand_in, rest
        entry = self.table[name]
        return name, entry.load(name), rest if entry.passed_on else list(map(_renamed, rest))

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """In plain text: drawing boxes takes longer than everything else."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """One line per command, under the headings of the table."""
        del ctx
        listed = {name: one for name, one in self.table.items() if one.section != FORMER}
        width = max(map(len, listed))
        for section in dict.fromkeys(entry.section for entry in listed.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [
                        (name.ljust(width), entry.line)
                        for name, entry in listed.items()
                        if entry.section == section
                    ]
                )
