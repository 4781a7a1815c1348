// Tables are sorted by a click on a column's head; sources are coloured.
const value = cell => {
  const text = cell.textContent.trim(), number = parseFloat(text.replace(/[,+%]/g, "").replace("−", "-"));
  return Number.isNaN(number) ? text : number;
};
const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
for (const head of document.querySelectorAll("table th")) {
  head.tabIndex = 0;
  const sort = () => {
    const body = head.closest("table"), column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].slice(1);
    rows.sort((a, b) => (down ? -1 : 1) * compare(value(a.cells[column]), value(b.cells[column])));
    rows[0]?.parentNode.append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", event => event.key === "Enter" && sort());
}
const TOKENS = /(#.*)|("[^"\n]*"|'[^'\n]*')|\b(def|return|if|elif|else|for|while|in|not|and|or|is|break|continue|pass|lambda|None|True|False)\b|\b(\d+\.?\d*(?:[eE][+-]?\d+)?)\b/g;
function colour(element, text) {
  let end = 0;
  element.textContent = "";
  for (const found of text.matchAll(TOKENS)) {
    const span = document.createElement("span");
    span.className = "cskn"[found.slice(1).findIndex(part => part !== undefined)];
    span.textContent = found[0];
    element.append(text.slice(end, found.index), span);
    end = found.index + found[0].length;
  }
  element.append(text.slice(end));
}
for (const element of document.querySelectorAll("pre.python")) colour(element, element.textContent);
