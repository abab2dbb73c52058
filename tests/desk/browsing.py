"""What tests do in a browser: come in, press keys, read, wait, look for faults of accessibility."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from litcascade.desk.users import User
from tests.desk.serving import Served

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SIZES = ((1280, 900), (390, 844))
_AXE = """
const done = arguments[0];
axe.run().then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)])));
"""


def enter(chrome: "Chrome", desk: Served, user: User, path: str = "/") -> None:
    chrome.delete_all_cookies()
    chrome.get(desk.link(user))
    wait(lambda: chrome.title.startswith("Queues"))
    if path != "/":
        chrome.get(desk.base + path)


def wait(true: Callable[[], Any], seconds: float = 20.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.03)


def press(chrome: "Chrome", *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(chrome).send_keys(key).perform()


def text(chrome: "Chrome", css: str = "main") -> str:
    return str(chrome.execute_script("const n = document.querySelector(arguments[0]); return n ? n.innerText : ''", css))


def told(chrome: "Chrome", words: str) -> None:
    wait(lambda: words in text(chrome, ".told"))


def sized(chrome: "Chrome", width: int, height: int) -> None:
    """Show the page as a screen of that size does."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def faults(chrome: "Chrome", axe: str) -> list[Any]:
    """Serious and critical faults that axe-core finds on the page as it stands."""
    chrome.execute_script(axe)
    return [fault for fault in chrome.execute_async_script(_AXE) if fault[0] in ("serious", "critical")]


def require_accessible(chrome: "Chrome", axe: str, name: str, sizes: Sequence[tuple[int, int]] = SIZES) -> None:
    """No serious fault and nothing that runs over the screen, at each size."""
    for width, height in sizes:
        sized(chrome, width, height)
        wide = chrome.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide on {width}"
        assert faults(chrome, axe) == [], (name, width)
    chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
