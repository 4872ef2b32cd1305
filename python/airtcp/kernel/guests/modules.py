"""Modules of a kernel: their files, their dependencies, and their load order.

A module contains its dependencies (section .modinfo, `depends=`), so that no depmod is needed.
"""

import gzip
import lzma
import shutil
import struct
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import PurePath

_SUFFIXES = (".ko", ".ko.xz", ".ko.gz", ".ko.zst")


def module_name(path: str) -> str | None:
    """The name of the module in a file, as `lsmod` prints it; None if the file is not a module."""
    name = PurePath(path).name
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix).replace("-", "_")
    return None


def unpacked(path: str, content: bytes) -> bytes:
    """A module's content, decompressed.

    Raises:
        ValueError: it is damaged, or its compression is not supported here.
    """
    try:
        if path.endswith(".xz"):
            return lzma.decompress(content)
        if path.endswith(".gz"):
            return gzip.decompress(content)
        if path.endswith(".zst"):
            return _unpacked_zstd(content)
    except (lzma.LZMAError, EOFError, OSError) as error:
        raise ValueError(f"{path}: cannot be decompressed ({error})") from error
    return content


def _unpacked_zstd(content: bytes) -> bytes:
    program = shutil.which("zstd")
    if program is None:
        raise ValueError("zstd is not installed, which its modules are compressed with")
    done = subprocess.run(
        [program, "--decompress", "--stdout"], input=content, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise ValueError(f"zstd: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def dependencies(module: bytes) -> tuple[str, ...]:
    """The names of the modules that a module (an ELF file) needs.

    Raises:
        ValueError: not a module.
    """
    for entry in _information(module).split(b"\0"):
        if entry.startswith(b"depends="):
            names = entry.removeprefix(b"depends=").decode("ascii", errors="replace")
            return tuple(name.replace("-", "_") for name in names.split(",") if name)
    return ()


def _information(module: bytes) -> bytes:
    """The section .modinfo of a 64-bit little-endian ELF file."""
    try:
        if module[:6] != b"\x7fELF\x02\x01":
            raise ValueError("expected a 64-bit little-endian ELF file")
        (start,) = struct.unpack_from("<Q", module, 0x28)
        size, count, names = struct.unpack_from("<HHH", module, 0x3A)

        def section(number: int) -> tuple[int, int, int]:
            at = start + number * size
            (name,) = struct.unpack_from("<I", module, at)
            offset, length = struct.unpack_from("<QQ", module, at + 0x18)
            return name, offset, length

        _, texts, _ = section(names)
        for number in range(count):
            name, offset, length = section(number)
            if module[texts + name :].startswith(b".modinfo\0") if name else False:
                return module[offset : offset + length]
    except struct.error as error:
        raise ValueError("the ELF file ends early") from error
    raise ValueError("no section .modinfo: not a kernel module")


def in_order(wanted: Iterable[str], needs: Mapping[str, Iterable[str]]) -> list[str]:
    """`wanted` and all their dependencies, each after its dependencies.

    Names missing in `needs` are built in, and omitted.

    Raises:
        ValueError: the dependencies are cyclic.
    """
    order: list[str] = []
    under_way: set[str] = set()

    def visit(name: str) -> None:
        if name in order or name not in needs:
            return
        if name in under_way:
            raise ValueError(f"module {name} needs itself")
        under_way.add(name)
        for other in sorted(needs[name]):
            visit(other)
        under_way.discard(name)
        order.append(name)

    for name in wanted:
        visit(name)
    return order
