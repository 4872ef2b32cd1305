"""Protocol of the memory shared between a guest and this process.

Lines of JSON, each an object with its kind as the only key; a line with `bytes` is followed by a
file's content. A guest's output is not trusted: lengths are checked against the available data,
names must be plain names, and anything unexpected is an error with its position.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp.kernel.guests.cache import KernelError

INPUT = 4096
INPUT_END = 16 << 20
SIZE = 256 << 20
"""Layout of the shared memory in bytes: work from INPUT to INPUT_END, results up to SIZE."""

_MAX_LINE = 16 << 20
_LENGTH = 8


@dataclass(frozen=True)
class Job:
    """A command for a guest."""

    command: tuple[str, ...]
    """Program and arguments; an empty program is airtcp-net."""
    collect: str = ""
    """A folder of the guest with further result files."""


@dataclass
class Done:
    """Result of a job."""

    status: int
    out: str
    err: str
    files: dict[str, bytes] = field(default_factory=dict)


def written_work(jobs: Sequence[Job], files: Mapping[str, bytes]) -> bytes:
    """The start of the shared memory, with files by their absolute path in the guest, and jobs.

    Raises:
        KernelError: it is too long.
    """
    work = bytearray()
    for path, content in files.items():
        work += _line({"file": {"path": path, "bytes": len(content)}}) + content
    work += _line({"run": [{"command": list(job.command), "collect": job.collect} for job in jobs]})
    if len(work) > INPUT_END - INPUT:
        raise KernelError(
            f"a guest takes {(INPUT_END - INPUT) >> 20} MiB of files; these are {len(work) >> 20}"
        )
    head = len(work).to_bytes(_LENGTH, "little") + bytes(INPUT - _LENGTH)
    return head + bytes(work)


def write_work(memory: Path, work: bytes) -> None:
    """Writes jobs into the file of a guest's shared memory, while its clock is stopped."""
    with memory.open("r+b") as shared:
        shared.write(work)


def read_results(memory: Path, jobs: int) -> list[Done]:
    """The results of `jobs` jobs, from the file of the shared memory.

    Raises:
        KernelError: the guest has not finished, reports an error, or wrote invalid data.
    """
    with memory.open("rb") as shared:
        head = shared.read(2 * _LENGTH)
        length = int.from_bytes(head[_LENGTH:], "little")
        if length > SIZE - INPUT_END:
            raise KernelError(f"the guest reports {length} bytes, more than there is room for")
        shared.seek(INPUT_END)
        return parsed_results(shared.read(length), jobs)


def told_failure(memory: Path) -> str:
    """The reason of a failure before the first job; "" without one."""
    try:
        read_results(memory, 0)
    except KernelError as error:
        return "" if "ended after 0" in str(error) else f"{error}; "
    return ""


def parsed_results(results: bytes, jobs: int) -> list[Done]:
    """The results of `jobs` jobs.

    Raises:
        KernelError: as `read_results`.
    """
    done: list[Done] = []
    at = 0
    while at < len(results):
        end = results.find(b"\n", at, at + _MAX_LINE)
        if end < 0:
            raise _unexpected(at, "a line without an end")
        try:
            told = json.loads(results[at:end])
            ((kind, value),) = told.items()
            at, begin = end + 1, at
            if kind == "job" and value["number"] == len(done) < jobs:
                done.append(
                    Done(_number(value["status"]), _text(value["out"]), _text(value["err"]))
                )
            elif kind == "file" and done and value["job"] == len(done) - 1:
                at = _take_file(done[-1], value, results, at)
            elif kind == "end":
                _check_end(value["failed"], len(done), jobs)
                return done
            else:
                raise ValueError(f"{kind!r} was not expected")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _unexpected(begin if at > end else at, str(error)) from error
    raise KernelError(f"the guest ended after {len(done)} of {jobs} jobs")


def _take_file(job: Done, told: Mapping[str, object], results: bytes, at: int) -> int:
    name, length = _text(told["name"]), _number(told["bytes"])
    if not name or "/" in name or "\0" in name or name in {".", ".."} or name in job.files:
        raise ValueError(f"{name!r} is not the name of a new file")
    if not 0 <= length <= len(results) - at:
        raise ValueError(f"a file of {length} bytes")
    job.files[name] = results[at : at + length]
    return at + length


def _check_end(failed: object, done: int, jobs: int) -> None:
    if failed is not None:
        raise KernelError(f"the guest could not work: {str(failed)[:2000]}")
    if done < jobs:
        raise ValueError(f"the end after {done} of {jobs} jobs")


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("expected a number")
    return value


def _unexpected(at: int, what: str) -> KernelError:
    return KernelError(f"the guest wrote something unexpected at byte {at}: {what[:500]}")
