"""QEMU as a process: started from a state or without, watched through its monitor, ended."""

import contextlib
import ctypes
import json
import os
import resource
import select
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from airtcp.kernel.guests.cache import KernelError

QEMU = "qemu-system-x86_64"
MEMORY_MIB = 512
"""A guest's memory: enough for windows of 64 MiB."""

OPTIONS = (
    # Isolated from this machine: no clock, no random numbers, no network.
    *("-machine", "pc,memory-backend=memory", "-m", str(MEMORY_MIB)),
    *("-accel", "tcg,thread=single", "-cpu", "qemu64", "-smp", "1", "-seed", "1"),
    # Two threads of QEMU advance the clock: the vCPU's by its instructions, and the main one past
    # the time in which it is halted. Only record mode has a lock that keeps the main thread from
    # doing so before the instructions up to the halt were counted. Nobody reads the record.
    *("-icount", "shift=0,align=off,sleep=off,rr=record,rrfile=/dev/null"),
    # A device state written while the machine is stopped lacks this section.
    *("-global", "migration.send-configuration=off"),
    *("-rtc", "base=2020-01-01T00:00:00,clock=vm"),
    *("-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot"),
    # The watchdog stops the clock of a booted guest while it sleeps: only QEMU's main thread runs
    # then, and the state is reproducible. A panic stops it as well.
    *("-device", "ib700", "-action", "watchdog=pause"),
    *("-device", "pvpanic", "-action", "panic=pause"),
)
"""An instruction takes a nanosecond: a machine of 1000 MIPS."""

_CPU_SECONDS = 3600
_SILENT_S = 60.0
"""Real time without any processor time after which a guest counts as hanging."""
_LOOK_S = 0.2
_CONSOLE_MAX = 1 << 20
_LAST_LINES = 8
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG (prctl(2))."""

_running: set["Machine"] = set()
_running_lock = threading.Lock()


class Machine:
    """A running QEMU. It ends with its `with` block."""

    def __init__(self, arguments: Sequence[str], console: Path) -> None:
        """Starts it, with its console in a file; `arguments` include `memory_arguments`.

        Raises:
            KernelError: QEMU is not installed, or does not start.
        """
        self._console = console
        ours, theirs = socket.socketpair()
        command = [
            *(qemu(), *OPTIONS, *arguments),
            *("-chardev", f"file,id=console,path={console}", "-serial", "chardev:console"),
            *("-chardev", f"socket,id=monitor,fd={theirs.fileno()}"),
            *("-mon", "chardev=monitor,mode=control"),
        ]
        with theirs, console.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(theirs.fileno(),),
                preexec_fn=_bounded,
            )
        self._monitor = ours
        self._unread = b""
        with _running_lock:
            _running.add(self)

    def __enter__(self) -> Self:
        """Negotiates the monitor's capabilities."""
        try:
            self._tell("qmp_capabilities")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends it, if still running."""
        self.end()

    def end(self) -> None:
        """Kills it and waits for its end."""
        self._process.kill()
        self._process.wait()
        self._monitor.close()
        with _running_lock:
            _running.discard(self)

    def kill(self) -> None:
        """Kills it; waiting threads are notified."""
        self._process.kill()

    def await_stop(self) -> None:
        """Waits until the guest stops its clock.

        Raises:
            KernelError: it ends before, or hangs.
        """
        for message in self._messages():
            if message.get("event") == "STOP":
                return
        raise self._error("the guest ended while it booted")

    def save_devices(self, path: Path) -> None:
        """Writes the state of a stopped guest's devices into a file; its memory has a separate one.

        Raises:
            KernelError: it fails.
        """
        # Migration to a file would be a third thread, which recording does not allow.
        self._tell("xen-save-devices-state", filename=str(path), live=True)

    def await_end(self) -> None:
        """Waits until the guest has powered off.

        Raises:
            KernelError: it panics, hangs, or writes endlessly.
        """
        for message in self._messages():
            if message.get("event") == "GUEST_PANICKED":
                raise self._error("the guest's kernel has panicked")
            if message.get("event") == "SHUTDOWN":
                # All output is written. QEMU itself may block on an unread monitor message.
                return
        status = self._process.wait()
        if status != 0:
            raise self._error(f"QEMU ended with {status}")

    def last_words(self) -> str:
        """The last lines of the console, for an error."""
        try:
            with self._console.open("rb") as file:
                file.seek(max(0, self._console.stat().st_size - 8192))
                text = file.read().decode("ascii", errors="replace")
        except OSError:
            return ""
        kept = "".join(one if one.isprintable() or one == "\n" else " " for one in text)
        lines = [line.strip() for line in kept.splitlines() if line.strip()]
        # The lines after a panic's first one are registers.
        panics = [place for place, line in enumerate(lines) if "Kernel panic" in line]
        lines = lines[panics[0] :][:_LAST_LINES] if panics else lines[-_LAST_LINES:]
        return f"; its last lines: {' | '.join(lines)}" if lines else ""

    def _tell(self, command: str, **arguments: object) -> None:
        self._asked(command, **arguments)

    def _asked(self, command: str, **arguments: object) -> dict[str, object]:
        """Sends a command to the monitor, and returns its answer."""
        line = json.dumps({"execute": command, "arguments": arguments})
        try:
            self._monitor.sendall(line.encode() + b"\n")
        except OSError as error:
            raise self._error("QEMU has ended") from error
        for message in self._messages():
            if "return" in message:
                answer = message["return"]
                return answer if isinstance(answer, dict) else {}
            if "error" in message:
                raise self._error(f"QEMU refuses {command}: {message['error']}")
        raise self._error("QEMU has ended")

    def _messages(self) -> Iterator[dict[str, object]]:
        """Messages of the monitor, until QEMU ends.

        Raises:
            KernelError: the guest hangs, or writes endlessly.
        """
        used, since = 0.0, time.monotonic()
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if newline:
                self._unread = rest
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message
                continue
            if select.select([self._monitor], [], [], _LOOK_S)[0]:
                with contextlib.suppress(ConnectionResetError):
                    if read := self._monitor.recv(65_536):
                        self._unread += read
                        continue
                return
            if self._console.stat().st_size > _CONSOLE_MAX:
                raise self._error("the guest's console has more than 1 MiB")
            now = _cpu_seconds(self._process.pid)
            if now > used:
                used, since = now, time.monotonic()
            elif time.monotonic() - since > _SILENT_S:
                raise self._error("the guest waits for ever")

    def _error(self, words: str) -> KernelError:
        return KernelError(f"{words}{self.last_words()}")


def memory_arguments(file: Path, *, kept: bool) -> list[str]:
    """QEMU's arguments for a guest with its memory in a file; `kept` writes changes back."""
    share = "on" if kept else "off"
    size = f"{MEMORY_MIB}M"
    return ["-object", f"memory-backend-file,id=memory,size={size},mem-path={file},share={share}"]


def devices_arguments(file: Path) -> list[str]:
    """QEMU's arguments for a guest that resumes from its devices' state."""
    return ["-incoming", f"exec:cat {shlex.quote(str(file))}"]


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
    """The output of QEMU's `--version`."""
    done = subprocess.run([qemu(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


@contextlib.contextmanager
def no_machine_left() -> Iterator[None]:
    """Ends all machines of this process if an exception leaves the block, including Ctrl-C."""
    try:
        yield
    except BaseException:
        with _running_lock:
            for machine in _running:
                machine.kill()
        raise


_libc = ctypes.CDLL(None, use_errno=True)


def _bounded() -> None:
    """In the new process: it dies with this one, and its processor time is bounded."""
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cpu_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
