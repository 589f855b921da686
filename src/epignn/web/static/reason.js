// The view "Reason": a canvas and a text of facts, each changing the other, with questions and worlds beside them.

import { html, useState, useEffect, useMemo, useRef, useAsk, post, get, upload, pack, say, saveImage, download, cut } from "./lib.js";
import { Canvas } from "./canvas.js";
import { layout } from "./layout.js";
import { addFact, changeFact, removeFacts, renameEntity, writeName, freshName } from "./facts.js";
import { label, meaning, sentence, short } from "./words.js";
import { Question } from "./ask.js";
import { World } from "./world.js";

const BLANK = { text: "", calculus: null, own: null, places: {}, loose: [], head: "", tail: "", model: null };
const SHOWS = { none: "Facts alone", definite: "What follows", all: "What may hold" };
const TABS = { question: "Question", facts: "Facts", world: "World" };

const pairOf = (a, b) => [a, b].sort().join("\n");

/** The state with undo and redo; steps that only look are not steps. */
function useSteps(initial) {
  const [steps, setSteps] = useState({ past: [], now: initial, future: [] });
  const change = (part, quiet = false) =>
    setSteps(({ past, now, future }) => {
      const next = { ...now, ...(typeof part === "function" ? part(now) : part) };
      return quiet ? { past, now: next, future } : { past: [...past, now].slice(-200), now: next, future: [] };
    });
  const undo = () => setSteps((s) => s.past.length ? { past: s.past.slice(0, -1), now: s.past.at(-1), future: [s.now, ...s.future] } : s);
  const redo = () => setSteps((s) => s.future.length ? { past: [...s.past, s.now], now: s.future[0], future: s.future.slice(1) } : s);
  return [steps.now, change, { undo, redo, canUndo: steps.past.length > 0, canRedo: steps.future.length > 0 }];
}

export function Reason({ shared, calculi, examples, shown, wish }) {
  const [state, change, steps] = useSteps(shared || (examples[0] ? fromExample(examples[0]) : BLANK));
  const [tab, setTab] = useState(shared?.tab || "question");
  const [show, setShow] = useState("definite");
  const [selected, setSelected] = useState(null); // {edge} or {node} or {draft: [head, tail]}
  const [lit, setLit] = useState([]); // facts that a proof step rests on
  const [bars, setBars] = useState(null); // states of a round, by entity
  const [fitKey, setFitKey] = useState(0);
  const svg = useRef(null);

  const request = { facts: state.text, calculus: state.calculus, own: state.own };
  const inputs = [state.text, state.calculus, state.own];
  const blank = !state.text.trim();
  const parsed = useAsk(async (signal) => ({ ...(blank ? EMPTY : await post("/api/parse", request, signal)), of: state.text }), inputs, 60);
  const [good, setGood] = useState(EMPTY); // the last text that could be read
  useEffect(() => { if (parsed.value) setGood(parsed.value); }, [parsed.value]);

  // A change of some facts needs their places in the text as it is now: it waits until these are known.
  const waiting = useRef([]);
  const edit = (step) => (good.of === state.text ? change((now) => step(now, good.facts)) : waiting.current.push(step));
  useEffect(() => { if (good.of === state.text && waiting.current.length) change(waiting.current.shift().bind(null, state, good.facts)); }, [good]);
  const readable = { ...request, facts: good.of }; // what is asked about while the text is being written
  const closed = useAsk(
    (signal) => (blank || !parsed.value || parsed.value.kind === "rules" ? null : post("/api/close", { ...request, facts: parsed.value.of }, signal)), [parsed.value], 0);

  const name = state.own ? good.calculus : good.calculus || state.calculus || "rcc8";
  const own = useAsk((signal) => (state.own ? post("/api/calculus", { toml: state.own }, signal) : null), [state.own]);
  const calculus = (own.value && { words: own.value.relations, aliases: {}, ...own.value }) || calculi.find((one) => one.name === name) || calculi[0];

  const entities = useMemo(() => [...new Set([...good.entities, ...state.loose])], [good, state.loose]);
  const places = useMemo(() => layout(entities, good.facts.map((f) => [f.head, f.tail]), state.places), [entities, good, state.places]);
  const unseen = useRef(true); // what was loaded has not been shown whole yet
  useEffect(() => { unseen.current = true; }, [state.example]);
  useEffect(() => {
    if (!unseen.current || !good.entities.length) return;
    unseen.current = false;
    setFitKey((n) => n + 1);
  }, [good]);
  useEffect(() => { setBars(null); setLit([]); }, [state.text, state.head, state.tail]);

  // A model that was just trained is to be asked: about these facts, if it can, otherwise about an example.
  useEffect(() => {
    if (!wish) return;
    setTab("question");
    if (wish.own) return change({ ...BLANK, ...wish, example: "learnt" });
    const one = examples.find((other) => other.calculus === wish.calculus);
    change((now) => ({ ...((now.calculus || good.calculus) === wish.calculus && now.text.trim() ? {} : one ? fromExample(one) : {}), model: wish.model }));
  }, [wish]);

  // The address holds the state, so that it can be shared and survives a reload.
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(async () => {
      const { text, calculus: chosen, own: file, head, tail, model } = state;
      history.replaceState(null, "", `#/reason/${await pack({ text, calculus: chosen, own: file, head, tail, model, places, tab })}`);
    }, 300);
    return () => clearTimeout(timer);
  }, [state, places, tab, shown]);

  useEffect(() => {
    const keys = (event) => {
      if (event.target.matches("input, textarea, select") || !(event.ctrlKey || event.metaKey)) return;
      if (event.key === "z") (event.shiftKey ? steps.redo : steps.undo)();
      else if (event.key === "y") steps.redo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });

  const clash = new Set(closed.value && !closed.value.consistent ? closed.value.conflict_facts : []);
  const litPairs = new Set(lit.map(([a, b]) => pairOf(a, b)));
  const facts = good.facts.map((fact, at) => ({
    id: `f${at}`, at, fact, head: fact.head, tail: fact.tail, label: fact.written.join(" | "),
    kind: clash.has(at) ? "clash" : "fact", lit: litPairs.has(pairOf(fact.head, fact.tail)),
    title: `${fact.written.join("|")}(${fact.head}, ${fact.tail})`,
  }));
  const inferred = (show === "none" || !closed.value?.consistent ? [] : closed.value.inferred || [])
    .filter(([, relations]) => show === "all" || relations.length === 1)
    .slice(0, 300)
    .map(([head, relations, tail]) => ({
      id: `i${head}\n${tail}`, head, tail, relations, label: label(calculus, relations), kind: "inferred",
      lit: litPairs.has(pairOf(head, tail)), asked: pairOf(head, tail) === pairOf(state.head, state.tail), title: `It follows: ${sentence(calculus, relations, head, tail) || `anything between ${head} and ${tail}`}`,
    }));
  const drafts = selected?.draft && !selected.edge
    ? [{ id: "draft", head: selected.draft[0], tail: selected.draft[1], label: "?", kind: "draft", title: "a new fact" }] : [];
  const nodes = entities.map((one) => ({
    name: one, tone: one === state.head ? "head" : one === state.tail ? "tail" : "",
    bars: bars ? bars.of(one) : undefined,
    title: bars ? `${one}: ${bars.told(one)}` : one,
  }));

  function create(place) {
    const fresh = freshName(entities);
    change((now) => ({ loose: [...now.loose, fresh], places: { ...places, [fresh]: place.map(Math.round) } }));
    setSelected({ node: fresh, rename: true });
  }
  /** A place near the middle of the drawing where nothing stands yet. */
  function addNear([x, y]) {
    const free = (px, py) => Object.values(places).every(([ox, oy]) => Math.abs(ox - px) > 90 || Math.abs(oy - py) > 50);
    for (let step = 0; ; step++) {
      const [px, py] = [x + 26 * Math.sqrt(step) * Math.cos(step * 2.4), y + 26 * Math.sqrt(step) * Math.sin(step * 2.4)];
      if (free(px, py)) return create([px, py]);
    }
  }
  function rename(from, to) {
    setSelected(null);
    if (to === from) return;
    if (writeName(to) === null) return say("A name is not empty and has no double quote or line break.", "error");
    if (entities.includes(to)) return say(`“${cut(to)}” is there already; give it another name.`, "error");
    edit((now, facts) => {
      const { [from]: place, ...others } = { ...places };
      const turned = (one) => (one === from ? to : one);
      return {
        text: renameEntity(now.text, facts, from, to), loose: now.loose.map(turned),
        places: { ...others, [to]: place }, head: turned(now.head), tail: turned(now.tail),
      };
    });
  }
  function removeNode(one) {
    setSelected(null);
    edit((now, facts) => ({
      text: removeFacts(now.text, facts.filter((f) => f.head === one || f.tail === one)),
      loose: now.loose.filter((other) => other !== one),
    }));
  }
  const removeFact = (at) => { setSelected(null); edit((now, facts) => ({ text: removeFacts(now.text, [facts[at]]) })); };
  function relate(relations) {
    const edge = selected?.edge && facts.find((one) => one.id === selected.edge);
    if (edge && !relations.length) return removeFact(edge.at);
    if (edge) return edit((now, facts) => ({ text: changeFact(now.text, facts[edge.at], edge.head, relations, edge.tail) }));
    const [head, tail] = selected.draft;
    setSelected({ edge: `f${good.facts.length}` });
    change((now) => ({ text: addFact(now.text, head, relations, tail) }));
  }
  function askAbout(head, tail) {
    change({ head, tail }, true);
    setTab("question");
  }
  async function open(file) {
    try {
      if (file.name.endsWith(".toml")) {
        const toml = await file.text();
        const told = await post("/api/calculus", { toml });
        change({ own: toml, calculus: null });
        return say(`${told.name || "The file"} is used now: ${told.relations.length} relations.`);
      }
      const told = await upload(`/api/files?name=${encodeURIComponent(file.name)}`, await file.arrayBuffer());
      if (told.text === null) return say("A name in this file has a double quote or a line break, which facts as text cannot hold.", "error");
      change({ ...BLANK, text: told.text, calculus: told.calculus, own: state.own, example: file.name });
      say(`${told.facts.length} facts about ${told.entities.length} entities.`);
    } catch (error) {
      say(error.message, "error");
    }
  }

  const edge = selected?.edge && facts.find((one) => one.id === selected.edge);
  const low = selected && beneath(selected.node ? [selected.node] : edge ? [edge.head, edge.tail] : selected.draft || [], places);
  return html`<div class="reason" data-tab=${tab}>
    <${Bar} ...${{ state, change, steps, calculi, examples, calculus, good, show, setShow, open, svg, request, entities,
      tidy: () => { change({ places: layout(entities, good.facts.map((f) => [f.head, f.tail])) }); setFitKey((n) => n + 1); } }} />
    <section class="stage" aria-label="Drawing">
      <${Canvas} nodes=${nodes} edges=${[...inferred, ...facts, ...drafts]} places=${places} svgRef=${svg} busy=${closed.busy}
        selected=${selected?.edge || selected?.node || (selected?.draft ? "draft" : null)}
        on=${{
          fitKey, create, add: addNear, removeNode, rename: (one) => setSelected({ node: one, rename: true }),
          clear: () => setSelected(null), node: (one) => setSelected({ node: one }),
          connect: (head, tail) => setSelected({ draft: [head, tail] }),
          move: (one, place) => change({ places: { ...places, [one]: place } }),
          edge: (one) => (one.kind === "inferred" ? askAbout(one.head, one.tail) : setSelected({ edge: one.id })),
          removeEdge: (one) => removeFact(one.at),
        }} />
      ${clash.size > 0 && html`<${Clash} facts=${[...clash].map((at) => ({ ...good.facts[at], at }))} remove=${removeFact} />`}
      ${(edge || selected?.draft) && html`<${Chips} low=${low} key=${selected.edge || selected.draft.join()} calculus=${calculus}
        head=${edge ? edge.head : selected.draft[0]} tail=${edge ? edge.tail : selected.draft[1]}
        chosen=${edge ? edge.fact.relations : []} set=${relate} close=${() => setSelected(null)} ask=${askAbout}
        turn=${edge ? () => edit((now, facts) => ({ text: changeFact(now.text, facts[edge.at], facts[edge.at].tail, facts[edge.at].written, facts[edge.at].head) })) : () => setSelected({ draft: [...selected.draft].reverse() })}
        remove=${edge && (() => removeFact(edge.at))} />`}
      ${selected?.node && entities.includes(selected.node) && html`<${Node} low=${low} key=${selected.node} name=${selected.node} editing=${selected.rename} others=${entities.filter((one) => one !== selected.node)}
        rename=${(to) => rename(selected.node, to)} remove=${() => removeNode(selected.node)} connect=${(to) => setSelected({ draft: [selected.node, to] })}
        from=${() => { change({ head: selected.node }, true); setTab("question"); }} to=${() => { change({ tail: selected.node }, true); setTab("question"); }} close=${() => setSelected(null)} />`}
    </section>
    <aside class="panel">
      <div role="tablist" aria-label="Beside the drawing" class="tabs">
        ${Object.entries(TABS).map(([key, title]) => html`<button key=${key} role="tab" id="tab-${key}" aria-selected=${tab === key}
          aria-controls="panel-${key}" tabindex=${tab === key ? 0 : -1} onClick=${() => setTab(key)}
          onKeyDown=${(event) => {
            const keys = Object.keys(TABS), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const next = keys[(keys.indexOf(key) + step + keys.length) % keys.length];
            setTab(next);
            document.getElementById(`tab-${next}`).focus();
          }}>${title}</button>`)}
      </div>
      <div role="tabpanel" id="panel-${tab}" aria-labelledby="tab-${tab}" class="tabpanel">
        ${tab === "question" && html`<${Question} ...${{ state, change, entities, calculus, request: readable, good, setBars, setLit, blank }} about=${examples.find((one) => one.name === state.example && one.facts === state.text)?.about} consistent=${closed.value ? closed.value.consistent : true} toWorld=${() => setTab("world")} />`}
        ${tab === "facts" && html`<${Text} ...${{ state, change, good, parsed, calculus, entities, closed, setLit }} />`}
        ${tab === "world" && html`<${World} ...${{ request: readable, good, blank, calculus, head: state.head, tail: state.tail }} />`}
      </div>
    </aside>
  </div>`;
}

/** Whether a card about some entities hides less of the drawing at its foot: where they stand in the upper half. */
function beneath(names, places) {
  const all = Object.values(places).map((place) => place[1]);
  const there = names.filter((name) => places[name]).map((name) => places[name][1]);
  return there.length > 0 && there.reduce((sum, y) => sum + y) / there.length < (Math.min(...all) + Math.max(...all)) / 2;
}

const EMPTY = { of: "", calculus: null, entities: [], facts: [], text: "", kind: "calculus", known_by: [] };

export const fromExample = (one) =>
  ({ ...BLANK, text: one.facts, calculus: one.calculus || null, head: one.head || "", tail: one.tail || "", example: one.name });

function Bar({ state, change, steps, calculi, examples, calculus, good, show, setShow, open, svg, request, tidy, entities }) {
  async function share() {
    try {
      await navigator.clipboard.writeText(location.href);
      say("The address holds all of it, and is on the clipboard now.");
    } catch {
      say("Copy the address of this page: it holds all of it.");
    }
  }
  async function save(kind) {
    try {
      if (kind === "svg" || kind === "png") return await saveImage(svg.current, "facts", kind);
      const told = await post("/api/export", { ...request, as: kind });
      download(`facts.${{ facts: "txt", csp: "csp", json: "json" }[kind]}`, told.text);
    } catch (error) {
      say(error.message, "error");
    }
  }
  const several = (good.known_by || []).length > 1 && !state.calculus && !state.own;
  return html`<div class="toolbar" role="toolbar" aria-label="Drawing">
    <label><span class="hidden">Example</span><select aria-label="Example" value="" onChange=${(event) => {
      const one = examples.find((other) => other.name === event.target.value);
      if (one) change(fromExample(one));
      else if (event.target.value === "blank") change({ ...BLANK, example: "blank" });
      event.target.value = "";
    }}><option value="" disabled>Examples …</option>${examples.map((one) => html`<option key=${one.name} value=${one.name}>${one.title}</option>`)}<option value="blank">an empty page</option></select></label>
    <label><span class="hidden">Calculus</span><select aria-label="Calculus" value=${state.own ? "own" : state.calculus || ""} onChange=${(event) => change({ calculus: event.target.value || null, own: null })}>
      <option value="">${good.calculus && !state.calculus ? `recognised: ${good.calculus}` : "recognise it"}</option>
      ${calculi.map((one) => html`<option key=${one.name} value=${one.name}>${one.title.split(":")[0]}</option>`)}
      ${state.own && html`<option value="own">your own: ${calculus.name || "rules"}</option>`}</select></label>
    ${several && html`<span class="quiet" title="Choose in the list beside it">could also be ${good.known_by.filter((one) => one !== good.calculus).join(", ")}</span>`}
    <label class="button">Open …<input type="file" class="hidden" aria-label="Open a file of facts, or a calculus or rules as .toml" onChange=${(event) => { if (event.target.files[0]) open(event.target.files[0]); event.target.value = ""; }} /></label>
    <span class="gap"></span>
    <button type="button" aria-label="Undo" disabled=${!steps.canUndo} onClick=${steps.undo} title="Undo (Ctrl+Z)">↶</button>
    <button type="button" aria-label="Redo" disabled=${!steps.canRedo} onClick=${steps.redo} title="Redo (Ctrl+Y)">↷</button>
    <label><span class="hidden">Show</span><select aria-label="Show" value=${show} onChange=${(event) => setShow(event.target.value)}>${Object.entries(SHOWS).map(([key, title]) => html`<option key=${key} value=${key}>${title}</option>`)}</select></label>
    <button type="button" onClick=${tidy} disabled=${!entities.length}>Tidy</button>
    <button type="button" onClick=${share}>Share</button>
    <label><span class="hidden">Save as</span><select aria-label="Save as" value="" onChange=${(event) => { save(event.target.value); event.target.value = ""; }}><option value="" disabled>Save as …</option>
      ${["facts", "csp", "json", "svg", "png"].map((kind) => html`<option key=${kind} value=${kind}>${kind}</option>`)}</select></label>
  </div>`;
}

/** The relations of one fact as chips: on is possible, off is not. */
function Chips({ low, calculus, head, tail, chosen, set, close, turn, remove, ask }) {
  const words = calculus?.words || [];
  const toggle = (word) => set(chosen.includes(word) ? chosen.filter((one) => one !== word) : words.filter((one) => one === word || chosen.includes(one)));
  return html`<div class="card floating ${low ? "low" : ""}" role="dialog" aria-label="What holds from ${head} to ${tail}" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <header><b title=${head}>${cut(head)}</b> → <b title=${tail}>${cut(tail)}</b><span class="gap"></span>
      <button type="button" onClick=${() => ask(head, tail)}>Ask</button><button type="button" onClick=${turn}>Turn round</button>
      ${remove && html`<button type="button" onClick=${remove}>Remove</button>`}<button type="button" class="icon" aria-label="Close" onClick=${close}>×</button></header>
    <div class="chips" role="group" aria-label="Relations">${words.map((word, at) => html`<button type="button" key=${word} class="chip" aria-pressed=${chosen.includes(word)}
      title=${meaning(calculus, word, head, tail)} autofocus=${at === 0} onClick=${() => toggle(word)}>${word}${words.length <= 13 && html` <small>${short(calculus, word)}</small>`}</button>`)}</div>
    <p class="quiet">${chosen.length ? sentence(calculus, chosen, cut(head), cut(tail)) || "Anything: this says nothing." : "Choose what holds; several mean that one of them does."}</p>
  </div>`;
}

function Node({ low, name, editing, others, rename, remove, connect, from, to, close }) {
  const input = useRef(null);
  useEffect(() => { if (editing) input.current.select(); }, []);
  return html`<form class="card floating ${low ? "low" : ""}" aria-label="Entity ${name}" onSubmit=${(event) => { event.preventDefault(); rename(input.current.value.trim()); }} onKeyDown=${(event) => event.key === "Escape" && close()}>
    <header><label class="grow">Name <input ref=${input} value=${name} autocomplete="off" /></label><button type="submit">Rename</button><button type="button" onClick=${remove}>Remove</button><button type="button" class="icon" aria-label="Close" onClick=${close}>×</button></header>
    <div class="row">${others.length > 0 && html`<label>Relate to <select aria-label="Relate to" value="" onChange=${(event) => connect(event.target.value)}><option value="" disabled>choose …</option>${others.map((one) => html`<option key=${one} value=${one}>${cut(one, 40)}</option>`)}</select></label>`}
      <button type="button" onClick=${from}>Ask from here</button><button type="button" onClick=${to}>Ask to here</button></div>
  </form>`;
}

function Clash({ facts, remove }) {
  return html`<div class="card clash" role="alert"><p><b>These facts cannot all hold.</b> Remove one of these:</p>
    <ul class="plain">${facts.map((fact) => html`<li key=${`${fact.line}:${fact.column}`}><button type="button" onClick=${() => remove(fact.at)}>Remove</button> <code>${fact.written.join("|")}(${cut(fact.head)}, ${cut(fact.tail)})</code></li>`)}</ul></div>`;
}

/** The facts as text, a form for one more, and what follows as a list. */
function Text({ state, change, good, parsed, calculus, entities, closed, setLit }) {
  const area = useRef(null);
  const words = calculus?.words || [];
  const error = state.text.trim() ? parsed.error : null;
  const show = () => {
    const lines = state.text.split("\n");
    const start = lines.slice(0, error.line - 1).reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, error.column - 1);
    area.current.focus();
    area.current.setSelectionRange(start, start + Math.max(1, (lines[error.line - 1] || "").length - error.column + 1));
  };
  function add(event) {
    event.preventDefault();
    const form = new FormData(event.target);
    const [head, relation, tail] = ["head", "relation", "tail"].map((name) => form.get(name).trim());
    if (writeName(head) === null || writeName(tail) === null) return say("Name two entities, without double quotes.", "error");
    change((now) => ({ text: addFact(now.text, head, [relation], tail) }));
    event.target.reset();
    event.target.querySelector("input").focus();
  }
  const inferred = closed.value?.consistent ? (closed.value.inferred || []) : [];
  const told = inferred.filter(([, relations]) => relations.length <= 3).slice(0, 100);
  return html`<label class="block" for="facts">Facts, one a line</label>
    <textarea id="facts" ref=${area} spellcheck="false" value=${state.text} aria-invalid=${Boolean(error)} aria-describedby="facts-error"
      placeholder=${"ec(harbour, old town)\nntpp(old town, city)"} onInput=${(event) => change({ text: event.target.value, calculus: state.calculus })}></textarea>
    <p id="facts-error" class="error" role="status">${error && html`${error.message} ${error.line > 0 && html`<button type="button" onClick=${show}>Show line ${error.line}</button>`}`}</p>
    <form class="row add" onSubmit=${add} aria-label="Add a fact">
      <input name="head" list="entities" placeholder="this" aria-label="From" required autocomplete="off" />
      <select name="relation" aria-label="Relation">${words.map((word) => html`<option key=${word} value=${word} title=${meaning(calculus, word, "this", "that")}>${word}</option>`)}</select>
      <input name="tail" list="entities" placeholder="that" aria-label="To" required autocomplete="off" /><button type="submit" class="primary">Add</button></form>
    <datalist id="entities">${entities.map((one) => html`<option key=${one} value=${one} />`)}</datalist>
    ${told.length > 0 && html`<h3>What follows</h3><ul class="plain follows">${told.map(([head, relations, tail]) => html`<li key=${`${head}\n${tail}`} tabindex="0"
      onMouseEnter=${() => setLit([[head, tail]])} onMouseLeave=${() => setLit([])} onFocus=${() => setLit([[head, tail]])} onBlur=${() => setLit([])}>${sentence(calculus, relations, cut(head), cut(tail))}</li>`)}</ul>`}
    ${closed.value?.consistent && good.facts.length > 0 && !told.length && html`<p class="quiet">Nothing definite follows from these facts alone.</p>`}
    <${Composed} calculus=${calculus} own=${state.own} />
    <details><summary>What the words mean</summary><dl class="words">${words.map((word) => html`<div key=${word}><dt>${word}</dt><dd>${meaning(calculus, word, "a", "b")}</dd></div>`)}</dl></details>`;
}

/** What two relations make together, by the table of the calculus. */
function Composed({ calculus, own }) {
  const [pair, setPair] = useState(["", ""]);
  const table = useAsk((signal) => (!pair[0] || !pair[1] || calculus?.composition ? null : get(`/api/calculi/${encodeURIComponent(calculus.name)}`, signal)), [calculus?.name, pair]);
  const composition = (own ? calculus : table.value)?.composition;
  const bases = calculus?.relations || [];
  const found = composition?.[pair[0]]?.[pair[1]];
  const picker = (at, title) => html`<select aria-label=${title} value=${pair[at]} onChange=${(event) => setPair(at ? [pair[0], event.target.value] : [event.target.value, pair[1]])}><option value="" disabled>choose …</option>${bases.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>`;
  return html`<details><summary>What two relations make together</summary><div class="row">${picker(0, "First relation")} then ${picker(1, "Second relation")}</div>
    <p role="status" data-testid="composed">${found && (sentence({ ...calculus, words: bases }, found, "a", "c") || (found.length ? "Anything may hold from a to c." : "No two things can be so."))}</p></details>`;
}
