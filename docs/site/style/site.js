// The search over the titles and headings of all pages, and the menu of narrow windows.
"use strict";
const menu = document.getElementById("menu");
if (window.matchMedia("(max-width: 50rem)").matches) menu.open = false;

const box = document.getElementById("search"), found = document.getElementById("found");
const home = document.querySelector(".home").getAttribute("href").replace(/index\.html$/, "");

function search(words) {
  const hits = [];
  for (const p of pages) {
    for (const h of [{ text: p.title, id: "" }, ...(p.heads || [])]) {
      const text = (h.text + " " + p.title).toLowerCase();
      if (!words.every(w => text.includes(w))) continue;
      const own = h.text.toLowerCase();
      const rank = (own === words.join(" ") ? 0 : words.every(w => own.includes(w)) ? 1 : 2) + (h.id === "" ? 0 : 0.5);
      hits.push({ rank, title: p.title, text: h.text, address: home + p.page + (h.id ? "#" + h.id : "") });
    }
  }
  return hits.sort((a, b) => a.rank - b.rank || a.text.length - b.text.length).slice(0, 20);
}

box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const hits = search(words);
  for (const h of hits) {
    const item = document.createElement("li"), a = document.createElement("a"), page = document.createElement("small");
    a.href = h.address;
    a.append(h.text);
    page.append(h.title);
    a.append(page);
    item.append(a);
    found.append(item);
  }
  if (hits.length === 0) {
    const none = document.createElement("li");
    none.className = "none";
    none.append("No title or heading has these words.");
    found.append(none);
  }
});
box.form.addEventListener("submit", e => {
  e.preventDefault();
  const first = found.querySelector("a");
  if (first) location.href = first.href;
});
document.addEventListener("keydown", e => {
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); }
  if (e.key === "Escape") { found.hidden = true; box.blur(); }
});
document.addEventListener("click", e => { if (!box.form.contains(e.target)) found.hidden = true; });
found.addEventListener("click", () => { found.hidden = true; });
