// Relations in plain words, by the sentences that the server gives for a calculus.

/** Relations as people call them: of kinship, "aunt" for "her-aunt". */
export function terms(calculus, relations) {
  if (!calculus?.terms?.length) return relations;
  const named = (name) =>
    calculus.terms.find((term) => term === name || (calculus.aliases[term] || "").split("|").includes(name)) || name;
  return [...new Set(relations.map(named))];
}

/** "the pier overlaps the city in part, or touches the city from outside"; null where nothing is known. */
export function sentence(calculus, relations, a, b) {
  if (!relations.length) return null;
  if (calculus && relations.length === calculus.words.length) return null;
  const named = terms(calculus, relations);
  const told = named.slice(0, 3).map((name) => meaning(calculus, name, a, b));
  const rest = named.length - told.length;
  return told.join(", or ") + (rest > 0 ? `, or one of ${rest} other relations` : "");
}

export function meaning(calculus, name, a, b) {
  const pattern = calculus?.meanings?.[name] ?? `{a} ${name.replaceAll("{", "{{").replaceAll("}", "}}")} {b}`;
  return pattern.replace(/\{\{|\}\}|\{a\}|\{b\}/g, (found) => ({ "{{": "{", "}}": "}", "{a}": a, "{b}": b })[found]);
}

/** What a relation says, without the two: "touches … from outside". */
export const short = (calculus, name) => meaning(calculus, name, "", "…").trim().replace(/ …$/, "").replace(/^is /, "");

export const label = (calculus, relations) =>
  calculus && relations.length === calculus.words.length ? "anything" : terms(calculus, relations).join(" | ") || "nothing";
