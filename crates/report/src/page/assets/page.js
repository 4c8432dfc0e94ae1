// What makes the page's figures answer: explorers, and the values under the pointer.
{
  const began = performance.now();
  const runs = [];
  for (let number = 0; ; number++) {
    const data = document.getElementById("data-" + number);
    if (!data) break;
    runs.push(JSON.parse(data.textContent));
  }
  const explorers = [];
  for (const root of document.querySelectorAll(".explorer")) {
    const run = runs[Number(root.dataset.run)];
    if (run && run.conditions.some((one) => one.due_times > 0)) {
      explorers.push(new WakepathExplorer(root, { ...run, conditions: run.conditions.filter((one) => one.due_times > 0) }));
    }
  }

  // Chapters are folded until somebody wants one; a link into one unfolds it, and so does paper, with all that is folded inside, but for what is for the screen alone.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (const inside of [target.closest("details"), target.querySelector("details")]) if (inside) inside.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  // The same link a second time changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) unfold();
  });
  unfold();
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not(.screen)")].filter((one) => !one.open);
    for (const chapter of folded) chapter.open = true;
  });
  addEventListener("afterprint", () => {
    for (const chapter of folded) chapter.open = false;
  });
  for (const button of document.querySelectorAll("button.unfold")) {
    const own = [...button.closest("article").querySelectorAll("details.chapter")];
    button.hidden = false;
    button.addEventListener("click", () => {
      const open = own.some((chapter) => !chapter.open);
      for (const chapter of own) chapter.open = open;
      button.textContent = open ? "Fold all chapters" : "Unfold all chapters";
    });
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  // Values at or above a time, from the points of the tail: exact where a point is.
  const atLeast = (tail, value) => {
    let [low, high] = [0, tail.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tail[middle][0] >= value) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : tail[low - 1][1];
  };
  const share = (part, whole) => {
    const percent = (100 * part) / whole;
    return percent === 0 ? "none" : (percent >= 0.01 ? Number(percent.toPrecision(3)) : percent.toExponential(1)) + " %";
  };

  for (const figure of document.querySelectorAll("svg[data-measure]")) {
    const run = runs[Number(figure.closest("article").id.slice("run-".length))];
    const { measure, low, high, from, to } = figure.dataset;
    const isHistogram = figure.dataset.figure.startsWith("histogram");
    const lines = [...figure.querySelectorAll("[data-key]")];
    const buttons = isHistogram ? [] : lines;
    const toggle = (key) => {
      const off = key.classList.toggle("off");
      key.setAttribute("aria-pressed", String(!off));
      for (const drawn of figure.querySelectorAll(`[data-condition="${key.dataset.key}"]`)) drawn.classList.toggle("off", off);
    };
    for (const key of buttons) {
      key.setAttribute("role", "button");
      key.setAttribute("tabindex", "0");
      key.setAttribute("aria-pressed", "true");
      key.setAttribute("aria-label", "Show " + key.dataset.label);
      key.addEventListener("click", () => toggle(key));
      key.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        toggle(key);
      });
      for (const [kind, strong] of [["mouseenter", true], ["mouseleave", false]]) {
        key.addEventListener(kind, () => {
          for (const drawn of figure.querySelectorAll(`[data-condition="${key.dataset.key}"]`)) drawn.classList.toggle("strong", strong);
        });
      }
    }
    // A figure with buttons in it is no longer one image.
    if (buttons.length > 0) figure.setAttribute("role", "group");
    let pointer;
    figure.addEventListener("pointermove", (event) => {
      // Once for each frame is enough.
      if (!pointer) requestAnimationFrame(() => pointer && point(pointer));
      pointer = event;
    });
    const point = (event) => {
      pointer = undefined;
      const box = figure.getBoundingClientRect();
      const x = ((event.clientX - box.left) * figure.viewBox.baseVal.width) / box.width;
      const place = (x - Number(from)) / (Number(to) - Number(from));
      if (place < 0 || place > 1) {
        tip.hidden = true;
        return;
      }
      const value = 10 ** (Number(low) + place * (Number(high) - Number(low)));
      const rows = lines.filter((key) => !key.classList.contains("off")).map((key) => {
        const data = run.conditions[Number(key.dataset.key)].measures[measure];
        if (isHistogram) {
          const bin = data.bins.find((one) => value >= one[0] && value < one[1]);
          return `${key.dataset.label}: ${bin ? share(bin[2], data.count) : "none"}`;
        }
        const count = atLeast(data.tail, value);
        return `${key.dataset.label}: ${share(count, data.count)}`;
      });
      const rounded = Number(value.toPrecision(3));
      tip.textContent = `${isHistogram ? "around" : "at or above"} ${wakepathWords.time(rounded)}\n${rows.join("\n")}`;
      tip.hidden = false;
      const wide = document.documentElement.clientWidth;
      tip.style.left = Math.min(event.pageX + 14, scrollX + wide - tip.offsetWidth - 4) + "px";
      tip.style.top = event.pageY + 14 + "px";
    };
    figure.addEventListener("pointerleave", () => {
      pointer = undefined;
      tip.hidden = true;
    });
  }
  // For whoever checks the page: its data, its views, and how long it took to get ready.
  window.wakepath = { runs, explorers, readyAfter: performance.now(), scriptTook: performance.now() - began };
}
