// The view "Learn": train a model, watch it, distil what it has learnt, and compare that with the truth.

import { html, useState, useEffect, useRef, get, post, say, useAsk, percent } from "./lib.js";
import { Line, Points } from "./chart.js";

const STATES = { training: "training", stopped: "stopped; it can go on", ended: "trained", failed: "failed" };

export function Learn({ known }) {
  const [runs, setRuns] = useState([]);
  const [chosen, setChosen] = useState(null);
  const experiments = useAsk((signal) => get("/api/experiments", signal), []);
  const refresh = async () => {
    const told = await get("/api/runs");
    setRuns(told.runs);
    return told.runs;
  };
  useEffect(() => { refresh().then((found) => setChosen(found.find((run) => run.state === "training")?.name || null)).catch((error) => say(error.message, "error")); }, []);
  return html`<div class="two pad">
    <section><h1>Learn</h1>
      <p>A model sees small graphs, each with the one relation that follows, and learns how relations compose. What it has learnt can then be written down, and checked against the truth.</p>
      ${experiments.error && html`<p class="error">${experiments.error.message}</p>`}
      <${Start} experiments=${experiments.value?.experiments || []} started=${async (name) => { await refresh(); setChosen(name); }} />
      ${runs.length > 0 && html`<h2>Runs</h2><ul class="plain runs">${runs.map((run) => html`<li key=${run.name}><button type="button" aria-pressed=${chosen === run.name} onClick=${() => setChosen(run.name)}>
        <b>${run.name}</b> <span class="quiet">${STATES[run.state] || run.state}${run.epoch ? `, epoch ${run.epoch} of ${run.epochs}` : ""}${run.validation != null ? `, ${percent(run.validation)}` : ""}</span></button></li>`)}</ul>`}
    </section>
    <section>${chosen ? html`<${Run} key=${chosen} name=${chosen} refresh=${refresh} />` : html`<div class="empty"><p>Choose a run, or start one: the example takes some seconds.</p></div>`}</section>
  </div>`;
}

function Start({ experiments, started }) {
  const [what, setWhat] = useState("");
  const [file, setFile] = useState(null);
  const [busy, setBusy] = useState(false);
  const name = useRef(null);
  const picked = experiments.find((one) => one.name === (what || experiments[0]?.name));
  async function start(event) {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { experiment: file ? "links" : picked.name, settings: [], seed: 0 };
      if (name.current.value.trim()) body.name = name.current.value.trim();
      if (file) body.upload = { name: file.name, text: await file.text() };
      const told = await post("/api/runs", body);
      name.current.value = "";
      await started(told.name);
    } catch (error) {
      say(error.message, "error");
    }
    setBusy(false);
  }
  return html`<form class="card" onSubmit=${start} aria-label="Start a run">
    <label class="block">What to learn <select value=${what || picked?.name || ""} disabled=${Boolean(file)} onChange=${(event) => setWhat(event.target.value)}>${experiments.map((one) => html`<option key=${one.name} value=${one.name}>${one.title}</option>`)}</select></label>
    <p class="quiet">${file ? `Links of ${file.name}: who stands in which relation to whom.` : picked?.about}</p>
    <div class="row"><label class="button">${file ? "Another file …" : "Or your own triples (.tsv) …"}<input class="hidden" type="file" accept=".tsv,.txt,.csv" aria-label="Your own triples" onChange=${(event) => setFile(event.target.files[0] || null)} /></label>
      ${file && html`<button type="button" onClick=${() => setFile(null)}>Without ${file.name}</button>`}</div>
    <label class="block">Name of the run <input ref=${name} placeholder="chosen for you" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="Letters, digits, dots and dashes" autocomplete="off" /></label>
    <button class="primary" disabled=${busy || (!picked && !file)}>Start</button></form>`;
}

function Run({ name, refresh }) {
  const [run, setRun] = useState(null);
  const [live, setLive] = useState({ history: [], vectors: null, left: null, state: null, error: "" });
  const [follow, setFollow] = useState(0);
  const [learnt, setLearnt] = useState(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    get(`/api/runs/${encodeURIComponent(name)}`).then((told) => {
      setRun(told);
      setLive((old) => ({ ...old, history: told.history, vectors: told.vectors, state: told.state, error: told.error || "" }));
    }).catch((error) => say(error.message, "error"));
    const events = new EventSource(`/api/runs/${encodeURIComponent(name)}/events`);
    events.addEventListener("epoch", (event) => {
      const one = JSON.parse(event.data);
      setLive((old) => ({ ...old, history: [...old.history.filter((other) => other.epoch !== one.epoch), one].sort((a, b) => a.epoch - b.epoch), vectors: one.vectors || old.vectors, left: one.seconds_left }));
    });
    events.addEventListener("state", (event) => {
      const told = JSON.parse(event.data);
      setLive((old) => ({ ...old, state: told.state, error: told.error || "" }));
      if (told.state !== "training") {
        events.close();
        get(`/api/runs/${encodeURIComponent(name)}`).then(setRun).catch((error) => say(error.message, "error"));
        refresh();
      }
    });
    events.onerror = () => events.close();
    return () => events.close();
  }, [name, follow]);
  async function act(what) {
    setBusy(true);
    try {
      const told = await post(`/api/runs/${encodeURIComponent(name)}/${what}`, {});
      if (what === "distil") setLearnt(told);
      else setFollow((n) => n + 1);
      await refresh();
    } catch (error) {
      say(error.message, "error");
    }
    setBusy(false);
  }
  if (!run) return html`<p class="quiet">Loading …</p>`;
  const { history, state } = live, metric = run.metric || "accuracy";
  const reached = history.map((one) => one.validation).filter((one) => one != null);
  return html`<h2>${name}</h2>
    <p role="status" data-testid="run-state">${STATES[state] || state}${state === "training" ? history.length ? `: epoch ${history.length} of ${run.epochs}${live.left != null ? `, ${Math.ceil(live.left)} s left` : ""}` : ": preparing the data …" : ""}</p>
    ${live.error && html`<p class="error">${live.error}</p>`}
    ${state === "training" && html`<progress max=${run.epochs || 1} value=${history.length} aria-label="Epochs"></progress>`}
    <div class="charts"><${Line} title="Loss" values=${history.map((one) => one.loss)} last=${run.epochs} low=${0} />
      <${Line} title="Validation ${metric}" values=${reached} last=${run.epochs} />
      <${Points} title="Relation vectors" names=${run.relations || []} points=${live.vectors} /></div>
    <div class="row">${state === "training" && html`<button type="button" disabled=${busy} onClick=${() => act("stop")}>Stop</button>`}
      ${state === "stopped" && html`<button type="button" class="primary" disabled=${busy} onClick=${() => act("resume")}>Go on</button>`}
      ${state === "ended" && !run.links && html`<button type="button" class="primary" disabled=${busy} onClick=${() => act("distil")}>${busy ? "Reading it off …" : "What has it learnt?"}</button>`}
      ${state === "ended" && run.links && html`<a class="button" href="#/links">Ask it for links</a>`}</div>
    ${run.command && html`<details><summary>The same at a terminal</summary><code class="block">${run.command}</code></details>`}
    ${learnt && html`<${Distilled} found=${learnt} />`}`;
}

/** What was distilled: a table beside the true one, each cell with its margin, or rules. */
function Distilled({ found }) {
  const [cell, setCell] = useState(null);
  if (found.kind === "rules")
    return html`<h3>Rules</h3><table class="data"><thead><tr><th>rule</th><th>weight</th><th>support</th><th>confidence</th></tr></thead><tbody>${found.rules.slice(0, 60).map((one) => html`<tr key=${one.text}><td>${one.text}</td><td class="n">${one.weight.toFixed(2)}</td><td class="n">${one.support}</td><td class="n">${one.confidence.toFixed(3)}</td></tr>`)}</tbody></table>`;
  const names = Object.keys(found.table);
  const margins = names.flatMap((left) => names.map((right) => found.table[left][right].margin)).filter(Number.isFinite).sort((a, b) => a - b);
  const clearness = (margin) => (Number.isFinite(margin) ? (margins.indexOf(margin) + 1) / margins.length : 0); // among all cells
  const same = (one) => one.true && one.learnt.join() === one.true.join();
  const shown = cell && found.table[cell[0]][cell[1]];
  return html`<h3>The learnt calculus</h3>
    <p class="answer small" data-testid="agree">${found.agree} of ${found.cells} cells are those of the true table${found.agree === found.cells ? ": it is the calculus, learnt from examples alone." : "."}</p>
    <p class="quiet">How many relations may hold from a to c, if that of the row holds from a to b and that of the column from b to c; ∗ is all of them. The darker, the clearer the model was; red cells differ from the truth. Click on one to see it.</p>
    <div class="scroll"><table class="heat"><thead><tr><th aria-label="first then second">∘</th>${names.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
      <tbody>${names.map((left) => html`<tr key=${left}><th scope="row">${left}</th>${names.map((right) => {
        const one = found.table[left][right];
        const chosen = cell && cell[0] === left && cell[1] === right;
        return html`<td key=${right} class=${one.true && !same(one) ? "wrong" : ""}><button type="button" aria-pressed=${chosen} style=${{ "--share": clearness(one.margin) }}
          aria-label="${left} then ${right}: ${one.learnt.join(", ") || "nothing"}" onClick=${() => setCell([left, right])}>${one.learnt.length === names.length ? "∗" : one.learnt.length}</button></td>`;
      })}</tr>`)}</tbody></table></div>
    ${shown && html`<p role="status"><b>${cell[0]}</b>, then <b>${cell[1]}</b>: learnt <code>${shown.learnt.join(" | ") || "nothing"}</code>${shown.true && (same(shown) ? ", and that is the truth" : html`, the truth is <code>${shown.true.join(" | ")}</code>`)}${Number.isFinite(shown.margin) ? ` (margin ${shown.margin.toFixed(2)})` : ""}.</p>`}`;
}
