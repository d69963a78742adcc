"""What does `python -m symbolic` do? What the command `symbolic` does."""

import sys

from symbolic.command import main

if __name__ == "__main__":  # a process that is started for checking files imports this module, too
    sys.exit(main())
