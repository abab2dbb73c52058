"""What people read: for now tables in the terminal."""

from litcascade.report.tables import Table, inert, render

__all__ = ["Table", "inert", "render"]
