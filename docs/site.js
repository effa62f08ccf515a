// What the theme leaves out for screen readers and the keyboard.
const every = (which, name, value) => document.querySelectorAll(which).forEach((one) => one.setAttribute(name, value));
every(".caption[role=heading]", "aria-level", 2);
every(".sidebar-drawer", "aria-label", "All pages");
every(".toc-drawer", "aria-label", "On this page");
every("th:has(> p:empty)", "role", "cell");
every("dt dl", "role", "presentation"); // parameters of a signature, which are terms without definitions
document.getElementById("search-results")?.insertAdjacentHTML("beforebegin", "<h1>Search</h1>");

// What scrolls by itself can be reached by the keyboard.
function reach() {
  for (const one of document.querySelectorAll("pre, .table-wrapper, .output_html")) one.tabIndex = one.scrollWidth > one.clientWidth ? 0 : -1;
}
addEventListener("resize", reach);
reach();
