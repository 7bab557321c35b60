"""The real browser in which the tests look at pages."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "google-chrome")


@pytest.fixture
def browser():
    """A real Chromium; its absence is a failure in CI and a skip on a machine without one."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("There is no Chromium in CI; `make browser` installs it.")
        pytest.skip("There is no Chromium on this machine; `make browser` installs it.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser):
    """What opens a page that needs nothing but itself: no request, no message in the console."""

    def open_alone(page, width):
        tab = browser.new_page(viewport={"width": width, "height": 900})
        requests, messages = [], []
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.goto(page.as_uri(), wait_until="load")
        assert [url for url in requests if not url.startswith("data:")] == [page.as_uri()]
        assert messages == []
        return tab

    return open_alone


@pytest.fixture
def figure_sizes():
    """What gives the width, height and words of every image on a page."""
    script = "[...document.images].map(i => [i.naturalWidth, i.naturalHeight, i.alt])"
    return lambda tab: tab.evaluate(script)
