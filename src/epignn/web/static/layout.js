// Where entities go on the canvas: as far apart as the facts between them are many (stress majorisation).

const LENGTH = 165;

function distances(names, links) {
  const index = new Map(names.map((name, at) => [name, at]));
  const near = names.map(() => []);
  for (const [a, b] of links) {
    const [i, j] = [index.get(a), index.get(b)];
    if (i === undefined || j === undefined || i === j) continue;
    near[i].push(j);
    near[j].push(i);
  }
  return names.map((_, from) => {
    const far = new Array(names.length).fill(Infinity);
    far[from] = 0;
    for (let queue = [from]; queue.length; ) {
      const at = queue.shift();
      for (const next of near[at])
        if (far[next] === Infinity) {
          far[next] = far[at] + 1;
          queue.push(next);
        }
    }
    return far;
  });
}

/** Places by name; those that are given stay where they are, unless everything is to be placed anew. */
export function layout(names, links, given = {}) {
  const n = names.length;
  const fixed = names.map((name) => Boolean(given[name]));
  if (fixed.every(Boolean)) return given;
  const far = distances(names, links);
  const reach = Math.max(1, ...far.flat().filter(Number.isFinite));
  const wanted = (i, j) => LENGTH * Math.min(far[i][j], reach + 1) ** 0.72; // below 1: a long chain bends into an arc
  const at = names.map((name, i) => {
    if (given[name]) return [...given[name]];
    const known = names.findIndex((other, j) => given[other] && far[i][j] === 1);
    const [x, y] = known >= 0 ? given[names[known]] : [0, 0];
    const angle = i * 2.399963; // the golden angle: no two of them lie on one line
    const radius = known >= 0 ? LENGTH : 40 * Math.sqrt(i + 1);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
  for (let round = 0; round < (n > 120 ? 30 : 150); round++) {
    for (let i = 0; i < n; i++) {
      if (fixed[i]) continue;
      let [x, y, weights] = [0, 0, 0];
      for (let j = 0; j < n; j++) {
        if (i === j) continue;
        const goal = wanted(i, j);
        const weight = 1 / (goal * goal);
        const [dx, dy] = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
        const length = Math.hypot(dx, dy) || 1;
        x += weight * (at[j][0] + (goal * dx) / length);
        y += weight * (at[j][1] + (goal * dy) / length);
        weights += weight;
      }
      if (weights) at[i] = [x / weights, y / weights];
    }
  }
  return Object.fromEntries(names.map((name, i) => [name, [Math.round(at[i][0]), Math.round(at[i][1])]]));
}
