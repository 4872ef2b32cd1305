"""Emulations in virtual time: a command over a scenario's link, in a guest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp._core import ScenarioError
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.guests.brought import brought, programs_in
from airtcp.kernel.guests.cache import KernelError
from airtcp.kernel.guests.machine import MEMORY_MIB, no_machine_left
from airtcp.kernel.guests.protocol import Done, Job
from airtcp.kernel.in_guest import guest_path, guest_remedy, object_files, scenario_files
from airtcp.kernel.runs import readable_path

_RECORDED = "/airtcp/record"
_FULL = "os error 28"
"""Error of the guest's program for a full file system (ENOSPC)."""
_WITH_VALUE = (
    "--remedy",
    "--set",
    "--seed",
    "--mtu",
    "--at",
    "--server",
    "--record",
    "--kernel",
    "--bring",
)


@dataclass
class Emulation:
    """The options of `airtcp emulate --kernel`."""

    kernel: str = ""
    scenario: str = ""
    record: Path | None = None
    bring: list[str] = field(default_factory=list)
    server: str = ""
    options: list[str] = field(default_factory=list)
    """Options for airtcp-net, with their values."""
    command: list[str] = field(default_factory=list)
    objects: dict[str, bytes] = field(default_factory=dict)
    """BPF objects that remedies name, by their guest paths."""

    def take(self, option: str, value: str) -> None:
        """Takes an option with its value."""
        match option:
            case "--kernel":
                self.kernel = value
            case "--record":
                self.record = Path(value)
            case "--bring":
                self.bring.append(value)
            case "--remedy":
                self.objects |= object_files(value)
                self.options += [option, guest_remedy(value)]
            case _:
                self.options += [option, value]
                if option == "--server":
                    self.server = value


def parsed(words: Sequence[str]) -> Emulation:
    """Parses the words after `airtcp emulate`, which include `--kernel`.

    Raises:
        ScenarioError: an option has no value, or something is missing.
    """
    asked = Emulation()
    end = words.index("--") if "--" in words else len(words)
    asked.command = list(words[end + 1 :])
    rest = list(words[:end])
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in _WITH_VALUE:
            if not equals:
                if not rest:
                    raise ScenarioError(f"emulate: {option} needs a value")
                value = rest.pop(0)
            asked.take(option, value)
        elif word.startswith("-"):
            asked.options.append(word)
        elif asked.scenario:
            raise ScenarioError(f"emulate: {word!r}: a second scenario; put the command after --")
        else:
            asked.scenario = word
    if not asked.scenario:
        raise ScenarioError("emulate: expected a scenario")
    if not asked.command:
        raise ScenarioError(
            "emulate --kernel: expected a command after --; there is no terminal in virtual time"
        )
    return asked


def emulate(asked: Emulation) -> Done:
    """Runs the command in a guest, and writes the recording, if requested.

    Raises:
        ScenarioError: the scenario cannot be read.
        KernelError: there is no such kernel, it does not work, or the recording is too large.
        OSError: the recording cannot be written.
    """
    names = [*programs_in([*asked.command, asked.server]), *asked.bring]
    guest = Guest.of(the_kernel(asked.kernel), brought(names))
    source = Path(readable_path(asked.scenario)).absolute()
    recording = ["--record", _RECORDED] if asked.record else []
    command = ["", "emulate", guest_path(source), "--quiet", *asked.options, *recording]
    job = Job((*command, "--", *asked.command), _RECORDED if recording else "")
    with no_machine_left():
        (done,) = guest.run([job], scenario_files(source, asked.options) | asked.objects)
    if done.status and _FULL in done.err:
        raise KernelError(
            f"--record: a guest keeps the recording in its memory of {MEMORY_MIB} MiB, and this "
            "one is larger: make the command shorter, or record without --kernel"
        )
    if asked.record and done.files:
        asked.record.mkdir(parents=True, exist_ok=True)
        for name, content in done.files.items():
            (asked.record / name).write_bytes(content)
    return done
