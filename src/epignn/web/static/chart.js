// Small charts: lines over steps, points that move, and a table of cells as a map.

import { html } from "./lib.js";

const W = 360, H = 150, LEFT = 40, BOTTOM = 22, TOP = 10;

const ticks = (low, high) => {
  const raw = (high - low) / 3 || 1;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= raw);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9; at += step) found.push(+at.toPrecision(8));
  return found;
};

/** One line over the numbers 1, 2, …; `last` is how many there will be. */
export function Line({ title, values, last, low = Math.min(...values), high = Math.max(...values) }) {
  if (!values.length) return null;
  const [bottom, top] = high > low ? [low, high] : [low - 0.5, low + 0.5];
  const x = (at) => LEFT + ((W - LEFT - 8) * at) / Math.max(1, (last || values.length) - 1);
  const y = (value) => TOP + (H - TOP - BOTTOM) * (1 - (value - bottom) / (top - bottom));
  const line = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const newest = values[values.length - 1];
  return html`<figure class="chart"><figcaption>${title} <b>${newest.toFixed(3)}</b></figcaption>
    <svg viewBox="0 0 ${W} ${H}" role="img" aria-label="${title}: ${newest.toFixed(3)} after ${values.length} epochs">
      ${ticks(bottom, top).map((at) => html`<g key=${at}><line class="grid" x1=${LEFT} x2=${W} y1=${y(at)} y2=${y(at)} />
        <text class="tick" x=${LEFT - 6} y=${y(at) + 4} text-anchor="end">${at}</text></g>`)}
      <text class="tick" x=${LEFT} y=${H - 4}>1</text><text class="tick" x=${W - 6} y=${H - 4} text-anchor="end">${last || values.length} epochs</text>
      <polyline class="series" points=${line} /><circle class="newest" cx=${x(values.length - 1)} cy=${y(newest)} r="4" />
    </svg></figure>`;
}

/** Named points in the plane. */
export function Points({ title, names, points }) {
  if (!points || !points.length) return null;
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const reach = Math.max(1e-6, ...xs.map(Math.abs), ...ys.map(Math.abs)) * 1.15;
  const size = 260, place = (v) => (size / 2) * (1 + v / reach);
  return html`<figure class="chart square"><figcaption>${title}</figcaption>
    <svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${title}">
      <line class="grid" x1="0" x2=${size} y1=${size / 2} y2=${size / 2} /><line class="grid" x1=${size / 2} x2=${size / 2} y1="0" y2=${size} />
      ${points.map(([px, py], at) => html`<g key=${names[at]} class="moving" style=${{ transform: `translate(${place(px)}px, ${size - place(py)}px)` }}>
        <circle class="dot" r="5" /><text x=${place(px) > size * 0.8 ? -8 : 8} y="4" text-anchor=${place(px) > size * 0.8 ? "end" : "start"}>${names[at]}</text></g>`)}
    </svg></figure>`;
}
