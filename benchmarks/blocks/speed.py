"""How long things take: blocks from the records of benchmarks."""

from blocks.results import Results, busy, machine
from epignn.report.tables import markdown


def closure_sentence(results: Results) -> str:
    figures = results.bench("closure")["figures"]
    large, huge = figures["boxes_2000"], figures["map_100000"]
    return (
        f"Closing {large['regions']:,} regions with {large['facts']:,} facts takes {large['seconds']:.2g} s on one "
        f"core, {large['gqr_seconds'] / large['seconds']:.0f} times less than GQR, a solver in C++; a map of "
        f"{huge['regions']:,} regions {huge['seconds']:.2g} s."
    )


def closure_table(results: Results) -> str:
    record = results.bench("closure")
    lines = [
        "| network (RCC-8, single relations) | facts | algorithm | seconds | GQR 1501 |",
        "| --- | ---: | --- | ---: | ---: |",
    ]
    for name, row in record["figures"].items():
        boxes = name.startswith("boxes")
        what = f"{row['regions']:,} random boxes" if boxes else f"map of {row['regions']:,} regions"
        gqr = f"{row['gqr_seconds']:.2f}" if boxes else ""
        lines.append(
            f"| {what} | {row['facts']:,} | {'closure' if boxes else 'partial'} | {row['seconds']:.3f} | {gqr} |"
        )
    return "\n".join([*lines, "", machine(record) + " GQR's figures are from another machine of that kind."])


def generator_table(results: Results) -> str:
    record = results.bench("generator")
    lines = ["| generated cell | instances a second, proved and written |", "| --- | ---: |"]
    lines += [f"| {row['cell']} | {row['per_second']:,.0f} |" for row in record["figures"].values()]
    return "\n".join([*lines, "", machine(record)])


def model_sentence(results: Results) -> str:
    record = results.bench("model")
    figures = record["figures"]
    fused, native, plain, published = (
        figures[f"step_{kind}"]["milliseconds"] for kind in ("fused", "native", "numpy", "published")
    )
    return (
        f"A training step of 128 graphs takes {fused:.2f} ms in one call of the compiled kernels, {native:.2f} ms "
        f"by kernels between which torch works, {plain:.0f} ms by plain torch; the published code took "
        f"{published:.0f} ms. Inference at k = 9, b = 3: "
        f"{figures['inference_k9_b3']['graphs_per_second']:,.0f} graphs a second. {machine(record)}"
    )


def limits_table(results: Results) -> str:
    record = results.bench("limits")
    about = {
        "pair": ("close a chain, one pair of it (`--query`)", "facts"),
        "close": ("close a chain, all pairs", "facts"),
        "mixed": ("the same with a fact `ec\\|ntpp` beside it", "facts"),
        "explain": ("explain the ends of a chain", "facts"),
        "network": ("explain a pair of 300 entities", "facts"),
        "neural": ("explain what the shipped model says of the ends of a chain", "facts"),
        "conflict": ("which facts clash, in one circle (`--algorithm partial`)", "facts"),
    }
    lines = []
    for name, told in record["figures"].items():
        what, size = name.split()
        question, unit = about[what]
        took = f"{told['seconds']:.2g}", f"{told['memory_mb']:,.0f} MB"
        lines.append([question, f"{int(size):,} {unit}", *took])
    return markdown(["question", "size", "CPU seconds", "memory"], lines) + f"\n\n{machine(record)}"


def serve_sentence(results: Results) -> str:
    record = results.bench("serve")
    full, paced = record["figures"].values()
    return (
        f"Fifty clients that close and explain networks of 30 regions, with a search beside them, get "
        f"{full['requests_per_second']:.0f} answers a second on two cores. At "
        f"{paced['requests_per_second']:.0f} requests a second half of the answers take "
        f"{paced['p50_seconds'] * 1000:.0f} ms, and 99 of 100 at most "
        f"{paced['p99_seconds'] * 1000:.0f} ms. {machine(record)}"
    )


def files_table(results: Results) -> str:
    record = results.bench("files")
    figures = record["figures"]
    lines = [["start and answer a small question", f"{figures['start']['seconds']:.2f}", ""]]
    for name, row in figures.items():
        if name.startswith("close_"):
            whole = ", ".join(f"{row[way]:.2f}" for way in ("query", "summary", "json"))
            gqr = f"; GQR {row['gqr_seconds']:.2f}" if "gqr_seconds" in row else ""
            boxes = f"{int(name.removeprefix('close_')):,} boxes"
            lines.append(
                [
                    f"close {boxes}: alone; by command, for one answer, the summary, JSON",
                    f"{row['closure']:.2f}; {whole}{gqr}",
                    "",
                ]
            )
        elif name.startswith("read_"):
            what = {"read_table": "facts as CSV"}.get(name, name.removeprefix("read_"))
            lines.append(
                [f"read {row['rows']:,} {what}", f"{row['seconds']:.1f}", f"{row['peak_mb'] / 1000:.1f} GB"]
            )
    lines.append([f"compare {figures['relate']['regions']:,} polygons", f"{figures['relate']['seconds']:.0f}", ""])
    return markdown(["from a file to an answer", "seconds of one core", "memory"], lines) + f"\n\n{machine(record)}"


def stream_sentence(results: Results) -> str:
    record = results.bench("stream")
    figures = record["figures"]["stream_300"]
    return (
        f"{figures['steps']:,} facts that come and go on 300 entities take {figures['seconds']:.0f} s of one core, "
        f"{figures['factor']:.0f} times less than closing anew after each. {machine(record)}"
    )


def workers_table(results: Results) -> str:
    """How much faster two workers are, for each kind of work."""
    record = results.bench("workers")
    columns = ["work", "one worker, s", "two, s", "times as fast", "processor seconds, one", "two"]
    keys = ("workers_1_seconds", "workers_2_seconds", "faster", "workers_1_cpu_seconds", "workers_2_cpu_seconds")
    lines = [[kind, *(f"{row[key]:.2f}" for key in keys)] for kind, row in record["figures"].items()]
    return markdown(columns, lines) + f"\n\n{machine(record)}{busy(record)}"


def parallel_table(results: Results) -> str:
    """How long a step takes by one process and by two that share it."""
    record = results.bench("parallel")
    columns = ["a step", "parameters", "one process, ms", "two, ms", "times as fast"]
    columns += ["processor ms of one", "of each of two", "times less"]
    lines = []
    for name, row in record["figures"].items():
        cells = [name, f"{row['parameters']:,}"]
        for kind in ("seconds", "cpu_seconds"):
            alone, together = row[f"alone_{kind}"], row[f"together_{kind}"]
            cells += [f"{1000 * alone:.1f}", f"{1000 * together:.1f}", f"{alone / together:.2f}"]
        lines.append(cells)
    return markdown(columns, lines) + f"\n\n{machine(record)}{busy(record)}"


def large_graph(results: Results) -> str:
    """A pass over a large graph, and what follows from it for all heads, with the arithmetic."""
    record = results.bench("large_graph")
    row = record["figures"]["large_graph"]
    cores, each = row["machines"] * row["cores"], row["pass_cpu_seconds"]
    hours = each * row["entities"] / cores / 3600
    everybody = f"{row['machines']} machines of {row['cores']} cores"
    told = (
        f"A generated graph of {row['facts']:,} facts and {row['entities']:,} entities is opened in "
        f"{row['opened_seconds']:.2g} s. Scoring all entities for all {row['relations']} relations and their "
        f"inverses, of {row['heads']:,} heads, took {each:.2g} s of one core a head, and "
        f"{row['peak_mb'] / 1000:.1f} GB in all. This was measured. Extrapolated, not measured: all heads on "
        f"{everybody} take {row['entities']:,} × {each:.2g} s / ({row['machines']} × {row['cores']}) = "
        f"{hours:.2g} hours"
    )
    if "pruned_cpu_seconds" in row:
        pruned = row["pruned_cpu_seconds"]
        told += (
            f"; by passes that follow at most {100 * row['pruned_share']:.2g} % of the entities, which take "
            f"{pruned:.2g} s a head (measured on {row['pruned_heads']:,}), "
            f"{pruned * row['entities'] / cores / 3600:.2g} hours"
        )
    return f"{told}. {machine(record)}{busy(record)}"


def steps_table(results: Results) -> str:
    """What a training step of each model takes, and how near its products are to what the machine can do."""
    record = results.bench("peers")
    columns = ["model", "parameters", "a step, ms", "times plain EpiGNN", "GFLOP", "of the speed of a product"]
    columns += ["answers a second"]
    lines = []
    for name, row in record["figures"].items():
        step = [""] * 4
        if "step_milliseconds" in row:
            step = [f"{row['step_milliseconds']:,.1f}", f"{row['times_plain']:.2f}", f"{row['step_gflop']:.2f}"]
            step.append(f"{100 * row['share_of_product']:.0f} %")
        answers = f"{row['graphs_per_second']:,.0f}" if "graphs_per_second" in row else "refused"
        lines.append([name, f"{row['parameters']:,}", *step, answers])
    slowest = record["figures"]["edge-transformer"]
    least = slowest["times_plain"] * slowest["share_of_product"]
    told = (
        "The products of an Edge Transformer's step alone, at the speed of one large product, would take "
        f"{least:.0f} times as long as all of EpiGNN's in plain torch."
    )
    return "\n\n".join([markdown(columns, lines), told, machine(record)])
