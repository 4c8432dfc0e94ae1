"use strict";
const fleet = JSON.parse(document.getElementById("fleet").textContent);
const canvas = document.getElementById("heat"), said = document.getElementById("said");
const search = document.getElementById("search"), pen = canvas.getContext("2d");
const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rowHeight = fleet.boards.length > 200 ? 12 : 20, left = 150, top0 = 110;
const cellWidth = Math.max(12, Math.min(48, Math.floor((canvas.parentElement.clientWidth - left - 20) / fleet.kernels.length)));
let shown = fleet.boards.map((_, i) => i), at = null;
const cells = fleet.boards.map(() => new Map());
fleet.cells.forEach((row, b) => row.forEach(c => cells[b].set(c[0], c)));
const what = () => document.querySelector("input[name=what]:checked").value;
const time = ns => ns >= 1e6 ? (ns / 1e6).toPrecision(4) + " ms" : (ns / 1e3).toPrecision(4) + " µs";
function paint(cell) {
  if (!cell) return color("--none");
  if (cell[1] === 0) return color("--invalid");
  const step = what() === "misses" ? cell[7] : cell[6];
  return step < 0 ? color("--none") : color("--c" + step);
}
function draw() {
  const width = left + fleet.kernels.length * cellWidth + 110, height = top0 + shown.length * rowHeight + 6;
  const sharp = Math.min(window.devicePixelRatio || 1, height > 8000 ? 1 : 2);
  canvas.width = width * sharp; canvas.height = height * sharp;
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.fillStyle = color("--ink"); pen.font = "12px system-ui,sans-serif";
  fleet.kernels.forEach((kernel, k) => {
    pen.save(); pen.translate(left + k * cellWidth + cellWidth / 2 + 3, top0 - 6); pen.rotate(-Math.PI / 4);
    pen.fillText(kernel.length > 22 ? kernel.slice(0, 21) + "…" : kernel || "unknown", 0, 0); pen.restore();
  });
  shown.forEach((b, row) => {
    const y = top0 + row * rowHeight, name = fleet.boards[b];
    pen.fillStyle = color("--ink"); pen.font = (rowHeight > 14 ? 12 : 10) + "px system-ui,sans-serif";
    pen.fillText(name.length > 22 ? name.slice(0, 21) + "…" : name, 4, y + rowHeight - 3);
    for (let k = 0; k < fleet.kernels.length; k++) {
      const cell = cells[b].get(k);
      pen.fillStyle = paint(cell);
      pen.fillRect(left + k * cellWidth, y, cellWidth - 1, rowHeight - 1);
      if (cell && cell[2] > 0 && cell[1] > 0) { pen.fillStyle = color("--invalid"); pen.fillRect(left + k * cellWidth, y, 3, 3); }
    }
  });
}
function found(event) {
  const box = canvas.getBoundingClientRect();
  const k = Math.floor((event.clientX - box.left - left) / cellWidth), row = Math.floor((event.clientY - box.top - top0) / rowHeight);
  if (row < 0 || row >= shown.length) return null;
  return { board: shown[row], kernel: k >= 0 && k < fleet.kernels.length ? k : null };
}
function tell(place) {
  if (!place) { said.textContent = ""; return; }
  const name = fleet.boards[place.board];
  if (place.kernel === null) { said.textContent = name; return; }
  const cell = cells[place.board].get(place.kernel), kernel = fleet.kernels[place.kernel] || "unknown kernel";
  if (!cell) { said.textContent = name + ", " + kernel + ": not measured"; return; }
  let text = name + ", " + kernel + ": " + cell[1] + (cell[1] === 1 ? " run" : " runs");
  if (cell[2]) text += " and " + cell[2] + " invalid";
  if (cell[1]) text += "; p99.9 " + (cell[3] === null ? "unknown" : time(cell[3])) + "; " + cell[4] + " of " + cell[5] + " due times missed";
  said.textContent = text;
}
canvas.addEventListener("mousemove", e => tell(found(e)));
canvas.addEventListener("click", e => {
  const place = found(e);
  if (place) location.href = "board/" + encodeURIComponent(fleet.boards[place.board]) + ".html";
});
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(w => w);
  const kernels = fleet.kernels.map(k => k.toLowerCase());
  const under = (i, word) => [...cells[i].keys()].some(k => kernels[k].includes(word));
  const meant = i => words.every(w => fleet.boards[i].toLowerCase().includes(w) || under(i, w));
  shown = fleet.boards.map((_, i) => i).filter(meant);
  const names = new Set(shown.map(i => fleet.boards[i]));
  document.getElementById("count").textContent = shown.length + " of " + fleet.boards.length + " boards";
  document.querySelectorAll("#list a").forEach(a => { a.parentElement.hidden = !names.has(a.textContent); });
  draw();
});
document.querySelectorAll("input[name=what]").forEach(i => i.addEventListener("change", draw));
matchMedia("(prefers-color-scheme:dark)").addEventListener("change", draw);
draw();
