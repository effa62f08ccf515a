"use strict";
// A mask is a byte for each pixel, 0 or 1, row by row; it travels and is kept as bits, the first pixel in the highest bit.
const at = id => document.getElementById(id);
const MAGENTA = [255, 0, 255, 255], STEPS = 100, RETRY_MS = 1000;
const canvas = at("mask"), context = canvas.getContext("2d"), view = at("view");
const annotator = new URLSearchParams(location.search).get("annotator");
const unsaved = new Map(), versions = new Map(), undoable = new Map();  // by the number of an image; null is no mask
let images = [], key = "", current = -1, width = 0, height = 0, mask = null, drawn = false, scale = 1, sending = false;
let stroke = null, corners = [], cursor = null;

const tool = () => document.querySelector("[name=tool]:checked").value;
const radius = () => Number(at("size").value) / 2;
const say = (text, fault = false) => { at("saved").textContent = text; at("saved").classList.toggle("fault", fault); };

function pack(pixels) {
  const bits = new Uint8Array(Math.ceil(pixels.length / 8));
  for (let i = 0; i < pixels.length; i++) if (pixels[i]) bits[i >> 3] |= 128 >> (i & 7);
  return bits;
}

function unpack(bits, count) {
  const pixels = new Uint8Array(count);
  for (let i = 0; i < count && bits.length; i++) pixels[i] = (bits[i >> 3] >> (7 - (i & 7))) & 1;
  return pixels;
}

function show(left = 0, top = 0, right = width, bottom = height) {
  if (right <= left || bottom <= top) return;
  const part = context.createImageData(right - left, bottom - top);
  for (let y = top, to = 0; y < bottom; y++)
    for (let x = left; x < right; x++, to += 4) if (mask[y * width + x]) part.data.set(MAGENTA, to);
  context.putImageData(part, left, top);
}

// Pixels whose centre is within the brush's radius of the segment between the centres of two pixels.
function paintSegment(from, to, value) {
  const [ax, ay, bx, by] = [from.x, from.y, to.x, to.y].map(Math.floor), r = radius(), reach = Math.ceil(r);
  const left = Math.max(0, Math.min(ax, bx) - reach), right = Math.min(width, Math.max(ax, bx) + reach + 1);
  const top = Math.max(0, Math.min(ay, by) - reach), bottom = Math.min(height, Math.max(ay, by) + reach + 1);
  const dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const t = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
      if ((x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2 <= r * r) mask[y * width + x] = value;
    }
  show(left, top, right, bottom);
}

// Pixels whose centre is in the polygon, by the even-odd rule.
function paintPolygon(points) {
  for (let y = 0; y < height; y++) {
    const crossed = [], middle = y + 0.5;
    points.forEach((a, i) => {
      const b = points[(i + 1) % points.length];
      if ((a.y <= middle) !== (b.y <= middle)) crossed.push(a.x + (middle - a.y) / (b.y - a.y) * (b.x - a.x));
    });
    crossed.sort((one, other) => one - other);
    for (let i = 0; i + 1 < crossed.length; i += 2) {
      const end = Math.min(width, Math.ceil(crossed[i + 1] - 0.5));
      for (let x = Math.max(0, Math.ceil(crossed[i] - 0.5)); x < end; x++) mask[y * width + x] = 1;
    }
  }
  show();
}

// Undo, and saving: no mask (null) differs from an empty one, which says that nothing is there. A mask waits in this browser's storage until the server has it, so a reload or a kill loses nothing.
function change(paint) {
  const before = state();
  paint();
  drawn = true;
  remember(before);
  save();
}

const state = () => drawn ? pack(mask) : null;

function restore(bits) {
  drawn = bits !== null;
  mask = unpack(bits ?? [], width * height);
}

function remember(before) {
  const steps = undoable.get(current) ?? [];
  undoable.set(current, [...steps.slice(-STEPS + 1), before]);
}

function undo() {
  if (corners.length) return drop();
  const before = undoable.get(current)?.pop();
  if (before === undefined) return say("nothing to undo");
  restore(before);
  show();
  save();
}

const storage = (() => { try { return localStorage; } catch { return null; } })();  // it may be forbidden
const place = index => `salgen ${key} ${annotator} ${index}`;

function save() {
  const bits = state();
  unsaved.set(current, bits);
  storage?.removeItem(place(current));
  try {
    storage?.setItem(place(current), btoa(Array.from(bits ?? [], byte => String.fromCharCode(byte)).join("")));
  } catch { }  // it is full: the server still gets the mask
  send();
}

async function send() {
  if (sending) return;
  sending = true;
  while (unsaved.size) {
    const [index, bits] = unsaved.entries().next().value;
    say("saving");
    const answer = await put(index, bits);
    if (answer.status === 412) await conflict(index);
    else versions.set(index, answer.headers.get("ETag"));
    if (unsaved.get(index) !== bits) continue;  // there is a newer one
    unsaved.delete(index);
    storage?.removeItem(place(index));
    mark(index, bits !== null);
  }
  sending = false;
  if (at("saved").textContent === "saving") saved();
}

async function put(index, bits) {  // the same bits until there is an answer, since one may have been lost on its way
  for (;;) {
    let why = "no answer";
    try {
      const headers = { "If-Match": versions.get(index) ?? "*" };
      const answer = await fetch(`masks/${annotator}/${index}`, { method: bits ? "PUT" : "DELETE", headers, body: bits });
      if (answer.ok || answer.status === 412) {
        if (at("saved").classList.contains("fault")) say("saving");
        return answer;
      }
      why = await answer.text();
    } catch { }
    say(`not saved, trying again: ${why}`, true);
    await new Promise(wake => setTimeout(wake, RETRY_MS));
  }
}

async function conflict(index) {
  const answer = await fetch(`masks/${annotator}/${index}`);
  versions.set(index, answer.headers.get("ETag"));
  const bits = await found(answer);
  unsaved.delete(index);
  storage?.removeItem(place(index));
  mark(index, bits !== null);
  if (index !== current) return;
  remember(state());
  restore(bits);
  show();
  say("changed in another window, whose mask is shown; undo brings yours back", true);
}

async function found(answer) {  // what the server has
  const bits = new Uint8Array(await answer.arrayBuffer());
  return answer.headers.get("ETag") === '"none"' ? null : bits;
}

// Images.
const saved = () => say(images[current].drawn ? "saved" : "nothing drawn yet");

function mark(index, there) {
  images[index].drawn = there;
  at("list").options[index].textContent = title(index);
}

const title = index => `${images[index].drawn ? "✓" : "–"} ${index + 1} of ${images.length}: ${images[index].name}`;

async function openImage(index) {
  if (index < 0 || index >= images.length || stroke) return;
  drop();
  const waiting = unsaved.get(index);  // now: the server may get it while its older one is on its way here
  mask = null;
  current = index;
  at("list").value = index;
  at("label").textContent = images[index].label;
  const url = new URL(location);
  url.searchParams.set("image", index + 1);
  history.replaceState(null, "", url);
  try {
    const answer = await fetch(`masks/${annotator}/${index}`);
    if (!answer.ok) throw new Error(await answer.text());
    const bits = await found(answer);
    at("picture").src = `images/${index}`;
    await at("picture").decode();
    if (current !== index) return;
    ({ width, height } = images[index]);
    if (waiting === undefined) versions.set(index, answer.headers.get("ETag"));
    restore(waiting === undefined ? bits : waiting);
  } catch (error) {
    if (current !== index) return;
    say(`not loaded, trying again: ${error.message}`, true);
    return setTimeout(() => { if (current === index && !mask) openImage(index); }, RETRY_MS);
  }
  if (!unsaved.size) saved();
  canvas.width = width;
  canvas.height = height;
  at("picture").alt = `Image ${images[index].name}, labelled ${images[index].label}`;
  at("marks").setAttribute("viewBox", `0 0 ${width} ${height}`);
  at("size").max = Math.max(20, Math.round(Math.max(width, height) / 4));
  cursor = null;
  at("previous").disabled = index === 0;
  at("next").disabled = index === images.length - 1;
  sized();
  show();
  fit();
}

// View.
function zoom(factor, x = view.clientWidth / 2, y = view.clientHeight / 2) {
  const before = scale;
  scale = Math.min(40, Math.max(0.05, scale * factor));
  const [left, top] = [view.scrollLeft + x, view.scrollTop + y].map(edge => edge * scale / before);
  laidOut();
  view.scrollTo(left - x, top - y);
}

function fit() {
  scale = Math.min(view.clientWidth / width, 0.7 * innerHeight / height);
  laidOut();
}

function laidOut() {
  Object.assign(at("stage").style, { width: `${width * scale}px`, height: `${height * scale}px` });
  at("picture").classList.toggle("large", scale >= 3);
}

function sized() {
  at("shown-size").textContent = at("size").value;
  ring();
}

function ring() {
  const brush = cursor && ["brush", "eraser"].includes(tool());
  at("ring").setAttribute("visibility", cursor && tool() !== "move" ? "visible" : "hidden");
  if (!cursor) return;
  at("ring").setAttribute("cx", brush ? Math.floor(cursor.x) + 0.5 : cursor.x);
  at("ring").setAttribute("cy", brush ? Math.floor(cursor.y) + 0.5 : cursor.y);
  at("ring").setAttribute("r", brush ? radius() : 2 / scale);
}

// Drawing.
function outline() {
  const shown = cursor && corners.length ? [...corners, cursor] : corners;
  at("corners").setAttribute("points", shown.map(({ x, y }) => `${x},${y}`).join(" "));
}

function drop() {
  corners = [];
  outline();
}

function corner(point) {
  const last = corners.at(-1);
  if (!last || last.x !== point.x || last.y !== point.y) corners.push(point);
  outline();
}

function closePolygon() {
  const points = corners;
  drop();
  if (points.length > 2) change(() => paintPolygon(points));
}

const paintedBy = () => ({ brush: 1, eraser: drawn ? 0 : undefined })[tool()];  // where nothing is drawn nothing is erased

function point(event) {
  const box = canvas.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width * width, y: (event.clientY - box.top) / box.height * height };
}

canvas.addEventListener("pointerdown", event => {
  if (!mask || event.button || tool() === "move") return;
  cursor = point(event);
  if (tool() === "polygon") return corner(cursor);
  if (paintedBy() === undefined) return;
  canvas.setPointerCapture(event.pointerId);
  stroke = { id: event.pointerId, before: state(), last: cursor, value: paintedBy() };
  paintSegment(cursor, cursor, stroke.value);
});
canvas.addEventListener("pointermove", event => {
  if (!mask) return;
  cursor = point(event);
  if (event.buttons === 1 && tool() === "move" && event.pointerType === "mouse")
    view.scrollBy(-event.movementX, -event.movementY);
  if (stroke?.id === event.pointerId) {
    const steps = event.getCoalescedEvents?.() ?? [];
    for (const step of steps.length ? steps.map(point) : [cursor]) {
      paintSegment(stroke.last, step, stroke.value);
      stroke.last = step;
    }
  }
  ring();
  outline();
});
for (const end of ["pointerup", "pointercancel"])
  canvas.addEventListener(end, event => {
    if (stroke?.id !== event.pointerId) return;
    remember(stroke.before);
    drawn = true;
    stroke = null;
    save();
  });
canvas.addEventListener("dblclick", closePolygon);
canvas.addEventListener("pointerleave", () => { if (!stroke) { cursor = null; ring(); outline(); } });
view.addEventListener("wheel", event => {
  if (!event.ctrlKey || !mask) return;
  event.preventDefault();
  const box = view.getBoundingClientRect();
  zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function steer(event) {  // drawing by keys alone; whether the key was one of them
  const arrow = ARROWS[event.key], from = cursor ?? { x: width / 2, y: height / 2 };
  const value = paintedBy();
  if (event.key === " " && tool() === "polygon") corner({ ...from });
  else if (event.key === " " && value !== undefined) change(() => paintSegment(from, from, value));
  else if (!arrow) return false;
  const step = event.altKey ? 1 : Math.max(1, Math.round(radius()));
  const inside = (edge, limit) => Math.min(limit - 0.5, Math.max(0.5, Math.floor(edge) + 0.5));
  cursor = arrow ? { x: inside(from.x + step * arrow[0], width), y: inside(from.y + step * arrow[1], height) } : from;
  if (arrow && event.shiftKey && value !== undefined) change(() => paintSegment(from, cursor, value));
  const [x, y] = [cursor.x * scale, cursor.y * scale];
  if (x < view.scrollLeft || x > view.scrollLeft + view.clientWidth) view.scrollLeft = x - view.clientWidth / 2;
  if (y < view.scrollTop || y > view.scrollTop + view.clientHeight) view.scrollTop = y - view.clientHeight / 2;
  ring();
  outline();
  return true;
}

// Controls.
const choose = name => () => { document.querySelector(`[name=tool][value=${name}]`).checked = true; chosen(); };
const grow = factor => () => {
  const size = at("size"), old = Number(size.value);
  size.value = factor > 1 ? Math.max(old + 1, old * factor) : Math.min(old - 1, old * factor);
  sized();
};
const actions = {
  b: choose("brush"), e: choose("eraser"), g: choose("polygon"), m: choose("move"), "[": grow(0.8), "]": grow(1.25),
  u: undo, c: () => change(() => { mask.fill(0); show(); }), n: () => openImage(current + 1), p: () => openImage(current - 1),
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: fit, Enter: closePolygon, Escape: drop,
  v: () => { at("visible").checked = !at("visible").checked; shown(); },
};

function chosen() {
  drop();
  canvas.className = tool();
  at("close").hidden = tool() !== "polygon";
  ring();
}

const shown = () => { canvas.style.visibility = at("visible").checked ? "visible" : "hidden"; };

document.addEventListener("keydown", event => {
  if (!mask || stroke || event.metaKey || event.target.matches("select, #annotator")) return;
  if (event.target === canvas && !event.ctrlKey && steer(event)) return event.preventDefault();
  if (event.ctrlKey && event.key !== "z" || event.altKey) return;
  if (event.key === "Enter" && event.target.matches("button, summary")) return;
  const action = event.ctrlKey ? undo : actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
for (const [id, name] of Object.entries({ undo: "u", clear: "c", next: "n", previous: "p", larger: "+", smaller: "-", fit: "0", close: "Enter" }))
  at(id).addEventListener("click", () => { if (mask && !stroke) actions[name](); });
at("list").addEventListener("change", () => openImage(Number(at("list").value)));
at("size").addEventListener("input", sized);
at("visible").addEventListener("change", shown);
for (const radio of document.querySelectorAll("[name=tool]")) radio.addEventListener("change", chosen);
at("finish").addEventListener("click", async () => {
  const told = (text, fault = false) => {
    at("finished").textContent = text;
    at("finished").classList.toggle("fault", fault);
  };
  if (unsaved.size) return told("Something is not saved yet: wait until it is.", true);
  const left = images.filter(image => !image.drawn);
  if (left.length && !confirm(`${left.length} of ${images.length} images have no mask of yours. Make the data set without them?`))
    return openImage(images.indexOf(left[0]));
  at("finish").disabled = true;
  told("Making the data set ...");
  try {
    const answer = await fetch("finish", { method: "POST" });
    told(await answer.text(), !answer.ok);
  } catch {
    told("No answer: is salgen annotate still running?", true);
  }
  at("finish").disabled = false;
});
addEventListener("beforeunload", event => { if (unsaved.size) event.preventDefault(); });

// Start.
async function start() {
  let answer;
  try {
    answer = await fetch(`state/${encodeURIComponent(annotator)}`);
  } catch {
    return setTimeout(start, RETRY_MS);
  }
  if (!answer.ok) {
    at("who").hidden = false;
    at("unknown").textContent = await answer.text();
    return;
  }
  ({ key, images } = await answer.json());
  at("work").hidden = false;
  document.title = `Draw masks: ${annotator}`;
  images.forEach((image, index) => {
    at("list").add(new Option(title(index), index));
    const left = storage?.getItem(place(index));  // what an earlier page could not send
    if (left !== null && left !== undefined)
      unsaved.set(index, left ? Uint8Array.from(atob(left), letter => letter.charCodeAt(0)) : null);
  });
  send();
  openImage(Math.min(images.length, Math.max(1, Number(new URLSearchParams(location.search).get("image")) || 1)) - 1);
}

at("who").addEventListener("submit", event => {
  event.preventDefault();
  location.search = new URLSearchParams({ annotator: at("annotator").value });
});
if (annotator) start();
else at("who").hidden = false;
