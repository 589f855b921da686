"""Family trees: nobody on top of anybody else, couples side by side, children below their parents."""

from itertools import combinations

import numpy as np
import pytest

from epignn.calculus.calculi.families import simulate
from epignn.calculus.realise.people import People, Person
from epignn.explain.layout import MARGIN
from epignn.explain.tree import HIGH, _Layout, sketch_family


def people_of(family):
    def who(place):
        return None if place < 0 else int(place)

    return tuple(
        Person(
            f"p{n}",
            bool(family.female[n]),
            *(who(each[n]) for each in (family.father, family.mother, family.spouse)),
        )
        for n in range(len(family))
    )


@pytest.mark.parametrize("seed", range(4))
def test_everybody_has_a_place(seed):
    people = people_of(simulate(np.random.default_rng(seed), 3, 4, children=(0, 3)))
    layout = _Layout(people)
    boxes = layout.boxes()
    assert not any(a.meets(b, 10) for a, b in combinations(boxes, 2))
    assert min(box.x for box in boxes) == pytest.approx(MARGIN)
    for n, person in enumerate(people):
        if person.spouse is not None:
            beside = boxes[person.spouse]
            assert beside.y == boxes[n].y
            assert abs(beside.x - boxes[n].x) < max(beside.width, boxes[n].width) + 25
        if person.father is not None:
            assert boxes[n].y == boxes[person.father].y + boxes[person.mother].height - HIGH + 96


def test_a_couple_stands_between_the_families_of_both():
    people = [
        Person("a", False, None, None, 1),
        Person("b", True, None, None, 0),
        Person("c", False, None, None, 3),
        Person("d", True, None, None, 2),
        Person("son", False, 0, 1, 7),
        *(Person(f"his sister {n}", True, 0, 1) for n in range(2)),
        Person("daughter", True, 2, 3, 4),
        *(Person(f"her sister {n}", True, 2, 3) for n in range(2)),
    ]
    boxes = _Layout(people).boxes()
    son, his, daughter, hers = boxes[4], boxes[5:7], boxes[7], boxes[8:]
    side = 1 if son.x < daughter.x else -1
    assert all((son.x - box.x) * side > 0 for box in his)
    assert all((box.x - daughter.x) * side > 0 for box in hers)


def test_a_marriage_between_generations():
    """One of two brothers marries a woman, the other her niece; everybody is still below their parents."""
    people = (
        Person("father", False, None, None, 1),
        Person("mother", True, None, None, 0),
        Person("brother", False, 0, 1, 6),
        Person("other brother", False, 0, 1, 9),
        Person("grandfather", False, None, None, 5),
        Person("grandmother", True, None, None, 4),
        Person("aunt", True, 4, 5, 2),
        Person("her brother", False, 4, 5, 8),
        Person("his wife", True, None, None, 7),
        Person("niece", True, 7, 8, 3),
    )
    boxes = _Layout(people).boxes()
    assert all(boxes[n].y > boxes[p.father].y for n, p in enumerate(people) if p.father is not None)
    assert not any(a.meets(b, 10) for a, b in combinations(boxes, 2))


def test_those_without_a_name_are_dashed():
    people = (Person("ann", True, 1, 2), Person(None, False, None, None, 2), Person("eve", True, None, None, 1))
    drawn = "".join(sketch_family(People("kinship", people), set()).parts)
    assert drawn.count("stroke-dasharray") == 1
    assert drawn.count(">?<") == 1
    assert drawn.count("<g class='entity'") == 2
