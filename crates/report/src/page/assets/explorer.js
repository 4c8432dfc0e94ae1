"use strict";
// The interactive view of a run: one policy's phases over each other, from the pyramids that the
// page holds. Every number shown is one of the archive's.
const wakepathWords = {
  time(ns) {
    if (ns === null || ns === undefined) return "–";
    const size = Math.abs(ns);
    const [unit, name] = size < 1e3 ? [1, "ns"] : size < 1e6 ? [1e3, "µs"] : size < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    const digits = unit === 1 ? String(ns) : (ns / unit).toFixed(3).replace(/\.?0+$/, "");
    return digits + " " + name;
  },
  count(number) {
    return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  },
};

// The levels of a pyramid from its finest, as the recording's are computed: four buckets make one,
// of which the first largest value counts.
function wakepathLevels({ size, max, min, at }) {
  const levels = [{ size, max, min: min || max, at: at || max.map((value) => (value === null ? null : 0)) }];
  while (levels[levels.length - 1].max.length > 256) {
    const finer = levels[levels.length - 1];
    const coarser = { size: 4 * finer.size, max: [], min: [], at: [] };
    for (let first = 0; first < finer.max.length; first += 4) {
      let [low, high, where] = [null, null, null];
      for (let i = first; i < Math.min(first + 4, finer.max.length); i++) {
        if (finer.max[i] === null) continue;
        if (low === null || finer.min[i] < low) low = finer.min[i];
        if (high === null || finer.max[i] > high) [high, where] = [finer.max[i], (i - first) * finer.size + finer.at[i]];
      }
      coarser.min.push(low);
      coarser.max.push(high);
      coarser.at.push(where);
    }
    levels.push(coarser);
  }
  return levels;
}

class WakepathSeries {
  // One condition: its pyramids, and its misses with their places in order.
  constructor(data, number, run) {
    Object.assign(this, { data, number, run });
    const sums = (steps) => {
      let at = 0;
      return steps.map((step) => (at += step));
    };
    this.levels = {};
    this.lateAt = sums(data.late.index);
    this.skippedAt = sums(data.skipped.index);
  }

  // All levels of a measure, computed when they are wanted.
  levelsOf(measure) {
    if (!this.levels[measure]) {
      const { latency, response } = this.data.measures;
      const { finest } = this.data.measures[measure];
      const spent = (ended, i) => (ended === null ? null : ended - latency.finest.max[i]);
      this.levels[measure] = wakepathLevels({ ...finest, max: finest.max || response.finest.max.map(spent) });
    }
    return this.levels[measure];
  }

  // The finest level that needs no more than `most` buckets for a view.
  level(measure, from, to, most) {
    const levels = this.levelsOf(measure);
    return levels.find((level) => (to - from) / level.size <= most) || levels[levels.length - 1];
  }

  // Repetition and cycle number of a due time, as in the recording.
  place(index) {
    let found = this.data.stretches[0];
    for (const stretch of this.data.stretches) if (stretch[0] <= index) found = stretch;
    const [first, cycle, segment, repetition, thread] = found;
    return { cycle: cycle + index - first, segment, repetition, thread };
  }

  // The misses from index `from` up to `to`, in order: late ones and skipped ones.
  misses(from, to) {
    const all = [];
    const { late, skipped, period } = this.data;
    for (let i = WakepathSeries.first(this.lateAt, from); i < this.lateAt.length && this.lateAt[i] < to; i++) {
      all.push({ index: this.lateAt[i], latency: late.latency[i], response: late.response[i], overrun: late.after_overrun[i] === 1, skipped: 0 });
    }
    // A run of skipped due times may begin before the view.
    let s = Math.max(0, WakepathSeries.first(this.skippedAt, from) - 1);
    for (; s < this.skippedAt.length && this.skippedAt[s] < to; s++) {
      const [first, count] = [this.skippedAt[s], skipped.count[s]];
      for (let i = Math.max(first, Math.ceil(from)); i < Math.min(first + count, to); i++) {
        all.push({ index: i, latency: skipped.latency[s] - (i - first) * period, response: null, overrun: false, skipped: count });
      }
    }
    return all.sort((a, b) => a.index - b.index);
  }

  // Index of the first sorted value that is at least `value`.
  static first(sorted, value) {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // A miss's value on the axis of a measure; a skipped due time has a latency alone.
  static valueOf(miss, measure) {
    if (measure === "latency" || miss.response === null) return miss.latency;
    return measure === "response" ? miss.response : miss.response - miss.latency;
  }

  describe(miss) {
    const { cycle, segment, repetition } = this.place(miss.index);
    const cause = this.run.causes[`${segment}/${cycle}`] || (this.run.traced ? "not traced in this segment, see Causes" : "not traced");
    const { latency_limit: limit, deadline } = this.data;
    const what = miss.skipped
      ? `skipped${miss.skipped > 1 ? ` (${miss.skipped} together)` : ""}`
      : miss.overrun
        ? "begun late, the cycle before it had overrun"
        : limit !== null && miss.latency > limit
          ? "woke late"
          : deadline !== null && miss.response > deadline
            ? "ended late"
            : "missed";
    const response = miss.response === null ? "" : `, response ${wakepathWords.time(miss.response)}`;
    return `cycle ${cycle} of repetition ${repetition + 1}: ${what}, latency ${wakepathWords.time(miss.latency)}${response}; cause: ${cause}`;
  }
}

class WakepathExplorer {
  constructor(root, run) {
    this.root = root;
    this.all = run.conditions.map((data, number) => new WakepathSeries(data, number, run));
    this.chart = root.querySelector(".chart");
    this.readoutLine = root.querySelector(".readout");
    this.measure = "latency";
    this.hidden = new Set();
    this.marks = [];
    this.marksAt = [];
    root.hidden = false;
    for (const choice of root.querySelectorAll("select")) {
      choice.addEventListener("change", () => this.choose(choice.dataset.choice, choice.value));
    }
    const actions = {
      in: () => this.zoom(0.5), out: () => this.zoom(2), earlier: () => this.move(-0.5), later: () => this.move(0.5),
      all: () => this.show(0, this.length), next: () => this.step(1), previous: () => this.step(-1),
    };
    for (const button of root.querySelectorAll("button")) button.addEventListener("click", actions[button.dataset.do]);
    const keys = { "+": actions.in, "=": actions.in, "-": actions.out, ArrowLeft: actions.earlier, ArrowRight: actions.later, 0: actions.all, n: actions.next, p: actions.previous };
    this.chart.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.chart.addEventListener("wheel", (event) => {
      // Scrolling the page must not zoom by accident.
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8);
    }, { passive: false });
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.choose("policy", run.conditions[0].policy);
    new ResizeObserver(() => {
      if (this.plot && this.chart.clientWidth > 0 && this.chart.clientWidth !== this.plot.width) {
        this.plot.setSize({ width: this.chart.clientWidth, height: 320 });
        this.show(...this.view);
      }
    }).observe(this.chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build());
  }

  choose(what, value) {
    if (what === "policy") {
      this.policy = value;
      this.series = this.all.filter((one) => one.data.policy === value);
      this.length = Math.max(...this.series.map((one) => one.data.due_times));
      this.period = this.series[0].data.period / 1e9;
      this.view = [0, this.length];
      this.marked = undefined;
      this.hidden.clear();
      this.phases();
    } else {
      this.measure = value;
    }
    this.build();
  }

  colour(index) {
    const style = getComputedStyle(document.documentElement);
    return style.getPropertyValue("--c" + (index % 10)).trim();
  }

  // A tick box for each phase, in the phase's colour.
  phases() {
    const place = this.root.querySelector(".phases");
    place.replaceChildren(...this.series.map((one, number) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) this.hidden.delete(number);
        else this.hidden.add(number);
        this.show(...this.view);
      });
      const swatch = document.createElement("span");
      swatch.className = `swatch c${number % 10}`;
      label.append(box, swatch, one.data.phase);
      return label;
    }));
  }

  range() {
    // Whole powers of ten around all that the policy has, so that zooming moves nothing.
    let [low, high] = [Infinity, 100];
    for (const one of this.series) {
      const levels = one.levelsOf(this.measure);
      const coarsest = levels[levels.length - 1];
      for (let i = 0; i < coarsest.max.length; i++) {
        if (coarsest.max[i] === null) continue;
        low = Math.min(low, Math.max(coarsest.min[i], 100));
        high = Math.max(high, coarsest.max[i]);
      }
      const limit = this.limit(one);
      if (limit !== null) high = Math.max(high, limit);
    }
    if (low === Infinity) low = 1000;
    return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.01))];
  }

  limit(one) {
    return { latency: one.data.latency_limit, response: one.data.deadline, execution: null }[this.measure];
  }

  build() {
    if (this.plot) this.plot.destroy();
    const style = getComputedStyle(document.documentElement);
    const [ink, grid] = [style.getPropertyValue("--soft").trim(), style.getPropertyValue("--grid").trim()];
    this.colours = { limit: style.getPropertyValue("--limit").trim(), violation: style.getPropertyValue("--violation").trim(), paper: style.getPropertyValue("--paper").trim() };
    const stepped = uPlot.paths.stepped({ align: 1 });
    const line = (colour) => ({ stroke: colour, width: 1, paths: stepped, points: { show: false }, spanGaps: false });
    const series = [{}];
    const bands = [];
    this.series.forEach((one, number) => {
      const colour = this.colour(number);
      series.push(line(colour), line(colour));
      bands.push({ series: [2 * number + 1, 2 * number + 2], fill: colour + "88" });
    });
    const range = this.range();
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui, sans-serif" };
    const options = {
      width: Math.max(this.chart.clientWidth, 280), height: 320, series, bands,
      legend: { show: false },
      scales: { x: { time: false }, y: { distr: 3, range: () => range } },
      axes: [
        { ...axis, label: "measured time in s; repetitions follow each other", labelSize: 20, labelFont: "11px system-ui, sans-serif", splits: (_, __, from, to) => this.seconds(from, to), values: (_, ticks) => ticks.map((tick) => Number((tick * this.period).toPrecision(9)).toString()) },
        { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(Math.log10(tick)) || range[1] / range[0] <= 100 ? wakepathWords.time(tick) : "")) },
      ],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: {
        draw: [(plot) => this.draw(plot)],
        setCursor: [(plot) => this.hover(plot)],
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          if (width < 3) return;
          const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          this.show(from, to);
        }],
      },
    };
    this.chart.setAttribute("aria-label", `${this.measure} of ${this.policy} over the run`);
    this.plot = new uPlot(options, this.table(...this.view), this.chart);
    this.plot.over.append(this.tip);
    this.plot.over.addEventListener("dblclick", () => this.show(0, this.length));
    this.plot.over.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.show(...this.view);
  }

  // Places of round seconds between two due times, at most ten.
  seconds(from, to) {
    const span = (to - from) * this.period;
    const power = 10 ** Math.floor(Math.log10(span / 10));
    const step = [1, 2, 5, 10].map((round) => round * power).find((step) => span / step <= 10);
    const places = [];
    for (let mark = Math.ceil((from * this.period) / step); mark * step <= to * this.period; mark++) places.push((mark * step) / this.period);
    return places;
  }

  // What is drawn of a view: for each phase the buckets in it, with those just outside.
  pieces(from, to) {
    const most = Math.max(256, Math.ceil((this.plot ? this.plot.width : 1000) * 1.25));
    return this.series.map((one) => {
      const level = one.level(this.measure, from, to, most);
      const first = Math.max(0, Math.floor(from / level.size) - 1);
      const end = Math.min(level.max.length, Math.ceil(to / level.size) + 1);
      return { one, level, first, end };
    });
  }

  table(from, to) {
    const tables = this.pieces(from, to).map(({ one, level, first, end }, number) => {
      const [x, high, low] = [[], [], []];
      for (let i = first; i < end; i++) {
        x.push(i * level.size);
        const hidden = this.hidden.has(number) || level.max[i] === null;
        // What is early stands at the foot of a log axis; the words say what it was.
        high.push(hidden ? null : Math.max(level.max[i], 10));
        low.push(hidden ? null : Math.max(level.min[i], 10));
      }
      // The last bucket reaches to its end.
      if (end > first) {
        x.push(Math.min(end * level.size, one.data.due_times));
        high.push(high[high.length - 1]);
        low.push(low[low.length - 1]);
      }
      return [x, high, low];
    });
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  // Shows the due times from one index to another.
  show(from, to) {
    const width = Math.min(Math.max(to - from, Math.min(8, this.length)), this.length);
    const start = Math.min(Math.max((from + to) / 2 - width / 2, 0), this.length - width);
    this.view = [start, start + width];
    this.plot.batch(() => {
      this.plot.setData(this.table(...this.view), false);
      this.plot.setScale("x", { min: this.view[0], max: this.view[1] });
    });
  }

  zoom(factor) {
    const [from, to] = this.view;
    const middle = this.at !== undefined && this.at >= from && this.at <= to ? this.at : (from + to) / 2;
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  move(share) {
    const step = (this.view[1] - this.view[0]) * share;
    this.show(this.view[0] + step, this.view[1] + step);
  }

  // Goes to the next miss of what is shown, or the one before.
  step(direction) {
    const from = this.at === undefined ? (direction > 0 ? -1 : this.length) : this.at;
    let best;
    this.series.forEach((one, number) => {
      if (this.hidden.has(number)) return;
      const misses = direction > 0 ? one.misses(from + 1, this.length) : one.misses(0, from);
      const miss = direction > 0 ? misses[0] : misses[misses.length - 1];
      if (miss && (!best || (miss.index - best.miss.index) * direction < 0)) best = { one, miss };
    });
    if (!best) {
      this.readoutLine.textContent = direction > 0 ? "no later miss" : "no earlier miss";
      return;
    }
    this.at = best.miss.index;
    this.marked = { series: best.one, index: best.miss.index };
    const half = Math.min(this.view[1] - this.view[0], 400) / 2;
    this.show(this.at - half, this.at + half);
    this.readoutLine.textContent = `${best.one.data.phase}, ${best.one.describe(best.miss)}`;
  }

  isMarked(one, miss) {
    return this.marked !== undefined && this.marked.series === one && this.marked.index === miss.index;
  }

  draw(plot) {
    const { ctx } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    const limit = this.limit(this.series[0]);
    if (limit !== null) {
      const y = plot.valToPos(limit, "y", true);
      ctx.strokeStyle = this.colours.limit;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(plot.bbox.left, y);
      ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    const size = 4 * devicePixelRatio;
    let marked;
    this.marks = [];
    this.series.forEach((one, number) => {
      if (this.hidden.has(number)) return;
      ctx.fillStyle = this.colours.violation;
      for (const miss of one.misses(...this.view)) {
        const value = WakepathSeries.valueOf(miss, this.measure);
        const x = plot.valToPos(miss.index + 0.5, "x", true);
        const y = plot.valToPos(Math.max(value, 10), "y", true);
        ctx.fillRect(x - size / 2, y - size / 2, size, size);
        if (this.isMarked(one, miss)) marked = { x, y };
        this.marks.push({ x, y, one, miss });
      }
    });
    // The one that was gone to stands out of all the others beside it.
    if (marked) {
      ctx.strokeStyle = this.colours.violation;
      ctx.lineWidth = 2 * devicePixelRatio;
      ctx.beginPath();
      ctx.arc(marked.x, marked.y, 2.2 * size, 0, 2 * Math.PI);
      ctx.moveTo(marked.x, marked.y + 2.2 * size);
      ctx.lineTo(marked.x, plot.bbox.top + plot.bbox.height);
      ctx.stroke();
    }
    this.marks.sort((a, b) => a.x - b.x);
    this.marksAt = this.marks.map((mark) => mark.x);
    ctx.restore();
  }

  // A pointer moves more often than the screen is drawn: once for each frame is enough.
  hover(plot) {
    if (this.pointed) return;
    this.pointed = true;
    requestAnimationFrame(() => {
      this.pointed = false;
      if (plot === this.plot) this.point(plot);
    });
  }

  // The nearest drawn miss within ten pixels: those are sorted by their place.
  nearest(x, y) {
    const reach = 10 * devicePixelRatio;
    let near;
    for (let i = WakepathSeries.first(this.marksAt, x - reach); i < this.marks.length && this.marks[i].x <= x + reach; i++) {
      const distance = Math.hypot(this.marks[i].x - x, this.marks[i].y - y);
      if (distance < reach && (!near || distance < near.distance)) near = { ...this.marks[i], distance };
    }
    return near;
  }

  // What the cursor points at: the nearest miss, else the buckets below it.
  point(plot) {
    const { left, top } = plot.cursor;
    if (left === undefined || left < 0) {
      this.tip.hidden = true;
      return;
    }
    const index = Math.min(Math.max(Math.floor(plot.posToVal(left, "x")), 0), this.length - 1);
    this.at = index;
    const [x, y] = [left * devicePixelRatio + plot.bbox.left, top * devicePixelRatio + plot.bbox.top];
    const near = this.nearest(x, y);
    const text = near ? `${near.one.data.phase}, ${near.one.describe(near.miss)}` : this.readout(index);
    this.readoutLine.textContent = text;
    this.tip.textContent = text.replace(/[,;:] /g, (mark) => mark.trim() + "\n ");
    this.tip.hidden = false;
    const { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.left = (left + 14 + offsetWidth > plot.over.clientWidth ? Math.max(0, left - offsetWidth - 14) : left + 14) + "px";
    this.tip.style.top = Math.max(0, Math.min(top + 14, plot.over.clientHeight - offsetHeight)) + "px";
  }

  // The buckets at a due time, in words.
  readout(index) {
    const lines = [];
    this.pieces(...this.view).forEach(({ one, level }, number) => {
      if (this.hidden.has(number) || index >= one.data.due_times) return;
      const bucket = Math.floor(index / level.size);
      const [min, max] = [level.min[bucket], level.max[bucket]];
      if (max === null || max === undefined) {
        lines.push(`${one.data.phase}, cycle ${one.place(index).cycle}: no cycle ran`);
        return;
      }
      const largest = one.place(bucket * level.size + level.at[bucket]);
      const where = `cycle ${largest.cycle} of repetition ${largest.repetition + 1}`;
      lines.push(level.size === 1
        ? `${one.data.phase}, ${where}: ${wakepathWords.time(max)}`
        : `${one.data.phase}, ${level.size} cycles from ${wakepathWords.time(min)} to ${wakepathWords.time(max)}: largest in ${where}`);
    });
    return lines.join("\n");
  }

  // What is drawn now, for whoever wants to check the picture.
  shown() {
    return this.pieces(...this.view).map(({ one, level, first, end }) => ({
      condition: one.number, size: level.size, first, max: level.max.slice(first, end), min: level.min.slice(first, end), at: level.at.slice(first, end),
    }));
  }
}
