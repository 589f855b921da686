"""The page docs/api.md: its example runs, and it names every endpoint."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from epignn.web.app import create_app, openapi
from epignn.web.limits import Context

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_the_example_gives_what_is_shown(server):
    (command,) = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)
    run = subprocess.run(
        ["bash", "-c", command.replace("http://127.0.0.1:8000", server)], capture_output=True, text=True, check=True
    )
    (shown,) = re.findall(r'among others, `"query": (\{.*?\})`', PAGE)
    assert json.loads(run.stdout)["query"] == json.loads(shown)


def test_every_endpoint_is_named():
    named = re.sub(r"`…/(\w+)`", r"`POST /api/runs/NAME/\1`", PAGE)
    names = {"{name}": "NAME", "{suite}": "TABLE"}
    for path in json.loads(openapi(create_app(Context())))["paths"]:
        if path.endswith("{file}"):
            continue
        for word, name in names.items():
            path = path.replace(word, name)
        assert re.search(rf"{re.escape(path)}[`?]", named), path
