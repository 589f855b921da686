// The question: what holds between two entities, who says so, why, and how states sharpen round by round.

import { html, useState, useEffect, useAsk, get, post, cut, percent } from "./lib.js";
import { label, meaning, sentence } from "./words.js";

const WHO = { exact: "Exact reasoning", learnt: "Learnt from examples", neural: "Neural model" };
const WORDING = { kinship: ["Seen from", "who is"] };
const RULES = { fact: "a fact", compose: "follows from", intersect: "what these leave together", converse: "turned round", apply: "by a rule from" };

export function Question({ state, change, entities, calculus, request, good, setBars, setLit, blank, consistent, about, toWorld }) {
  const { head, tail } = state;
  const ready = !blank && head !== tail && good.entities.includes(head) && good.entities.includes(tail);
  const models = useAsk((signal) => get("/api/models", signal), []);
  const usable = (models.value?.models || []).filter((one) => !one.links && one.calculus === calculus?.name);
  const model = usable.some((one) => one.name === state.model) && !request.own ? { model: state.model } : {};
  const asked = useAsk((signal) => (ready ? post("/api/ask", { ...request, ...model, head, tail }, signal) : null), [good, head, tail, ready, model.model], 80);
  const exact = useAsk((signal) => (ready && good.kind !== "rules" ? post("/api/close", { ...request, query: [head, tail] }, signal) : null), [good, head, tail, ready], 30);
  const [by, setBy] = useState(null);
  useEffect(() => setBy(null), [good, head, tail, model.model]);
  const choose = (which) => (event) => change({ [which]: event.target.value }, true);
  const picker = (which, title) => html`<label>${title} <select aria-label=${title} value=${entities.includes(state[which]) ? state[which] : ""} onChange=${choose(which)}>
    <option value="" disabled>choose …</option>${entities.map((one) => html`<option key=${one} value=${one}>${cut(one, 40)}</option>`)}</select></label>`;
  const found = !ready ? null : (!asked.busy && asked.value) || (!exact.busy && exact.value && closedAs(exact.value)) || null;
  const [first, second] = WORDING[calculus?.name] || ["How does", "lie to"];
  const best = found && (found.exact || found.learnt || found.neural);
  return html`<form class="question" onSubmit=${(event) => event.preventDefault()}>
      ${picker("head", first)} <button type="button" class="icon" aria-label="Swap the two" title="Swap the two" onClick=${() => change({ head: tail, tail: head }, true)}>⇄</button>
      ${picker("tail", second)}<span class="big">?</span></form>
    ${!ready && html`<p class="quiet">${entities.length < 2 ? "Draw or write some facts first." : head && head === tail ? "Choose two different ones." : "Choose two entities, or click on a dashed line."}</p>`}
    ${ready && asked.error && html`<p class="error" role="status">${asked.error.message}</p>`}
    ${found && html`
      <p class="answer" role="status" data-testid="answer">${headline(found, best, calculus, cut(head, 40), cut(tail, 40), consistent)}</p>
      <table class="who"><caption class="hidden">Who says what</caption><tbody>${Object.entries(WHO).map(([key, title]) => found[key] && html`<tr key=${key}><th scope="row">${title}</th>
        <td><${Answer} answer=${found[key]} calculus=${calculus} /></td></tr>`)}</tbody></table>
      ${found.differences.map((text) => html`<p key=${text} class="note">${text}</p>`)}
      ${asked.busy && html`<p class="quiet" role="status">The model is being asked …</p>`}
      ${found.agree && html`<p class="quiet">All agree.</p>`}
      ${found.notes.map((text) => html`<p key=${text} class="quiet">${text}</p>`)}
      <div class="row">${Object.keys(WHO).filter((key) => found[key] && (key !== "neural" || found.neural.probability != null)).map((key, at) => html`<button type="button" key=${key} class=${at ? "" : "primary"} aria-pressed=${by === key} onClick=${() => setBy(by === key ? null : key)}>
        ${at ? { learnt: "Why, by what was learnt?", neural: "How the model sees it" }[key] : "Why?"}</button>`)}
        ${good.kind !== "rules" && html`<button type="button" onClick=${toWorld}>Show a picture of it</button>`}</div>
      ${by && html`<${Why} key=${by} ...${{ by, head, tail, request: { ...request, ...model }, calculus, setBars, setLit }} />`}`}
    ${usable.length > 1 && !request.own && html`<p><label>Model <select aria-label="Model" value=${model.model || calculus.name} onChange=${(event) => change({ model: event.target.value }, true)}>
      ${usable.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}${one.shipped ? " (shipped)" : ""}</option>`)}</select></label></p>`}
    ${about && !by && html`<p class="quiet about">${about}</p>`}
    ${!blank && good.kind !== "rules" && html`<${Follows} request=${request} good=${good} calculus=${calculus} />`}`;
}

const PROVED = { true: "Yes: it holds in every world of these facts.", false: "No: the facts leave it open.", null: "That could not be decided in time." };

/** Whether a fact of one's own follows, by search. */
function Follows({ request, good, calculus }) {
  const [told, setTold] = useState(null);
  useEffect(() => setTold(null), [good]);
  async function prove(event) {
    event.preventDefault();
    const question = new FormData(event.target).get("question");
    setTold({ text: "Searching …" });
    try {
      const found = await post("/api/entails", { ...request, question });
      const other = found.facts.find((one) => one.counterexample)?.counterexample;
      setTold({ text: found.consistent ? PROVED[found.entailed] : "The facts contradict each other, so everything follows.", other });
    } catch (error) {
      setTold({ text: error.message, error: true });
    }
  }
  return html`<details class="follows-form"><summary>Does a fact follow?</summary>
    <form class="row" onSubmit=${prove}><input name="question" class="grow" required aria-label="A fact to prove" autocomplete="off" placeholder="${calculus?.words?.[2] || "PO"}(this, that)" /><button type="submit">Prove it</button></form>
    <p role="status" class=${told?.error ? "error" : ""} data-testid="follows">${told?.text}</p>
    ${told?.other && html`<details><summary>How it could be otherwise</summary><ul class="plain">${told.other.slice(0, 40).map((line) => html`<li key=${line}><code>${line}</code></li>`)}</ul></details>`}</details>`;
}

/** What closure says, in the form of the answers of all: it is there long before a model is. */
const closedAs = ({ consistent, query }) => ({ exact: { consistent, relations: query?.relations || [] }, differences: [], notes: [], agree: false });

function headline(found, best, calculus, head, tail, consistent) {
  if (!consistent || (found.exact && found.exact.consistent === false)) return "The facts contradict each other, so there is no answer.";
  if (!best) return "Nobody has an answer.";
  return `${sentence(calculus, best.relations, head, tail) || "Nothing follows: anything may hold"}.`;
}

function Answer({ answer, calculus }) {
  if (answer.consistent === false) return "the facts clash";
  if (answer.reason) return html`<span class="quiet">${answer.reason}</span>`;
  const text = label(calculus, answer.relations);
  if (answer.probability == null) return html`<code>${text}</code>`;
  return html`<code>${answer.relation}</code> <span class="meter" aria-hidden="true"><i style=${{ width: `${answer.probability * 100}%` }}></i></span> ${percent(answer.probability)}
    ${answer.runner_up_probability >= 0.0005 && html`<span class="quiet">, next ${answer.runner_up} ${percent(answer.runner_up_probability)}</span>`}`;
}

/** The explanation of one of the three: rounds, proof, fewest facts, and what excludes each other relation. */
function Why({ by, head, tail, request, calculus, setBars, setLit }) {
  const asked = useAsk((signal) => post("/api/explain", { ...request, head, tail, by: request.own ? "exact" : by }, signal), []);
  if (asked.busy) return html`<p class="quiet" role="status">Looking for the reasons …</p>`;
  if (asked.error) return html`<p class="error" role="status">${asked.error.message}</p>`;
  const found = asked.value, base = found.kind === "neural" ? found.table : found;
  const light = (facts) => ({
    tabindex: 0, onMouseEnter: () => setLit(facts), onMouseLeave: () => setLit([]), onFocus: () => setLit(facts), onBlur: () => setLit([]),
  });
  const proofs = base ? base.proofs || [base.proof] : [];
  const support = base?.support?.facts || [];
  const told = (fact) => `${[].concat(fact[1]).join("|")}(${cut(fact[0])}, ${cut(fact[2])})`;
  const rounds = found.rounds?.length > 0 && html`<${Rounds} found=${found} calculus=${calculus} setBars=${setBars} head=${head} tail=${tail} />`;
  return html`<section class="why">
    ${found.kind === "neural" && rounds}
    ${found.kind === "neural" && html`<h3>What each fact is worth to the model</h3>
      <ul class="plain">${found.influence.filter((one) => one.probability_lost !== null).sort((a, b) => b.probability_lost - a.probability_lost).slice(0, 8).map((one) => html`<li key=${told(one.fact)} ...${light([[one.fact[0], one.fact[2]]])}>
        <span class="meter wide" aria-hidden="true"><i style=${{ width: `${Math.max(0, Math.min(1, one.probability_lost)) * 100}%` }}></i></span> <code>${told(one.fact)}</code></li>`)}</ul>
      ${base && html`<p class="quiet">${found.proved ? "What was distilled from the model proves the same answer:" : "What was distilled from the model says:"}</p>`}`}
    ${proofs.filter((proof) => proof?.steps?.length).map((proof, at) => html`<div key=${at}><h3>Proof</h3><ul class="proof" role="tree" aria-label="Proof"><${Step} proof=${proof} at=${proof.steps.length - 1} light=${light} calculus=${calculus} /></ul></div>`)}
    ${found.kind !== "neural" && rounds}
    ${support.length > 0 && html`<h3>${base.support.smallest ? "The fewest facts that give it" : "Facts that give it"}</h3>
      <ul class="plain">${support.map((fact) => html`<li key=${told(fact)} ...${light([[fact[0], fact[2]]])}><code>${told(fact)}</code></li>`)}</ul>`}
    ${base?.excluded?.length > 0 && html`<h3>Why nothing else</h3><dl class="excluded">${base.excluded.map((one) => html`<div key=${one.relations.join()} ...${light(one.support.facts.map((fact) => [fact[0], fact[2]]))}>
      <dt>${one.relations.map((name) => html`<span key=${name} class="tag" title=${meaning(calculus, name, head, tail)}>${name}</span>`)}</dt>
      <dd>${one.path.length ? html`excluded by the path ${one.path.map((name) => cut(name)).join(" → ")}` : "excluded by"}: ${one.support.facts.map(told).join(", ")}</dd></div>`)}</dl>`}
  </section>`;
}

function edgesOf(proof, at) {
  const step = proof.steps[at];
  return step.premises.length ? step.premises.flatMap((premise) => edgesOf(proof, premise)) : [[step.head, step.tail]];
}

/** A step of a proof as a branch of a tree; to look at it lights up the facts that it rests on. */
function Step({ proof, at, light, calculus, level = 1 }) {
  const [open, setOpen] = useState(level < 4);
  const step = proof.steps[at];
  const relations = step.relations || [step.relation];
  const { onMouseEnter, onMouseLeave, onFocus, onBlur } = light([[step.head, step.tail], ...edgesOf(proof, at)]);
  const parts = step.premises.length > 0;
  return html`<li role="treeitem" aria-expanded=${parts ? open : undefined} tabindex="0" onFocus=${(event) => { event.stopPropagation(); onFocus(); }} onBlur=${onBlur}
      onKeyDown=${(event) => { if (!parts || !["Enter", "ArrowRight", "ArrowLeft", " "].includes(event.key)) return; event.preventDefault(); event.stopPropagation(); setOpen(event.key === "ArrowRight" ? true : event.key === "ArrowLeft" ? false : !open); }}>
    <div class="step ${parts ? "parts" : ""}" onMouseEnter=${onMouseEnter} onMouseLeave=${onMouseLeave} onClick=${() => setOpen(!open)}>
      <span>${sentence(calculus, relations, cut(step.head), cut(step.tail)) || label(calculus, relations)}</span> <small>${RULES[step.rule] || step.rule}</small></div>
    ${parts && open && html`<ul role="group">${step.premises.map((premise) => html`<${Step} key=${premise} proof=${proof} at=${premise} light=${light} calculus=${calculus} level=${level + 1} />`)}</ul>`}
  </li>`;
}

/** A slider over the rounds; the states stand as bars in the entities of the drawing. */
function Rounds({ found, calculus, setBars, head, tail }) {
  const neural = found.kind === "neural";
  const words = neural ? Object.keys(found.probabilities) : calculus?.words || [];
  const count = found.rounds.length;
  const [round, setRound] = useState(count - 1);
  const [playing, setPlaying] = useState(false);
  const shares = (name, at) => {
    const state = name === head && neural ? null : found.rounds[at][name];
    if (!state) return null;
    return words.map((word) => (neural ? state[word] || 0 : state.includes(word) ? 1 : 0));
  };
  useEffect(() => {
    setBars({
      of: (name) => shares(name, round) || undefined,
      told: (name) => {
        const row = shares(name, round);
        if (!row) return name === head ? "where the question begins" : "nothing is known yet";
        return words.filter((_, at) => row[at] >= (neural ? 0.05 : 0.5)).join(" | ");
      },
    });
    return () => setBars(null);
  }, [round]);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => setRound((at) => { if (at + 1 >= count) { setPlaying(false); return at; } return at + 1; }), 900);
    return () => clearInterval(timer);
  }, [playing]);
  const row = shares(tail, round) || words.map(() => 1 / words.length);
  return html`<h3>Round by round</h3>
    <div class="row rounds"><button type="button" onClick=${() => { setRound(0); setPlaying(true); }}>Play</button>
      <input type="range" min="0" max=${count - 1} value=${round} aria-label="Round" aria-valuetext="round ${round + (neural ? 1 : 0)} of ${count - 1 + (neural ? 1 : 0)}" onInput=${(event) => { setPlaying(false); setRound(+event.target.value); }} />
      <output>${!neural && round === 0 ? "the facts" : `round ${round + (neural ? 1 : 0)}`}</output></div>
    <div class="state" role="img" aria-label="What may hold to ${tail}: ${words.filter((_, at) => row[at] >= 0.05).join(", ")}">${words.map((word, at) => html`<div key=${word} title="${meaning(calculus, word, head, tail)}: ${percent(row[at])}">
      <i style=${{ height: `${row[at] * 100}%` }}></i><span>${word}</span></div>`)}</div>
    <p class="quiet">What may hold from ${cut(head)} to ${cut(tail)}; the bars in the drawing show the same for the others.</p>`;
}
