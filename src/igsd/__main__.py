"""``python -m igsd``: the command line."""

from __future__ import annotations

import sys

from igsd.cli.main import main

sys.exit(main())
