"""How far a fit is: a bar in terminals and notebooks, by tqdm if it is installed, and a line for each
stage elsewhere."""

import sys
import time
import warnings
from typing import Any, TextIO

from liontsne._params import Progress

WIDTH = 24
LONGEST_STAGE = "optimise"


class Bar:
    """Told of progress, it draws one line over and over; where lines cannot be redrawn, one line
    for each stage.

    >>> import io
    >>> out = io.StringIO()
    >>> bar = Bar(out)
    >>> for done in (0, 10):
    ...     bar("neighbours", done, 10, None)
    >>> bar("optimise", 5, 10, 1.25)
    >>> print(out.getvalue(), end="")
    neighbours
    optimise
    """

    def __init__(self, out: TextIO | None = None):
        self.out = sys.stderr if out is None else out
        self.redraws = redraws(self.out)
        self.stage = ""
        self.began = 0.0
        self.drawn = 0

    def __call__(self, stage: str, done: int, total: int, kl: float | None) -> None:
        if stage != self.stage:
            self.stage, self.began = stage, time.monotonic()
            if not self.redraws:
                print(stage, file=self.out, flush=True)
        if self.redraws:
            self.draw(self.line(done, total, kl))

    def line(self, done: int, total: int, kl: float | None) -> str:
        share = min(done / total, 1.0) if total else 0.0
        full = round(share * WIDTH)
        words = f"{self.stage:<16} [{'#' * full}{'.' * (WIDTH - full)}] {100 * share:3.0f} %"
        if kl is not None:
            words += f"  KL {kl:.3f}"
        elapsed = time.monotonic() - self.began
        if 0.0 < share < 1.0 and elapsed > 1.0:
            words += f"  {elapsed * (1 - share) / share:.0f} s left"
        return words

    def draw(self, words: str) -> None:
        self.out.write("\r" + words.ljust(self.drawn))
        self.out.flush()
        self.drawn = len(words)

    def close(self) -> None:
        """Leaves the line, so that what is printed next does not run into it."""
        if self.drawn:
            self.draw("")
            self.out.write("\r")
            self.out.flush()
            self.drawn = 0


class TqdmBar:
    """Told of progress, it shows a bar of tqdm for each stage."""

    def __init__(self, tqdm: Any, out: TextIO | None = None):
        self.tqdm = tqdm
        self.out = out
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int, kl: float | None) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = self.tqdm(total=total, desc=stage, leave=stage == LONGEST_STAGE, file=self.out)
        if self.bar.total != total:
            self.bar.total = total
        if kl is not None:
            self.bar.set_postfix_str(f"KL {kl:.3f}", refresh=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """Ends the bar of the stage; that of the descent stays, as people know it."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def bar() -> Bar | TqdmBar:
    """The bar for where messages go."""
    if redraws(sys.stderr):
        try:
            with warnings.catch_warnings():
                # In a notebook without ipywidgets it says so, and draws with text all the same.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            return TqdmBar(tqdm)
    return Bar()


def redraws(out: TextIO) -> bool:
    """Whether a carriage return goes back to the start of the line: in terminals, and in
    notebooks."""
    isatty = getattr(out, "isatty", None)
    return bool(isatty and isatty()) or type(out).__module__.startswith("ipykernel")


def listener(bar: Bar | TqdmBar | None, callback: Progress | None) -> Progress | None:
    """One function that tells both; what the callback answers is the answer."""
    if bar is None or callback is None:
        return bar or callback

    def tell(stage: str, done: int, total: int, kl: float | None) -> bool | None:
        bar(stage, done, total, kl)
        return callback(stage, done, total, kl)

    return tell
