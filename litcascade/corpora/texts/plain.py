"""Plain text: headings guessed from lines that stand alone."""

import re

from litcascade.corpora.encoding import decode
from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.schemas import DocumentState, Section


@TEXT_READERS.register("text")
def read_plain(raw: bytes) -> Body:
    """Plain text: a line of few words without a full stop, between blank lines, is taken for a heading."""
    text = decode(raw).text
    if "\0" in text:
        return Body(DocumentState.BROKEN, "a binary file")
    sections: list[Section] = []
    heading: str | None = None
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        line = block.strip().lstrip("# ")
        if line and "\n" not in line and len(line.split()) <= 8 and not line.endswith((".", ":", ";", ",")):
            if heading:  # the line before headed nothing, so it is text
                sections.append(Section(heading=None, text=heading))
            heading = line
        elif line:
            sections.append(Section(heading=heading, text=line))
            heading = None
    if heading:
        sections.append(Section(heading=None, text=heading))
    return Body(sections=tuple(sections))
