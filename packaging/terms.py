"""The licences of a wheel's airtcp-net apart from Rust: libbpf, libelf and zlib."""

from pathlib import Path

_OF_LIBELF = ("COPYING", "COPYING-GPLV2", "COPYING-LGPLV3")
"""libelf is under the LGPL 3 or the GPL 2, either or later."""
_LIBBPF = """\
airtcp-net in this wheel contains libbpf (https://github.com/libbpf/libbpf), unchanged, from the
sources in the crate libbpf-sys {version}, under the BSD 2-Clause License, which is next to
this file.
"""
_LIBELF = """
It also contains libelf, of elfutils (https://sourceware.org/elfutils/), and zlib
(https://zlib.net), unchanged, from the same crate. libelf may be distributed under the GNU Lesser
General Public License, version 3 or later, or the GNU General Public License, version 2 or later:
the texts are next to this one. With airtcp's own sources, `make wheel WHEEL_BPF=1` links another
libelf in its place.
"""


def copy_terms(sources: Path, version: str, folder: Path, *, has_libelf: bool) -> None:
    """Copies the licences of linked libraries from the crate's `sources` into `folder`."""
    folder.mkdir(parents=True)
    (folder / "libbpf").write_bytes((sources / "libbpf" / "LICENSE.BSD-2-Clause").read_bytes())
    note = _LIBBPF
    if has_libelf:
        note += _LIBELF
        for name in _OF_LIBELF:
            (folder / name).write_bytes((sources / "elfutils" / name).read_bytes())
        (folder / "zlib").write_bytes((sources / "zlib" / "LICENSE").read_bytes())
    (folder / "README").write_text(note.format(version=version))
