"""The command line: parse, call, print."""

from litcascade.cli.app import main

__all__ = ["main"]
