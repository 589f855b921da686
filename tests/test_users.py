"""Three newcomers, each with the page that is meant for them: every goal is reached by what stands there alone.

The commands are those of the page, in its order, made smaller where they train; what each has to tell is said here.
"""

from pathlib import Path

import pytest
import torch

from tests.test_docs import ROOT, blocks, commands_of, run, smaller, write_python

ANALYST = {
    "epignn calculus list": ["allen", "rcc8", "kinship"],
    "epignn calculus show allen": ["overlapped-by", "a ends just when b begins"],
    "epignn calculus show rcc8": ["touches", "a touches b from outside"],
    "epignn close examples/revolution.txt": ["consistent", "overlaps"],
    "epignn close examples/revolution.txt --out answers.csv": ["Written: answers.csv"],
    "epignn close examples/revolution.txt --json": ['"answer": "consistent"'],
    'epignn close "touches(pier, old town)': ["touches|overlaps|inside(pier, city)"],
    'epignn close "overlaps(Reign, Revolution)': ["(Reign, Terror)", "before|contains|overlaps|meets|finished-by"],
    "epignn explain allen examples/revolution.txt": [
        "before(Reign of Louis XVI, Consulate): the only relation left",
        "(examples/revolution.txt:2)",
        "The picture is in why.svg.",
    ],
    "epignn entails examples/revolution.txt": ["before(Terror, Consulate): entailed"],
    "epignn realise examples/revolution.txt": ["All 5 facts hold", "The picture is in times.svg."],
    "epignn relate examples/world/quarters.geojson": ["quarters.csv", "quarters.svg"],
    "epignn check examples/world/claims.txt": ["No claim is refuted."],
}
ENGINEER = {
    "epignn train examples/kgc/europe.tsv": ["mrr", "on validation in epoch"],
    "epignn evaluate runs/europe": ["mrr", "hits@10", "pagerank"],
    "epignn predict runs/europe examples/kgc/latin_america.tsv --head": ["Quito", "probability", "supported by"],
    "epignn predict runs/europe examples/kgc/latin_america.tsv --all": ["links.csv"],
    "epignn distil runs/europe": ["rules.tsv", "rules for"],
    "python links_tutorial.py": ["z"],
}
RESEARCHER = {
    "epignn train rcc8 --model examples/model.py:Path": ["runs/path: ", "on validation"],
    "epignn generate rcc8": ["tests"],
    "epignn evaluate runs/path": ["accuracy", "95 %"],
    "epignn profile runs/path rcc8": ["exact", "profile.png"],
}


@pytest.mark.parametrize(
    ("page", "goals"),
    [("tutorial-facts.md", ANALYST), ("tutorial-links.md", ENGINEER), ("tutorial-models.md", RESEARCHER)],
)
def test_every_goal_is_reached(page, goals, tmp_path, monkeypatch, capsys):
    path, left = ROOT / "docs" / page, dict(goals)
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    Path("examples").symlink_to(ROOT / "examples")
    write_python(path)
    for command in [one for block in blocks(path, "bash") for one in commands_of(block)]:
        if command.startswith("epignn reproduce"):  # which trains for long; tests of the command have it
            continue
        capsys.readouterr()
        code = run(smaller(command), monkeypatch)
        said = capsys.readouterr()
        assert code == 0, (command, said.err)
        goal = max((one for one in left if command.startswith(one)), key=len, default=None)
        assert goal is not None, f"nobody says what {command!r} has to tell"
        for words in left.pop(goal):
            assert words in said.out + said.err, (command, words, said.out)
    assert not left, "the page no longer has these"
