"""The catalogue of kernels: listed, added from a package or from files, removed."""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from airtcp.kernel.guests import cache, debian
from airtcp.kernel.guests.cache import Contents, Kernel, KernelError
from airtcp.kernel.guests.capabilities import capabilities
from airtcp.kernel.guests.image import release
from airtcp.kernel.guests.modules import dependencies, in_order, module_name, unpacked
from airtcp.kernel.guests.paths import (
    configuration_of,
    is_by_path,
    is_package,
    is_path,
    modules_of,
    name_of,
)
from airtcp.kernel.guests.source import Progress, built

MACHINE = "machine"
"""The name of this machine's kernel, in real time."""

_WANTED = re.compile(
    r"(tcp_|sch_|cls_|act_|em_)\w+|tun|veth|ifb|dummy|bridge|inet_diag|mptcp_diag|virtio\w*"
)
"""Modules to keep, with dependencies: TCP, disciplines, devices without hardware."""

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}")


def known() -> list[Kernel]:
    """The cached kernels."""
    return [cache.load(name) for name in cache.names()]


def the_kernel(name: str, progress: Progress | None = None) -> Kernel:
    """The kernel with that name, or the one at that path.

    An image, a package or a source tree at a path is added if missing, under a name derived from
    its content; it replaces earlier content of that path.

    Args:
        name: a name of the catalogue, or a path.
        progress: as for `add`.

    Raises:
        KernelError: neither in the catalogue nor a path (says how to add it); or the content of the
            path cannot be used.
        OSError: the path cannot be read, or the cache cannot be written.
    """
    if (found := _kept(name)) is not None:
        return found
    if is_path(name):
        return _by_path(Path(name).expanduser().absolute(), progress)
    have = ", ".join([MACHINE, *cache.names()])
    if re.fullmatch(r"[0-9]+\.[0-9]+", name):
        raise KernelError(
            f"kernel {name}: not here; have {have}. `airtcp kernels add debian:{name}` fetches one "
            "of Debian's"
        )
    raise KernelError(
        f"kernel {name!r}: expected one of {have}, or the path of an image or a source tree; "
        "`airtcp kernels add` adds one"
    )


def _kept(name: str) -> Kernel | None:
    try:
        return cache.load(name) if _NAME.fullmatch(name) else None
    except FileNotFoundError:
        return None


def _by_path(path: Path, progress: Progress | None) -> Kernel:
    name = name_of(path)
    if (found := _kept(name)) is not None:
        return found
    if path.is_dir():
        kernel = add(tree=path, name=name, progress=progress)
    elif is_package(path):
        kernel = add(package=path, name=name)
    else:
        kernel = add(
            image=path,
            modules=modules_of(path),
            configuration=configuration_of(path),
            name=name,
        )
    for other in cache.names():
        if other != name and is_by_path(other) and cache.load(other).source == kernel.source:
            cache.discard(other)
    return kernel


def add(
    source: str | None = None,
    *,
    package: Path | None = None,
    image: Path | None = None,
    modules: Path | None = None,
    configuration: Path | None = None,
    tree: Path | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> Kernel:
    """Adds a kernel to the cache.

    Args:
        source: "debian:VERSION", which apt downloads.
        package: a package of Debian or a derivative, instead of `source`.
        image: an image (bzImage), instead of both.
        tree: a kernel source tree to build, instead of the other three.
        modules: the folder of the image's modules, such as /lib/modules/RELEASE.
        configuration: the image's configuration; None takes config-RELEASE in its folder. For a
            tree, the base configuration; None takes the smallest.
        name: the kernel's name; None takes the major and minor version.
        progress: called during a build, with the finished share and the current step.

    Raises:
        KernelError: it is unavailable or unusable.
        OSError: a file cannot be read, or the cache cannot be written.
    """
    if [source, package, image, tree].count(None) != 3:
        raise KernelError(
            "expected one of debian:VERSION, --package FILE, --image FILE and --source DIR"
        )
    if source is not None:
        distribution, _, version = source.partition(":")
        if distribution != "debian" or not re.fullmatch(r"[0-9]+(\.[0-9]+)+", version):
            raise KernelError(f"{source!r}: expected debian:VERSION, such as debian:6.1")
        fetched = debian.fetch(version)
        try:
            contents = _of_files(debian.files(fetched), f"{source}, {fetched.stem}")
        finally:
            shutil.rmtree(fetched.parent, ignore_errors=True)
    elif package is not None:
        contents = _of_files(debian.files(package), f"package {package.absolute()}")
    elif tree is not None:
        contents = _of_files(built(tree, configuration, progress), f"source {tree.absolute()}")
    else:
        assert image is not None
        contents = _of_files(_given(image, modules, configuration), f"image {image.absolute()}")
    called = name or ".".join(contents.release.split(".")[:2])
    if not _NAME.fullmatch(called) or called == MACHINE:
        raise KernelError(f"--name {called!r}: expected letters, digits and .+-_, not {MACHINE!r}")
    return cache.store(called, contents)


def remove(name: str) -> None:
    """Removes a kernel from the cache.

    Raises:
        KernelError: no kernel has that name.
    """
    if name not in cache.names():
        raise KernelError(f"kernel {name!r}: expected one of {', '.join(cache.names()) or 'none'}")
    cache.discard(name)


def _given(
    image: Path, modules: Path | None, configuration: Path | None
) -> Iterator[tuple[str, bytes]]:
    """Files of a user, under the names that a package gives them."""
    content = image.read_bytes()
    yield "boot/vmlinuz", content
    shipped = image.parent / f"config-{release(content)}"
    if configuration or shipped.is_file():
        yield "boot/config", (configuration or shipped).read_bytes()
    if modules is not None:
        for path in sorted(modules.rglob("*")):
            if path.is_file() and (module_name(path.name) or path.name == "modules.builtin"):
                yield f"lib/modules/{path.relative_to(modules)}", path.read_bytes()


def _of_files(files: Iterable[tuple[str, bytes]], source: str) -> Contents:
    image, configuration, built_in = None, "", ""
    modules: dict[str, bytes] = {}
    for path, content in files:
        name = module_name(path)
        if re.fullmatch(r"boot/vmlinuz.*", path):
            image = content
        elif re.fullmatch(r"boot/config.*", path):
            configuration = content.decode(errors="replace")
        elif path.endswith("/modules.builtin"):
            built_in = content.decode(errors="replace")
        elif name:
            modules[name] = _module(path, content)
    version = release(image) if image else None
    if image is None or version is None:
        raise KernelError(f"{source}: no kernel for x86-64 in it; expected a bzImage")
    try:
        needs = {name: dependencies(content) for name, content in modules.items()}
        kept = in_order(sorted(name for name in modules if _WANTED.fullmatch(name)), needs)
    except ValueError as error:
        raise KernelError(f"{source}: {error}") from error
    inside = [name for path in built_in.split() if (name := module_name(path))]
    if "tun" not in kept and "tun" not in inside and "CONFIG_TUN=y" not in configuration:
        raise KernelError(
            f"{source}: no module tun, of which the link is made; give the folder of the kernel's "
            "modules by --modules"
        )
    return Contents(
        version,
        source,
        image,
        {name: modules[name] for name in kept},
        {name: needs[name] for name in kept},
        capabilities(modules, inside, configuration),
    )


def _module(path: str, content: bytes) -> bytes:
    try:
        return unpacked(path, content)
    except ValueError as error:
        raise KernelError(str(error)) from error
