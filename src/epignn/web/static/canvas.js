// The canvas: entities and facts as a drawing that is changed by hand, by touch or by keyboard.

import { html, useState, useEffect, useRef, useSize, cut } from "./lib.js";

const HEIGHT = 34;
const LONGEST = 22;
const CROWD = 12; // more inferred edges than this, and only those that are looked at have labels
const BAR = (count) => (count > 16 ? 3 : 5); // the width of a bar in an entity

export const nodeWidth = (name, bars = 0) => Math.max(52, 22 + 7.6 * Math.min(name.length, LONGEST), bars * BAR(bars) + 20);

/** The point where the line from the middle of a box to another point leaves the box. */
function border([x, y], [tx, ty], width, height) {
  const [dx, dy] = [tx - x, ty - y];
  const scale = Math.min(width / 2 / (Math.abs(dx) || 1e-9), height / 2 / (Math.abs(dy) || 1e-9));
  return [x + dx * Math.min(scale, 1), y + dy * Math.min(scale, 1)];
}

/** The curve of an edge, and where a share of it lies; `bend` parts edges between the same two entities. */
function curve(from, to, widths, heights, bend) {
  const [mx, my] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const control = [mx - (dy / length) * bend * 2, my + (dx / length) * bend * 2];
  const start = border(from, bend ? control : to, widths[0] + 4, heights[0] + 4);
  const end = border(to, bend ? control : from, widths[1] + 10, heights[1] + 10);
  const along = (t) => [0, 1].map((axis) => (1 - t) ** 2 * start[axis] + 2 * t * (1 - t) * control[axis] + t ** 2 * end[axis]);
  return { path: `M${start} Q${control} ${end}`, along };
}

const SHARES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]; // of an edge, where its label may stand

/** A place for the label of each edge that no box has yet, neither an entity nor another label. */
function labelled(edges, boxes) {
  const taken = [...boxes];
  const free = ([x, y, w, h]) => taken.every(([bx, by, bw, bh]) => Math.abs(bx - x) > (bw + w) / 2 || Math.abs(by - y) > (bh + h) / 2);
  return edges.map((one) => {
    const size = [cut(one.edge.label, 20).length * 7 + 6, 15];
    const spots = SHARES.map((share) => one.along(share));
    const middle = spots.find((spot) => free([...spot, ...size])) || spots[0];
    taken.push([...middle, ...size]);
    return { ...one, middle };
  });
}

/**
 * nodes: [{ name, bars?: [share], tone?: "head"|"tail" }], places: { name: [x, y] },
 * edges: [{ id, head, tail, label, kind: "fact"|"inferred"|"clash"|"draft", lit, title }]
 */
export function Canvas({ nodes, edges, places, selected, busy, svgRef, on }) {
  const [box, [width, height]] = useSize();
  const [view, setView] = useState(null);
  const [drag, setDrag] = useState(null);
  const from = useRef(null); // where the keyboard began to connect
  const [armed, setArmed] = useState(null);

  const key = nodes.map((node) => node.name).join("\n");
  const widthOf = (node) => nodeWidth(node.name, node.bars ? node.bars.length : 0);
  const heightOf = (node) => (node.bars ? HEIGHT + 22 : HEIGHT);
  const placed = nodes.filter((node) => places[node.name]);
  const byName = Object.fromEntries(placed.map((node) => [node.name, node]));

  function fit() {
    if (!placed.length) return setView({ x: 0, y: 0, k: 1 });
    const xs = placed.flatMap((n) => [places[n.name][0] - widthOf(n) / 2, places[n.name][0] + widthOf(n) / 2]);
    const ys = placed.flatMap((n) => [places[n.name][1] - 40, places[n.name][1] + 40]);
    const [x0, x1, y0, y1] = [Math.min(...xs) - 30, Math.max(...xs) + 30, Math.min(...ys) - 20, Math.max(...ys) + 20];
    const k = Math.min(1.35, width / (x1 - x0), height / (y1 - y0));
    setView({ k, x: (width - k * (x0 + x1)) / 2, y: (height - k * (y0 + y1)) / 2 });
  }
  useEffect(fit, [width, height, on.fitKey]);

  const { x, y, k } = view || { x: 0, y: 0, k: 1 };
  const inside = (event) => {
    const frame = box.current.getBoundingClientRect();
    return [(event.clientX - frame.left - x) / k, (event.clientY - frame.top - y) / k];
  };
  const over = ([px, py], except) =>
    placed.find(
      (node) =>
        node.name !== except &&
        Math.abs(places[node.name][0] - px) < widthOf(node) / 2 + 6 &&
        Math.abs(places[node.name][1] - py) < heightOf(node) / 2 + 6,
    );

  function down(event, name) {
    if (event.button) return;
    event.stopPropagation();
    box.current.setPointerCapture(event.pointerId);
    const start = inside(event);
    setDrag({ name, start, now: start, moved: false, screen: [event.clientX, event.clientY], view: { x, y } });
  }
  function move(event) {
    if (!drag) return;
    const now = inside(event);
    const moved = drag.moved || Math.hypot(event.clientX - drag.screen[0], event.clientY - drag.screen[1]) > 4;
    if (drag.name === null && moved)
      setView({ k, x: drag.view.x + event.clientX - drag.screen[0], y: drag.view.y + event.clientY - drag.screen[1] });
    setDrag({ ...drag, now, moved, target: drag.name !== null && moved ? over(now, drag.name)?.name : undefined });
  }
  function up() {
    if (!drag) return;
    const { name, moved, now, start, target } = drag;
    setDrag(null);
    if (name === null) return moved || on.clear();
    if (!moved) return on.node(name);
    if (target) return on.connect(name, target);
    const [px, py] = places[name];
    on.move(name, [Math.round(px + now[0] - start[0]), Math.round(py + now[1] - start[1])]);
  }
  function wheel(event) {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), inside(event));
  }
  function zoom(factor, about = [(width / 2 - x) / k, (height / 2 - y) / k]) {
    const next = Math.min(3, Math.max(0.15, k * factor));
    setView({ k: next, x: x + about[0] * (k - next), y: y + about[1] * (k - next) });
  }
  useEffect(() => {
    const element = box.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  function nodeKey(event, name) {
    const step = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[event.key];
    if (step) on.move(name, [places[name][0] + step[0], places[name][1] + step[1]]);
    else if (event.key === "Enter" || event.key === " ") {
      if (from.current && from.current !== name) {
        on.connect(from.current, name);
        from.current = null;
        setArmed(null);
      } else if (event.key === "Enter") {
        from.current = from.current === name ? null : name;
        setArmed(from.current);
        on.node(name);
      } else on.node(name);
    } else if (event.key === "Delete" || event.key === "Backspace") on.removeNode(name);
    else if (event.key === "F2") on.rename(name);
    else if (event.key === "Escape") {
      from.current = null;
      setArmed(null);
    } else return;
    event.preventDefault();
  }
  function edgeKey(event, edge) {
    if (event.key === "Enter" || event.key === " ") on.edge(edge);
    else if ((event.key === "Delete" || event.key === "Backspace") && edge.kind !== "inferred") on.removeEdge(edge);
    else return;
    event.preventDefault();
  }

  const at = (name) => {
    if (drag && drag.moved && drag.name === name && !drag.target)
      return [places[name][0] + drag.now[0] - drag.start[0], places[name][1] + drag.now[1] - drag.start[1]];
    return places[name];
  };
  /** How far an edge bends so that it does not run through an entity between its ends. */
  function around(edge) {
    const [a, b] = [at(edge.head), at(edge.tail)];
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy) || 1;
    for (const node of placed) {
      if (node.name === edge.head || node.name === edge.tail) continue;
      const [px, py] = at(node.name);
      const along = ((px - a[0]) * dx + (py - a[1]) * dy) / length;
      const beside = ((px - a[0]) * -dy + (py - a[1]) * dx) / length;
      if (along > 20 && along < length - 20 && Math.abs(beside) < heightOf(node) / 2 + 8) return (beside > 0 ? -1 : 1) * (34 + heightOf(node) / 2);
    }
    return 0;
  }
  const pairs = {};
  const lines = edges
    .filter((edge) => byName[edge.head] && byName[edge.tail] && edge.head !== edge.tail)
    .map((edge) => {
      const id = [edge.head, edge.tail].sort().join("\n");
      const order = (pairs[id] = (pairs[id] ?? -1) + 1);
      const turn = edge.head < edge.tail ? 1 : -1;
      const bend = turn * (order % 2 ? -1 : 1) * Math.ceil(order / 2) * 26 || around(edge);
      const ends = [byName[edge.head], byName[edge.tail]];
      return { edge, ...curve(at(edge.head), at(edge.tail), ends.map(widthOf), ends.map(heightOf), bend) };
    });
  const first = (one) => (one.edge.kind === "inferred" ? 1 : 0); // facts choose their places before what follows
  const drawn = labelled([...lines].sort((a, b) => first(a) - first(b)), placed.map((node) => [...at(node.name), widthOf(node), heightOf(node)]))
    .sort((a, b) => first(b) - first(a));
  const many = edges.filter((edge) => edge.kind === "inferred").length > CROWD;
  const draft = drag && drag.moved && drag.target && curve(places[drag.name], places[drag.target],
    [widthOf(byName[drag.name]), widthOf(byName[drag.target])], [HEIGHT, HEIGHT], 0);

  return html`<div class="canvas" ref=${box} aria-busy=${busy}
    onPointerDown=${(event) => down(event, null)} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${() => setDrag(null)}
    onDblClick=${(event) => event.target.closest("[data-node],[data-edge]") || on.create(inside(event))}>
    <svg ref=${svgRef} role="group" aria-label="Entities and facts" class=${many ? "many" : ""} width="100%" height="100%" viewBox="0 0 ${width} ${height}">
      <defs>
        ${["fact", "lit", "clash", "inferred"].map((kind) => html`<marker id="arrow-${kind}" key=${kind} viewBox="0 0 10 10"
          refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 10 5 0 10z" class="arrow ${kind}" /></marker>`)}
      </defs>
      <g transform="translate(${x} ${y}) scale(${k})">
        ${drawn.map(({ edge, path, middle }) => html`<g key=${edge.id} data-edge=${edge.id} class="edge ${edge.kind} ${edge.lit ? "lit" : ""} ${edge.asked ? "asked" : ""} ${selected === edge.id ? "selected" : ""}"
            tabindex="0" role="button" aria-label=${edge.title} onKeyDown=${(event) => edgeKey(event, edge)}
            onPointerDown=${(event) => event.stopPropagation()} onClick=${() => on.edge(edge)}>
            <title>${edge.title}</title>
            <path class="hit" d=${path} /><path class="line" d=${path} marker-end="url(#arrow-${edge.kind === "clash" ? "clash" : edge.lit ? "lit" : edge.kind === "inferred" ? "inferred" : "fact"})" />
            <text x=${middle[0]} y=${middle[1] + 4}>${cut(edge.label, 20)}</text>
          </g>`)}
        ${draft && html`<path class="line draft" d=${draft.path} marker-end="url(#arrow-lit)" />`}
        ${placed.map((node) => {
          const [px, py] = at(node.name);
          const [w, h] = [widthOf(node), heightOf(node)];
          return html`<g key=${node.name} data-node=${node.name} transform="translate(${px} ${py})" tabindex="0" role="button"
            class="node ${node.tone || ""} ${drag?.target === node.name || armed === node.name ? "armed" : ""} ${selected === node.name ? "selected" : ""}"
            aria-label=${node.title || node.name} aria-pressed=${selected === node.name}
            onPointerDown=${(event) => down(event, node.name)} onKeyDown=${(event) => nodeKey(event, node.name)}
            onDblClick=${() => on.rename(node.name)}>
            <title>${node.title || node.name}</title>
            <rect x=${-w / 2} y=${-h / 2} width=${w} height=${h} rx="9" />
            <text y=${node.bars ? -h / 2 + 21 : 5}>${cut(node.name, LONGEST)}</text>
            ${node.bars && html`<g class="bars" transform="translate(${(-node.bars.length * BAR(node.bars.length)) / 2} ${h / 2 - 6})">
              ${node.bars.map((share, r) => html`<rect key=${r} class="ground" x=${r * BAR(node.bars.length)} y="-18" width=${BAR(node.bars.length) - 1} height="18" />
                <rect key=${`v${r}`} class="bar" x=${r * BAR(node.bars.length)} y=${-18 * share} width=${BAR(node.bars.length) - 1} height=${18 * share} />`)}
            </g>`}
          </g>`;
        })}
      </g>
    </svg>
    ${!nodes.length && html`<p class="hint">Double-click to make an entity, then drag from one to another.<br />Or choose an example.</p>`}
    ${on.add && html`<button type="button" class="new" onPointerDown=${(event) => event.stopPropagation()} onDblClick=${(event) => event.stopPropagation()} onClick=${() => on.add([(width / 2 - x) / k, (height / 2 - y) / k])}>+ New entity</button>`}
    ${armed && html`<p class="hint low" role="status">Connect “${cut(armed)}” with …: go to another entity and press Enter. Escape leaves it.</p>`}
    <div class="zoom" onPointerDown=${(event) => event.stopPropagation()} onDblClick=${(event) => event.stopPropagation()}>
      <button type="button" title="Larger" aria-label="Larger" onClick=${() => zoom(1.25)}>+</button>
      <button type="button" title="Smaller" aria-label="Smaller" onClick=${() => zoom(0.8)}>−</button>
      <button type="button" title="Show all" aria-label="Show all" onClick=${fit}>⤢</button>
    </div>
  </div>`;
}
