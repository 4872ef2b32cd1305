"""A guest: a kernel that runs in virtual time as a process of this machine.

QEMU counts instructions and calls them time (`-icount`); where the guest waits, its clock jumps. So
nothing that this machine does meanwhile changes a result, and no run is late.
"""

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from airtcp.kernels import initramfs
from airtcp.kernels.archive import Entry
from airtcp.kernels.cache import Kernel, KernelError
from airtcp.kernels.modules import in_order
from airtcp.kernels.protocol import SIZE, Done, Job, read_results, written_work
from airtcp.net import find_program

QEMU = "qemu-system-x86_64"
MEMORY_MIB = 512
"""A guest's memory: enough for windows of 64 MiB."""

_OPTIONS = (
    # Nothing of this machine enters: no clock, no random numbers, no network.
    *("-machine", "pc", "-accel", "tcg,thread=single", "-cpu", "qemu64", "-smp", "1"),
    *("-icount", "shift=0,align=off,sleep=off", "-seed", "1"),
    *("-rtc", "base=2020-01-01T00:00:00,clock=vm"),
    *("-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot"),
)
"""An instruction takes a nanosecond: a machine of 1000 MIPS."""

_KERNEL_WORDS = (
    "console=ttyS0 quiet panic=-1 oops=panic "
    "random.trust_cpu=off random.trust_bootloader=off "
    # What costs instructions and changes no packet: a packet takes half the time without.
    "mitigations=off init_on_alloc=0 init_on_free=0 hardened_usercopy=off apparmor=0 audit=0 "
    "nowatchdog psi=0 cgroup_disable=memory preempt=none "
    # What would be found out by waiting for timers.
    "tsc=reliable tsc_early_khz=1000000 lpj=4000000 no_timer_check"
)

_CPU_SECONDS = 3600
_SILENT_S = 60.0
"""A guest that uses no processor time for so long, in real time, waits for ever."""

_LOOK_S = 0.1
_CONSOLE_MOST = 1 << 20
_LAST_LINES = 8
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG (prctl(2))."""

_running: set["subprocess.Popen[bytes]"] = set()
_running_lock = threading.Lock()


@dataclass(frozen=True)
class Guest:
    """A kernel with airtcp-net in it, to run jobs in virtual time. Each run is a new boot."""

    kernel: Kernel
    program: str
    """The path of airtcp-net."""
    more: tuple[Entry, ...] = ()
    """Further files in it."""

    @classmethod
    def of(cls, kernel: Kernel, more: Sequence[Entry] = ()) -> "Guest":
        """A guest with this machine's airtcp-net.

        Raises:
            KernelError: QEMU is not installed.
            AirtcpError: airtcp-net is not there.
        """
        qemu()
        return cls(kernel, find_program(), tuple(more))

    @cached_property
    def modules(self) -> list[str]:
        """The modules that are loaded: the device of the link, congestion controls, disciplines."""
        wanted = ["tun", *(f"tcp_{name}" for name in self.kernel.can.congestion_controls)]
        wanted += [f"sch_{name}" for name in ("fq", "codel", "fq_codel", "cake", "fq_pie", "netem")]
        return in_order(wanted, self.kernel.needs)

    @cached_property
    def files(self) -> bytes:
        """The file system that it starts with."""
        return initramfs.initramfs(self.kernel, Path(self.program), self.modules, self.more)

    @cached_property
    def digest(self) -> str:
        """What a run depends on beside its jobs: kernel, airtcp-net, QEMU and how it is called."""
        import hashlib

        parts = [
            self.kernel.digest.encode(),
            hashlib.sha256(self.files).digest(),
            qemu_version().encode(),
            " ".join((*_OPTIONS, _KERNEL_WORDS, str(MEMORY_MIB))).encode(),
        ]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def run(self, jobs: Sequence[Job], files: Mapping[str, bytes] | None = None) -> list[Done]:
        """Boots, runs the jobs one after the other, and returns what each gave.

        Args:
            jobs: what to run; a job's timing depends a little on those before it.
            files: content by absolute path, for the jobs to read.

        Raises:
            KernelError: the guest has crashed, or hangs, or wrote nonsense; with its last lines.
            OSError: a file cannot be written here.
        """
        work = written_work(jobs, files or {})
        with tempfile.TemporaryDirectory(prefix="airtcp-guest-") as name:
            folder = Path(name)
            shared, archive, console = folder / "shared", folder / "initramfs", folder / "console"
            shared.write_bytes(work)
            os.truncate(shared, SIZE)
            archive.write_bytes(self.files)
            status = _finished(self._command(shared, archive, console), console)
            try:
                if status != 0:
                    raise KernelError(f"QEMU ended with {status}")
                return read_results(shared, len(jobs))
            except KernelError as error:
                raise KernelError(
                    f"kernel {self.kernel.name}: {error}{_last_words(console)}"
                ) from None

    def _command(self, shared: Path, archive: Path, console: Path) -> list[str]:
        return [
            qemu(),
            *_OPTIONS,
            *("-m", str(MEMORY_MIB)),
            *("-object", f"memory-backend-file,id=shared,share=on,size={SIZE},mem-path={shared}"),
            *("-device", "ivshmem-plain,memdev=shared,master=on"),
            *("-chardev", f"file,id=console,path={console}", "-serial", "chardev:console"),
            *("-kernel", str(self.kernel.image), "-initrd", str(archive)),
            *("-append", f"{_KERNEL_WORDS} -- guest {initramfs.MODULES}"),
        ]


def qemu() -> str:
    """The path of QEMU.

    Raises:
        KernelError: it is not installed.
    """
    found = shutil.which(QEMU)
    if found is None:
        raise KernelError(
            f"{QEMU} is not installed, in which kernels run in virtual time: "
            "`apt-get install --no-install-recommends qemu-system-x86` on Debian and Ubuntu, "
            "`dnf install qemu-system-x86-core` on Fedora"
        )
    return found


def qemu_version() -> str:
    """What QEMU says of its version."""
    done = subprocess.run([qemu(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


@contextlib.contextmanager
def no_guest_left() -> Iterator[None]:
    """Ends all guests of this process if an exception leaves the block, Ctrl-C too."""
    try:
        yield
    except BaseException:
        with _running_lock:
            for process in _running:
                process.kill()
        raise


def _finished(command: list[str], console: Path) -> int:
    """Runs QEMU to its end; returns its exit status.

    Raises:
        KernelError: the guest hangs, or writes without end.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=console.open("ab"),
        preexec_fn=_bounded,
    )
    with _running_lock:
        _running.add(process)
    try:
        used, since = 0.0, time.monotonic()
        while True:
            try:
                return process.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                pass
            if console.stat().st_size > _CONSOLE_MOST:
                raise KernelError(f"the guest's console has more than 1 MiB{_last_words(console)}")
            now = _cpu_seconds(process.pid)
            if now > used:
                used, since = now, time.monotonic()
            elif time.monotonic() - since > _SILENT_S:
                raise KernelError(f"the guest waits for ever{_last_words(console)}")
    finally:
        process.kill()
        process.wait()
        with _running_lock:
            _running.discard(process)


_libc = ctypes.CDLL(None, use_errno=True)


def _bounded() -> None:
    """In the new process: it dies with this one, and may not calculate for ever."""
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cpu_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _last_words(console: Path) -> str:
    """The last lines of the console, for an error."""
    try:
        with console.open("rb") as file:
            file.seek(max(0, console.stat().st_size - 8192))
            text = file.read().decode("ascii", errors="replace")
    except OSError:
        return ""
    printable = "".join(
        letter if letter.isprintable() or letter == "\n" else " " for letter in text
    )
    lines = [line.strip() for line in printable.splitlines() if line.strip()]
    return f"; its last lines: {' | '.join(lines[-_LAST_LINES:])}" if lines else ""
