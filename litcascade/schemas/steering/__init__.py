"""Text that tries to steer its reader: found, and kept from being shown as more than text. Pure.

`steering_findings` and the flags made of them say where a text speaks to its reader. `clean` gives what of it may be shown in
a prompt. Neither changes what is stored.
"""

from litcascade.schemas.steering.findings import Finding, document_steering, steering_findings, steering_flags
from litcascade.schemas.steering.phrases import SteeringKind
from litcascade.schemas.steering.visible import clean

__all__ = ["Finding", "SteeringKind", "clean", "document_steering", "steering_findings", "steering_flags"]
