// A click on a program shows its source, idea and outcome, and how it differs from a parent.
const programs = JSON.parse(document.getElementById("programs").textContent);
const panel = document.getElementById("program");
const make = (tag, text = "", name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });

function links(label, names) {
  const line = make("p", label);
  for (const name of names) {
    const button = make("button", name);
    button.onclick = () => show(name, true);
    line.append(" ", button);
  }
  if (!names.length) line.append(" none");
  return line;
}

// The longest common subsequence of lines; yields [mark, line].
function difference(before, after) {
  const a = before.trimEnd().split("\n"), b = after.trimEnd().split("\n");
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const lines = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push([" ", a[i++]]); j++; }
    else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) lines.push(["-", a[i++]]);
    else lines.push(["+", b[j++]]);
  }
  return lines;
}

function changes(program, parent) {
  const pre = make("pre", "", "diff");
  for (const [mark, line] of difference(programs[parent].source, program.source)) {
    const row = make("span", "", { "+": "new", "-": "gone", " ": "" }[mark]);
    colour(row, line);
    row.prepend(mark + " ");
    pre.append(row, "\n");
  }
  return pre;
}

function show(name, scroll = false) {
  const program = programs[name];
  if (!program) return;
  panel.textContent = "";
  panel.append(make("h2", name), make("p", program.facts));
  if (program.detail) panel.append(make("p", program.detail, "bad"));
  if (program.idea) panel.append(make("p", "“" + program.idea + "”", "idea"));
  panel.append(links("Parents:", program.parents), links("Children:", program.children));
  for (const parent of program.parents.filter(each => program.source && programs[each]?.source)) {
    const part = make("details");
    part.open = parent === program.parents.find(each => programs[each]?.source);
    part.append(make("summary", "What changed from " + parent), changes(program, parent));
    panel.append(part);
  }
  panel.append(make("h3", program.source ? "Source" : program.reply ? "Reply, which holds no program that was accepted" : "No source is stored in the run"));
  if (program.source || program.reply) {
    const pre = make("pre", "", "python");
    program.source ? colour(pre, program.source) : pre.textContent = program.reply;
    panel.append(pre);
  }
  const family = new Set();
  for (const waiting = [name]; waiting.length;) {
    const next = waiting.pop();
    if (!family.has(next)) { family.add(next); waiting.push(...(programs[next]?.parents ?? [])); }
  }
  for (const each of document.querySelectorAll("[data-of]")) {
    const ends = each.dataset.of.split(" ");
    each.classList.toggle("on", ends.every(end => family.has(end)));
    each.classList.toggle("chosen", ends.length === 1 && ends[0] === name);
  }
  history.replaceState(null, "", "#" + name);
  if (scroll && panel.getBoundingClientRect().top > innerHeight * 0.6) panel.scrollIntoView({ behavior: "smooth" });
}

for (const each of document.querySelectorAll("circle[data-of], tr[data-of]")) {
  each.addEventListener("click", () => show(each.dataset.of, true));
  each.addEventListener("keydown", event => event.key === "Enter" && show(each.dataset.of, true));
}
show(decodeURIComponent(location.hash.slice(1)) in programs ? decodeURIComponent(location.hash.slice(1)) : document.body.dataset.first);
