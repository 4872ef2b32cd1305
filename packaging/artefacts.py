"""The table of a release: how each part is made, in which clean root it is tried, and how."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import contents
import debian
import oci
import profile_guided
import programs
import router
import wheel
import wheelhouse
from artefact import PACKAGES, Artefact, Workshop
from clean_root import ARCHITECTURES, PYTHONS, Entered, Root, entered
from targets import TARGETS, Target, target
from trials import FailedError

FIRST_ANSWER = "airtcp compare lossy-pipe --set link.loss.rate=0.01"
"""The first comparison of docs/start/install.md."""
CAPTURED = "airtcp run lossy-pipe --pcap /tmp/flow.pcapng"
DIAGNOSED = "airtcp diagnose /tmp/flow.pcapng --max-cpu 5"
"""A capture is diagnosed without the extras."""
QUICK_ANSWER = "airtcp compare lossy-pipe --remedy bbr --seeds 2 --set 'duration=10 s'"
"""A shorter one, for a processor that is emulated."""
_NEWEST, _OLDEST = "trixie", "bookworm"
"""The newest and the oldest release of Debian with a Python that airtcp runs with."""

_DIGESTS, _SAME_DIGESTS = f"{PACKAGES}/digests.json", f"{PACKAGES}/same_digests.py"
_UNPACKED_NET = "/unpacked/airtcp/bin/airtcp-net"


def answers(root: Root) -> tuple[str, ...]:
    """Commands that an installed airtcp answers."""
    answer = (QUICK_ANSWER,) if root.is_emulated else (FIRST_ANSWER, CAPTURED, DIAGNOSED)
    return ("airtcp --version", "airtcp run lossy-pipe", *answer, "airtcp gateway --help")


@dataclass(frozen=True)
class Wheel(Artefact):
    """The Python package for one target."""

    of: Target
    root: Root

    @property
    def name(self) -> str:
        return f"wheel {self.of.tag}"

    def files(self) -> tuple[str, ...]:
        return (f"airtcp-{debian.version()}-cp311-abi3-{self.of.tag}.whl",)

    def make(self, place: Workshop) -> None:
        is_guided = profile_guided.obstacle() is None
        wheel.write(place.dist, self.of, bpf=self.of.has_bpf, is_guided=is_guided)

    def shortfall(self) -> str | None:
        reason = profile_guided.obstacle()
        return reason and f"the core is built without a profile, so it is slower: {reason}"

    def problems(self, place: Workshop) -> list[str]:
        return contents.problems(place.dist / self.files()[0])

    def put_into(self, inside: Entered, place: Workshop, root: Root) -> None:
        """Copies the wheel and its libraries' for a root's Python into it."""
        folder = place.wheels / f"{self.of.tag}-{PYTHONS[root.suite]}"
        folder.mkdir(parents=True, exist_ok=True)
        wheelhouse.fetch(place.dist / self.files()[0], self.of, PYTHONS[root.suite], folder)
        inside.put(folder, PACKAGES)

    @contextmanager
    def enter(self, place: Workshop) -> Iterator[Entered]:
        with entered(self.root.folder(place.roots)) as inside:
            self.put_into(inside, place, self.root)
            with tempfile.TemporaryDirectory(dir=place.roots) as folder:
                script, expected = programs.ROOT / "packaging/same_digests.py", Path(folder) / "is"
                subprocess.run([sys.executable, script, "--write", expected], check=True)
                inside.put(script, _SAME_DIGESTS)
                inside.put(expected, _DIGESTS)
            yield inside

    def installing(self) -> tuple[str, ...]:
        install = f"pip install --quiet --no-index --find-links /{PACKAGES} airtcp"
        return ("python3 -m venv /venv", install)

    def using(self) -> tuple[str, ...]:
        about = "/venv/lib/python3*/site-packages/airtcp-*.dist-info"
        of_others = " ".join(f"{about}/{name}" for name in contents.OF_OTHERS)
        same_digests = f"/venv/bin/python /{_SAME_DIGESTS} /{_DIGESTS}"
        return (*answers(self.root), same_digests, f"wc -c {of_others}")


@dataclass(frozen=True)
class MuslWheel(Wheel):
    """The Python package for musl; Debian can run only its static program."""

    untried: ClassVar[dict[str, str]] = {
        "the core": "Debian has no Python for musl, and debootstrap makes no Alpine"
    }

    @contextmanager
    def enter(self, place: Workshop) -> Iterator[Entered]:
        # Not the libraries, which are for a Python that is not there.
        with Artefact.enter(self, place) as inside:
            yield inside

    def installing(self) -> tuple[str, ...]:
        extract = f"python3 -m zipfile --extract /{PACKAGES}/{self.files()[0]} /unpacked"
        return (extract, f"chmod +x {_UNPACKED_NET}")

    def using(self) -> tuple[str, ...]:
        return (f"{_UNPACKED_NET} --help", f"{_UNPACKED_NET} gateway --help")


@dataclass(frozen=True)
class DebianPackage(Artefact):
    """The wheel and its libraries for one release of Debian, built in that release."""

    of: Wheel
    root: Root

    @property
    def name(self) -> str:
        return f"Debian package {ARCHITECTURES[self.root.machine]}"

    @property
    def needs(self) -> tuple[Artefact, ...]:
        return (self.of,)

    def shortfall(self) -> str | None:
        return self.of.shortfall()

    def files(self) -> tuple[str, ...]:
        return (f"airtcp_{debian.version()}-1_{ARCHITECTURES[self.root.machine]}.deb",)

    def make(self, place: Workshop) -> None:
        with entered(self.root.folder(place.roots)) as inside:
            self.of.put_into(inside, place, self.root)
            for name in ("packaging", "Cargo.toml", "LICENSE-MIT"):
                inside.put(debian.ROOT / name, f"build/{name}")
            made = inside.run(
                "python3 -m venv /venv && /venv/bin/python /build/packaging/debian.py "
                f"/{PACKAGES}/{self.of.files()[0]} /made --wheels /{PACKAGES}"
            )
            if made.returncode != 0:
                raise FailedError(f"debian.py: status {made.returncode}\n{made.stderr}")
            shutil.copy(inside.take(f"made/{self.files()[0]}"), place.dist)

    def installing(self) -> tuple[str, ...]:
        return (f"dpkg --install /{PACKAGES}/{self.files()[0]}",)

    def using(self) -> tuple[str, ...]:
        return (
            *answers(self.root),
            "wc -c /usr/share/man/man1/airtcp-compare.1",
            "bash -n /usr/share/bash-completion/completions/airtcp",
            "dpkg --remove airtcp && ! test -e /usr/lib/airtcp",
        )


@dataclass(frozen=True)
class Image(Artefact):
    """A container image: a minimal Debian with the package installed."""

    of: DebianPackage
    root: Root
    untried: ClassVar[dict[str, str]] = {
        "podman load": "no container engine: the trial unpacks the layers and runs the command"
    }

    @property
    def name(self) -> str:
        return f"image {ARCHITECTURES[self.root.machine]}"

    @property
    def needs(self) -> tuple[Artefact, ...]:
        return (self.of,)

    def shortfall(self) -> str | None:
        return self.of.shortfall()

    def files(self) -> tuple[str, ...]:
        return (f"airtcp-{debian.version()}-{ARCHITECTURES[self.root.machine]}.oci.tar",)

    def make(self, place: Workshop) -> None:
        with self.of.enter(place) as inside, tempfile.TemporaryDirectory(dir=place.roots) as folder:
            lines = [*self.of.installing(), f"rm -r /{PACKAGES}", "mkdir /work"]
            installed = inside.run(" && ".join(lines))
            if installed.returncode != 0:
                raise FailedError(f"dpkg: status {installed.returncode}\n{installed.stderr}")
            whole = Path(folder) / "whole"
            inside.copy_to(whole)
            file = place.dist / self.files()[0]
            oci.write(whole, ARCHITECTURES[self.root.machine], file, debian.version())

    @contextmanager
    def enter(self, place: Workshop) -> Iterator[Entered]:
        with tempfile.TemporaryDirectory(dir=place.roots) as folder:
            whole = Path(folder) / "whole"
            whole.mkdir()
            command = oci.unpack(place.dist / self.files()[0], whole)
            if command != ["airtcp"]:
                raise FailedError(f"{self.files()[0]} runs {command}: expected airtcp")
            with entered(whole) as inside:
                yield inside

    def installing(self) -> tuple[str, ...]:
        return ()

    def using(self) -> tuple[str, ...]:
        return answers(self.root)


@dataclass(frozen=True)
class Router(Artefact):
    """A static airtcp-gateway for OpenWrt, for opkg and for apk."""

    of: Target
    architecture: str
    """OpenWrt's word for the processor."""
    root: Root
    untried: ClassVar[dict[str, str]] = {
        "opkg install, apk add": "neither program is in Debian: the trial unpacks the archives",
        "procd, UCI, ujail": "they take a router with OpenWrt",
    }

    @property
    def name(self) -> str:
        return f"gateway {self.architecture}"

    def files(self) -> tuple[str, ...]:
        stem = f"{router.NAME}_{debian.version()}-1_{self.architecture}"
        return (stem, f"{stem}.ipk", f"{stem}.apk")

    def make(self, place: Workshop) -> None:
        program = programs.build(router.NAME, "release", self.of)
        shutil.copy(program, place.dist / self.files()[0])
        router.write(program, self.architecture, place.dist)

    def problems(self, place: Workshop) -> list[str]:
        program = place.dist / self.files()[0]
        command = ["readelf", "--wide", "--program-headers", program]
        headers = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.search(r"^\s+INTERP\b", headers, re.MULTILINE)
        return [f"{program.name} is not static: it has an interpreter"] if found else []

    def installing(self) -> tuple[str, ...]:
        _, ipk, _ = (f"/{PACKAGES}/{name}" for name in self.files())
        return (f"tar -xzOf {ipk} ./data.tar.gz | tar -xz --keep-directory-symlink -C /",)

    def using(self) -> tuple[str, ...]:
        plain, _, apk = (f"/{PACKAGES}/{name}" for name in self.files())
        installed = f"usr/sbin/{router.NAME}"
        return (
            f"{router.NAME} --version",
            f"{router.NAME} --help",
            f"cmp {plain} /{installed}",
            f"tar -xzOf {apk} {installed} | cmp - {plain}",
        )


_OF_LIBC = {"glibc": Wheel, "musl": MuslWheel}
WHEELS = tuple(
    _OF_LIBC[one.libc](one, Root(_OLDEST if one.machine == "x86_64" else _NEWEST, one.machine))
    for one in TARGETS
)
DEBIAN_PACKAGES = tuple(
    DebianPackage(one, Root(_NEWEST, one.of.machine)) for one in WHEELS if one.of.libc == "glibc"
)
ARTEFACTS: tuple[Artefact, ...] = (
    Router(target("x86_64-unknown-linux-musl"), "x86_64", Root(_NEWEST, "x86_64")),
    Router(target("aarch64-unknown-linux-musl"), "aarch64_generic", Root(_NEWEST, "aarch64")),
    *WHEELS,
    *DEBIAN_PACKAGES,
    *(Image(one, one.root) for one in DEBIAN_PACKAGES),
)
"""In the order in which they are made."""
