"""litcascade: screening and data extraction of systematic reviews by open-weight language models."""

__version__ = "0.1.0"
