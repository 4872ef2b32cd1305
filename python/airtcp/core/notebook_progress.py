"""Progress in a Jupyter notebook: a bar below the cell, without an argument of the user."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def notebook_progress() -> Callable[[int, int], object] | None:
    """A bar for the number of finished runs and of all; None outside a notebook.

    IPython is not imported for it: in a notebook it is there already.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # A terminal's IPython has no kernel, and shows no HTML.
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    bar: Any = None

    def show(finished: int, cells: int) -> None:
        nonlocal bar
        if bar is None:
            bar = import_module("IPython.display").ProgressBar(cells)
            bar.display()
        # Rounds add runs until the answer is decided.
        bar.total = cells
        bar.progress = finished

    return show
