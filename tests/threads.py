"""How do the tests run something in many threads at once?"""

from __future__ import annotations

import threading
from collections.abc import Callable


def in_threads(work: Callable[[int], object], count: int) -> None:
    """Call `work(0)`, `work(1)`, … in as many threads, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
