"""`python -m ragauge` is the command `ragauge`."""

from ragauge.cli.main import main

if __name__ == "__main__":
    main()
