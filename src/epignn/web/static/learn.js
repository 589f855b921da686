// The view "Learn": train a model, watch it, distil what it has learnt, and compare that with the truth.

import { html, useState, useEffect, useRef, get, post, say, useAsk, percent } from "./lib.js";
import { Line, Points } from "./chart.js";

const STATES = { training: "training", stopped: "stopped; it can go on", ended: "trained", failed: "failed" };

export function Learn({ calculi, ask }) {
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
      <${Start} calculi=${calculi} experiments=${experiments.value?.experiments || []} started=${async (name) => { await refresh(); setChosen(name); }} />
      ${runs.length > 0 && html`<h2>Runs</h2><ul class="plain runs">${runs.map((run) => html`<li key=${run.name}><button type="button" aria-pressed=${chosen === run.name} onClick=${() => setChosen(run.name)}>
        <b>${run.name}</b> <span class="quiet">${STATES[run.state] || run.state}${run.epoch ? `, epoch ${run.epoch} of ${run.epochs}` : ""}${run.validation != null ? `, ${percent(run.validation)}` : ""}</span></button></li>`)}</ul>`}
    </section>
    <section>${chosen ? html`<${Run} key=${chosen} name=${chosen} refresh=${refresh} ask=${ask} />` : html`<div class="empty"><p><b>Press Start.</b></p><p>The example takes some seconds. You will see the loss fall, the validation rise, and the relations part.</p></div>`}</section>
  </div>`;
}

const READ = /\.(csv|jsonl|tsv|txt)(\.gz)?$/i;

/** The files of a choice that training can read, unpacked; of a folder, those that lie in it itself. */
async function taken(list) {
  const chosen = [...list].filter((file) => READ.test(file.name) && (file.webkitRelativePath || "").split("/").length <= 2);
  return Promise.all(chosen.map(async (file) => {
    const packed = /\.gz$/i.test(file.name);
    const text = await (packed ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text() : file.text());
    return { name: file.name.replace(/\.gz$/i, "").replace(/[^A-Za-z0-9._,-]/g, "_").replace(/^[^A-Za-z0-9]/, "x"), text };
  }));
}

/** Triples are one .tsv or .txt, or a folder with train.txt; other files are labelled graphs. */
const areTriples = (files) => files.some((file) => /^train\.(txt|tsv)$/.test(file.name)) || (files.length === 1 && /\.(tsv|txt)$/.test(files[0].name));

function Start({ experiments, calculi, started }) {
  const [what, setWhat] = useState("");
  const [files, setFiles] = useState([]);
  const [calculus, setCalculus] = useState("");
  const [busy, setBusy] = useState(false);
  const name = useRef(null);
  const offers = experiments.filter((one) => !one.upload);
  const picked = experiments.find((one) => one.name === (files.length ? (areTriples(files) ? "links" : "graphs") : what || offers[0]?.name));
  async function choose(event) {
    const list = event.target.files;
    try {
      const found = await taken(list);
      if (list.length && !found.length) say("None of these is a .csv, .jsonl, .tsv or .txt file.", "error");
      setFiles(found);
    } catch (error) {
      say(`This cannot be unpacked: ${error.message}`, "error");
    }
    event.target.value = "";
  }
  async function start(event) {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { experiment: picked.name, settings: [], seed: 0 };
      if (name.current.value.trim()) body.name = name.current.value.trim();
      if (files.length) body.upload = files;
      if (picked.name === "graphs" && calculus) body.calculus = calculus;
      const told = await post("/api/runs", body);
      name.current.value = "";
      await started(told.name);
    } catch (error) {
      say(error.message, "error");
    }
    setBusy(false);
  }
  const input = (title, folder) => html`<label class="button">${title}<input class="hidden" type="file" multiple webkitdirectory=${folder} accept=${folder ? undefined : ".csv,.jsonl,.tsv,.txt,.gz"} aria-label=${title} onChange=${choose} /></label>`;
  return html`<form class="card" onSubmit=${start} aria-label="Start a run">
    ${!files.length && html`<label class="block">What to learn <select value=${what || picked?.name || ""} onChange=${(event) => setWhat(event.target.value)}>${offers.map((one) => html`<option key=${one.name} value=${one.name}>${one.title}</option>`)}</select></label>`}
    ${files.length > 0 && html`<p data-testid="files"><b>${files.length === 1 ? files[0].name : `${files.length} files`}</b> <button type="button" onClick=${() => setFiles([])}>Leave out</button></p>`}
    <p class="quiet">${picked?.about}</p>
    ${files.length > 0 && picked?.name === "graphs" && html`<label class="block">They speak of <select value=${calculus} onChange=${(event) => setCalculus(event.target.value)}><option value="">what their words tell</option>
      ${calculi.map((one) => html`<option key=${one.name} value=${one.name}>${one.title.split(":")[0]}</option>`)}<option value="none">relations of their own</option></select></label>`}
    <p class="row"><span class="quiet">Or from your own</span> ${input("Files …", false)} ${input("Folder …", true)}</p>
    <label class="block">Name of the run <input ref=${name} placeholder="chosen for you" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="Letters, digits, dots and dashes" autocomplete="off" /></label>
    <button class="primary" disabled=${busy || !picked}>${busy ? "Reading …" : "Start"}</button></form>`;
}

function Run({ name, refresh, ask }) {
  const [run, setRun] = useState(null);
  const [live, setLive] = useState({ history: [], vectors: null, left: null, epochs: 0, state: null, error: "" });
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
      setLive((old) => ({ ...old, history: [...old.history.filter((other) => other.epoch !== one.epoch), one].sort((a, b) => a.epoch - b.epoch), vectors: one.vectors || old.vectors, left: one.seconds_left, epochs: one.epochs }));
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
  const { history, state } = live, metric = run.metric || "accuracy", epochs = live.epochs || run.epochs;
  const reached = history.map((one) => one.validation).filter((one) => one != null);
  return html`<h2>${name}</h2>
    <p role="status" data-testid="run-state">${STATES[state] || state}${state === "training" ? history.length ? `: epoch ${history.length} of ${epochs}${live.left != null ? `, ${Math.ceil(live.left)} s left` : ""}` : ": preparing the data …" : ""}</p>
    ${live.error && html`<p class="error">${live.error}</p>`}
    ${state === "training" && html`<progress max=${epochs || 1} value=${history.length} aria-label="Epochs"></progress>`}
    <div class="charts"><${Line} title="Loss" values=${history.map((one) => one.loss)} last=${epochs} low=${0} />
      <${Line} title="Validation ${metric}" values=${reached} last=${epochs} />
      <${Points} title="Relation vectors" names=${run.relations || []} points=${live.vectors} /></div>
    <div class="row">${state === "training" && html`<button type="button" disabled=${busy} onClick=${() => act("stop")}>Stop</button>`}
      ${state === "stopped" && html`<button type="button" class="primary" disabled=${busy} onClick=${() => act("resume")}>Go on</button>`}
      ${state === "ended" && !run.links && html`<button type="button" class="primary" disabled=${busy} onClick=${() => act("distil")}>${busy ? "Reading it off …" : "What has it learnt?"}</button>`}
      ${state === "ended" && run.links && html`<a class="button" href="#/links">Ask it for links</a>`}</div>
    ${run.command && html`<details><summary>The same at a terminal</summary><code class="block">${run.command}</code></details>`}
    ${learnt && html`<${Distilled} found=${learnt} /><p class="quiet">From now on it can be asked, too.</p>
      <button type="button" class="primary" onClick=${() => ask(wished(learnt, name))}>Ask it</button>`}`;
}

/** What the view "Reason" begins with: facts, the model, or the rules and the facts of one of them. */
const wished = (found, name) => (found.kind === "calculus" ? { calculus: found.calculus, model: name }
  : { own: found.toml, text: (found.rules[0]?.body || []).map((relation, at) => `${relation}(x${at}, x${at + 1})\n`).join(""), head: "x0", tail: "x2" });

const SHOWN = { learnt: "Learnt: how many", true: "True: how many", margin: "Margins" };
const counted = (relations, names) => (relations == null ? "" : relations.length === names.length ? "∗" : relations.length);

/** What was distilled: a table beside the true one, each cell with its margin, or rules. */
function Distilled({ found }) {
  const [cell, setCell] = useState(null);
  const [shows, setShows] = useState("learnt");
  if (found.kind === "rules")
    return html`<h3>Rules</h3>${!found.rules.length && html`<p class="quiet">The model is sure of none.</p>`}<table class="data"><thead><tr><th>rule</th><th>weight</th><th>support</th><th>confidence</th></tr></thead><tbody>${found.rules.slice(0, 60).map((one) => html`<tr key=${one.text}><td>${one.text}</td><td class="n">${one.weight.toFixed(2)}</td><td class="n">${one.support}</td><td class="n">${one.confidence.toFixed(3)}</td></tr>`)}</tbody></table>`;
  const names = Object.keys(found.table);
  const margins = names.flatMap((left) => names.map((right) => found.table[left][right].margin)).filter(Number.isFinite).sort((a, b) => a - b);
  const clearness = (margin) => (Number.isFinite(margin) ? (margins.indexOf(margin) + 1) / margins.length : 0); // among all cells
  const same = (one) => one.true && one.learnt.join() === one.true.join();
  const shown = cell && found.table[cell[0]][cell[1]];
  return html`<h3>The learnt calculus</h3>
    <p class="answer small" data-testid="agree">${found.agree} of ${found.cells} cells are those of the true table${found.agree === found.cells ? ": it is the calculus, learnt from examples alone." : "."}</p>
    <p class="quiet">What may hold from a to c, if the relation of the row holds from a to b, and that of the column from b to c. The darker, the clearer the model was; red cells differ from the truth. Click on one to see it.</p>
    <div class="row" role="group" aria-label="Cells show">${Object.entries(SHOWN).map(([key, title]) => html`<button type="button" key=${key} aria-pressed=${shows === key} onClick=${() => setShows(key)}>${title}</button>`)}</div>
    <div class="scroll"><table class="heat"><thead><tr><th aria-label="first then second">∘</th>${names.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
      <tbody>${names.map((left) => html`<tr key=${left}><th scope="row">${left}</th>${names.map((right) => {
        const one = found.table[left][right];
        const chosen = cell && cell[0] === left && cell[1] === right;
        return html`<td key=${right} class=${one.true && !same(one) ? "wrong" : ""}><button type="button" aria-pressed=${chosen} style=${{ "--share": clearness(one.margin) }}
          aria-label="${left} then ${right}: ${one.learnt.join(", ") || "nothing"}, margin ${one.margin.toFixed(2)}" title="${one.learnt.join(" | ")}, margin ${one.margin.toFixed(2)}" onClick=${() => setCell([left, right])}>${shows === "margin" ? one.margin.toFixed(1) : counted(one[shows], names)}</button></td>`;
      })}</tr>`)}</tbody></table></div>
    ${shown && html`<p role="status"><b>${cell[0]}</b>, then <b>${cell[1]}</b>: learnt <code>${shown.learnt.join(" | ") || "nothing"}</code>${shown.true && (same(shown) ? ", and that is the truth" : html`, the truth is <code>${shown.true.join(" | ")}</code>`)}${Number.isFinite(shown.margin) ? ` (margin ${shown.margin.toFixed(2)})` : ""}.</p>`}`;
}
