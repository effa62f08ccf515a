// Buttons below tables and figures that save them as CSV, LaTeX, SVG or PDF.
const defined = (value) => !/^(nan|)$/i.test(value);
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

// Rows of cells, those that span several rows or columns repeated; without titles of groups, methods left out and what a filter hides.
function grid(table) {
  const lines = [...table.rows].filter((row) => !row.hidden && !row.matches(".group, .out"));
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

const PARTS = ["low", "high", "normalised", "verdict", "images"]; // what a cell holds beside its value, a column each

function csv(table) {
  const [heads, ...lines] = grid(table);
  const grouped = table.querySelector(".group") !== null;
  const plain = /^[-+]?[\d.,%]*( to [-+]?[\d.,%]+)?$/; // a number or an interval; other text may be no formula
  const named = (text) => (/^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !plain.test(text) && isNaN(text) ? `'${text}` : text);
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const number = (value) => (value === undefined || /^(nan|\u2013)$/i.test(value) ? "" : value);
  const measured = (cell) => {
    const text = cell.dataset.value ?? words(cell).replace("\u2212", "-");
    const [, value, unit] = /^([-+\d.]+)[\s\u00a0]*(%|ms|s|min)$/.exec(text) ?? [null, text, ""];
    return { value: number(value), unit };
  };
  const columns = heads.map((head, x) => {
    const cells = lines.map((line) => line[x]);
    const unit = head.dataset.unit ?? cells.map((cell) => measured(cell).unit).find(Boolean);
    const parts = PARTS.filter((part) => cells.some((cell) => part in cell.dataset));
    return [
      [words(head), ...cells.map((cell) => measured(cell).value)],
      ...(unit ? [[`${words(head)} unit`, ...cells.map((cell) => (measured(cell).value ? unit : ""))]] : []),
      ...parts.map((part) => [`${words(head)} ${part}`, ...cells.map((cell) => number(cell.dataset[part]))]),
    ];
  });
  const groups = grouped ? [["group", ...lines.map((line) => line[0].closest("tbody").className)]] : [];
  const written = [...groups, ...columns.flat()];
  return written[0].map((_, y) => written.map((column) => quote(named(column[y]))).join(",") + "\n").join("");
}

const MARKS = { "★": "", "≈": "\\approx", "▽": "\\nabla" };
const SYMBOLS = { "\u2212": "$-$", "\u2013": "--", "\u00a0": "~", "±": "$\\pm$", "≤": "$\\le$", "∞": "$\\infty$", "×": "$\\times$", "τ": "$\\tau$" };
const escaped = (text) =>
  text
    .replace(/\\/g, "\\textbackslash ")
    .replace(/[&%$#_{}]/g, "\\$&")
    .replace(/[~^]/g, "\\$&{}")
    .replace(/[<>]/g, "$$$&$$")
    .replace(/[^\x00-\x7f]/g, (sign) => SYMBOLS[sign] ?? sign);

// A document with one table, at most as wide as the text: the table can be copied into a paper.
function latex(table) {
  const [heads, ...lines] = grid(table);
  const cell = (one) => {
    const marks = [...(one.querySelector(".marks")?.textContent ?? "")].map((mark) => MARKS[mark]).join("");
    const { low, high } = one.dataset;
    const text = escaped(words(one) + (one.dataset.unit ? ` (${one.dataset.unit})` : ""));
    const interval = defined(low ?? "") ? ` {\\scriptsize [${[low, high].map((end) => Number(end).toFixed(3)).join(", ")}]}` : "";
    return (one.matches(".best") ? `\\textbf{${text}}` : text) + (marks ? `$^{${marks}}$` : "") + interval;
  };
  const long = (x) => lines.some((row) => words(row[x]).length > 40) ? ">{\\raggedright\\arraybackslash}p{16em}" : "l";
  const align = heads.map((head, x) => ((lines[0]?.[x] ?? head).matches(".right, .score, .rank") ? "r" : long(x))).join("");
  const line = (row) => `${row.map(cell).join(" & ")} \\\\`;
  const rule = (row, y) => (y && row[0].closest("tbody") !== lines[y - 1][0].closest("tbody") ? ["\\midrule"] : []);
  return [
    "\\documentclass{article}",
    "\\usepackage{array,booktabs,graphicx}",
    "\\begin{document}",
    "\\begin{table}",
    "\\centering",
    `\\caption{${escaped(words(table.caption))}.${table.querySelector(".marks") ? " Bold: best mean; $\\approx$: not significantly different from a best one; $\\nabla$: not significantly better than the strongest floor." : ""}${lines.flat().some((one) => "low" in one.dataset) ? " In brackets: 95\\,\\% intervals." : ""}}`,
    "\\medskip",
    "\\sbox0{%",
    `\\begin{tabular}{${align}}`,
    "\\toprule",
    line(heads),
    "\\midrule",
    ...lines.flatMap((row, y) => [...rule(row, y), line(row)]),
    "\\bottomrule",
    "\\end{tabular}}",
    "\\ifdim\\wd0>\\textwidth\\resizebox{\\textwidth}{!}{\\usebox0}\\else\\usebox0\\fi",
    "\\end{table}",
    "\\end{document}",
    "",
  ].join("\n");
}

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "text-anchor"];

const INCHES = 6.9; // two columns of a paper

// A chart that looks the same without the page: its styles in each element, in the light colours, its keys below it.
function standalone(chart) {
  const place = document.createElement("div");
  place.className = "light";
  const copy = place.appendChild(chart.cloneNode(true));
  const [, , width, drawn] = chart.getAttribute("viewBox").split(" ").map(Number);
  const keys = [...(chart.closest("figure")?.querySelectorAll(".key") ?? [])];
  const height = drawn + 18 * keys.length;
  const size = { width: `${INCHES}in`, height: `${((INCHES * height) / width).toFixed(3)}in` };
  for (const [name, value] of Object.entries({ ...size, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
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
  return { text: new XMLSerializer().serializeToString(copy), ...size };
}

// The chart alone on a page of its own size, for the browser's "save as PDF".
function print(chart, name) {
  const { text, width, height } = standalone(chart);
  const frame = document.createElement("iframe");
  frame.className = "hidden";
  frame.srcdoc = `<title>${name}</title><style>@page{size:${width} ${height};margin:0}body{margin:0}svg{display:block}</style>${text}`;
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
