"""Requests and answers, typed: what the endpoints take, what they give, and what /openapi.json says of both."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(max_length=100_000)]
Text = Annotated[str, Field(max_length=2_000_000)]
Words = list[str]
Fact = tuple[str, Words, str]
"""Head, relations, tail."""
Said = tuple[str, str, str]
"""Head, relations as text, tail."""
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._,-]{0,99}$")]
RunName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class Request(BaseModel):
    """What requests have in common: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Error(BaseModel):
    """Why a request was refused."""

    error: str
    line: int | None = None
    column: int | None = None


class Facts(Request):
    """Facts, and what to read them by: a shipped calculus, one of your own, or the first that knows their words."""

    facts: Text
    format: Literal["facts", "csp", "json", "csv"] = "facts"
    calculus: Name | None = None
    own: Text | None = Field(None, description="The text of a .toml file; takes the place of `calculus`.")


class Pair(Facts):
    """Facts, and a pair that is asked about."""

    head: Name
    tail: Name


# -- what the server is --


class Bounds(BaseModel):
    """What a request may have."""

    bytes: int
    upload: int
    entities: int
    facts: int
    seconds: float


class Info(BaseModel):
    """What the server is and has."""

    version: str
    kernels: str
    limits: Bounds
    results: bool
    runs: bool


# -- calculi --


class CalculusLine(BaseModel):
    """A shipped calculus in short."""

    name: str
    title: str
    relations: Words
    words: Words
    terms: Words
    meanings: dict[str, str]
    aliases: dict[str, str]
    realisable: bool


class Calculi(BaseModel):
    """The shipped calculi."""

    calculi: list[CalculusLine]


class Toml(Request):
    """The text of a calculus file, or of a rule file."""

    toml: Text


class Rule(BaseModel):
    """A rule in words and by its relations, and what speaks for it."""

    text: str
    body: Words
    head: str
    weight: float
    support: int
    confidence: float


class CalculusTables(BaseModel):
    """A calculus by names."""

    kind: Literal["calculus"]
    name: str
    title: str
    source: str
    relations: Words
    identity: str
    converse: dict[str, str]
    composition: dict[str, dict[str, Words]]
    aliases: dict[str, str]
    decides: bool
    tractable: int
    words: Words
    terms: Words
    meanings: dict[str, str]
    laws: Words | None = None


class Rules(BaseModel):
    """Rules in words."""

    kind: Literal["rules"]
    relations: Words = []
    rules: list[Rule]
    toml: str | None = Field(None, description="The rules as a file, if they were distilled; `own` takes it.")


# -- examples --


class FactsExample(BaseModel):
    """Facts with a question."""

    name: str
    title: str
    calculus: str
    facts: str
    head: str
    tail: str
    about: str


class GraphExample(BaseModel):
    """A graph with a question."""

    name: str
    title: str
    triples: str
    head: str
    relation: str


class Examples(BaseModel):
    """What there is to begin with."""

    examples: list[FactsExample]
    graphs: list[GraphExample]


# -- facts --


class ParsedFact(BaseModel):
    """A fact, and where it stands."""

    head: str
    relations: Words
    written: Words
    tail: str
    line: int | None
    column: int | None


class Parsed(BaseModel):
    """What facts say; `text` is None where the language of facts cannot hold a name."""

    kind: Literal["calculus", "rules"]
    calculus: str | None
    title: str
    known_by: Words
    entities: Words
    facts: list[ParsedFact]
    text: str | None
    networks: int


class Export(Facts):
    """Facts, and the format to write them in."""

    as_: Literal["facts", "csp", "json"] = Field("facts", alias="as")


class Exported(BaseModel):
    """Facts in another format."""

    text: str


class Close(Facts):
    """Facts, and the algorithm that closes them."""

    algorithm: Name = "closure"
    query: tuple[Name, Name] | None = None


class Query(BaseModel):
    """What may hold of the pair that was asked about."""

    head: str
    tail: str
    relations: Words


class Closed(BaseModel):
    """What follows, or what clashes."""

    title: str
    calculus: str
    algorithm: str
    answer: str
    consistent: bool
    entities: int
    facts: int
    statistics: dict[str, float]
    closed: list[Fact] | None = None
    query: Query | None = None
    given: list[Fact]
    inferred: list[Fact]
    conflict: list[Said] = []
    conflict_facts: list[int]


class Ask(Pair):
    """A question to all: exact reasoning, a model, and what was distilled from it."""

    model: Name | None = None


class Answer(BaseModel):
    """What one of them says."""

    relations: Words
    relation: str
    probability: float | None = None
    runner_up: str | None = None
    runner_up_probability: float | None = None
    consistent: bool | None = None
    reason: str | None = None
    conflict: list[Said] | None = None


class Answers(BaseModel):
    """Who answers what."""

    exact: Answer | None
    learnt: Answer | None
    neural: Answer | None
    model: str | None
    calculus: str | None
    agree: bool
    differences: list[str]
    notes: list[str]


class Explain(Ask):
    """A question, and whose answer is to be explained."""

    by: Literal["exact", "learnt", "neural"] = "exact"
    threshold: float | None = Field(None, ge=0, le=1)
    svg: bool = False


class States(BaseModel):
    """What is known from the head after each round, as a table."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class Explanation(BaseModel):
    """An answer, and why; each kind of answer has further parts."""

    model_config = ConfigDict(extra="allow")
    kind: str
    head: str
    tail: str
    status: str
    relations: Words
    text: list[str]
    states: States
    svg: str | None = None


class Entails(Facts):
    """Facts, and others that may follow from them."""

    question: Text
    seconds: float | None = Field(None, gt=0, le=600)


class Entailed(BaseModel):
    """Whether one fact follows; if not, a scenario in which it does not hold."""

    fact: Said
    entailed: bool | None
    counterexample: list[str] | None
    statistics: dict[str, float]


class Entailments(BaseModel):
    """Whether facts follow."""

    calculus: str
    consistent: bool
    conflict: list[Said]
    entailed: bool | None
    facts: list[Entailed]


# -- worlds --


class Realise(Facts):
    """Facts, to be given a world."""

    seed: int = Field(0, ge=0, le=2**31)
    seconds: float = Field(5.0, gt=0, le=30)


class Realisation(BaseModel):
    """A world in which facts hold, or why there is none."""

    found: bool
    world: dict[str, Any] | None
    reason: str
    conflict: list[Said]


class Broken(Facts):
    """Facts, and a world in which some of them may not hold."""

    world: dict[str, Any]


class BrokenFacts(BaseModel):
    """The numbers of facts that do not hold, and what holds of every pair that has one."""

    broken: list[int]
    relations: list[Said]


# -- models --


class ModelLine(BaseModel):
    """A trained model in short."""

    name: str
    shipped: bool
    links: bool
    kind: str
    relations: Words
    calculus: str
    parameters: int
    validation: float | None
    distilled: bool


class Models(BaseModel):
    """All trained models."""

    models: list[ModelLine]


class Links(Request):
    """A question (head, relation, ?) about a graph."""

    model: Name
    triples: Text
    head: Name
    relation: Name
    top: int = Field(10, ge=1, le=100)
    include_known: bool = False
    paths: bool = True


class LinkAnswer(BaseModel):
    """An answer, and the facts along the path that supports it most."""

    head: str
    relation: str
    rank: int
    tail: str
    score: float
    probability: float | None
    known: bool
    path: str
    support: list[Said]


class LinkAnswers(BaseModel):
    """The likeliest answers."""

    answers: list[LinkAnswer]
    entities: int
    facts: int
    relations: Words
    notes: list[str]


class GraphText(Request):
    """A graph as lines of head, relation and tail; with a model, in its relations."""

    triples: Text
    model: Name | None = None


class Graph(BaseModel):
    """What a graph has."""

    entities: Words
    relations: Words
    facts: int
    notes: list[str]


# -- runs --


class Experiment(BaseModel):
    """What can be trained by one click."""

    name: str
    title: str
    about: str
    seconds: float | None = None
    upload: bool


class Experiments(BaseModel):
    """All of it."""

    experiments: list[Experiment]


class Upload(Request):
    """A file to train on: triples, or labelled graphs."""

    name: FileName
    text: str


class Begin(Request):
    """A run to begin."""

    experiment: Name
    name: RunName | None = None
    settings: list[Name] = Field([], max_length=30)
    seed: int = Field(0, ge=0, le=2**31)
    upload: list[Upload] | None = Field(None, min_length=1, max_length=200)
    calculus: Name | None = Field(None, description="What uploaded graphs speak of, or none; otherwise recognised.")


class Begun(BaseModel):
    """The run that was begun."""

    name: str


class Epoch(BaseModel):
    """One epoch of a run."""

    epoch: int
    loss: float
    validation: float | None
    seconds: float


State = Literal["training", "stopped", "ended", "failed"]


class RunState(BaseModel):
    """Whether a run trains."""

    state: State


class RunLine(BaseModel):
    """A run in short."""

    name: str
    experiment: str
    state: State
    epoch: int
    epochs: int
    validation: float | None
    links: bool
    error: str | None = None


class Runs(BaseModel):
    """All runs."""

    runs: list[RunLine]


class Run(RunLine):
    """A run, epoch by epoch; `vectors` places relations in the plane, `command` resumes it at a terminal."""

    history: list[Epoch]
    relations: Words
    vectors: list[tuple[float, float]] | None
    metric: str
    command: str


class Cell(BaseModel):
    """A composition as it was learnt, as it truly is, and how sure the weights are of it."""

    learnt: Words
    true: Words | None
    margin: float


class DistilledCalculus(BaseModel):
    """The calculus that a model has learnt, beside the true one."""

    kind: Literal["calculus"]
    calculus: str
    certificate: dict[str, Any]
    table: dict[str, dict[str, Cell]]
    agree: int | None
    cells: int


# -- results --


class SuiteLine(BaseModel):
    """A table of results in short."""

    name: str
    title: str
    records: int


class Suites(BaseModel):
    """All tables of which something is recorded."""

    suites: list[SuiteLine]


class Table(BaseModel):
    """A table, and the records that it comes from."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str]
    records: list[dict[str, Any]]
    pictures: list[str]
