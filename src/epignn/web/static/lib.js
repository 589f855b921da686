// What all views share: asking the server, the state in the address, downloads, and telling what happened.

export { html, render, useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback } from "./vendor/htm-preact.js";
import { useState, useEffect, useRef } from "./vendor/htm-preact.js";

/** What the server says where it cannot answer, with the place in the text if it knows it. */
export class ApiError extends Error {
  constructor(status, told) {
    super(told.error || `The server answered with ${status}.`);
    this.status = status;
    this.line = told.line || 0;
    this.column = told.column || 0;
  }
}

async function ask(path, options) {
  let reply;
  try {
    reply = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "The server does not answer. Is `epignn serve` still running?" });
  }
  if (!reply.ok) throw new ApiError(reply.status, await reply.json().catch(() => ({})));
  return reply.json();
}

export const get = (path, signal) => ask(path, { signal });

export const post = (path, body, signal) =>
  ask(path, { method: "POST", signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const upload = (path, data) => ask(path, { method: "POST", body: data });

/** The value of an asynchronous question, asked anew when its inputs change; older answers are dropped. */
export function useAsk(question, inputs, wait = 0) {
  const [found, setFound] = useState({ value: null, error: null, busy: true });
  useEffect(() => {
    const stop = new AbortController();
    setFound((old) => ({ ...old, busy: true }));
    const timer = setTimeout(async () => {
      try {
        const value = await question(stop.signal);
        if (!stop.signal.aborted) setFound({ value, error: null, busy: false });
      } catch (error) {
        if (!stop.signal.aborted) setFound({ value: null, error, busy: false });
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, inputs);
  return found;
}

/** The size of an element in CSS pixels, followed as it changes. */
export function useSize(initial = [800, 500]) {
  const ref = useRef(null);
  const [size, setSize] = useState(initial);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      if (width && height) setSize([width, height]);
    });
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, size];
}

// -- the state in the address --

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** Any value as text for an address: JSON, packed, in letters that need no escape. */
export async function pack(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function unpack(text) {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(raw, (c) => c.charCodeAt(0)));
  return JSON.parse(new TextDecoder().decode(bytes));
}

// -- files --

export function download(name, data, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
  "font-size", "font-weight", "font-family", "text-anchor", "paint-order", "stroke-linejoin", "visibility"];

/** An SVG element of the page as a file of its own, with the colours that it has now. */
export function svgText(element) {
  const copy = element.cloneNode(true);
  const from = element.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, at) => {
    const style = getComputedStyle(from[at]);
    for (const name of DRAWN) {
      const value = style.getPropertyValue(name);
      if (value) node.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role", "aria-label"]) node.removeAttribute(name);
  });
  copy.querySelectorAll(".screen-only").forEach((node) => node.remove());
  const { width, height } = element.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const [x, y, w, h] = copy.getAttribute("viewBox").split(" ");
  Object.entries({ x, y, width: w, height: h, fill: getComputedStyle(document.body).backgroundColor }).forEach(
    ([name, value]) => ground.setAttribute(name, value),
  );
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

export async function saveImage(element, name, kind) {
  const text = svgText(element);
  if (kind === "svg") return download(`${name}.svg`, text, "image/svg+xml");
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
}

// -- words --

/** A long name, cut for a place where there is little room. */
export const cut = (name, most = 24) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

export const percent = (share) => (share > 0.9995 ? "100 %" : share < 0.0005 ? "0 %" : `${(share * 100).toFixed(1)} %`);

let announce = () => {};
/** Tell something to everybody: shown for some seconds, and read by screen readers. */
export const say = (text, kind = "") => announce(text, kind);
export const onSay = (listener) => (announce = listener);
