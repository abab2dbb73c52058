"""The browser of the desk's tests."""

from tests.desk.conftest import chrome

__all__ = ["chrome"]
