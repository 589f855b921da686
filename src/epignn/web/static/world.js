// A world in which the facts hold: bars on a time line, points, regions, a family. What is dragged is checked anew.

import { html, useState, useEffect, useRef, useMemo, useAsk, useSize, post, cut, saveImage } from "./lib.js";

const COLOURS = 10; // of the style sheet: .c0 … .c9
const SNAP = 7;

export function World({ request, good, blank, calculus, head, tail }) {
  const [seed, setSeed] = useState(0);
  const asked = useAsk((signal) => (blank || !good.of ? null : post("/api/realise", { ...request, seed, seconds: 5 }, signal)), [good, seed], 150);
  const [moved, setMoved] = useState(null);
  const [broken, setBroken] = useState([]);
  const [checked, setChecked] = useState(true);
  const [error, setError] = useState("");
  const svg = useRef(null);
  useEffect(() => { setMoved(null); setBroken([]); setError(""); }, [asked.value]);
  useEffect(() => {
    if (!moved) return;
    setChecked(false);
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const told = await post("/api/broken", { ...request, world: moved }, stop.signal);
        setBroken(told.broken);
        setError("");
        setChecked(true);
      } catch (problem) {
        if (problem.name !== "AbortError") setError(problem.message);
      }
    }, 60);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [moved]);
  if (blank) return html`<p class="quiet">Draw or write some facts first.</p>`;
  if (asked.error) return html`<p class="error" role="status">${asked.error.message}</p>`;
  const found = asked.value, world = moved || found?.world;
  if (!found) return html`<p class="quiet" role="status">Looking for a world in which all facts hold …</p>`;
  if (!found.found) return html`<p class="note" role="status">${found.reason || "The facts contradict each other: there is no such world."}</p>`;
  const Picture = PICTURES[world.kind];
  return html`<p class="quiet">One of the worlds in which all ${good.facts.length} facts hold. ${HINTS[world.kind]}</p>
    <div class="world" aria-busy=${asked.busy}><${Picture} world=${world} change=${setMoved} svgRef=${svg} head=${head} tail=${tail} /></div>
    <p class=${broken.length ? "error" : "quiet"} role="status" data-testid="broken">${error || (broken.length
      ? `This breaks ${broken.length === 1 ? "a fact" : `${broken.length} facts`}: ${broken.map((at) => `${good.facts[at].written.join("|")}(${cut(good.facts[at].head)}, ${cut(good.facts[at].tail)})`).join(", ")}`
      : moved && !checked ? "Checking …" : moved ? "All facts still hold." : "Checked: what is drawn has the relations that the facts state.")}</p>
    <div class="row"><button type="button" class="primary" onClick=${() => setSeed(seed + 1)}>Another world</button>
      ${moved && html`<button type="button" onClick=${() => { setMoved(null); setBroken([]); }}>Put it back</button>`}
      <button type="button" onClick=${() => saveImage(svg.current, "world", "svg")}>Save as SVG</button><button type="button" onClick=${() => saveImage(svg.current, "world", "png")}>PNG</button></div>`;
}

const HINTS = {
  intervals: "Drag a bar or one of its ends to see what would break.",
  points: "Drag a point to see what would break.",
  plane: "Drag a point to see what would break.",
  regions: "Drag a region to see what would break.",
  family: "Lines join parents and children; a double line is a marriage.",
};

/** Dragging inside a picture: `begin(event, what)` starts it, `move(what, dx, dy)` gets the way in picture units. */
function useDrag(svgRef, move) {
  const drag = useRef(null);
  const units = (event) => {
    const matrix = svgRef.current.getScreenCTM();
    return [event.clientX / matrix.a, event.clientY / matrix.d];
  };
  return {
    begin: (event, what) => {
      event.preventDefault();
      event.currentTarget.setPointerCapture?.(event.pointerId);
      drag.current = { what, from: units(event) };
    },
    handlers: {
      onPointerMove: (event) => {
        if (!drag.current) return;
        const [x, y] = units(event), [fx, fy] = drag.current.from;
        move(drag.current.what, x - fx, y - fy, event);
      },
      onPointerUp: () => { drag.current = null; },
      onPointerCancel: () => { drag.current = null; },
    },
  };
}

/** The arrow keys move what has the focus, in steps of the picture. */
const byKeys = (step, move) => (event) => {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return;
  event.preventDefault();
  move(way[0] * step, way[1] * step);
};

const snapped = (value, others, reach) => {
  const near = others.reduce((best, one) => (Math.abs(one - value) < Math.abs(best - value) ? one : best), Infinity);
  return Math.abs(near - value) < reach ? near : Math.round(value * 2) / 2;
};

const rounded = (value) => Math.round(value * 1000) / 1000;

// -- time --

function Intervals({ world, change, svgRef, head, tail }) {
  const [box, [width]] = useSize([380, 300]);
  const base = useRef(null);
  const names = Object.keys(world.intervals);
  const [rows] = useState(() => [...names].sort((a, b) => world.intervals[a][0] - world.intervals[b][0] || world.intervals[b][1] - world.intervals[a][1]));
  const ends = Object.values(world.intervals).flat();
  const [[low, high]] = useState([Math.min(...ends), Math.max(...ends)]);
  const W = Math.max(300, width), pad = 14, scale = (W - 2 * pad) / (high - low || 1);
  const x = (value) => pad + (value - low) * scale, row = 34;
  const set = (name, part, dx) => {
    const [start, end] = (base.current || world).intervals[name];
    const others = names.filter((one) => one !== name).flatMap((one) => world.intervals[one]);
    const near = (value) => snapped(value, others, SNAP / scale);
    let next = [start, end];
    if (part === "start") next = [near(start + dx), end];
    else if (part === "end") next = [start, near(end + dx)];
    else {
      const to = near(start + dx), until = near(end + dx);
      const shift = others.includes(to) ? to - start : others.includes(until) ? until - end : to - start;
      next = [start + shift, end + shift];
    }
    if (next[0] < next[1]) change({ ...world, intervals: { ...world.intervals, [name]: next.map(rounded) } });
  };
  const drag = useDrag(svgRef, ([name, part], dx) => set(name, part, dx / scale));
  const begin = (event, what) => { base.current = world; drag.begin(event, what); };
  const H = rows.length * row + 30;
  return html`<div ref=${box}><svg ref=${svgRef} viewBox="0 0 ${W} ${H}" role="group" aria-label="Time line" ...${drag.handlers}>
    <line class="axis" x1=${pad} x2=${W - pad} y1=${H - 14} y2=${H - 14} /><text class="tick" x=${W - pad} y=${H - 2} text-anchor="end">time →</text>
    ${rows.map((name, at) => {
      const [start, end] = world.intervals[name], y = at * row + 6, w = Math.max(4, (end - start) * scale);
      const inside = cut(name, 30).length * 7.2 < w - 16;
      const left = !inside && x(end) + 8 + cut(name, 30).length * 7.2 > W;
      return html`<g key=${name} class="thing c${names.indexOf(name) % COLOURS} ${name === head || name === tail ? "asked" : ""}">
        <title>${name}</title>
        <line class="guide" x1=${x(start)} x2=${x(start)} y1=${y} y2=${H - 14} /><line class="guide" x1=${x(end)} x2=${x(end)} y1=${y} y2=${H - 14} />
        <rect class="body" tabindex="0" role="button" aria-label="${name}: from ${start} to ${end}; arrow keys move it" x=${x(start)} y=${y} width=${w} height="24" rx="5"
          onPointerDown=${(event) => begin(event, [name, "body"])} onKeyDown=${byKeys(0.5, (dx) => { base.current = null; set(name, "body", dx); })} />
        <rect class="grip screen-only" x=${x(start) - 4} y=${y} width="9" height="24" onPointerDown=${(event) => begin(event, [name, "start"])} />
        <rect class="grip screen-only" x=${x(end) - 5} y=${y} width="9" height="24" onPointerDown=${(event) => begin(event, [name, "end"])} />
        <text x=${inside ? x(start) + 9 : left ? x(start) - 8 : x(end) + 8} y=${y + 17} text-anchor=${left ? "end" : "start"}>${cut(name, 30)}</text></g>`;
    })}</svg></div>`;
}

// -- points --

function Points({ world, change, svgRef, head, tail }) {
  const flat = world.kind === "points";
  const at = (name) => (flat ? [world.points[name], 0] : world.points[name]);
  const names = Object.keys(world.points);
  const [frame] = useState(() => {
    const xs = names.map((name) => at(name)[0]), ys = names.map((name) => at(name)[1]);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    return { x0, y0, size: Math.max(x1 - x0, flat ? 0 : y1 - y0, 1), tall: flat ? 0 : Math.max(y1 - y0, 1) };
  });
  const W = 400, pad = 46, scale = (W - 2 * pad) / frame.size, H = flat ? 120 : frame.tall * scale + 2 * pad;
  const x = (value) => pad + (value - frame.x0) * scale, y = (value) => H - pad - (value - frame.y0) * scale;
  const base = useRef(null);
  const set = (name, dx, dy, from = world) => {
    const [px, py] = flat ? [from.points[name], 0] : from.points[name];
    const others = names.filter((one) => one !== name).map(at);
    const next = [snapped(px + dx, others.map((o) => o[0]), SNAP / scale), snapped(py + dy, others.map((o) => o[1]), SNAP / scale)].map(rounded);
    change({ ...world, points: { ...world.points, [name]: flat ? next[0] : next } });
  };
  const drag = useDrag(svgRef, (name, dx, dy) => set(name, dx / scale, -dy / scale, base.current));
  const spot = {};
  return html`<svg ref=${svgRef} viewBox="0 0 ${W} ${H}" role="group" aria-label=${flat ? "Points on a line" : "Points in the plane, north is up"} ...${drag.handlers}>
    ${flat ? html`<line class="axis" x1="10" x2=${W - 10} y1=${y(0)} y2=${y(0)} />` : html`<g class="compass"><path d="M${W - 20} 34V12m-5 7 5-8 5 8" /><text x=${W - 20} y="46" text-anchor="middle">N</text></g>`}
    ${names.map((name, order) => {
      const [px, py] = at(name), key = `${px},${py}`, same = (spot[key] = (spot[key] ?? -1) + 1);
      return html`<g key=${name} class="thing c${order % COLOURS} ${name === head || name === tail ? "asked" : ""}"><title>${name}</title>
        ${!flat && html`<line class="guide" x1=${x(px)} x2=${x(px)} y1="0" y2=${H} /><line class="guide" x1="0" x2=${W} y1=${y(py)} y2=${y(py)} />`}
        <circle class="body" tabindex="0" role="button" aria-label="${name}; arrow keys move it" cx=${x(px)} cy=${y(py)} r="8"
          onPointerDown=${(event) => { base.current = world; drag.begin(event, name); }} onKeyDown=${byKeys(0.5, (dx, dy) => set(name, dx, -dy))} />
        <text x=${x(px) + (flat ? 0 : 12)} y=${flat ? y(py) + (order % 2 ? 26 : -14) - same * 14 * (order % 2 ? -1 : 1) : y(py) - 8 - same * 14} text-anchor=${flat ? "middle" : "start"}>${cut(name, 20)}</text></g>`;
    })}</svg>`;
}

// -- regions --

const outline = (polygons) => polygons.map((ring) => `M${ring.map(([px, py]) => `${px} ${-py}`).join("L")}Z`).join("");

function spanOf(region) {
  const spots = region.discs ? region.discs.flatMap(([x, y, r]) => [[x - r, y - r], [x + r, y + r]]) : region.polygons.flat();
  const xs = spots.map((p) => p[0]), ys = spots.map((p) => p[1]);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

const overlap = (a, b) => Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));

/** Where the name of each region is best read: inside, if there is room, otherwise beside it; not upon another. */
function labels(world, size, frame) {
  const spans = Object.fromEntries(Object.entries(world.regions).map(([name, region]) => [name, spanOf(region)]));
  const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
  const paper = [frame[0], -frame[1] - frame[3], frame[0] + frame[2], -frame[1]];
  const taken = [], places = {};
  for (const name of Object.keys(spans).sort((a, b) => area(spans[a]) - area(spans[b]))) {
    const [x0, y0, x1, y1] = spans[name], middle = (x0 + x1) / 2, width = cut(name, 18).length * size * 0.58, height = size * 1.15;
    const roomy = width < (x1 - x0) * 0.86;
    const inside = [0.74, 0, -0.74, 0.45, -0.45].map((share) => [middle, (y0 + y1) / 2 + (share * (y1 - y0)) / 2]);
    const beside = [[middle, y1 + height * 0.62], [middle, y0 - height * 0.62], [x1 + width / 2 + size * 0.3, (y0 + y1) / 2], [x0 - width / 2 - size * 0.3, (y0 + y1) / 2]];
    const boxed = ([x, y]) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
    const small = Object.keys(spans).filter((other) => area(spans[other]) < width * width * 1.5 && (other !== name || !roomy));
    const cost = (spot, order) => {
      const box = boxed(spot);
      return 12 * taken.reduce((sum, other) => sum + overlap(box, other), 0) + 4 * small.reduce((sum, other) => sum + overlap(box, spans[other]), 0)
        + 20 * (area(box) - overlap(box, paper)) + order * 0.05 * area(box);
    };
    const spots = roomy ? [...inside, ...beside] : [...beside, ...inside];
    const costs = spots.map(cost), best = spots[costs.indexOf(Math.min(...costs))];
    taken.push(boxed(best));
    places[name] = best;
  }
  return places;
}

function Regions({ world, change, svgRef, head, tail }) {
  const names = Object.keys(world.regions);
  const [frame] = useState(() => {
    const spans = Object.values(world.regions).map(spanOf);
    const [x0, y0] = [0, 1].map((axis) => Math.min(...spans.map((s) => s[axis])));
    const [x1, y1] = [2, 3].map((axis) => Math.max(...spans.map((s) => s[axis])));
    const margin = Math.max(x1 - x0, y1 - y0) * 0.07;
    return [x0 - margin, -(y1 + margin), x1 - x0 + 2 * margin, y1 - y0 + 2 * margin];
  });
  const size = frame[2] / 27, grid = !Object.values(world.regions).some((one) => one.discs);
  const base = useRef(null);
  const shift = (name, dx, dy, from = world) => {
    const step = (value) => (grid ? Math.round(value) : value);
    const [mx, my] = [step(dx), step(dy)];
    const old = from.regions[name];
    const next = old.discs ? { ...old, discs: old.discs.map(([x, y, r]) => [x + mx, y + my, r]) } : { ...old, polygons: old.polygons.map((ring) => ring.map(([x, y]) => [x + mx, y + my])) };
    change({ ...world, regions: { ...world.regions, [name]: next } });
  };
  const drag = useDrag(svgRef, (name, dx, dy) => shift(name, dx, -dy, base.current));
  const area = (name) => { const [x0, y0, x1, y1] = spanOf(world.regions[name]); return (x1 - x0) * (y1 - y0); };
  const order = [...names].sort((a, b) => area(b) - area(a));
  const texts = labels(world, size, frame);
  return html`<svg ref=${svgRef} viewBox=${frame.join(" ")} role="group" aria-label="Regions" ...${drag.handlers}>
    ${order.map((name) => {
      const region = world.regions[name], about = {
        class: "body", tabindex: 0, role: "button", "aria-label": `${name}; arrow keys move it`, "stroke-width": frame[2] / 260,
        onPointerDown: (event) => { base.current = world; drag.begin(event, name); }, onKeyDown: byKeys(grid ? 1 : frame[2] / 60, (dx, dy) => shift(name, dx, -dy)),
      };
      return html`<g key=${name} class="thing c${names.indexOf(name) % COLOURS} ${name === head || name === tail ? "asked" : ""}"><title>${name}</title>
        ${region.discs ? region.discs.map(([x, y, r], at) => html`<circle key=${at} cx=${x} cy=${-y} r=${r} ...${about} />`) : html`<path d=${outline(region.polygons)} fill-rule="evenodd" ...${about} />`}</g>`;
    })}
    ${names.map((name) => html`<text key=${name} class="on" x=${texts[name][0]} y=${-texts[name][1] + size * 0.35} font-size=${size} stroke-width=${size / 5} text-anchor="middle">${cut(name, 18)}</text>`)}
  </svg>`;
}

// -- families --

/** Generations from who has no parents downwards; couples share one. */
function generations(people) {
  const level = people.map(() => 0);
  for (let round = 0; round < people.length + 1; round++)
    people.forEach((one, at) => {
      for (const parent of [one.father, one.mother]) if (parent != null) level[at] = Math.max(level[at], level[parent] + 1);
      if (one.spouse != null) level[at] = level[one.spouse] = Math.max(level[at], level[one.spouse]);
    });
  // People without parents stand just above their children.
  for (let round = 0; round < people.length; round++)
    people.forEach((one, at) => {
      if (one.father != null || one.mother != null) return;
      const spouse = one.spouse != null ? people[one.spouse] : null;
      if (spouse && (spouse.father != null || spouse.mother != null)) return;
      const children = people.map((child, c) => (child.father === at || child.mother === at ? level[c] : Infinity));
      const least = Math.min(...children);
      if (Number.isFinite(least)) { level[at] = least - 1; if (one.spouse != null) level[one.spouse] = least - 1; }
    });
  const low = Math.min(...level);
  return level.map((one) => one - low);
}

function Family({ world, svgRef, head, tail }) {
  const people = world.people;
  const drawn = useMemo(() => {
    const level = generations(people), rows = [];
    const middle = people.map((_, at) => at);
    const couple = (at) => (people[at].spouse != null ? [Math.min(at, people[at].spouse), Math.max(at, people[at].spouse)] : [at]);
    for (let l = 0; l <= Math.max(...level); l++) rows.push([...new Map(people.map((_, at) => at).filter((at) => level[at] === l).map((at) => [couple(at).join(), couple(at)])).values()]);
    const place = [];
    const spread = (row) => { let x = 0; for (const group of row) { for (const at of group) { place[at] = x; x += 120; } x += 26; } const total = x - 26; for (const group of row) for (const at of group) place[at] -= total / 2 - 60; };
    rows.forEach(spread);
    for (let round = 0; round < 8; round++)
      for (const row of round % 2 ? [...rows].reverse() : rows) {
        const want = (group) => {
          const near = group.flatMap((at) => round % 2 ? people.map((c, i) => (c.father === at || c.mother === at ? place[i] : null)) : [people[at].father, people[at].mother].map((p) => (p != null ? place[p] : null))).filter((v) => v != null);
          return near.length ? near.reduce((a, b) => a + b) / near.length : place[group[0]];
        };
        row.sort((a, b) => want(a) - want(b));
        spread(row);
      }
    return { level, place, middle };
  }, [world]);
  const xs = drawn.place, low = Math.min(...xs) - 70, W = Math.max(...xs) - low + 70, H = (Math.max(...drawn.level) + 1) * 104 + 20;
  const x = (at) => xs[at] - low, y = (at) => drawn.level[at] * 104 + 36;
  return html`<svg ref=${svgRef} viewBox="0 0 ${W} ${H}" role="img" aria-label="Family tree: ${people.map((one) => one.name).filter(Boolean).join(", ")}">
    ${people.map((one, at) => one.spouse != null && at < one.spouse && html`<g key=${`m${at}`} class="married"><line x1=${x(at)} x2=${x(one.spouse)} y1=${y(at) - 2} y2=${y(at) - 2} /><line x1=${x(at)} x2=${x(one.spouse)} y1=${y(at) + 2} y2=${y(at) + 2} /></g>`)}
    ${people.map((one, at) => {
      const parents = [one.father, one.mother].filter((p) => p != null);
      if (!parents.length) return null;
      const px = parents.reduce((sum, p) => sum + x(p), 0) / parents.length, py = y(parents[0]), half = y(at) - 52;
      return html`<path key=${`c${at}`} class="descent" d="M${px} ${py}V${half}H${x(at)}V${y(at) - 17}" />`;
    })}
    ${people.map((one, at) => html`<g key=${at} class="person ${one.female ? "woman" : "man"} ${one.name === null ? "unnamed" : ""} ${one.name !== null && (one.name === head || one.name === tail) ? "asked" : ""}" transform="translate(${x(at)} ${y(at)})">
      <title>${one.name === null ? "somebody the facts do not name" : one.name}</title>
      <rect x="-52" y="-17" width="104" height="34" rx=${one.female ? 17 : 4} /><text y="5" text-anchor="middle">${one.name === null ? "?" : cut(one.name, 13)}</text></g>`)}
  </svg>`;
}

const PICTURES = { intervals: Intervals, points: Points, plane: Points, regions: Regions, family: Family };
