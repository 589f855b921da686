// The view "Links": who is the tail of (head, relation, ?) in a graph, and which facts support it.

import { html, useState, useEffect, useMemo, get, post, say, useAsk, percent, cut } from "./lib.js";
import { Canvas } from "./canvas.js";
import { layout } from "./layout.js";

export function Links({ known, shown }) {
  const graphs = known.graphs || [];
  const [models, setModels] = useState([]);
  const [model, setModel] = useState("");
  const [triples, setTriples] = useState(graphs[0]?.triples || "");
  const [asked, setAsked] = useState({ head: graphs[0]?.head || "", relation: graphs[0]?.relation || "" });
  const [chosen, setChosen] = useState(graphs[0]?.name || "");
  const [training, setTraining] = useState(null);
  const [picked, setPicked] = useState(null);
  const load = async () => {
    const told = await get("/api/models");
    const usable = told.models.filter((one) => one.links);
    setModels(usable);
    setModel((old) => (usable.some((one) => one.name === old) ? old : usable.at(-1)?.name || ""));
  };
  useEffect(() => { if (shown) load().catch((error) => say(error.message, "error")); }, [shown, training]);
  const graph = useAsk((signal) => (triples.trim() ? post("/api/links/graph", { triples, ...(model ? { model } : {}) }, signal) : null), [triples, model], 200);
  const ready = model && graph.value && asked.head && asked.relation;
  const found = useAsk((signal) => (ready ? post("/api/links", { model, triples, ...asked, top: 10 }, signal) : null), [model, triples, asked, graph.value], 50);
  useEffect(() => setPicked(null), [found.value]);

  function open(one) {
    setChosen(one.name);
    setTriples(one.triples);
    setAsked({ head: one.head, relation: one.relation });
  }
  async function train() {
    try {
      const { name } = await post("/api/runs", { experiment: "links", settings: [], seed: 0, upload: [{ name: "triples.tsv", text: triples }] });
      setTraining({ name, epoch: 0, epochs: 0 });
      const events = new EventSource(`/api/runs/${encodeURIComponent(name)}/events`);
      events.addEventListener("epoch", (event) => { const one = JSON.parse(event.data); setTraining({ name, epoch: one.epoch, epochs: one.epochs, left: one.seconds_left }); });
      events.addEventListener("state", (event) => {
        const told = JSON.parse(event.data);
        if (told.state === "training") return;
        events.close();
        setTraining(null);
        if (told.state === "ended") setModel(name);
        else say(told.error || `The run ${told.state}.`, "error");
      });
      events.onerror = () => events.close();
    } catch (error) {
      say(error.message, "error");
    }
  }
  const answers = (ready && found.value?.answers) || [];
  const relations = graph.value?.relations || [];
  return html`<div class="two pad">
    <section><h1>Links</h1><p>A graph of facts, and a model that has learnt from such facts. Ask who else stands in a relation: the model ranks everybody.</p>
      <form class="card" aria-label="Question" onSubmit=${(event) => event.preventDefault()}>
        <div class="fields"><label class="block">Graph <select aria-label="Graph" value=${chosen} onChange=${(event) => open(graphs.find((one) => one.name === event.target.value))}>
            ${graphs.map((one) => html`<option key=${one.name} value=${one.name}>${one.title}</option>`)}${!graphs.some((one) => one.name === chosen) && html`<option value=${chosen}>${chosen}</option>`}</select></label>
          <label class="button">Open a TSV …<input class="hidden" type="file" accept=".tsv,.txt" aria-label="Open a TSV of triples" onChange=${async (event) => { const file = event.target.files[0]; event.target.value = ""; if (file) open({ name: file.name, triples: await file.text(), head: "", relation: "" }); }} /></label></div>
        <details><summary>${graph.value ? `${graph.value.facts} facts about ${graph.value.entities.length} entities, ${relations.length} relations` : "The facts"}</summary>
          <textarea aria-label="Triples, one a line with tabs between" spellcheck="false" value=${triples} onInput=${(event) => setTriples(event.target.value)}></textarea></details>
        ${graph.error && triples.trim() && html`<p class="error" role="status">${graph.error.message}</p>`}
        <div class="fields">${models.length > 0 && html`<label class="block">Model <select aria-label="Model" value=${model} onChange=${(event) => setModel(event.target.value)}>${models.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select></label>`}
          <button type="button" class=${models.length ? "" : "primary"} disabled=${Boolean(training) || !triples.trim()} onClick=${train}>${training ? "Training …" : "Train one on this graph"}</button></div>
        ${training && html`<p class="quiet" role="status">${training.epoch ? `Epoch ${training.epoch}${training.epochs ? ` of ${training.epochs}` : ""}${training.left != null ? `, ${Math.ceil(training.left)} s left` : ""}` : "Preparing the data …"}</p><progress aria-label="Epochs" max=${training.epochs || 1} value=${training.epoch}></progress>`}
        <div class="fields"><label class="block">From <input aria-label="Head" list="heads" value=${asked.head} onChange=${(event) => setAsked({ ...asked, head: event.target.value })} /></label>
          <label class="block">by the relation <select aria-label="Relation" value=${asked.relation} onChange=${(event) => setAsked({ ...asked, relation: event.target.value })}><option value="" disabled>choose …</option>
            ${relations.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}${relations.map((one) => html`<option key=${`${one}^-1`} value=${`${one}^-1`}>${one}, backwards</option>`)}</select></label><span class="ask">to whom?</span></div>
        <datalist id="heads">${(graph.value?.entities || []).map((one) => html`<option key=${one} value=${one} />`)}</datalist></form>
      ${ready && found.error && html`<p class="error" role="status">${found.error.message}</p>`}
      ${ready && found.busy && !answers.length && html`<p class="quiet" role="status">Ranking …</p>`}
      ${answers.length > 0 && html`<table class="data answers"><caption>The likeliest answers that the graph does not state</caption><thead><tr><th>rank</th><th>answer</th><th>probability</th></tr></thead>
        <tbody>${answers.map((one) => html`<tr key=${one.tail} class=${picked === one.tail ? "picked" : ""}><td class="n">${one.rank}</td><td><button type="button" class="link" aria-pressed=${picked === one.tail} onClick=${() => setPicked(one.tail)}>${one.tail}</button></td>
          <td><span class="meter" aria-hidden="true"><i style=${{ width: `${one.probability * 100}%` }}></i></span> ${percent(one.probability)}</td></tr>`)}</tbody></table>
        <p class="quiet">Click on an answer to see the facts that support it.</p>`}
    </section>
    <section>${answers.length > 0 ? html`<${Support} answer=${answers.find((one) => one.tail === picked) || answers[0]} triples=${triples} onwards=${(head) => setAsked({ ...asked, head })} />` : html`<div class="empty"><p>${models.length ? "Ask a question to see the facts that support its answers." : html`<b>Train a model on this graph.</b> That takes some seconds; then it ranks who else stands in a relation, and shows why.`}</p></div>`}</section>
  </div>`;
}

/** The facts that support an answer most, and what else is known near them. */
function Support({ answer, triples, onwards }) {
  const [places, setPlaces] = useState({});
  const support = answer.support || [];
  const { names, edges } = useMemo(() => {
    const core = new Set([answer.head, answer.tail, ...support.flatMap(([head, , tail]) => [head, tail])]);
    const key = (fact) => fact.join("\t");
    const strong = new Set(support.map(key));
    const near = triples.split("\n").map((line) => line.replace(/\r$/, "").split("\t")).filter((fact) => fact.length >= 3 && core.has(fact[0]) !== core.has(fact[2])).slice(0, 8);
    const within = triples.split("\n").map((line) => line.replace(/\r$/, "").split("\t")).filter((fact) => fact.length >= 3 && core.has(fact[0]) && core.has(fact[2]) && !strong.has(key(fact))).slice(0, 10);
    const all = [...support.map((fact) => [fact, true]), ...within.map((fact) => [fact, false]), ...near.map((fact) => [fact, false])];
    return {
      names: [...new Set([...core, ...near.flatMap(([head, , tail]) => [head, tail])])],
      edges: [
        ...all.map(([[head, relation, tail], strongly], at) => ({ id: `e${at}`, head, tail, label: relation, kind: "fact", lit: strongly, title: `${head} ${relation} ${tail}` })),
        { id: "asked", head: answer.head, tail: answer.tail, label: `${answer.relation}?`, kind: "inferred", title: `asked: ${answer.head} ${answer.relation} ${answer.tail}` },
      ],
    };
  }, [answer, triples]);
  useEffect(() => setPlaces({}), [answer]);
  const at = layout(names, edges.map((edge) => [edge.head, edge.tail]), places);
  const move = (name, place) => setPlaces({ ...at, [name]: place });
  return html`<h2>${cut(answer.head, 30)} – ${answer.relation} → ${cut(answer.tail, 30)}</h2>
    <p>${answer.path ? html`Supported most by <code>${answer.path}</code>.` : "No short path of facts supports it."} <button type="button" onClick=${() => onwards(answer.tail)}>Ask the same of ${cut(answer.tail, 20)}</button></p>
    <div class="fixed"><${Canvas} nodes=${names.map((name) => ({ name, tone: name === answer.head ? "head" : name === answer.tail ? "tail" : "" }))} edges=${edges} places=${at} selected=${null}
      on=${{ fitKey: answer.tail + names.length, create: () => {}, removeNode: () => {}, rename: () => {}, clear: () => {}, node: onwards, connect: () => {}, move, edge: () => {}, removeEdge: () => {} }} /></div>`;
}
