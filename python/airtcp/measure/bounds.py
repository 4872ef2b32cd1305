"""How long and how much a measurement may send."""

import threading
import time


class Budget:
    """Time and bytes, shared by all connections of a measurement."""

    def __init__(self, most_bytes: int) -> None:
        """Nothing is spent.

        Args:
            most_bytes: of all that is sent and received.
        """
        self.most_bytes = most_bytes
        self._spent = 0
        self._lock = threading.Lock()
        self.stopped = threading.Event()
        """Set, everything ends: interrupted, or the bytes are spent."""

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
        """Waits so long, or until everything ends: whether it has."""
        return self.stopped.wait(max(0.0, seconds))


def now() -> float:
    """Monotonic time in seconds."""
    return time.perf_counter()
