// The page: where one is, how it looks, and what was told last. Each view is a module of its own.

import { html, render, useState, useEffect, get, unpack, onSay } from "./lib.js";
import { Reason } from "./reason.js";
import { Learn } from "./learn.js";
import { Links } from "./links.js";
import { Results } from "./results.js";

const VIEWS = { reason: ["Reason", Reason], learn: ["Learn", Learn], links: ["Links", Links], results: ["Results", Results] };
const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };

function where() {
  const [, view, rest] = location.hash.split("/");
  return { view: VIEWS[view] ? view : "reason", rest: rest || "" };
}

function App() {
  const [at, setAt] = useState(where());
  const [known, setKnown] = useState(null);
  const [problem, setProblem] = useState("");
  const [shared, setShared] = useState(null);
  const [told, setTold] = useState(null);
  const [theme, setTheme] = useState(localStorage.getItem("theme") || "auto");
  const [wish, setWish] = useState(null); // what another view wants asked in "Reason"
  const [visited, setVisited] = useState(new Set([at.view]));

  /** Take up the state that an address holds. */
  async function read(packed) {
    try {
      const state = await unpack(packed);
      setShared({ packed, state: { loose: [], places: {}, text: "", calculus: null, own: null, head: "", tail: "", ...state } });
    } catch {
      setTold({ text: "The address holds no facts that can be read.", kind: "error" });
    }
  }

  useEffect(() => onSay((text, kind) => setTold({ text, kind })), []);
  useEffect(() => {
    if (!told) return;
    const timer = setTimeout(() => setTold(null), 6000);
    return () => clearTimeout(timer);
  }, [told]);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  useEffect(() => {
    const go = async () => {
      const next = where();
      setAt(next);
      setVisited((old) => new Set([...old, next.view]));
      if (next.view === "reason" && next.rest) await read(next.rest);
    };
    addEventListener("hashchange", go);
    return () => removeEventListener("hashchange", go);
  }, []);
  useEffect(() => {
    (async () => {
      try {
        const [info, calculi, examples] = await Promise.all(["info", "calculi", "examples"].map((name) => get(`/api/${name}`)));
        if (at.view === "reason" && at.rest) await read(at.rest);
        setKnown({ info, ...calculi, ...examples });
      } catch (error) {
        setProblem(error.message);
      }
    })();
  }, []);

  return html`<a class="skip" href="#/${at.view}" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>To the content</a>
    <header class="top"><a class="brand" href="#/reason"><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><circle cx="12" cy="16" r="9" /><circle cx="20" cy="16" r="9" /></svg>epignn</a>
      <nav aria-label="Views">${Object.entries(VIEWS).map(([key, [title]]) => html`<a key=${key} href="#/${key}" aria-current=${at.view === key ? "page" : undefined}>${title}</a>`)}</nav>
      <span class="gap"></span>
      <label class="theme"><span class="hidden">Colours</span><select aria-label="Colours" value=${theme} onChange=${(event) => setTheme(event.target.value)}>${Object.entries(THEMES).map(([key, title]) => html`<option key=${key} value=${key}>${title}</option>`)}</select></label></header>
    <main id="main" tabindex="-1">
      ${problem && html`<p class="error pad" role="alert">${problem}</p>`}
      ${!known && !problem && html`<p class="quiet pad">Loading …</p>`}
      ${known && Object.entries(VIEWS).map(([key, [, View]]) => visited.has(key) && html`<div key=${key} class="view" hidden=${at.view !== key}>
        <${View} key=${key === "reason" && shared ? shared.packed : key} known=${known} calculi=${known.calculi} examples=${known.examples} shared=${shared?.state} shown=${at.view === key} wish=${wish} ask=${(wanted) => { setWish(wanted); location.hash = "#/reason"; }} /></div>`)}
    </main>
    <div class="told ${told ? told.kind : ""}" role=${told?.kind === "error" ? "alert" : "status"} aria-live="polite">${told && html`<span>${told.text}</span><button type="button" class="icon" aria-label="Close" onClick=${() => setTold(null)}>×</button>`}</div>`;
}

document.getElementById("app").textContent = "";
render(html`<${App} />`, document.getElementById("app"));
