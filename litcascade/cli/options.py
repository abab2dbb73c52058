"""Options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

ReviewOption = Annotated[Path, typer.Option("--review", help="Folder of the review.", show_default="here")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
HERE = Path()
