"use strict";
const at = id => document.getElementById(id);
const RETRY_MS = 1000, VALUES = [1, 2, 3, 4, 5];
const rater = new URLSearchParams(location.search).get("rater");
const unsaved = new Map();  // "image/position/question" to the answer
const storage = (() => { try { return localStorage; } catch { return null; } })();  // it may be forbidden
let images = [], questions = {}, key = "", current = -1, sending = false;

const say = (text, fault = false) => { at("saved").textContent = text; at("saved").classList.toggle("fault", fault); };
const kept = () => `salgen ${key} ${rater}`;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// An answer waits in this browser's storage until the server has it, so a reload or a kill loses nothing.
function answer(image, position, question, value) {
  images[image].answers[position][question] = value;
  unsaved.set(`${image}/${position}/${question}`, value);
  remember();
  send();
}

function remember() {
  try {
    storage?.setItem(kept(), JSON.stringify([...unsaved]));
  } catch { }  // it is full: the server still gets the answer
}

async function send() {
  if (sending) return;
  sending = true;
  while (unsaved.size) {
    const [place, value] = unsaved.entries().next().value;
    let why = "no answer";
    try {
      const reply = await fetch(`answers/${rater}/${place}`, { method: "PUT", body: JSON.stringify(value) });
      if (reply.ok) {
        if (unsaved.get(place) === value) unsaved.delete(place);
        remember();
        say("saved");
        continue;
      }
      why = await reply.text();
    } catch { }
    say(`not saved, trying again: ${why}`, true);
    await new Promise(wake => setTimeout(wake, RETRY_MS));
  }
  sending = false;
}

function figure(url, words) {
  const shown = url ? element("img", { src: url, alt: words }) : element("p", { textContent: "The map is empty." });
  return element("figure", {}, shown, element("figcaption", { textContent: words }));
}

function asked(image, position) {
  return Object.entries(questions).map(([question, text]) => {
    const name = `${position}-${question}`;
    const options = VALUES.map(value => {
      const checked = images[image].answers[position][question] === value;
      const radio = element("input", { type: "radio", name, value, checked });
      radio.addEventListener("change", () => answer(image, position, question, value));
      return element("label", {}, radio, ` ${value}`);
    });
    return element("fieldset", { className: "bar" }, element("legend", { textContent: text }), ...options);
  });
}

async function openImage(index) {
  if (index < 0 || index >= images.length) return;
  current = index;
  at("previous").disabled = index === 0;
  at("next").disabled = index === images.length - 1;
  at("title").textContent = `Image ${index + 1} of ${images.length}: ${images[index].label}`;
  at("explanations").replaceChildren();
  let shown;
  try {
    const reply = await fetch(`images/${rater}/${index}`);
    if (!reply.ok) throw new Error(await reply.text());
    shown = await reply.json();
  } catch (error) {
    if (current !== index) return;
    say(`not loaded, trying again: ${error.message}`, true);
    return setTimeout(() => { if (current === index) openImage(index); }, RETRY_MS);
  }
  if (current !== index) return;
  if (!unsaved.size && at("saved").classList.contains("fault")) say("");
  at("explanations").replaceChildren(...shown.maps.map((url, position) => element("section", { className: "explanation" },
    element("h2", { textContent: `Method ${position + 1}` }),
    element("div", { className: "pair" }, figure(shown.picture, "Image"), figure(url, `Method ${position + 1}`)),
    ...asked(index, position))));
  const url = new URL(location);
  url.searchParams.set("image", index + 1);
  history.replaceState(null, "", url);
}

for (const [id, step] of [["next", 1], ["previous", -1]])
  at(id).addEventListener("click", () => { openImage(current + step); at("title").focus(); });
document.addEventListener("keydown", event => {
  const step = { n: 1, p: -1 }[event.key];
  if (step && current >= 0 && !event.ctrlKey && !event.metaKey && !event.altKey) openImage(current + step);
});
at("finish").addEventListener("click", async () => {
  const told = (text, fault) => {
    at("finished").textContent = text;
    at("finished").classList.toggle("fault", fault);
  };
  if (unsaved.size) return told("Something is not saved yet: wait until it is.", true);
  const asked = Object.keys(questions), open = image => image.answers.flatMap(given => asked.filter(one => !(one in given))).length;
  const left = images.map(open), count = left.reduce((sum, of) => sum + of, 0);
  if (count && !confirm(`${count} questions have no answer of yours. Finish without them?`))
    return openImage(left.findIndex(of => of));
  try {
    const reply = await fetch(`finish/${rater}`, { method: "POST" });
    told(await reply.text(), !reply.ok);
  } catch {
    told("No answer: is salgen rate still running?", true);
  }
});
addEventListener("beforeunload", event => { if (unsaved.size) event.preventDefault(); });

async function start() {
  let reply;
  try {
    reply = await fetch(`state/${encodeURIComponent(rater)}`);
  } catch {
    return setTimeout(start, RETRY_MS);
  }
  if (!reply.ok) {
    at("who").hidden = false;
    at("unknown").textContent = await reply.text();
    return;
  }
  ({ key, questions, images } = await reply.json());
  for (const [place, value] of JSON.parse(storage?.getItem(kept()) ?? "[]")) {  // what an earlier page could not send
    const [image, position, question] = place.split("/");
    answer(Number(image), Number(position), question, value);
  }
  at("work").hidden = false;
  openImage(Math.min(images.length, Math.max(1, Number(new URLSearchParams(location.search).get("image")) || 1)) - 1);
}

at("who").addEventListener("submit", event => {
  event.preventDefault();
  location.search = new URLSearchParams({ rater: at("rater").value });
});
if (rater) start();
else at("who").hidden = false;
