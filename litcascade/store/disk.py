"""Whether a folder lies on a disk of another machine, where file locks are not to be trusted."""

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")  # of Linux; elsewhere nothing is known
_SHARED = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|afs|9p|ceph|glusterfs|lustre|beegfs|gpfs|orangefs|pvfs2"
    r"|fuse\.(?:sshfs|s3fs|rclone|gcsfuse|ceph|ceph-fuse|glusterfs)"
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_disk(folder: Path, mounts: Path | None = None) -> str | None:
    """The kind of file system (`nfs4`, `lustre` …) where `folder` lies on one that other machines write to as well, else None."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    real = folder.resolve()
    held = [(place, kind) for place, kind in map(_mount, lines) if place is not None and (place == real or place in real.parents)]
    if not held:
        return None
    deepest = max(len(place.parts) for place, _ in held)
    kind = [kind for place, kind in held if len(place.parts) == deepest][-1]  # of two on one place the later covers the other
    return kind if _SHARED.fullmatch(kind) else None


def network_disk_words(folder: Path, mounts: Path | None = None) -> str | None:
    """What to tell a person of a review there, or None."""
    kind = network_disk(folder, mounts)
    if kind is None:
        return None
    return (
        f"{folder}: lies on a network disk ({kind}), where a second writer may not be noticed; "
        "write to this review from one machine at a time, best from a local disk"
    )


def _mount(line: str) -> tuple[Path | None, str]:
    """Place and kind of one line of the kernel's table."""
    parts = line.split(" ")
    if len(parts) < 3:
        return None, ""
    return Path(_ESCAPE.sub(lambda found: chr(int(found[1], 8)), parts[1])), parts[2]
