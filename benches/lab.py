"""From a slider's movement to the finished picture, in headless Chromium.

    python benches/lab.py [--moves 30]

60 s of the lossy pipe, both sides. Needs `pip install playwright` and `apt install chromium`. The
time is the browser's: from the start of the request to the second frame after the last message,
when the picture is on the screen. The machine should be idle.
"""

import argparse
import os
import shutil
import statistics
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import expect, sync_playwright

from airtcp.lab.server import Lab

FRAGMENT = "#link=ready/lossy-pipe&set=duration%3D60+s&set=link.loss.rate%3D0.01&a=&b=sack"
MOVE = """(position) => new Promise((drawn) => {
  performance.clearMeasures("airtcp-play");
  new PerformanceObserver((list, observer) => {
    for (const entry of list.getEntriesByName("airtcp-play")) {
      observer.disconnect();
      drawn(entry.duration);
      return;
    }
  }).observe({ type: "measure" });
  const slider = document.querySelector('[data-key="link.loss.rate"]');
  slider.value = String(position);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def measure(page: Any, moves: int) -> list[float]:
    """Milliseconds of each movement, to another loss each time, from 0.1 % to 5 %."""
    return [page.evaluate(MOVE, 270 + 400 * move // moves) for move in range(moves)]


def main() -> None:
    """Prints median, 95th percentile and largest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=30)
    moves = parser.parse_args().moves
    chromium = shutil.which("chromium")
    with Lab(0, Path("scenarios"), Path("out")) as lab, sync_playwright() as playwright:
        thread = threading.Thread(target=lab.serve_forever, daemon=True)
        thread.start()
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(lab.address + FRAGMENT)
        expect(page.locator("#status")).to_contain_text(" ms", timeout=60_000)
        times = sorted(measure(page, moves))
        browser.close()
        lab.shutdown()
    print(
        f"{moves} movements: median {statistics.median(times):.0f} ms, "
        f"95 % {times[int(0.95 * (moves - 1))]:.0f} ms, longest {times[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
