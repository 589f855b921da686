"""The commands and their help; each lives in a module of its own that is loaded with it."""

import typer

from epignn.cli import (
    ask,
    benchmark,
    calculi,
    data,
    demo,
    distil,
    explain,
    generate,
    info,
    learn,
    networks,
    profile,
    realise,
    reproduce,
    score,
    serve,
    tune,
)

app = typer.Typer(
    name="epignn",
    help="Reason about relations: between regions, intervals, points. Exit codes: 0 answered, 1 inconsistent or "
    "not entailed, 2 bad input.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("close")(networks.close)
app.command("entails")(networks.entails)
app.command("explain")(explain.explain)
app.command("realise")(realise.realise)
app.command("check")(benchmark.check)
app.add_typer(generate.app, name="generate")
for _command in (
    learn.train,
    learn.evaluate,
    learn.predict,
    score.score,
    profile.profile,
    ask.ask,
    distil.distil,
    reproduce.reproduce,
    tune.tune,
):
    app.command()(_command)
app.add_typer(calculi.app, name="calculus")
app.add_typer(data.app, name="data")
app.command("demo")(demo.demo)
app.command("serve")(serve.serve)
app.command("info")(info.info)
