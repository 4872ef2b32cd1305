"""Libraries of optional extras."""

from importlib.util import find_spec


def required(library: str, extra: str) -> None:
    """Checks that the library of an extra is installed.

    Raises:
        ModuleNotFoundError: it is not; has the command that installs it.
    """
    if find_spec(library) is None:
        raise ModuleNotFoundError(
            f"{library} is not installed: pip install 'airtcp[{extra}]'", name=library
        )
