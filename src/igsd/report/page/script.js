"use strict";

// A link into a closed part of the page opens it.
function reveal() {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name && document.getElementById(name);
  if (!target) return;
  for (let part = target; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  target.scrollIntoView();
  const head = target.querySelector("summary");
  if (target.tagName === "DETAILS" && head) head.focus({ preventScroll: true });
}
addEventListener("hashchange", reveal);
// A second click on the same link changes no hash.
addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) reveal();
});

const SVG = "http:" + "//www.w3.org/2000/svg"; // a name, nothing is fetched

function make(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Places of the nodes of a small graph: springs along edges, all nodes push each other away.
function layOut(count, edges) {
  const x = [], y = [];
  for (let i = 0; i < count; i++) {
    const angle = i * 2.399963, radius = Math.sqrt(i + 0.5);
    x.push(radius * Math.cos(angle));
    y.push(radius * Math.sin(angle));
  }
  const rounds = Math.min(300, Math.ceil(6e6 / (count * count + 1)));
  for (let round = 0; round < rounds; round++) {
    const dx = new Array(count).fill(0), dy = new Array(count).fill(0);
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < i; j++) {
        const a = x[i] - x[j], b = y[i] - y[j], push = 1 / (a * a + b * b + 0.01);
        dx[i] += a * push; dy[i] += b * push; dx[j] -= a * push; dy[j] -= b * push;
      }
    }
    for (let e = 0; e < edges.length; e += 2) {
      const i = edges[e], j = edges[e + 1], a = x[i] - x[j], b = y[i] - y[j];
      const pull = Math.sqrt(a * a + b * b) / 1.2;
      dx[i] -= a * pull; dy[i] -= b * pull; dx[j] += a * pull; dy[j] += b * pull;
    }
    const heat = 0.9 * (1 - round / rounds) + 0.01;
    for (let i = 0; i < count; i++) {
      // A weak pull to the middle keeps the parts of a graph together.
      const a = dx[i] - 0.05 * x[i], b = dy[i] - 0.05 * y[i];
      const step = Math.sqrt(a * a + b * b) || 1, most = Math.min(step, heat) / step;
      x[i] += a * most; y[i] += b * most;
    }
  }
  return [x, y];
}

function drawGraph(graph) {
  const [x, y] = layOut(graph.n, graph.e);
  const left = Math.min(...x), top = Math.min(...y);
  const wide = Math.max(...x) - left, high = Math.max(...y) - top;
  const scale = Math.min(176 / (wide || 1), 126 / (high || 1), 28);
  const px = (i) => 100 + (x[i] - left - wide / 2) * scale;
  const py = (i) => 75 + (y[i] - top - high / 2) * scale;
  const picture = make("svg", { viewBox: "0 0 200 150" });
  let lines = "";
  for (let e = 0; e < graph.e.length; e += 2) {
    const i = graph.e[e], j = graph.e[e + 1];
    lines += `M${px(i).toFixed(1)} ${py(i).toFixed(1)}L${px(j).toFixed(1)} ${py(j).toFixed(1)}`;
  }
  picture.append(make("path", { d: lines, class: "edge" }));
  const named = graph.l && graph.n <= 60;
  const radius = named ? 5 : graph.n > 60 ? 2.5 : 3.5;
  for (let i = 0; i < graph.n; i++) {
    picture.append(make("circle", { cx: px(i).toFixed(1), cy: py(i).toFixed(1), r: radius, class: "node" }));
    if (named) {
      const place = { x: px(i).toFixed(1), y: (py(i) + 2.5).toFixed(1), class: "symbol" };
      picture.append(make("text", place, graph.l[i].slice(0, 3)));
    }
  }
  return picture;
}

function drawMolecule(parts) {
  const picture = make("svg", { viewBox: "0 0 200 150" });
  for (const [colour, d] of parts.lines) picture.append(make("path", { d: d, stroke: colour, fill: "none" }));
  for (const [colour, d] of parts.areas) picture.append(make("path", { d: d, fill: colour }));
  for (const [colour, size, x, y, letter] of parts.letters) {
    picture.append(make("text", { x: x, y: y, fill: colour, "font-size": size }, letter));
  }
  return picture;
}

function drawing(graph) {
  if (!graph.d) return null;
  const card = document.createElement("div");
  const picture = graph.d.lines ? drawMolecule(graph.d) : drawGraph(graph.d);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", graph.t);
  card.className = "card";
  card.append(picture);
  return card;
}

function paragraph(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

// One map: marks, the graph that is looked at, and the neighbours of the one that was chosen.
function startMap(map) {
  const graphs = JSON.parse(document.getElementById(map.dataset.source).textContent);
  const marks = [...map.querySelectorAll(".marks path")];
  const places = marks.map((m) => m.getAttribute("d").match(/^M([\d.-]+) ([\d.-]+)/).slice(1).map(Number));
  const plot = map.querySelector(".plot"), links = map.querySelector(".links");
  const looked = map.querySelector(".looked"), near = map.querySelector(".near");
  const field = map.querySelector(".choose");
  const numbers = new Map(graphs.map((graph, place) => [graph.g, place]));
  let seen = -1, chosen = -1;

  function look(place) {
    if (place === seen || place < 0) return;
    if (marks[seen]) marks[seen].classList.remove("seen");
    seen = place;
    marks[seen].classList.add("seen");
    const graph = graphs[seen];
    const parts = [paragraph(graph.t), drawing(graph) || paragraph("No drawing of this graph is kept in the page.")];
    if (graph.s !== null) parts.push(paragraph(graph.s));
    looked.replaceChildren(...parts);
  }

  function choose(place) {
    if (place === undefined || place < 0) return;
    look(place);
    chosen = place;
    for (const m of marks) m.classList.remove("close");
    links.replaceChildren();
    const list = document.createElement("ol");
    graphs[place].k.forEach((other, rank) => {
      marks[other].classList.add("close");
      const [a, b] = places[place], [c, d] = places[other];
      links.append(make("path", { d: `M${a} ${b}L${c} ${d}` }));
      const item = document.createElement("li"), button = document.createElement("button");
      const card = drawing(graphs[other]);
      if (card) button.append(card);
      button.title = graphs[other].s || "";
      button.append(`${graphs[other].t}, distance ${graphs[place].r[rank].toFixed(3)}`);
      button.addEventListener("click", () => { choose(other); plot.focus(); });
      item.append(button);
      list.append(item);
    });
    const title = document.createElement("h4");
    title.textContent = `Nearest to graph ${graphs[place].g}`;
    near.replaceChildren(title, list);
    field.value = graphs[place].g;
  }

  // The nearest mark in the direction of an arrow key.
  function step(right, down) {
    const [x, y] = places[Math.max(seen, 0)];
    let best = -1, least = Infinity;
    places.forEach(([a, b], place) => {
      const along = (a - x) * right + (b - y) * down;
      const across = Math.abs((a - x) * down) + Math.abs((b - y) * right);
      if (place !== seen && along > 0.05 && along + 2 * across < least) {
        least = along + 2 * across;
        best = place;
      }
    });
    look(seen < 0 ? 0 : best);
  }

  function nearestMark(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
    let best = -1, least = 14 * 14;
    places.forEach(([a, b], place) => {
      const square = (a - at.x) ** 2 + (b - at.y) ** 2;
      if (square < least) { least = square; best = place; }
    });
    return best;
  }

  plot.addEventListener("pointermove", (event) => look(nearestMark(event)));
  plot.addEventListener("click", (event) => choose(nearestMark(event)));
  plot.addEventListener("pointerleave", () => { if (chosen >= 0) look(chosen); });
  plot.addEventListener("focus", () => { if (seen < 0) look(0); });
  plot.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) step(...ways[event.key]);
    else if (event.key === "Enter" || event.key === " ") choose(seen);
    else return;
    event.preventDefault();
  });
  field.addEventListener("change", () => {
    const place = numbers.get(Number(field.value));
    if (place === undefined) looked.replaceChildren(paragraph("There is no graph of this number on the map."));
    else choose(place);
  });
}

for (const map of document.querySelectorAll(".map")) startMap(map);
reveal();
