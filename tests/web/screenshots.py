"""Draws the pictures of `docs/playground.md`: `make screenshots` runs it. Needs a Chromium."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.web.browser import FLAGS, chromium, serving

DOCS = Path(__file__).parents[2] / "docs"


def why(page: Page) -> None:
    """How the harbour lies to the city, and why."""
    page.goto("/")
    expect(page.get_by_text("All agree.")).to_be_visible(timeout=200_000)
    page.get_by_role("button", name="Why?", exact=True).click()
    expect(page.get_by_role("tree")).to_be_visible(timeout=200_000)
    page.get_by_role("treeitem").nth(1).hover()
    page.get_by_role("heading", name="Proof").scroll_into_view_if_needed()
    page.get_by_role("tree").locator(".step").first.hover()


def world(page: Page) -> None:
    """A map of the harbour town."""
    page.goto("/")
    expect(page.get_by_test_id("answer")).to_be_visible(timeout=200_000)
    page.get_by_role("tab", name="World").click()
    expect(page.get_by_test_id("broken")).to_contain_text("Checked", timeout=200_000)


def learn(page: Page) -> None:
    """A model that was trained and distilled."""
    page.goto("/#/learn")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_test_id("run-state")).to_have_text("trained", timeout=400_000)
    page.get_by_role("button", name="What has it learnt?").click()
    expect(page.get_by_test_id("agree")).to_be_visible(timeout=200_000)


PICTURES = {
    "playground-why": (why, "light"),
    "playground-world": (world, "dark"),
    "playground-learn": (learn, "light"),
}


def main() -> None:
    """Draw all of them."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        root = Path(folder) / "runs"
        root.mkdir()
        browser = engine.chromium.launch(executable_path=chromium(), args=FLAGS)
        with serving(root) as address:
            for name, (draw, scheme) in PICTURES.items():
                context = browser.new_context(
                    base_url=address, viewport={"width": 1280, "height": 800}, color_scheme=scheme
                )
                page = context.new_page()
                draw(page)
                page.wait_for_timeout(1200)  # until what moves has come to rest
                page.screenshot(path=DOCS / f"{name}.png", full_page=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
