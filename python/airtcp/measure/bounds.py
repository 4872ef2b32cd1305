"""Time and byte budget of a measurement."""

import threading
import time


class Budget:
    """Time and bytes, shared by all connections of a measurement."""

    def __init__(self, most_bytes: int) -> None:
        """Begins with the full budget.

        Args:
            most_bytes: maximum of bytes sent plus received.
        """
        self.most_bytes = most_bytes
        self._spent = 0
        self._lock = threading.Lock()
        self.stopped = threading.Event()
        """Set when everything has to end: interrupted, or the bytes are spent."""

    @property
    def spent(self) -> int:
        """Bytes sent and received so far."""
        return self._spent

    @property
    def left(self) -> int:
        """Bytes that may still be sent and received."""
        return max(0, self.most_bytes - self._spent)

    @property
    def is_spent(self) -> bool:
        """Whether no bytes are left."""
        return self._spent >= self.most_bytes

    def spend(self, count: int) -> None:
        """Counts bytes; ends everything with the last."""
        with self._lock:
            self._spent += count
        if self.is_spent:
            self.stopped.set()

    def wait(self, seconds: float) -> bool:
        """Waits for `seconds`, or until everything ends; returns whether it has ended."""
        return self.stopped.wait(max(0.0, seconds))


def now() -> float:
    """Monotonic time in seconds."""
    return time.perf_counter()
