// The view "Results": tables and pictures of what was recorded, each figure with its seed, commit and command.

import { html, useState, useAsk, get } from "./lib.js";

export function Results() {
  const suites = useAsk((signal) => get("/api/results", signal), []);
  const [name, setName] = useState("");
  const list = suites.value?.suites || [];
  const chosen = name || list[0]?.name;
  return html`<div class="pad"><h1>Results</h1>
    ${suites.busy && !suites.value && html`<p class="quiet" role="status">Reading the records …</p>`}
    ${suites.error && html`<p class="error">${suites.error.message}</p>`}
    ${suites.value && !list.length && html`<div class="empty"><p>No records are here. <code>epignn reproduce rcc8</code> makes some in the folder <code>results</code>; <code>epignn serve --results FOLDER</code> shows those of another.</p></div>`}
    ${list.length > 0 && html`<label>Table <select aria-label="Table" value=${chosen} onChange=${(event) => setName(event.target.value)}>${list.map((one) => html`<option key=${one.name} value=${one.name}>${one.title || one.name} (${one.records})</option>`)}</select></label>
      <${Suite} key=${chosen} name=${chosen} />`}</div>`;
}

function Suite({ name }) {
  const asked = useAsk((signal) => get(`/api/results/${encodeURIComponent(name)}`, signal), []);
  if (asked.busy) return html`<p class="quiet" role="status">Loading …</p>`;
  if (asked.error) return html`<p class="error" role="status">${asked.error.message}</p>`;
  const { title, columns, rows, notes, records, pictures } = asked.value;
  const keys = ["variant", "seed", "average", "commit", "command"].filter((key) => records.some((one) => one[key] != null));
  return html`<h2>${title}</h2><${Sortable} columns=${columns} rows=${rows} />
    ${notes.map((text) => html`<p key=${text} class="quiet">${text}</p>`)}
    <div class="pictures">${pictures.filter((file) => file.endsWith(".svg")).map((file) => html`<img key=${file} loading="lazy" alt="${title}: ${file.replace(/\.svg$/, "").replaceAll("_", " ")}" src="/api/results/${encodeURIComponent(name)}/pictures/${encodeURIComponent(file)}" />`)}</div>
    <details><summary>${records.length} runs that were recorded</summary><${Sortable} columns=${keys} rows=${records.map((one) => keys.map((key) => (typeof one[key] === "number" && key === "average" ? one[key].toFixed(4) : String(one[key] ?? ""))))} /></details>`;
}

const number = (text) => { const value = parseFloat(String(text).replaceAll(",", "")); return /^[-\d.,]+/.test(String(text).trim()) && Number.isFinite(value) ? value : null; };

/** A table whose columns sort it. */
function Sortable({ columns, rows }) {
  const [by, setBy] = useState(null); // [column, 1 or -1]
  const compare = (a, b) => {
    const [x, y] = [a[by[0]], b[by[0]]], [n, m] = [number(x), number(y)];
    return by[1] * (n != null && m != null ? n - m : n != null ? -1 : m != null ? 1 : String(x).localeCompare(String(y)));
  };
  const sorted = by ? [...rows].sort(compare) : rows;
  return html`<div class="scroll"><table class="data"><thead><tr>${columns.map((column, at) => html`<th key=${at} aria-sort=${by?.[0] === at ? (by[1] > 0 ? "ascending" : "descending") : "none"}>
    <button type="button" onClick=${() => setBy(by?.[0] === at ? (by[1] < 0 ? [at, 1] : null) : [at, -1])}>${column}${by?.[0] === at ? (by[1] > 0 ? " ↑" : " ↓") : ""}</button></th>`)}</tr></thead>
    <tbody>${sorted.map((row, r) => html`<tr key=${r}>${row.map((value, at) => html`<td key=${at} class=${number(value) != null ? "n" : ""}>${value}</td>`)}</tr>`)}</tbody></table></div>`;
}
