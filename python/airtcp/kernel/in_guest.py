"""Runs of a kernel in virtual time, as cells of a study: a fresh guest boots for each.

A run depends only on its kernel, scenario, seed and remedy: not on the machine, its load, or
earlier runs.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from airtcp._core import RunError, Scenario, ScenarioError
from airtcp.comparison.plan import Observation
from airtcp.core.bpf import file_of
from airtcp.kernel.guests import Guest
from airtcp.kernel.guests.protocol import Done, Job
from airtcp.kernel.refusal import reason
from airtcp.kernel.runs import KernelRun, check, kernel_observation, measurement

_BAD_REQUEST = 2

RECORDED = "/airtcp/record"
"""The guest's folder for the recording of a run."""

_OBJECTS = "/airtcp/objects"
"""The guest's folder for BPF objects."""

_FOLDER = "/airtcp/scenario"
"""The guest's folder for a scenario."""


def guest_observation(run: KernelRun, guest: Guest) -> Observation:
    """The way to run a cell in a guest; all parts of the guest enter the cell's key."""
    name = f"kernel {guest.kernel.release} in virtual time {guest.digest[:16]}{run.words}"
    return Observation(name, partial(_measured, run, guest))


def observation_of(run: KernelRun, guest: Guest | None) -> Observation:
    """The way to run a cell on this machine's kernel, or in a guest."""
    return guest_observation(run, guest) if guest else kernel_observation(run)


def check_runs(runs: Sequence[KernelRun], guest: Guest | None) -> None:
    """Asks this machine's kernel, or that of a guest, whether it can make each of the runs.

    Raises:
        ScenarioError: a request cannot be met; gives the reason.
        KernelError: the guest does not work.
    """
    if guest:
        check_in_guest(runs, guest)
        return
    for run in runs:
        check(run)


def check_in_guest(runs: Sequence[KernelRun], guest: Guest) -> None:
    """Asks the kernel whether it can make each of the runs, all in one boot.

    Raises:
        ScenarioError: a request cannot be met; gives the reason.
        KernelError: the guest does not work.
    """
    jobs = [_job(run, 1, "--check") for run in runs]
    files: dict[str, bytes] = {}
    for run in runs:
        files |= _files(run)
    for done in guest.run(jobs, files):
        if done.status != 0:
            raise ScenarioError(f"kernel {guest.kernel.name}: {reason(done.err)}")


def recorded(run: KernelRun, guest: Guest, seed: int) -> Done:
    """Makes a run with the files of `airtcp emulate --record`.

    Raises:
        ScenarioError: the request cannot be met; gives the reason.
        RunError: the run failed.
        KernelError: the guest does not work.
    """
    job = replace(_job(run, seed, "--record", RECORDED), collect=RECORDED)
    return _succeeded(guest.run([job], _files(run))[0])


def _measured(run: KernelRun, guest: Guest, _scenario: Scenario, seed: int) -> str:
    done = _succeeded(guest.run([_job(run, seed)], _files(run))[0])
    return done.out.strip()


def _succeeded(done: Done) -> Done:
    if done.status == _BAD_REQUEST:
        raise ScenarioError(reason(done.err))
    if done.status != 0:
        raise RunError(f"airtcp-net measure ended with {done.status}: {reason(done.err)}")
    try:
        found = measurement(done.out)
        is_in_time, late_share = found["in_time"], found["late_share"]
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"the guest's measurement cannot be read ({error})") from error
    if not is_in_time:
        raise RunError(
            f"{100 * late_share:.2f} % of the packets were more than 1 ms late in the guest (the "
            f"worst {found['late_worst_ms']:.1f} ms), each time: it is a machine of 1000 MIPS, "
            "QEMU counts no faster, and what a link delivers at once it takes packet by packet; "
            "give it a slower link (link.rate) or smaller aggregates "
            "(wlan.aggregation.frames), or take --kernel machine"
        )
    return done


def _job(run: KernelRun, seed: int, *more: str) -> Job:
    remedy = guest_remedy(run.remedy)
    inside = replace(run, source=guest_path(Path(run.source)), remedy=remedy)
    return Job((*inside.command("", seed), *more))


def _files(run: KernelRun) -> dict[str, bytes]:
    files = scenario_files(Path(run.source).absolute(), [value for _, value in run.settings])
    return files | object_files(run.remedy)


def object_files(remedy: str) -> dict[str, bytes]:
    """The BPF objects that a combination of remedies names, by their guest paths.

    Raises:
        ScenarioError: one cannot be read.
    """
    files = {}
    for path in filter(None, map(file_of, remedy.split("+"))):
        try:
            files[_object_path(path)] = Path(path).read_bytes()
        except OSError as error:
            raise ScenarioError(f"{path} cannot be read ({error.strerror})") from error
    return files


def guest_remedy(remedy: str) -> str:
    """A combination of remedies with the guest paths of its BPF objects."""
    parts = []
    for part in remedy.split("+"):
        path = file_of(part)
        parts.append(part if path is None else part.replace(path, _object_path(path), 1))
    return "+".join(parts)


def outside_guest(text: str, remedy: str) -> str:
    """A text from a guest with this machine's paths of a remedy's BPF objects."""
    for path in filter(None, map(file_of, remedy.split("+"))):
        text = text.replace(_object_path(path), path)
    return text


def _object_path(path: str) -> str:
    # Objects of the same name may lie in several folders.
    return f"{_OBJECTS}/{hashlib.sha256(path.encode()).hexdigest()[:8]}-{Path(path).name}"


def guest_path(source: Path) -> str:
    """The guest path of a scenario, in one folder regardless of its path here.

    A longer path costs a few hundred instructions, and delays every packet by as many nanoseconds.
    """
    return f"{_FOLDER}/{source.name}"


def scenario_files(source: Path, values: Iterable[str]) -> dict[str, bytes]:
    """A scenario and the files named by it or by one of its settings, by their guest paths.

    Paths relative to the scenario's folder stay relative to it in the guest; paths in settings are
    relative to the current folder, which for the guest's program is `/`.
    """
    content = source.read_bytes()
    files = {guest_path(source): content}
    given = [_value(text) for text in values]
    named = [(text, source.parent, _FOLDER) for text in _texts(tomllib.loads(content.decode()))]
    named += [(text, source.parent, _FOLDER) for text in given]
    named += [(text, Path.cwd(), "") for text in given]
    for text, folder, there in named:
        inside = text if text.startswith("/") else os.path.normpath(f"{there}/{text}")
        try:
            if not text or not (path := folder / text).is_file():
                continue
            content = path.read_bytes()
        except (OSError, ValueError):
            # No file can have this name.
            continue
        if files.setdefault(inside, content) != content:
            raise ScenarioError(
                f"{path}: in the guest it would take the place of another file, {inside}; "
                f"name it by its full path"
            )
    return files


def _value(text: str) -> str:
    """The value of a setting, which may be written as KEY=VALUE."""
    return text.rpartition("=")[2].strip().strip('"')


def _texts(value: object) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
