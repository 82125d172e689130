"""``python -m igsd``: the command line."""

import sys

from igsd.cli.main import main

sys.exit(main())
