"""How the tests use the page in a browser."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from tests.browser import Browser
from tests.page.conftest import Server

PATIENCE = 300
"""Seconds that a test waits for the page on a machine with other work."""

_STORE_DOWNLOADS = """
window.saved = {};
window.download = (content, name) => {
  const reader = new FileReader();
  reader.onload = () => { window.saved[name] = [content.size, reader.result.split(",")[1] ?? ""]; };
  reader.readAsDataURL(content.slice(0, arguments[0]));
};
"""
"""The page stores what it offers for saving, its size and the first bytes in base64, in place of a dialog."""

MOST = 1 << 20
"""The first bytes of a saved file that the tests read."""

_CHOOSE_TENSOR = """
const search = document.getElementById("search");
search.value = arguments[0];
search.dispatchEvent(new Event("input"));
const rows = [...document.querySelectorAll("#rows [role=row]")];
rows.find((row) => row.querySelector(".name").title === arguments[0]).click();
"""


@attrs.frozen
class OpenPage:
    """The page, loaded."""

    browser: Browser
    server: Server

    def load(self, **window: Any) -> None:
        """Open the page anew, and wait until Python runs in it."""
        self.browser.open_address(self.server.address, **window)
        self.wait(lambda: self.text("load-text").startswith(("Ready", "This page cannot")))
        assert self.text("load-text").startswith("Ready"), self.text("load-text")
        self.browser.run(_STORE_DOWNLOADS, MOST)

    def wait(self, condition: Callable[[], Any]) -> Any:
        """What the condition returns, once it is true."""
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            assert time.monotonic() < end, f"the page stays in {self.state}: {self.text('work-text')}"
            time.sleep(0.05)
        return value

    def text(self, element: str) -> str:
        """The text of an element by its id, also of a hidden one."""
        return str(self.browser.run("return document.getElementById(arguments[0]).textContent", element))

    @property
    def state(self) -> str:
        """The section that is shown."""
        return str(self.browser.run("return document.body.dataset.state"))

    def choose(self, *files: Path, folder: bool = False) -> None:
        """Choose files, or a folder, as by the dialog of the browser."""
        chosen = self.browser.driver.find_element("id", "choose-folder" if folder else "choose-files")
        chosen.send_keys("\n".join(map(str, files)))

    def open(self, *files: Path, folder: bool = False) -> str:
        """Choose files, and return the section in which that ends."""
        self.choose(*files, folder=folder)
        self.wait(lambda: self.state != "work")
        return self.state

    def report_data(self) -> dict[str, Any]:
        """The data of the report in the frame."""
        page = self.browser.run("return modelPage.html")
        text = page.split('id="data">', 1)[1].split("</script>", 1)[0]
        return dict(json.loads(text))

    def in_report(self, script: str, *arguments: object) -> Any:
        """The value that a script returns in the frame of the report, once its own script has run."""
        driver = self.browser.driver
        driver.switch_to.frame(driver.find_element("css selector", "iframe"))
        try:
            inner = self.wait_for_elements("iframe")
            driver.switch_to.frame(inner[0])
            self.wait_live()
            return self.browser.run(script, *arguments)
        finally:
            driver.switch_to.default_content()

    def wait_for_elements(self, selector: str) -> list[Any]:
        """The elements of a CSS selector in the current frame, once there are some."""
        end = time.monotonic() + PATIENCE
        while not (elements := self.browser.driver.find_elements("css selector", selector)):
            assert time.monotonic() < end, f"there is no {selector}"
            time.sleep(0.05)
        return list(elements)

    def wait_live(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self.browser.run("return document.body?.classList.contains('live')"):
            assert time.monotonic() < end, "the script of the report does not run"
            time.sleep(0.05)

    def explain(self, tensor: str, axis: int) -> list[str]:
        """The lines that the report shows for an axis, after clicks on the tensor and the axis."""
        self.in_report(_CHOOSE_TENSOR, tensor)
        buttons = "return document.querySelectorAll('#axis-buttons button').length"
        self.wait(lambda: self.in_report(buttons) > axis)
        self.in_report("document.querySelectorAll('#axis-buttons button')[arguments[0]].click()", axis)
        lines = "return [...document.querySelectorAll('#explanation li')].map((item) => item.textContent)"
        return list(self.wait(lambda: self.in_report(lines)))

    def save(self, button: str, path: Path) -> None:
        """Write the file that a button saves; past its first `MOST` bytes with zeros."""
        self.browser.find(f"#{button}").click()
        size, start = self.wait(lambda: self.browser.run("return window.saved[arguments[0]] ?? null", path.name))
        with path.open("wb") as file:
            file.write(base64.b64decode(start))
            file.truncate(size)
