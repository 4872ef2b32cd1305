"""A guest: a kernel in virtual time, as a process of this machine.

QEMU derives time from the number of instructions (`-icount`); when the guest idles, its clock
jumps. So other load on this machine changes no result, and no run is late. A guest boots once; its
state after booting is saved, and every run starts from it.
"""

import hashlib
import os
import platform
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from airtcp.core.net import find_program
from airtcp.kernel.guests import initramfs
from airtcp.kernel.guests.archive import Entry
from airtcp.kernel.guests.cache import Kernel, KernelError
from airtcp.kernel.guests.machine import (
    OPTIONS,
    Machine,
    devices_arguments,
    memory_arguments,
    qemu,
    qemu_version,
)
from airtcp.kernel.guests.modules import in_order
from airtcp.kernel.guests.protocol import (
    SIZE,
    Done,
    Job,
    read_results,
    told_failure,
    write_work,
    written_work,
)

_KERNEL_WORDS = (
    "console=ttyS0 quiet panic=-1 oops=panic "
    "random.trust_cpu=off random.trust_bootloader=off nokaslr "
    # These cost instructions without changing packets: a packet takes half the time without them.
    "mitigations=off init_on_alloc=0 init_on_free=0 hardened_usercopy=off apparmor=0 selinux=0 "
    "audit=0 sysctl.kernel.watchdog=0 psi=0 cgroup_disable=memory preempt=none "
    # These replace calibration by waiting for timers.
    "tsc=reliable tsc_early_khz=1000000 lpj=4000000 no_timer_check"
)

_DISCIPLINES = ("fq", "codel", "fq_codel", "cake", "pie", "fq_pie", "tbf", "netem")
"""Disciplines to load."""

_MEMORY, _DEVICES = "memory", "devices"
"""File names of a saved state."""

_STATES = 3
"""Maximum number of saved states per kernel: other versions of airtcp-net, or other files."""

_booting = threading.Lock()


@dataclass(frozen=True)
class Guest:
    """A kernel with airtcp-net, to run jobs in virtual time."""

    kernel: Kernel
    program: str
    """The path of airtcp-net."""
    more: tuple[Entry, ...] = ()
    """Additional files."""

    @classmethod
    def of(cls, kernel: Kernel, more: Sequence[Entry] = ()) -> "Guest":
        """A guest with this machine's airtcp-net.

        Raises:
            KernelError: QEMU is not installed, or the machine is not x86-64.
            AirtcpError: airtcp-net is missing.
        """
        if platform.machine() != "x86_64":
            raise KernelError(
                f"this machine is {platform.machine()}: kernels in virtual time are x86-64 ones, "
                "and use this machine's airtcp-net"
            )
        qemu()
        return cls(kernel, find_program(), tuple(more))

    @cached_property
    def modules(self) -> list[str]:
        """The modules to load: the link's device, congestion controls, disciplines."""
        wanted = ["tun", *(f"tcp_{name}" for name in self.kernel.can.congestion_controls)]
        return in_order([*wanted, *(f"sch_{name}" for name in _DISCIPLINES)], self.kernel.needs)

    @cached_property
    def files(self) -> bytes:
        """Its initial file system."""
        return initramfs.initramfs(self.kernel, Path(self.program), self.modules, self.more)

    @cached_property
    def digest(self) -> str:
        """Hash of a run's inputs apart from its jobs: kernel, airtcp-net, QEMU, its arguments."""
        parts = [
            self.kernel.digest.encode(),
            hashlib.sha256(self.files).digest(),
            qemu_version().encode(),
            " ".join((*OPTIONS, _KERNEL_WORDS, str(SIZE))).encode(),
        ]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def run(self, jobs: Sequence[Job], files: Mapping[str, bytes] | None = None) -> list[Done]:
        """Runs the jobs one after the other, and returns their results.

        Args:
            jobs: the jobs to run; a job's timing depends slightly on earlier ones.
            files: content by absolute path, for the jobs to read.

        Raises:
            KernelError: the guest crashed, hangs, or wrote invalid data; with its last lines.
            OSError: a file cannot be written here.
        """
        work = written_work(jobs, files or {})
        state = self._booted()
        with tempfile.TemporaryDirectory(prefix="airtcp-guest-") as name:
            folder = Path(name)
            arguments = [
                *_shared_arguments(folder),
                *memory_arguments(state / _MEMORY, kept=False),
                *devices_arguments(state / _DEVICES),
            ]
            write_work(folder / "shared", work)
            try:
                with Machine(arguments, folder / "console") as machine:
                    machine.await_end()
                    return self._results(machine, folder / "shared", len(jobs))
            except KernelError as error:
                raise KernelError(f"kernel {self.kernel.name}: {error}") from None

    def _results(self, machine: Machine, shared: Path, jobs: int) -> list[Done]:
        try:
            return read_results(shared, jobs)
        except KernelError as error:
            raise KernelError(f"{error}{machine.last_words()}") from None

    def _booted(self) -> Path:
        """The folder with the guest's state after its boot, which is created if missing."""
        state = self.kernel.folder / f"booted-{self.digest[:32]}"
        with _booting:
            try:
                # Eviction is least recently used.
                os.utime(state)
            except FileNotFoundError:
                self._boot(state)
                kept = sorted(self.kernel.folder.glob("booted-*"), key=_age)
                for old in kept[_STATES:]:
                    _discard(old)
        return state

    def _boot(self, state: Path) -> None:
        with tempfile.TemporaryDirectory(prefix=".boot-", dir=self.kernel.folder) as name:
            folder = Path(name)
            (made := folder / "state").mkdir()
            arguments = [
                *_shared_arguments(folder),
                *self._kernel_arguments(folder),
                *memory_arguments(made / _MEMORY, kept=True),
            ]
            try:
                with Machine(arguments, folder / "console") as machine:
                    machine.await_stop()
                    # A panic stops the clock as well.
                    if "Kernel panic" in machine.last_words():
                        raise KernelError(f"it panicked as it booted{machine.last_words()}")
                    machine.save_devices(made / _DEVICES)
            except KernelError as error:
                told = told_failure(folder / "shared")
                raise KernelError(f"kernel {self.kernel.name}: {told}{error}") from None
            try:
                made.rename(state)
            except OSError:
                # Another process may have booted it in the meantime, to the same state.
                if not (state / _DEVICES).is_file():
                    raise

    def _kernel_arguments(self, folder: Path) -> list[str]:
        """QEMU's arguments for a guest that boots; creates its files."""
        (archive := folder / "initramfs").write_bytes(self.files)
        return [
            *("-kernel", str(self.kernel.image), "-initrd", str(archive)),
            *("-append", f"{_KERNEL_WORDS} -- guest {initramfs.MODULES}"),
        ]


def _shared_arguments(folder: Path) -> list[str]:
    """QEMU's arguments for the memory shared with the guest; creates its file."""
    (shared := folder / "shared").touch()
    os.truncate(shared, SIZE)
    return [
        *("-object", f"memory-backend-file,id=shared,share=on,size={SIZE},mem-path={shared}"),
        *("-device", "ivshmem-plain,memdev=shared,master=on"),
    ]


def _discard(state: Path) -> None:
    if state.is_dir():
        shutil.rmtree(state, ignore_errors=True)
    else:
        state.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
