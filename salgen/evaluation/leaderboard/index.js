const table = document.getElementById("leaderboard");
const body = table.tBodies[0];
const form = document.getElementById("filters");
const count = document.getElementById("count");
const heads = [...table.tHead.rows[0].cells];
const keys = ["dataset", "model", "method", "metric"];
const words = new Intl.Collator("en", { numeric: true });
const rows = [...body.rows].map((row, place) => ({
  row,
  place,
  text: row.textContent.toLowerCase().replace(/\s+/g, " "),
  values: heads.map((head, column) => {
    const value = row.cells[column].dataset.value;
    return "number" in head.dataset ? Number(value) : value; // "nan" is NaN in both languages
  }),
}));
let sort = "";
let order = "";

function compare(a, b, column, sign) {
  const [x, y] = [a.values[column], b.values[column]];
  const [lacking, other] = [Number.isNaN(x), Number.isNaN(y)];
  if (lacking || other) return lacking - other || a.place - b.place;
  return sign * (typeof x === "number" ? x - y : words.compare(x, y)) || a.place - b.place;
}

function arrange() {
  const column = heads.findIndex((head) => head.dataset.column === sort);
  const sign = order === "descending" ? -1 : 1;
  const sorted = [...rows].sort((a, b) => (column < 0 ? a.place - b.place : compare(a, b, column, sign)));
  body.append(...sorted.map((one) => one.row));
  heads.forEach((head, i) => (i === column ? head.setAttribute("aria-sort", order) : head.removeAttribute("aria-sort")));
}

function filter() {
  const wanted = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = keys.filter((key) => form.elements[key].value);
  let shown = 0;
  for (const { row, text } of rows) {
    const fits =
      chosen.every((key) => row.dataset[key] === form.elements[key].value) &&
      wanted.every((word) => text.includes(word)) &&
      (form.elements.controls.checked || !("control" in row.dataset));
    row.hidden = !fits;
    shown += fits;
  }
  count.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
}

// The view stands in the address, so that it can be shared.
function remember() {
  const state = new URLSearchParams();
  for (const key of [...keys, "text"]) if (form.elements[key].value) state.set(key, form.elements[key].value);
  if (!form.elements.controls.checked) state.set("controls", "hidden");
  if (sort) state.set("sort", sort);
  if (sort) state.set("order", order);
  history.replaceState(null, "", `#${state}`);
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const key of keys) {
    const value = state.get(key) ?? "";
    form.elements[key].value = [...form.elements[key].options].some((option) => option.value === value) ? value : "";
  }
  form.elements.text.value = state.get("text") ?? "";
  form.elements.controls.checked = state.get("controls") !== "hidden";
  sort = heads.some((head) => head.dataset.column === state.get("sort")) ? state.get("sort") : "";
  order = state.get("order") === "descending" ? "descending" : "ascending";
  arrange();
  filter();
}

for (const head of heads) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const first = "number" in head.dataset ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    order = sort === head.dataset.column && order === first ? second : first;
    sort = head.dataset.column;
    arrange();
    remember();
  });
}
form.addEventListener("input", () => {
  filter();
  remember();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  history.replaceState(null, "", "#");
  recall();
});
addEventListener("hashchange", recall);
form.hidden = false;
recall();
