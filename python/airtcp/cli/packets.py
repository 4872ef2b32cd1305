"""Commands with real packets: they hand over to airtcp-net."""

import sys
from typing import NoReturn

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.bpf import with_objects
from airtcp.core.net import hand_over


def deploy_command(_context: typer.Context) -> None:
    """Apply a remedy to this machine, list deployed ones (--list), or restore all (--undo).

    [bold]Examples[/bold]

    airtcp deploy sack --all --dry-run

    airtcp deploy newzag --cgroup /sys/fs/cgroup/web --share 50% --for 10min

    airtcp deploy --bpf my.bpf.c --all

    airtcp deploy --list --check

    airtcp deploy --undo
    """
    with clear_errors():
        sys.argv = with_objects(sys.argv, [])
        hand_over("deploy")


def deployed_command(_context: typer.Context) -> None:
    """Show deployed remedies, as `airtcp deploy --list`."""
    with clear_errors():
        hand_over("deployed")


def undeploy_command(_context: typer.Context) -> None:
    """Restore everything that `airtcp deploy` changed, as `airtcp deploy --undo`."""
    with clear_errors():
        hand_over("undeploy")


def emulate_command(_context: typer.Context) -> None:
    """Run a command over a scenario's link with real packets. Linux, no root needed.

    [bold]Examples[/bold]

    airtcp emulate wlan-upload

    airtcp emulate FILE --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'

    airtcp emulate FILE --bpf my.bpf.c --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'

    airtcp emulate FILE --kernel 6.12 --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'
    """
    with clear_errors():
        sys.argv = with_objects(sys.argv, ["--remedy"])
        words = sys.argv[sys.argv.index("emulate") + 1 :]
        before = words[: words.index("--")] if "--" in words else words
        if any(word == "--kernel" or word.startswith("--kernel=") for word in before):
            _in_virtual_time(words)
        hand_over("emulate")


def _in_virtual_time(words: list[str]) -> NoReturn:
    from airtcp.cli.kernels import kernel_name
    from airtcp.kernel.emulate import emulate, parsed

    asked = parsed(words)
    asked.kernel = kernel_name(asked.kernel)
    done = emulate(asked)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    raise typer.Exit(done.status)


def gateway_command(_context: typer.Context) -> None:
    """Run an access point's remedies on a router's real packets: none, a share, or all.

    [bold]Examples[/bold]

    airtcp gateway delay-injection --mobile wlan0 --wired eth0

    airtcp gateway delay-injection --mobile wlan0 --wired eth0 --apply --share 20%

    airtcp gateway status
    """
    with clear_errors():
        hand_over("gateway")


def proxy_command(_context: typer.Context) -> None:
    """Split TCP connections on this machine, with a separate TCP stack for each side.

    [bold]Examples[/bold]

    airtcp proxy --listen :8080 --to web.example:80 --mobile-stack linux-bbr

    airtcp proxy --listen :3129 --transparent --device wlan0 --mobile-stack linux-newzag
    """
    with clear_errors():
        hand_over("proxy")


def send_command(_context: typer.Context) -> None:
    """Send a file over airtcp's TCP, with any remedy, to any receiver.

    [bold]Example[/bold]

    airtcp send FILE 10.112.7.1:9000 --remedy rto-factor:m=10 --stats
    """
    with clear_errors():
        hand_over("send")


def serve_command(_context: typer.Context) -> None:
    """Serve a folder over HTTP, on airtcp's TCP, to curl, a browser or any other client.

    [bold]Example[/bold]

    airtcp serve --port 8000 --dir . --remedy newzag

    airtcp serve --measure
    """
    if "--measure" in sys.argv[2:]:
        from airtcp.cli.measure import serve_measurements

        serve_measurements([word for word in sys.argv[2:] if word != "--measure"])
        return
    with clear_errors():
        hand_over("serve")
