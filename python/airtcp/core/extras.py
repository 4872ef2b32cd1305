"""Libraries of optional extras: pyproject.toml names the same."""

from importlib.util import find_spec

EXTRAS = {
    "distributed": "dask",
    "gymnasium": "gym",
    "matplotlib": "plot",
    "pettingzoo": "gym",
    "polars": "frames",
}
"""By library, the extra that brings it."""


def required(*libraries: str) -> None:
    """Checks that libraries of extras are installed.

    Raises:
        ModuleNotFoundError: one is not; has the command that installs it.
    """
    for library in libraries:
        if find_spec(library) is None:
            raise _missing(library)


def with_remedy(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error with the command that installs the library, if it is one of an extra."""
    return _missing(error.name) if error.name in EXTRAS else error


def _missing(library: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"{library} is not installed: pip install 'airtcp[{EXTRAS[library]}]'", name=library
    )
