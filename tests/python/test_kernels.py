"""Kernels in virtual time: archives, modules, packages, the cache, and a guest's files."""

import io
import json
import lzma
import os
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from airtcp.kernel.guests import KernelError, add, debian, known, remove, the_kernel
from airtcp.kernel.guests.archive import Entry, archive, character_device, file, folder, link
from airtcp.kernel.guests.capabilities import capabilities
from airtcp.kernel.guests.image import release
from airtcp.kernel.guests.libraries import libraries
from airtcp.kernel.guests.modules import dependencies, in_order, module_name, unpacked
from airtcp.kernel.guests.protocol import (
    INPUT,
    INPUT_END,
    SIZE,
    Job,
    parsed_results,
    read_results,
    written_work,
)


@pytest.mark.needs("cpio|busybox")
def test_an_archive_is_read_by_cpio(tmp_path: Path) -> None:
    cpio = shutil.which("cpio") or shutil.which("busybox") or ""
    content = archive(
        [
            file("bin/run", b"#!/bin/sh\n", executable=True),
            file("odd", b"12345"),
            file("empty", b""),
            link("init", "/bin/run"),
            folder("proc"),
        ]
    )
    command = [cpio, *(["cpio"] if "busybox" in cpio else []), "-i", "-d"]
    subprocess.run(command, input=content, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "bin/run").read_bytes() == b"#!/bin/sh\n"
    assert (tmp_path / "bin/run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "odd").read_bytes() == b"12345"
    assert (tmp_path / "empty").read_bytes() == b""
    assert (tmp_path / "init").readlink() == Path("/bin/run")
    assert (tmp_path / "proc").is_dir()


def test_an_archive_is_that_of_the_kernels_description() -> None:
    # buffer-format.rst: "070701", thirteen fields of eight hexadecimal digits, name, padding.
    written = archive([character_device("dev/console", 5, 1)])
    assert len(written) % 4 == 0
    at = written.index(b"dev/console\0") - 110
    fields = [int(written[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
    assert written[at : at + 6] == b"070701"
    assert fields[1] == 0o020600
    assert (fields[9], fields[10]) == (5, 1)
    assert fields[11] == len("dev/console\0")
    assert written.rstrip(b"\0").endswith(b"TRAILER!!!")


def test_an_archive_does_not_depend_on_the_order_of_its_entries() -> None:
    entries = [file("a", b"1"), file("b/c", b"2"), link("d", "a")]
    assert archive(entries) == archive(entries[::-1])


@pytest.mark.parametrize("path", ["/etc/passwd", "a/../b", "", "a//b", "./a"])
def test_a_path_that_is_not_within_the_archive_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="expected a relative path"):
        archive([Entry(path, 0o100644)])


def _module(depends: str) -> bytes:
    """An ELF file with nothing but a section .modinfo."""
    information = b"license=GPL\0depends=" + depends.encode() + b"\0name=x\0"
    names = b"\0.modinfo\0.shstrtab\0"
    body = information + names
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    at = 64 + len(body)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, 3, 2)
    sections = bytes(64)
    for name, offset, length in (
        (1, 64, len(information)),
        (10, 64 + len(information), len(names)),
    ):
        sections += struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, offset, length, 0, 0, 1, 0)
    return header + body + sections


def test_a_module_says_what_it_needs() -> None:
    assert dependencies(_module("")) == ()
    assert dependencies(_module("nf-conntrack,libcrc32c")) == ("nf_conntrack", "libcrc32c")
    for damaged in (b"", b"\x7fELF\x01", _module("a")[:-70], b"\x7fELF\x02\x01" + bytes(58)):
        with pytest.raises(ValueError, match=r"ELF|modinfo"):
            dependencies(damaged)


def test_compressed_modules_are_unpacked() -> None:
    assert unpacked("x.ko.xz", lzma.compress(b"module")) == b"module"
    with pytest.raises(ValueError, match="cannot be decompressed"):
        unpacked("x.ko.xz", b"nothing of the kind")
    assert module_name("lib/modules/6.1/kernel/net/sch_fq-pie.ko.xz") == "sch_fq_pie"
    assert module_name("modules.builtin") is None


def test_modules_are_loaded_after_those_that_they_need() -> None:
    needs = {"a": ["b", "c"], "b": ["c"], "c": [], "d": ["built_in"]}
    assert in_order(["a", "d"], needs) == ["c", "b", "a", "d"]
    assert in_order(["built_in"], needs) == []
    with pytest.raises(ValueError, match="needs itself"):
        in_order(["a"], {"a": ["b"], "b": ["a"]})


def test_a_kernel_can_what_its_modules_and_its_configuration_say() -> None:
    can = capabilities(
        ["tcp_bbr", "tcp_diag", "sch_cake", "tun"],
        ["tcp_cubic"],
        "CONFIG_NET_SCH_FQ_CODEL=y\nCONFIG_TCP_CONG_ADVANCED=y\nCONFIG_TCP_CONG_VENO=m\n"
        "CONFIG_MPTCP=y\nCONFIG_BPF_SYSCALL=y\n",
    )
    assert can.congestion_controls == ("bbr", "cubic", "reno")
    assert {"cake", "fq_codel", "pfifo"} <= set(can.disciplines)
    assert can.mptcp
    assert not can.bpf, "there are no types"


IMAGE = bytearray(0x400)
IMAGE[0x202:0x206] = b"HdrS"
IMAGE[0x20E:0x210] = (0x100).to_bytes(2, "little")
IMAGE[0x300:0x320] = b"6.9.3-test (a@b) #1 SMP\0".ljust(32, b"\0")


def test_an_image_says_its_release() -> None:
    assert release(bytes(IMAGE)) == "6.9.3-test"
    assert release(b"") is None
    assert release(bytes(0x400)) is None


def test_of_several_packages_the_newest_small_one_is_taken() -> None:
    packages = [
        "linux-image-6.1.0-9-cloud-amd64",
        "linux-image-6.1.0-56-cloud-amd64",
        "linux-image-6.1.0-57-amd64",
        "linux-image-6.12.117+deb12-cloud-amd64",
        "linux-image-6.1.0-58-cloud-amd64-unsigned",
        "linux-image-6.1-cloud-amd64",
    ]
    assert debian.newest("6.1", packages) == "linux-image-6.1.0-56-cloud-amd64"
    assert debian.newest("6.12", packages) == "linux-image-6.12.117+deb12-cloud-amd64"
    assert debian.newest("6.1", packages[2:3]) == "linux-image-6.1.0-57-amd64"
    assert debian.newest("5.10", packages) is None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _package(path: Path) -> Path:
    """A package with a kernel, as deb(5) describes it."""
    inside = io.BytesIO()
    with tarfile.open(fileobj=inside, mode="w:xz") as data:
        for name, content in {
            "./boot/vmlinuz-6.9.3-test": bytes(IMAGE),
            "./boot/config-6.9.3-test": b"CONFIG_MPTCP=y\n",
            "./lib/modules/6.9.3-test/kernel/drivers/net/tun.ko.xz": lzma.compress(_module("")),
            "./lib/modules/6.9.3-test/kernel/net/sch_cake.ko": _module("crc"),
            "./lib/modules/6.9.3-test/kernel/lib/crc.ko": _module(""),
            "./lib/modules/6.9.3-test/kernel/drivers/gpu.ko": _module(""),
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            data.addfile(member, io.BytesIO(content))
    written = b"!<arch>\n"
    for name, content in (("debian-binary", b"2.0"), ("data.tar.xz", inside.getvalue())):
        written += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        written += content + b"\n" * (len(content) % 2)
    path.write_bytes(written)
    return path


def test_a_package_becomes_a_kernel_of_the_cache(cache: Path, tmp_path: Path) -> None:
    kernel = add(package=_package(tmp_path / "kernel.deb"))
    assert (kernel.name, kernel.release) == ("6.9", "6.9.3-test")
    assert set(kernel.needs) == {"tun", "sch_cake", "crc"}, "no drivers of hardware"
    assert kernel.module("tun").read_bytes() == _module("")
    assert kernel.can.mptcp
    assert [one.digest for one in known()] == [kernel.digest]
    # The same again is the same; another content is not.
    assert add(package=tmp_path / "kernel.deb", name="again").digest == kernel.digest
    remove("6.9")
    assert [one.name for one in known()] == ["again"]


def test_an_image_needs_the_device_of_which_the_link_is_made(cache: Path, tmp_path: Path) -> None:
    image, modules = tmp_path / "vmlinuz", tmp_path / "modules"
    image.write_bytes(IMAGE)
    with pytest.raises(KernelError, match=r"no module tun.*--modules"):
        add(image=image)
    modules.mkdir()
    (modules / "tun.ko").write_bytes(_module(""))
    assert add(image=image, modules=modules).release == "6.9.3-test"
    image.write_bytes(b"no kernel")
    with pytest.raises(KernelError, match="expected a bzImage"):
        add(image=image, modules=modules)


def test_errors_say_what_to_do(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=r"airtcp kernels add debian:6\.1"):
        the_kernel("6.1")
    with pytest.raises(KernelError, match="expected one of machine, or the path of an image"):
        the_kernel("nowhere")
    with pytest.raises(KernelError, match="'/nowhere/bzImage': no such file or folder"):
        the_kernel("/nowhere/bzImage")
    with pytest.raises(KernelError, match="no Makefile in it"):
        the_kernel(str(tmp_path))
    (tmp_path / "text").write_text("no kernel")
    with pytest.raises(
        KernelError, match=r"expected an image \(bzImage\), a package \(\.deb\), or"
    ):
        the_kernel(str(tmp_path / "text"))
    with pytest.raises(KernelError, match="kernel 'nowhere': expected one of none"):
        remove("nowhere")
    with pytest.raises(KernelError, match="expected debian:VERSION"):
        add("fedora:6.1")
    with pytest.raises(KernelError, match="not a Debian package"):
        add(package=_damaged(tmp_path))
    with pytest.raises(KernelError, match="--name"):
        add(package=_package(tmp_path / "k.deb"), name="machine")


def _damaged(folder: Path) -> Path:
    path = folder / "damaged.deb"
    path.write_bytes(_package(path).read_bytes()[:300])
    return path


def test_a_damaged_description_is_an_error(cache: Path, tmp_path: Path) -> None:
    kernel = add(package=_package(tmp_path / "kernel.deb"))
    for text in ("", "[]", "{}", '{"format": 99}', '{"format": 1, "can": 3}'):
        (kernel.folder / "kernel.json").write_text(text)
        with pytest.raises(KernelError, match=r"airtcp kernels remove 6\.9"):
            the_kernel("6.9")


def test_no_apt_is_said(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(KernelError, match=r"--package FILE"):
        add("debian:6.1")


def test_no_qemu_is_said(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from airtcp.kernel.guests import Guest

    kernel = add(package=_package(tmp_path / "kernel.deb"))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(KernelError, match="apt-get install"):
        Guest.of(kernel)


def test_the_states_that_go_are_those_that_nobody_uses(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several versions of airtcp-net take turns: the oldest state may be the one that is needed."""
    from airtcp.kernel.guests import Guest

    kernel = add(package=_package(tmp_path / "kernel.deb"))
    monkeypatch.setattr(Guest, "digest", property(lambda guest: guest.program))

    def boot(_: Guest, state: Path) -> None:
        state.mkdir()
        (state / "devices").write_bytes(b"booted")

    monkeypatch.setattr(Guest, "_boot", boot)
    # Earlier versions kept a file.
    (old := kernel.folder / "booted-earlier").write_bytes(b"")
    os.utime(old, (0, 0))
    for made, program in enumerate("abc", start=1):
        state = Guest(kernel, program)._booted()
        os.utime(state, (made, made))
    assert not old.exists()
    assert (Guest(kernel, "a")._booted() / "devices").read_bytes() == b"booted"
    Guest(kernel, "d")._booted()
    kept = {path.name for path in kernel.folder.glob("booted-*")}
    assert kept == {"booted-a", "booted-c", "booted-d"}


def test_a_program_comes_with_its_libraries() -> None:
    found = libraries(Path("/bin/ls").resolve())
    assert any("libc.so" in str(path) for path in found)
    assert all(path.is_file() for path in found)


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


JOB = _line({"job": {"number": 0, "status": 0, "out": "1\n", "err": ""}})
END = _line({"end": {"failed": None}})
FILE = _line({"file": {"job": 0, "name": "a", "bytes": 3}}) + b"\n{}"


def test_results_are_read_with_their_files(tmp_path: Path) -> None:
    (done,) = parsed_results(JOB + FILE + END, 1)
    assert (done.status, done.out, done.files) == (0, "1\n", {"a": b"\n{}"})
    memory = tmp_path / "memory"
    with memory.open("wb") as shared:
        shared.write(bytes(8) + len(JOB + END).to_bytes(8, "little"))
        shared.seek(INPUT_END)
        shared.write(JOB + END + b"what was there before")
    assert read_results(memory, 1)[0].out == "1\n"


def test_work_is_where_the_guest_looks_for_it() -> None:
    work = written_work([Job(("", "measure"), "/out")], {"/s.toml": b"x=1"})
    assert int.from_bytes(work[:8], "little") == len(work) - INPUT
    file_line, run_line = work[INPUT:].replace(b"x=1", b"", 1).splitlines()
    assert json.loads(file_line) == {"file": {"path": "/s.toml", "bytes": 3}}
    assert json.loads(run_line) == {"run": [{"command": ["", "measure"], "collect": "/out"}]}
    with pytest.raises(KernelError, match="takes 15 MiB"):
        written_work([], {"/large": bytes(INPUT_END)})


@pytest.mark.parametrize(
    "results",
    [
        b"",
        b"no line",
        b"no JSON\n",
        b"[]\n",
        b"{}\n",
        b"{" * 5000 + b"\n",
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
        JOB,
        END,
        JOB + JOB + END,
        FILE + END,
        _line({"job": {"number": 1, "status": 0, "out": "", "err": ""}}) + END,
        _line({"job": {"number": 0, "status": "0", "out": "", "err": ""}}) + END,
        _line({"job": {"number": 0, "status": 0, "out": None, "err": ""}}) + END,
        _line({"job": {"number": 0}}) + END,
        JOB + _line({"file": {"job": 0, "name": "../../etc/passwd", "bytes": 0}}) + END,
        JOB + _line({"file": {"job": 0, "name": "", "bytes": 0}}) + END,
        JOB + _line({"file": {"job": 0, "name": "a", "bytes": 10**9}}) + END,
        JOB + _line({"file": {"job": 0, "name": "a", "bytes": -1}}) + END,
        JOB + _line({"file": {"job": 0, "name": "a", "bytes": True}}) + END,
        JOB + FILE + FILE + END,
        JOB + _line({"end": {"failed": "no module"}}),
        JOB + _line({"end": {}}),
    ],
)
def test_what_a_guest_writes_is_not_trusted(results: bytes) -> None:
    with pytest.raises(KernelError):
        parsed_results(results, 1)


def test_a_length_beyond_the_memory_is_refused(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.write_bytes(bytes(8) + SIZE.to_bytes(8, "little"))
    with pytest.raises(KernelError, match="more than there is room for"):
        read_results(memory, 1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder that looks like a kernel's source tree; its Makefile is given by each test."""
    folder = tmp_path / "linux"
    (folder / "net/ipv4").mkdir(parents=True)
    (folder / "Kconfig").write_text("")
    (folder / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 9\nSUBLEVEL = 3\n")
    return folder


def _build_script(tree: Path, configuration: str, build: str) -> None:
    """A Makefile that answers as the kernel's: a configuration, then an image."""
    recipe = f"""
allnoconfig olddefconfig:
\tcp $(or $(KCONFIG_ALLCONFIG),{tree / "wanted"}) $(O)/.config
\t{configuration}
bzImage:
\t{build}
"""
    head = "VERSION = 6\nPATCHLEVEL = 9\nSUBLEVEL = 3\n"
    (tree / "Makefile").write_text(head + recipe)


def test_a_kernel_is_built_from_its_source(
    cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.kernel.guests.source._check_tools", lambda: None)
    (tree / "image").write_bytes(bytes(IMAGE))
    build = "@echo '  CC      net/ipv4/tcp.o'; mkdir -p $(O)/arch/x86/boot; "
    _build_script(tree, "@true", build + f"cp {tree / 'image'} $(O)/arch/x86/boot/bzImage")
    told: list[tuple[float, str]] = []
    kernel = add(tree=tree, name="mine", progress=lambda share, words: told.append((share, words)))
    assert kernel.release == "6.9.3-test"
    assert kernel.source == f"source {tree}"
    assert {"bbr", "cubic", "illinois", "veno"} <= set(kernel.can.congestion_controls)
    assert {"cake", "fq_codel", "fq_pie", "fq"} <= set(kernel.can.disciplines)
    assert told[-1][1] == "net/ipv4/tcp.o"
    assert 0 < told[-1][0] < 1
    # The tree is as it was, and nothing of the build is left.
    assert not (tree / ".config").exists()
    assert [path.name for path in (cache / "airtcp/kernels").iterdir()] == ["mine"]


def test_a_tree_that_cannot_be_built_is_said_why(
    cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.kernel.guests.source._check_tools", lambda: None)
    _build_script(tree, "@true", "@echo 'net/ipv4/tcp.c:1:2: error: no such thing' >&2; false")
    with pytest.raises(KernelError, match=r"tcp\.c:1:2: error: no such thing"):
        add(tree=tree)
    _build_script(tree, "@sed -i /CONFIG_TUN/d $(O)/.config", "@false")
    with pytest.raises(KernelError, match="does not take CONFIG_TUN"):
        add(tree=tree)
    (tree / ".config").write_text("")
    with pytest.raises(KernelError, match="make mrproper"):
        add(tree=tree)
    (tree / "Kconfig").unlink()
    with pytest.raises(KernelError, match="not a kernel's source tree"):
        add(tree=tree)
    with pytest.raises(KernelError, match="no Makefile"):
        add(tree=cache)
    with pytest.raises(KernelError, match="--source DIR"):
        add("debian:6.1", tree=tree)
    assert not list((cache / "airtcp/kernels").iterdir())


def test_a_tree_is_run_by_its_path_and_built_again_where_it_changed(
    cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.kernel.guests.source._check_tools", lambda: None)
    (tree / "image").write_bytes(bytes(IMAGE))
    builds = tree.parent / "builds"
    build = f"@echo build >> {builds}; mkdir -p $(O)/arch/x86/boot; "
    _build_script(tree, "@true", build + f"cp {tree / 'image'} $(O)/arch/x86/boot/bzImage")
    first = the_kernel(str(tree))
    assert first.name.startswith("6.9-")
    monkeypatch.chdir(tree.parent)
    assert the_kernel("linux").name == first.name
    assert builds.read_text().count("build") == 1, "it is there"
    (tree / "net/ipv4/tcp.c").write_text("int changed;")
    second = the_kernel(str(tree))
    assert builds.read_text().count("build") == 2
    assert [one.name for one in known()] == [second.name], "in place of the first"
    # By a name of its user's it stays.
    add(tree=tree, name="mine")
    (tree / "net/ipv4/tcp.c").write_text("int changed = 1;")
    assert {one.name for one in known()} == {"mine", second.name}
    assert {the_kernel(str(tree)).name, "mine"} == {one.name for one in known()}


def test_an_image_is_run_by_its_path_with_the_modules_that_are_its_own(
    cache: Path, tmp_path: Path
) -> None:
    boot, modules = tmp_path / "boot", tmp_path / "lib/modules/6.9.3-test/kernel"
    boot.mkdir()
    (image := boot / "vmlinuz-6.9.3-test").write_bytes(bytes(IMAGE))
    with pytest.raises(KernelError, match=r"no module tun.*--modules"):
        the_kernel(str(image))
    modules.mkdir(parents=True)
    (modules / "tun.ko").write_bytes(_module(""))
    first = the_kernel(str(image))
    assert set(first.needs) == {"tun"}
    assert the_kernel(str(image)).digest == first.digest
    (modules / "tcp_illinois.ko").write_bytes(_module(""))
    assert the_kernel(str(image)).can.congestion_controls == ("illinois", "reno")
    assert len(known()) == 1

    # As a build leaves it: built-in features are in the tree's configuration.
    (built := tmp_path / "tree/arch/x86/boot").mkdir(parents=True)
    (built / "bzImage").write_bytes(bytes(IMAGE))
    (tmp_path / "tree/.config").write_text("CONFIG_TUN=y\nCONFIG_TCP_CONG_VENO=y\n")
    assert the_kernel(str(built / "bzImage")).can.congestion_controls == ("reno", "veno")
    assert the_kernel(str(_package(tmp_path / "kernel.deb"))).can.mptcp


def test_missing_tools_are_named_with_their_packages(
    cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "airtcp.kernel.guests.source.shutil.which",
        lambda program: None if program in {"flex", "bison"} else program,
    )
    with pytest.raises(KernelError, match="apt-get install flex bison"):
        add(tree=tree)
