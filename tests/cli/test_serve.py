"""`epignn serve`: what it says, and what it says when it cannot."""

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.test_package import loaded_by


def test_it_says_where_it_listens_and_ends_in_order(tmp_path):
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import epignn.cli as c; c.main()"
    )
    command = [sys.executable, "-c", code, "serve", "--port", "0", "--workers", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path) as process:
        said = process.stdout.readline()
        assert said.startswith("The playground is at http://127.0.0.1:")
        with urllib.request.urlopen(f"{said.split()[4]}api/info", timeout=20) as answer:
            assert b'"results":false' in answer.read()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert (process.returncode, error) == (
        0,
        "The server has ended. Runs that trained are kept; the page resumes them.\n",
    )


def test_a_port_in_use(epignn):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = epignn("serve", "--port", port)
    assert (ran.code, ran.err) == (2, f"error: port {port} of 127.0.0.1 is in use; choose another with --port.\n")


def test_an_address_that_is_not_of_this_machine(epignn):
    ran = epignn("serve", "--host", "192.0.2.1", "--port", "0")
    assert ran.code == 2
    assert ran.err.startswith("error: cannot listen at 192.0.2.1, port 0:")


def test_without_the_extra_it_says_what_to_install(epignn, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("epignn.web", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = epignn("serve")
    assert (ran.code, ran.err) == (
        2,
        "error: this needs uvicorn, which is not installed: pip install 'epignn[web]'.\n",
    )


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("import epignn.cli.app", "epignn.web"),
        ("import epignn.web.server", "torch"),
        ("import epignn.web.worker", "fastapi"),
    ],
)
def test_what_is_not_loaded(statement, module):
    assert not loaded_by(statement, module)
