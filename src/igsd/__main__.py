"""``igsd`` and ``python -m igsd``: the command line, which a signal ends without a traceback."""

import os
import signal
import sys


def start() -> int:
    """Run the command line and return its exit code.

    Until a command begins, nothing is written that would have to be removed, and Python only
    imports; so a signal ends the process at once. The same is true when the command has ended.
    """
    defaults = ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))
    heard = [pair for pair in defaults if signal.getsignal(pair[0]) == pair[1]]

    def begin() -> None:
        for number, default in heard:
            signal.signal(number, default)

    for number, _ in heard:
        signal.signal(number, _leave)
    from igsd.cli.main import main

    code = main(begin=begin)
    for number, _ in heard:
        signal.signal(number, lambda *_: os._exit(code))
    return code


def _leave(number: int, frame: object) -> None:
    try:
        os.write(2, b"igsd: Stopped.\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(start())
