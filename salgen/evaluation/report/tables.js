// Tables sort by a column, within each body. A form with class "filters" hides rows of the table that holds `data-filtered`.
const collator = new Intl.Collator("en", { numeric: true });
const defined = (value) => !/^(nan|–)?$/i.test(value);

function sortable(table, changed) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.matches(".group, .out"));
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const numeric = heads.map((_, column) => rows.every((row) => !defined(value(row, column)) || !isNaN(value(row, column))));

  function arrange(column, order) {
    const sign = order === "descending" ? -1 : 1;
    const compare = (a, b) => {
      const [x, y] = [value(a, column), value(b, column)];
      if (!defined(x) || !defined(y)) return defined(y) - defined(x);
      return sign * (numeric[column] ? x - y : collator.compare(x, y));
    };
    for (const body of table.tBodies) {
      const own = rows.filter((row) => row.parentNode === body); // in the order of the page, which settles ties
      body.append(...(column < 0 ? own : own.sort(compare)));
    }
    heads.forEach((head, i) => (i === column ? head.setAttribute("aria-sort", order) : head.removeAttribute("aria-sort")));
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const [first, second] = numeric[column] && !("least" in head.dataset) ? ["descending", "ascending"] : ["ascending", "descending"];
      arrange(column, head.getAttribute("aria-sort") === first ? second : first);
      changed?.();
    });
  });
  return { heads, rows, arrange };
}

function filtered(table, form) {
  const count = document.getElementById("count");
  const { heads, rows, arrange } = sortable(table, () => remember());
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase().replace(/\s+/g, " ")]));
  const selects = [...form.querySelectorAll("select")];
  const { text, controls } = form.elements;
  const title = table.caption.textContent;

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits =
        selects.every(({ name, value }) => !value || row.dataset[name] === value) &&
        words.every((word) => texts.get(row).includes(word)) &&
        (controls.checked || !("control" in row.dataset));
      row.hidden = !fits;
      shown += fits;
    }
    const chosen = selects.map((select) => select.selectedOptions[0]).filter((option) => option.value);
    table.caption.textContent = [title, ...chosen.map((option) => option.textContent)].join(", ");
    const all = rows.filter((row) => row.dataset.group === form.elements.group?.value).length;
    count.textContent = shown === all ? `${shown} rows` : `${shown} of ${all} rows`;
    for (const part of document.querySelectorAll("[data-of]")) part.hidden = part.dataset.of !== form.elements.group.value;
  }

  // The view stands in the address, so that it can be shared.
  function remember() {
    const state = new URLSearchParams();
    for (const { name, value, options } of selects) if (value !== options[0].value) state.set(name, value);
    if (text.value) state.set("text", text.value);
    if (!controls.checked) state.set("controls", "hidden");
    const head = heads.find((one) => one.ariaSort);
    if (head) state.set("sort", head.dataset.column);
    if (head) state.set("order", head.ariaSort);
    history.replaceState(null, "", `#${state}`);
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const select of selects) {
      const known = [...select.options].some(({ value }) => value === state.get(select.name));
      select.value = known ? state.get(select.name) : select.options[0].value;
    }
    text.value = state.get("text") ?? "";
    controls.checked = state.get("controls") !== "hidden";
    arrange(
      heads.findIndex((head) => head.dataset.column === state.get("sort")),
      state.get("order") === "descending" ? "descending" : "ascending",
    );
    filter();
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
}

for (const table of document.querySelectorAll("table.means:not([data-filtered])")) sortable(table);
for (const table of document.querySelectorAll("table[data-filtered]")) filtered(table, document.querySelector("form.filters"));
