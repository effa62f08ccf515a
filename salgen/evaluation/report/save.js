// Buttons below tables and figures that save them as CSV, LaTeX, SVG or PDF.
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

function save(name, type, text) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// What a cell says: parts for screen readers, marks and the lines below a mean are left out.
function words(cell) {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll(".hidden, .marks, .norm, .ci, .unit, .muted").forEach((part) => part.remove());
  copy.querySelectorAll(".block").forEach((part) => part.prepend(" "));
  return copy.textContent.replace(/\s+/g, " ").trim();
}

// Rows of cells, those that span several rows or columns repeated; without titles of groups and methods left out.
function grid(table) {
  const lines = [...table.rows].filter((row) => !row.matches(".group, .out"));
  const cells = lines.map(() => []);
  lines.forEach((row, y) => {
    for (const cell of row.cells) {
      let x = 0;
      while (cells[y][x]) x += 1;
      for (let down = 0; down < cell.rowSpan; down += 1)
        for (let across = 0; across < cell.colSpan; across += 1) cells[y + down][x + across] = cell;
    }
  });
  return cells;
}

function csv(table) {
  const [heads, ...lines] = grid(table);
  const grouped = table.querySelector(".group") !== null;
  const bounded = heads.map((_, x) => lines.some((line) => "low" in line[x].dataset));
  const plain = /^[-+]?[\d.,%]*( to [-+]?[\d.,%]+)?$/; // a number or an interval; other text may be no formula
  const named = (text) => (/^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !plain.test(text) && isNaN(text) ? `'${text}` : text);
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const number = (value) => (value === undefined || /^nan$/i.test(value) ? "" : value);
  const head = heads.flatMap((cell, x) => (bounded[x] ? ["", " low", " high"].map((end) => words(cell) + end) : [words(cell)]));
  const rows = lines.map((line) => {
    const values = line.flatMap((cell, x) => {
      const value = number(cell.dataset.value ?? words(cell).replace("\u2212", "-"));
      return bounded[x] ? [value, number(cell.dataset.low), number(cell.dataset.high)] : [value];
    });
    return grouped ? [line[0].closest("tbody").className, ...values] : values;
  });
  return [grouped ? ["group", ...head] : head, ...rows].map((row) => row.map(named).map(quote).join(",") + "\n").join("");
}

const MARKS = { "★": "", "≈": "\\approx", "▽": "\\nabla" };
const SYMBOLS = { "\u2212": "$-$", "\u2013": "--", "\u00a0": "~", "±": "$\\pm$", "≤": "$\\le$", "∞": "$\\infty$", "×": "$\\times$" };
const escaped = (text) =>
  text
    .replace(/\\/g, "\\textbackslash ")
    .replace(/[&%$#_{}]/g, "\\$&")
    .replace(/[~^]/g, "\\$&{}")
    .replace(/[<>]/g, "$$$&$$")
    .replace(/[^\x00-\x7f]/g, (sign) => SYMBOLS[sign] ?? sign);

function latex(table) {
  const [heads, ...lines] = grid(table);
  const cell = (one) => {
    const marks = [...(one.querySelector(".marks")?.textContent ?? "")].map((mark) => MARKS[mark]).join("");
    const text = escaped(words(one));
    return (one.matches(".best") ? `\\textbf{${text}}` : text) + (marks ? `$^{${marks}}$` : "");
  };
  const align = heads.map((head, x) => ((lines[0]?.[x] ?? head).matches(".right, .score, .rank") ? "r" : "l")).join("");
  const line = (row) => `${row.map(cell).join(" & ")} \\\\`;
  const rule = (row, y) => (y && row[0].closest("tbody") !== lines[y - 1][0].closest("tbody") ? ["\\midrule"] : []);
  return [
    "% \\usepackage{booktabs}; bold: best mean; approx: not significantly different from a best one;",
    "% nabla: not significantly better than the strongest floor",
    `\\begin{tabular}{${align}}`,
    "\\toprule",
    line(heads),
    "\\midrule",
    ...lines.flatMap((row, y) => [...rule(row, y), line(row)]),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "text-anchor"];

// A chart that looks the same without the page: its styles in each element, in the light colours, its keys below it.
function standalone(chart) {
  const place = document.createElement("div");
  place.className = "light";
  const copy = place.appendChild(chart.cloneNode(true));
  const [, , width, drawn] = chart.getAttribute("viewBox").split(" ").map(Number);
  const keys = [...(chart.closest("figure")?.querySelectorAll(".key") ?? [])];
  const height = drawn + 18 * keys.length;
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
  keys.forEach((key, number) => {
    const swatch = copy.appendChild(key.querySelector("svg").cloneNode(true));
    const text = copy.appendChild(document.createElementNS(copy.namespaceURI, "text"));
    const y = drawn + 18 * number;
    for (const [name, value] of Object.entries({ x: 14, y, width: 24, height: 16 })) swatch.setAttribute(name, value);
    for (const [name, value] of Object.entries({ x: 44, y: y + 12 })) text.setAttribute(name, value);
    text.textContent = key.textContent.trim();
  });
  document.body.append(place);
  for (const one of [copy, ...copy.querySelectorAll("*")]) {
    const style = getComputedStyle(one);
    one.setAttribute("style", PAINT.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  }
  place.remove();
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

// The chart alone on a page of its own size, for the browser's "save as PDF".
function print(chart, name) {
  const { text, width, height } = standalone(chart);
  const frame = document.createElement("iframe");
  frame.className = "hidden";
  frame.srcdoc = `<title>${name}</title><style>@page{size:${width}px ${height}px;margin:0}body{margin:0}svg{display:block}</style>${text}`;
  frame.onload = () => frame.contentWindow.print();
  document.querySelector("iframe")?.remove();
  document.body.append(frame);
}

for (const region of document.querySelectorAll(".scroll")) {
  const table = region.querySelector(":scope > table:not(#leaderboard)"); // that one lies beside its page as CSV
  const chart = region.querySelector(":scope > .chart");
  if (!(table ?? chart) || region.closest(".gallery")) continue;
  const name = slug((chart ?? region).getAttribute("aria-label"));
  const forms = table
    ? { CSV: () => save(`${name}.csv`, "text/csv", csv(table)), LaTeX: () => save(`${name}.tex`, "text/x-tex", latex(table)) }
    : { SVG: () => save(`${name}.svg`, "image/svg+xml", standalone(chart).text), PDF: () => print(chart, name) };
  const line = document.createElement("p");
  line.className = "save";
  for (const [form, act] of Object.entries(forms)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = form;
    button.setAttribute("aria-label", `${form} of ${region.getAttribute("aria-label")}`);
    button.addEventListener("click", act);
    line.append(button);
  }
  region.after(line);
}
