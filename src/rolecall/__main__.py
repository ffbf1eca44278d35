"""`python -m rolecall`: the command line, where the console script is not on PATH."""

from rolecall.cli import main

raise SystemExit(main())
