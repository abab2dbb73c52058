"""`python -m litcascade`."""

from litcascade.cli import main

if __name__ == "__main__":
    main()
