"""`airtcp kernels`: the kernels that run in virtual time, listed, added and removed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import AsJson, complete_kernel, print_json
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.progress import progress_bar
from airtcp.pages.columns import columns

if TYPE_CHECKING:
    from airtcp.kernel.guests import Kernel

_ACTIONS = ("list", "add", "remove")


def kernels_command(
    action: Annotated[
        str,
        typer.Argument(metavar="[list|add|remove]", autocompletion=lambda: list(_ACTIONS)),
    ] = "list",
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[debian:VERSION|NAME]",
            help="add: a version of Debian's kernel, which apt downloads. remove: a kernel's name.",
            autocompletion=complete_kernel,
        ),
    ] = None,
    package: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="add: a package linux-image-*.deb that is here."),
    ] = None,
    image: Annotated[
        Path | None, typer.Option(metavar="FILE", help="add: a kernel's image (bzImage).")
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="add --image: its modules, as /lib/modules/RELEASE."),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="DIR",
            help="add: a kernel's source tree, which is built for guests.",
        ),
    ] = None,
    configuration: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="add --image: its configuration; default config-RELEASE in the same "
            "folder. add --source: the configuration to start from; default the smallest.",
        ),
    ] = None,
    called: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="add: what to call it; default its version."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the kernels that `airtcp verify --kernel` runs in virtual time, add or remove one.

    They come from a distribution's packages, your files or a source tree, and are kept in
    $XDG_CACHE_HOME/airtcp/kernels. To run them needs QEMU.

    [bold]Examples[/bold]

    airtcp kernels add debian:6.1

    airtcp kernels add --image arch/x86/boot/bzImage --modules /lib/modules/6.16.0 --name mine

    airtcp kernels add --source ~/linux --name patched

    airtcp kernels
    """
    from airtcp.kernel.guests import add, known, remove

    with clear_errors():
        if action not in _ACTIONS:
            raise ScenarioError(f"kernels {action}: expected one of {', '.join(_ACTIONS)}")
        if action == "add":
            with progress_bar("building") as report:
                kernel = add(
                    name,
                    package=package,
                    image=image,
                    modules=modules,
                    configuration=configuration,
                    tree=tree,
                    name=called,
                    progress=report,
                )
            say(f"added {kernel.name}: {kernel.release}, from {kernel.source}")
        elif action == "remove":
            if name is None:
                raise ScenarioError("kernels remove: expected the name of a kernel")
            remove(name)
            say(f"removed {name}")
        found = known()
        if as_json:
            print_json({"kernels": [_json_object(kernel) for kernel in found]})
        elif found:
            print(_table(found))
        else:
            say("no kernels yet: `airtcp kernels add debian:6.1` fetches one")


def kernel_name(word: str) -> str:
    """The name of a kernel of `--kernel`; a kernel at a path is added first, with a message.

    Raises:
        KernelError: there is no such kernel, or it cannot be added.
        OSError: the path cannot be read, or the cache cannot be written.
    """
    from airtcp.kernel.guests import known, the_kernel
    from airtcp.kernel.guests.catalogue import MACHINE

    if word == MACHINE:
        return word
    before = {kernel.name for kernel in known()}
    with progress_bar("building") as report:
        kernel = the_kernel(word, report)
    if kernel.name not in before:
        say(f"added {kernel.name}: {kernel.release}, from {kernel.source}")
    return kernel.name


def _json_object(kernel: "Kernel") -> dict[str, object]:
    return {
        "name": kernel.name,
        "release": kernel.release,
        "source": kernel.source,
        "sha256": kernel.digest,
        "congestion_controls": list(kernel.can.congestion_controls),
        "disciplines": list(kernel.can.disciplines),
        "bpf": kernel.can.bpf,
        "mptcp": kernel.can.mptcp,
    }


def _table(kernels: "list[Kernel]") -> str:
    yes = {True: "yes", False: "no"}
    return columns(
        ("name", "release", "BPF", "MPTCP", "SHA-256", "congestion controls; disciplines"),
        [
            (
                kernel.name,
                kernel.release,
                yes[kernel.can.bpf],
                yes[kernel.can.mptcp],
                kernel.digest[:12],
                f"{' '.join(kernel.can.congestion_controls)}; {' '.join(kernel.can.disciplines)}",
            )
            for kernel in kernels
        ],
    )
