"""Kernels in virtual time: their catalogue, their sources, and their execution in a guest.

```text
  debian ─┐                                      initramfs ─ modules ─ libraries
  files ──┴─▶ cache ─▶ catalogue ─▶ guest ─▶ qemu ─▶ airtcp-net guest ─▶ protocol ─▶ results
```
"""

from airtcp.kernel.guests.cache import Kernel, KernelError
from airtcp.kernel.guests.catalogue import add, known, remove, the_kernel
from airtcp.kernel.guests.guest import Guest

__all__ = ["Guest", "Kernel", "KernelError", "add", "known", "remove", "the_kernel"]
