// The text of facts, changed piece by piece: the canvas edits the text, so that comments and order stay.

const PLAIN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_ '’\-]*[\p{L}\p{N}_])?$/u;

/** An entity as the language of facts writes it; null for a name that it cannot write. */
export function writeName(name) {
  if (/["\n\r\0]/.test(name) || !name.trim()) return null;
  return PLAIN.test(name) ? name : `"${name}"`;
}

export const writeFact = (head, relations, tail) =>
  `${relations.join("|")}(${writeName(head)}, ${writeName(tail)})`;

/** Where line and column, counted from 1 in characters, are in a text. */
function offset(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + Array.from(lines[line - 1] || "").slice(0, column - 1).join("").length;
}

/** Where a fact that the server found begins and ends in the text. */
function span(text, fact) {
  const start = offset(text, fact.line, fact.column);
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] === ")" && !quoted) return [start, at + 1];
  }
  return [start, text.length];
}

export function addFact(text, head, relations, tail) {
  const between = text && !text.endsWith("\n") ? "\n" : "";
  return `${text}${between}${writeFact(head, relations, tail)}\n`;
}

export function changeFact(text, fact, head, relations, tail) {
  const [start, end] = span(text, fact);
  return text.slice(0, start) + writeFact(head, relations, tail) + text.slice(end);
}

/** The text without some facts; a line that held nothing else goes, too. */
export function removeFacts(text, facts) {
  const spans = facts.map((fact) => span(text, fact)).sort((a, b) => b[0] - a[0]);
  for (const [start, end] of spans) {
    const from = text.lastIndexOf("\n", start - 1) + 1;
    const next = text.indexOf("\n", end);
    const to = next < 0 ? text.length : next;
    const rest = (text.slice(from, start) + text.slice(end, to)).replace(/^[\s.,;]+|[\s.,;]+$/g, "");
    text = rest
      ? text.slice(0, start) + text.slice(end).replace(/^\s*[.,;]/, "")
      : text.slice(0, from) + text.slice(Math.min(to + 1, text.length));
  }
  return text;
}

/** The text with an entity called otherwise; its facts are written anew. */
export function renameEntity(text, facts, from, to) {
  const touched = facts.filter((fact) => fact.head === from || fact.tail === from);
  const turned = (name) => (name === from ? to : name);
  for (const fact of touched.sort((a, b) => b.line - a.line || b.column - a.column))
    text = changeFact(text, fact, turned(fact.head), fact.written, turned(fact.tail));
  return text;
}

/** The first of a, b, …, z, a1, … that no entity has. */
export function freshName(names) {
  const taken = new Set(names);
  for (let round = 0; ; round++)
    for (const letter of "abcdefghijklmnopqrstuvwxyz") {
      const name = letter + (round || "");
      if (!taken.has(name)) return name;
    }
}
