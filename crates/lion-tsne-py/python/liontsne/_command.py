"""The command `lion` as pip installs it: the same program as the binary of that name."""

import signal
import sys

from liontsne import _native


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    # Python's own handler would wait until the program returns. Where Ctrl-C is ignored, it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["lion", *sys.argv[1:]])
