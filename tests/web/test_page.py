"""The page as a person uses it: a real browser, a real server, and a console that tells of no fault."""

import gzip
import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from tests.web.browser import FLAGS, chromium, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
SECONDS = 1000
LOADING, TRAINING = 90 * SECONDS, 400 * SECONDS
"""A model may take so long when it is first asked, or trained, on a busy machine."""
expect.set_options(timeout=20 * SECONDS)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    chromium()
    root = tmp_path_factory.mktemp("serve") / "runs"
    root.mkdir()
    with serving(root, "--results", str(Path(__file__).parents[2] / "results")) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser, address):
    """A page of its own for each test; whatever the browser complains of fails the test."""
    context = browser.new_context(base_url=address, viewport={"width": 1300, "height": 850})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    one = context.new_page()
    complaints: list[str] = []
    one.on("console", lambda message: complaints.append(message.text) if complains(message) else None)
    one.on("pageerror", lambda error: complaints.append(str(error)))
    yield one
    context.close()
    assert not complaints


def complains(message: ConsoleMessage) -> bool:
    """Whether the browser tells of a fault; that facts as typed so far are refused is none."""
    refused = "responded with a status of 400" in message.text and "/api/" in message.location["url"]
    return message.type in ("error", "warning") and not refused


def blank(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Example", exact=True).select_option("blank")
    expect(page.locator("[data-node]")).to_have_count(0)


def write(page: Page, text: str) -> None:
    page.get_by_role("tab", name="Facts").click()
    page.get_by_label("Facts, one a line").fill(text)


def middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def node(name: str) -> str:
    return f"[data-node={json.dumps(name)}]"


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
    page.mouse.move(*end, steps=6)
    page.mouse.up()


def test_how_the_harbour_lies_to_the_city_why_and_a_map(page):
    page.goto("/")
    expect(page.get_by_test_id("answer")).to_have_text("harbour overlaps city in part.")
    expect(page.get_by_text("All agree.")).to_be_visible(timeout=LOADING)
    page.get_by_role("button", name="Why?", exact=True).click()
    proof = page.get_by_role("tree", name="Proof")
    expect(proof).to_contain_text("old town lies well inside city")
    proof.get_by_role("treeitem").filter(has_text="pier overlaps city in part").last.hover()
    expect(page.locator(".edge.lit")).not_to_have_count(0)
    page.get_by_role("button", name="Show a picture of it").click()
    world = page.get_by_role("group", name="Regions")
    for name in ("harbour", "old town", "city", "pier", "lake", "garden"):
        expect(world.get_by_text(name, exact=True).last).to_be_visible()
    expect(page.get_by_test_id("broken")).to_contain_text("Checked")


def test_three_facts_are_drawn_and_the_fourth_follows(page):
    blank(page)
    left, top = page.locator(".canvas").bounding_box()["x"], page.locator(".canvas").bounding_box()["y"]
    for n, name in enumerate(("pond", "park", "town", "land")):
        page.mouse.dblclick(left + 140 + 180 * (n % 3), top + 300 + 160 * (n // 3))
        page.get_by_label("Name").fill(name)
        page.get_by_role("button", name="Rename").click()
        expect(page.locator(node(name))).to_be_visible()
    for head, tail in (("pond", "park"), ("park", "town"), ("town", "land")):
        drag(page, middle(page, node(head)), middle(page, node(tail)))
        chips = page.get_by_role("dialog", name=f"What holds from {head} to {tail}")
        chips.get_by_role("button", name="NTPP lies well inside", exact=True).click()
        expect(page.get_by_role("button", name=f"NTPP({head}, {tail})")).to_be_visible()
        chips.get_by_role("button", name="Close").click()
    expect(page.locator(".edge.inferred")).to_have_count(3)
    expect(page.get_by_role("button", name="It follows: pond lies well inside land")).to_be_visible()
    page.get_by_role("tab", name="Facts").click()
    expect(page.get_by_label("Facts, one a line")).to_have_value(
        "NTPP(pond, park)\nNTPP(park, town)\nNTPP(town, land)\n"
    )


def test_the_text_changes_the_drawing_and_chips_change_the_text(page):
    blank(page)
    write(page, "# what I know\nec(a, b)  # they touch\nntpp(b, c)\n")
    expect(page.locator("[data-node]")).to_have_count(3)
    page.get_by_role("button", name="ec(a, b)").click()
    chips = page.get_by_role("dialog", name="What holds from a to b")
    chips.get_by_role("button", name="DC apart from", exact=True).click()
    text = page.get_by_label("Facts, one a line")
    expect(text).to_have_value("# what I know\nDC|EC(a, b)  # they touch\nntpp(b, c)\n")
    chips.get_by_role("button", name="Turn round").click()
    expect(text).to_have_value("# what I know\nDC|EC(b, a)  # they touch\nntpp(b, c)\n")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(text).to_have_value("# what I know\nec(a, b)  # they touch\nntpp(b, c)\n")
    page.get_by_role("button", name="Redo").click()
    expect(text).to_have_value("# what I know\nDC|EC(a, b)  # they touch\nntpp(b, c)\n")


def test_an_error_tells_its_line(page):
    blank(page)
    write(page, "ec(a, b)\nntpq(b, c)\n")
    expect(page.locator("#facts-error")).to_contain_text("ntpq")
    page.get_by_role("button", name="Show line 2").click()
    selected = page.evaluate(
        "() => (({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(facts)"
    )
    assert selected.startswith("ntpq")


def test_a_clash_is_shown_and_resolved(page):
    blank(page)
    write(page, "ntpp(a, b)\nntpp(b, c)\ndc(a, c)\nec(c, d)\n")
    alert = page.get_by_role("alert").filter(has_text="cannot all hold")
    expect(alert.get_by_role("listitem")).to_have_count(3)
    expect(page.locator(".edge.clash")).to_have_count(3)
    alert.get_by_role("listitem").filter(has_text="dc(a, c)").get_by_role("button", name="Remove").click()
    expect(alert).to_have_count(0)
    expect(page.get_by_label("Facts, one a line")).to_have_value("ntpp(a, b)\nntpp(b, c)\nec(c, d)\n")
    expect(page.get_by_role("button", name="It follows: a lies well inside c")).to_be_visible()


def test_the_slider_runs_the_rounds_of_the_model(page):
    page.goto("/")
    page.get_by_role("button", name="How the model sees it").click(timeout=LOADING)
    slider = page.get_by_label("Round", exact=True)
    expect(slider).to_be_visible(timeout=LOADING)
    slider.fill("0")
    first = page.get_by_role("img", name="What may hold to city").get_attribute("aria-label")
    assert page.locator(f"{node('city')} .bars").count() == 1
    slider.fill(slider.get_attribute("max"))
    expect(page.get_by_role("img", name="What may hold to city")).to_have_accessible_name(
        "What may hold to city: PO"
    )
    assert first != "What may hold to city: PO"
    expect(page.get_by_text("What each fact is worth to the model")).to_be_visible()


def test_a_link_shares_everything(page):
    blank(page)
    write(page, 'ntpp("<b>x</b>", "O\'Brien & Söhne 😀")\nec("O\'Brien & Söhne 😀", c)\n')
    expect(page.locator("[data-node]")).to_have_count(3)
    drag(page, middle(page, node("c")), tuple(at + 40 for at in middle(page, node("c"))))
    page.wait_for_function("() => location.hash.startsWith('#/reason/') && location.hash.length > 40")
    page.wait_for_timeout(500)
    place = page.locator(node("c")).get_attribute("transform")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-node]")).to_have_count(3)
    assert other.locator(node("c")).get_attribute("transform") == place
    expect(other.get_by_label("Facts, one a line")).to_have_value(
        page.get_by_label("Facts, one a line").input_value()
    )
    other.goto("about:blank")
    other.goto(f"{page.url.split('#')[0]}#/reason/nonsense")
    expect(other.get_by_role("alert")).to_contain_text("holds no facts")


def test_names_are_shown_as_text(page):
    blank(page)
    name, long = '<img src=x onerror="1">'.replace('"', "'"), "x" * 10_000
    write(page, f'ntpp("{name}", b)\nec(b, "{long}")\n')
    expect(page.locator("[data-node]")).to_have_count(3)
    expect(page.locator(node(name)).locator("text")).to_contain_text("<img src=x")
    assert page.locator("main img").count() == 0
    page.get_by_role("tab", name="Question").click()
    page.get_by_label("How does").select_option(name)
    page.get_by_label("lie to").select_option("b")
    expect(page.get_by_test_id("answer")).to_contain_text("<img src=x onerror='1'> lies well inside b")
    page.get_by_label("lie to").select_option(long)
    expect(page.get_by_test_id("answer")).to_contain_text("…")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("tab", name="World").click()
    expect(page.get_by_test_id("broken")).to_contain_text("Checked")
    page.locator(node("b")).click()
    page.get_by_label("Name").fill('say "b"')
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("alert")).to_contain_text("no double quote")


@pytest.mark.parametrize("example, group", [("allen", "Time line"), ("rcc8", "Regions")])
def test_what_is_dragged_in_a_world_is_checked(page, example, group):
    page.goto("/")
    if example == "allen":
        blank(page)
        write(page, "meets(a, b)\nduring(c, b)\n")
        thing = "a: from"
    else:
        thing = "lake;"
    page.get_by_role("tab", name="World").click()
    expect(page.get_by_test_id("broken")).to_contain_text("Checked")
    body = page.get_by_role("group", name=group).get_by_role("button", name=re.compile(f"^{thing}"))
    box = body.bounding_box()
    goal = (
        page.get_by_role("group", name=group)
        .get_by_role("button", name=re.compile("^city;" if group == "Regions" else "^c: from"))
        .bounding_box()
    )
    drag(
        page,
        (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2),
        (goal["x"] + goal["width"] / 2, box["y"] + box["height"] / 2)
        if group == "Time line"
        else (goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2),
    )
    expect(page.get_by_test_id("broken")).to_contain_text(
        "This breaks a fact: meets(a, b)" if group == "Time line" else "dc(lake, city)"
    )
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_test_id("broken")).to_contain_text("Checked")
    before = page.locator(".world svg").inner_html()
    page.get_by_role("button", name="Another world").click()
    page.wait_for_function("(before) => document.querySelector('.world svg').innerHTML !== before", arg=before)
    expect(page.get_by_test_id("broken")).to_contain_text("Checked")


def test_by_keyboard_alone(page):
    blank(page)
    page.get_by_role("tab", name="Facts").focus()
    page.keyboard.press("Enter")
    page.get_by_label("From", exact=True).focus()
    for fact in (("ann", "bob"), ("bob", "eve")):
        page.keyboard.type(fact[0])
        page.keyboard.press("Tab")
        page.keyboard.type("NTPP")
        page.keyboard.press("Tab")
        page.keyboard.type(fact[1])
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="It follows: ann lies well inside eve")).to_be_visible()
    page.locator(node("eve")).focus()
    page.keyboard.press("Enter")
    page.locator(node("ann")).focus()
    page.keyboard.press("Enter")
    chips = page.get_by_role("dialog", name="What holds from eve to ann")
    expect(chips).to_be_visible()
    chips.get_by_role("button", name=re.compile("^NTPPI ")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="NTPPI(eve, ann)")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="NTPPI(eve, ann)").focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="NTPPI(eve, ann)")).to_have_count(0)
    before = page.locator(node("bob")).get_attribute("transform")
    page.locator(node("bob")).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(node("bob")).get_attribute("transform") != before


def test_what_is_saved_can_be_read_again(page, tmp_path):
    page.goto("/")
    expect(page.locator("[data-node]")).to_have_count(6)
    for kind, suffix in (("facts", "txt"), ("json", "json"), ("csp", "csp"), ("svg", "svg"), ("png", "png")):
        with page.expect_download() as waiting:
            page.get_by_label("Save as").select_option(kind)
        path = tmp_path / f"harbour.{suffix}"
        waiting.value.save_as(path)
        if suffix in ("txt", "json", "csp"):
            page.get_by_label("Open a file").set_input_files(path)
            expect(page.locator(".told")).to_contain_text("6 facts about 6 entities")
            page.get_by_label("Example", exact=True).select_option(index=1)
            expect(page.locator(node("old town"))).to_be_visible()
    (tmp_path / "rows.csv").write_text(
        ',edges,edge_labels,query_edge,query_label\n0,"[(0, 1), (1, 2)]","[\'EC\', \'NTPP\']","(0, 2)",PO\n'
    )
    (tmp_path / "harbour.txt.gz").write_bytes(gzip.compress((tmp_path / "harbour.txt").read_bytes()))
    for name, told in (("rows.csv", "2 facts about 3 entities"), ("harbour.txt.gz", "6 facts about 6 entities")):
        page.get_by_label("Open a file").set_input_files(tmp_path / name)
        expect(page.locator(".told")).to_contain_text(told)
    assert (tmp_path / "harbour.png").read_bytes().startswith(b"\x89PNG")
    assert "old town" in (tmp_path / "harbour.svg").read_text()


def test_a_calculus_of_ones_own_by_file(page):
    page.goto("/")
    page.get_by_label("Open a file").set_input_files(Path(__file__).parents[2] / "examples" / "heights.toml")
    expect(page.locator(".told")).to_contain_text("is used now")
    write(page, "taller(ann, bob)\ntaller(bob, eve)\n")
    page.get_by_role("tab", name="Question").click()
    page.get_by_label("How does").select_option("ann")
    page.get_by_label("lie to").select_option("eve")
    expect(page.get_by_test_id("answer")).to_have_text("ann taller eve.")


def test_rules_of_ones_own_by_file(page):
    blank(page)
    page.get_by_label("Open a file").set_input_files(Path(__file__).parents[2] / "examples" / "kinship.toml")
    expect(page.locator(".told")).to_contain_text("20 relations")
    write(page, "father(ann, bob)\nsister(bob, eve)\n")
    page.get_by_role("tab", name="Question").click()
    page.get_by_label("How does").select_option("ann")
    page.get_by_label("lie to").select_option("eve")
    expect(page.get_by_test_id("answer")).to_have_text("ann aunt eve.")
    page.get_by_role("button", name="Why?", exact=True).click()
    expect(page.get_by_role("tree", name="Proof")).to_contain_text("bob sister eve")


def test_a_new_entity_by_its_button(page):
    blank(page)
    for name in ("park", "town"):
        page.get_by_role("button", name="New entity").click()
        page.get_by_label("Name").fill(name)
        page.keyboard.press("Enter")
        expect(page.locator(node(name))).to_be_visible()


def test_at_the_width_of_a_phone(browser, address):
    context = browser.new_context(base_url=address, viewport={"width": 375, "height": 740}, has_touch=True)
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_test_id("answer")).to_contain_text("harbour overlaps city")
    for view in ("reason", "learn", "links", "results"):
        page.goto(f"/#/{view}")
        expect(page.locator("main .view:not([hidden])")).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), view
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["reason", "learn", "links", "results"])
def test_everybody_can_use_it(page, view, theme):
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(f"/#/{view}")
    expect(page.locator("main .view:not([hidden])")).to_be_visible()
    if view == "reason":
        page.get_by_role("button", name="Why?", exact=True).click()
        expect(page.get_by_role("tree")).to_be_visible()
        page.locator("[data-edge=f0]").click()
    page.wait_for_load_state("networkidle", timeout=LOADING)
    found = Axe().run(page).response["violations"]
    serious = [
        (one["id"], [n["html"][:200] for n in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious


def test_a_model_is_trained_distilled_and_asked(page):
    page.goto("/#/learn")
    page.get_by_label("Name of the run").fill("mine")
    page.get_by_role("button", name="Start").click()
    state = page.get_by_test_id("run-state")
    expect(state).to_have_text("trained", timeout=TRAINING)
    expect(page.get_by_role("img", name=re.compile("^Validation"))).to_be_visible()
    page.get_by_role("button", name="What has it learnt?").click()
    expect(page.get_by_test_id("agree")).to_contain_text("64 of 64", timeout=LOADING)
    page.get_by_role("button", name=re.compile("^EC then NTPP:")).click()
    expect(page.get_by_text("and that is the truth")).to_be_visible()
    page.get_by_role("button", name="Margins").click()
    expect(page.get_by_role("button", name=re.compile("^EC then NTPP:"))).to_have_text(re.compile(r"^-?\d+\.\d$"))
    page.get_by_role("button", name="Ask it").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value("mine")
    expect(page.get_by_test_id("answer")).to_have_text("harbour overlaps city in part.")
    expect(page.get_by_role("row", name="Neural model")).to_be_visible(timeout=LOADING)


def test_a_folder_of_ones_own_is_learnt_and_its_rules_are_asked(page, tmp_path):
    """Graphs in words that no calculus has: a parent of a parent is a grandparent."""
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = [
        f'{n},"[(0, 1), (1, 2)]","[\'{first}\', \'{first}\']","(0, 2)",{both}'
        for n, (first, both) in enumerate([("above", "far above"), ("below", "far below")] * 6)
    ]
    (folder / "mine.csv").write_text("\n".join([",edges,edge_labels,query_edge,query_label", *rows, ""]))
    (folder / "notes.pdf").write_bytes(b"%PDF")
    page.goto("/#/learn")
    page.get_by_label("Folder …").set_input_files(folder)
    expect(page.get_by_test_id("files")).to_contain_text("mine.csv")
    expect(page.get_by_label("They speak of")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_test_id("run-state")).to_have_text("trained", timeout=TRAINING)
    page.get_by_role("button", name="What has it learnt?").click()
    learnt = page.get_by_role("cell", name="above(X, Y), above(Y, Z) -> far above(X, Z)", exact=True)
    expect(learnt).to_be_visible(timeout=LOADING)
    page.get_by_role("button", name="Ask it").click()
    expect(page.get_by_test_id("answer")).to_have_text(re.compile("^x0 far (above|below) x2.$"))


def test_a_fact_is_proved_and_relations_are_composed(page):
    page.goto("/")
    page.get_by_text("Does a fact follow?").click()
    for fact, answer in (("po(harbour, city)", "Yes"), ("dc(pier, old town)", "No"), ("xy(a, b)", "xy")):
        page.get_by_label("A fact to prove").fill(fact)
        page.get_by_role("button", name="Prove it").click()
        expect(page.get_by_test_id("follows")).to_contain_text(answer)
    page.get_by_role("tab", name="Facts").click()
    page.get_by_text("What two relations make together").click()
    page.get_by_label("First relation").select_option("NTPP")
    page.get_by_label("Second relation").select_option("DC")
    expect(page.get_by_test_id("composed")).to_have_text("a is apart from c")


def test_links_are_ranked_with_their_support(page):
    page.goto("/#/links")
    page.get_by_role("button", name="Train one on this graph").click()
    expect(page.locator("table.answers tbody tr")).not_to_have_count(0, timeout=TRAINING)
    page.locator("table.answers button.link").nth(0).click()
    expect(page.locator(".edge.lit")).not_to_have_count(0)


def test_results_are_sorted_and_tell_their_runs(page):
    page.goto("/#/results")
    page.get_by_label("Table", exact=True).select_option("clutrr")
    heads = page.locator("table.data").first.locator("th button")
    heads.nth(2).click()
    column = page.locator("table.data").first.locator("tbody tr td:nth-child(3)")
    values = [
        float(re.match(r"[\d.]+", text)[0]) for text in column.all_text_contents() if re.match(r"[\d.]+", text)
    ]
    assert len(values) > 3 and values == sorted(values, reverse=True)
    page.get_by_text("runs that were recorded").click()
    expect(page.get_by_role("cell", name=re.compile("^[0-9a-f]{12}")).first).to_be_visible()
