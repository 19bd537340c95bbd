// Charts over the numbers of a `figure.chart[data-chart]`, drawn by uPlot before the table or
// picture that the server made, which stays in a `<details>` below.
(() => {
  "use strict";

  const HEIGHT = 260;
  const DAY = 86400;
  const COLOURS = 6;
  const LONGEST = 28; // characters of a mark's words; all of them stand beside its values
  const NEAR = 24; // pixels from a point within which a click is meant for it
  const FONT = "12px system-ui, sans-serif";
  const charts = new Map();

  function made(name, marks, ...inside) {
    const element = document.createElement(name);
    for (const [mark, value] of Object.entries(marks)) element.setAttribute(mark, value);
    element.append(...inside);
    return element;
  }

  // Colours come from the style sheet, where a theme may change them.

  function colour(name, share = 100) {
    const probe = made("span", {});
    probe.style.color = `color-mix(in srgb, var(--${name}) ${share}%, transparent)`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  const seriesColour = (place, share) => colour(`series-${(place % COLOURS) + 1}`, share);

  // Words

  function figure(value) {
    return value === null || value === undefined ? "–" : Number(value.toFixed(4)).toString();
  }

  function iso(seconds) {
    return new Date(seconds * 1000).toISOString().replace("T", " ");
  }

  function time(seconds) {
    return iso(seconds).slice(0, 16);
  }

  function where(chart, at) {
    const x = chart.x_is_time ? `${time(chart.x[at])} UTC` : figure(chart.x[at]);
    const label = chart.labels?.[at];
    if (!label) return x;
    return chart.x_is_time ? `${label}, ${x}` : label;
  }

  function told(series, at) {
    const [low, high] = [series.low?.[at] ?? null, series.high?.[at] ?? null];
    const interval = low === null || high === null ? "" : ` [${figure(low)}, ${figure(high)}]`;
    return `${series.name} ${figure(series.values[at])}${interval}`;
  }

  function sentences(chart, at) {
    const marks = (chart.marks || []).filter((mark) => mark.x === chart.x[at]);
    return [
      where(chart, at),
      ...chart.series.map((series) => told(series, at)),
      ...marks.map((mark) => mark.label),
    ];
  }

  // What uPlot is told. Each series is three lines: the value, and the two ends of its interval.

  function columns(chart) {
    const none = chart.x.map(() => null);
    const lines = chart.series.flatMap((one) => [one.values, one.high || none, one.low || none]);
    // Where series take turns, the line of each goes on over the points of the others.
    const joined = (line) => line.map((value) => value ?? undefined);
    return [chart.x, ...(chart.joined ? lines.map(joined) : lines)];
  }

  function cuts(chart) {
    return (plot, line, first, last, gaps) => {
      const at = (place) => plot.valToPos(chart.x[place], "x", true);
      const cut = (chart.gaps || []).filter((place) => place > first && place <= last);
      return [...gaps, ...cut.map((place) => [at(place - 1), at(place)])].sort((a, b) => a[0] - b[0]);
    };
  }

  function lines(chart) {
    const gaps = cuts(chart);
    return chart.series.flatMap((series, place) => {
      const stroke = seriesColour(place);
      const points = { show: true, size: 7, stroke, fill: colour("paper"), width: 2 };
      const end = { width: 0, gaps, points: { show: false } };
      return [{ label: series.name, stroke, width: 2, points, gaps }, end, end];
    });
  }

  function bands(chart) {
    return chart.series.map((_, place) => ({
      series: [3 * place + 2, 3 * place + 3],
      fill: seriesColour(place, 16),
    }));
  }

  function widened(min, max, share, least) {
    const room = max > min ? (max - min) * share : least;
    return [min - room, max + room];
  }

  function across(chart) {
    const least = chart.x_is_time ? DAY : 1;
    return () => widened(chart.x[0], chart.x[chart.x.length - 1], 0.03, least);
  }

  function timeTicks(plot, splits, axis, space, step) {
    const [from, to] = step >= DAY ? [0, 10] : step >= 60 ? [5, 16] : [11, 19];
    return splits.map((split) => iso(split).slice(from, to));
  }

  function labelTicks(chart) {
    return (plot, splits) => splits.map((split) => chart.labels[chart.x.indexOf(split)] ?? "");
  }

  function axes(chart) {
    const look = { stroke: colour("soft"), font: FONT, ticks: { show: false } };
    const grid = { stroke: colour("rule"), width: 1 };
    const x = { ...look, grid: { show: false }, space: 96, size: 34, gap: 10 };
    if (chart.x_is_time) x.values = timeTicks;
    else if (chart.labels) Object.assign(x, { values: labelTicks(chart), incrs: [1, 2, 5, 10, 50, 100] });
    return [x, { ...look, grid, size: 56 }];
  }

  // Beside the lines: a stroke from end to end of each interval, and the marks with their words.

  function drawBeside(chart) {
    return (plot) => {
      plot.ctx.save();
      plot.ctx.lineWidth = devicePixelRatio;
      chart.series.forEach((series, place) => drawIntervals(plot, chart, series, place));
      drawMarks(plot, chart.marks || []);
      plot.ctx.restore();
    };
  }

  function stroke(ctx, x, top, bottom) {
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
  }

  function drawIntervals(plot, chart, series, place) {
    const y = (value) => plot.valToPos(value, "y", true);
    plot.ctx.strokeStyle = seriesColour(place, 45);
    chart.x.forEach((x, at) => {
      const [low, high] = [series.low?.[at] ?? null, series.high?.[at] ?? null];
      if (low !== null && high !== null) stroke(plot.ctx, plot.valToPos(x, "x", true), y(low), y(high));
    });
  }

  function drawMarks(plot, marks) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const ends = []; // where the words of each line end
    ctx.strokeStyle = ctx.fillStyle = colour("ink");
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    for (const mark of [...marks].sort((a, b) => a.x - b.x)) {
      const label = mark.label.length > LONGEST ? `${mark.label.slice(0, LONGEST)}…` : mark.label;
      const x = Math.round(plot.valToPos(mark.x, "x", true));
      const width = ctx.measureText(label).width + 8 * ratio;
      const left = Math.min(x + 4 * ratio, bbox.left + bbox.width - width);
      const free = ends.findIndex((end) => end <= left);
      const line = free < 0 ? ends.length : free;
      ends[line] = left + width;
      stroke(ctx, x, bbox.top, bbox.top + bbox.height);
      ctx.fillText(label, left, bbox.top + (line * 14 - 6) * ratio);
    }
  }

  function settings(chart, stage) {
    return {
      width: Math.max(stage.clientWidth, 120),
      height: HEIGHT,
      padding: [chart.marks?.length ? 22 : 10, 12, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false, click: () => {} }, // snapping looks to uPlot like dragging
        y: false,
        move: (plot, left, top) => [left < 0 ? left : snapped(plot, chart, left), top],
        points: { show: dot, fill: (plot, line) => seriesColour((line - 1) / 3) },
      },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time: Boolean(chart.x_is_time), range: across(chart) },
        y: { range: chart.y || ((plot, min, max) => widened(min, max, 0.08, 0.1)) },
      },
      series: [{}, ...lines(chart)],
      bands: bands(chart),
      axes: axes(chart),
      hooks: { draw: [drawBeside(chart)], setCursor: [(plot) => showTip(plot, chart, stage)] },
    };
  }

  function snapped(plot, chart, left) {
    return plot.valToPos(chart.x[plot.posToIdx(left)], "x");
  }

  function dot(plot, line) {
    if (line % 3 !== 1) return undefined; // the ends of an interval have none
    return made("div", { class: "chart-dot" });
  }

  // Pointing, by mouse and by keyboard

  function showTip(plot, chart, stage) {
    const tip = stage.querySelector(".chart-tip");
    const at = plot.cursor.idx;
    tip.hidden = at === null || at === undefined || plot.cursor.left < 0;
    if (tip.hidden) return;
    tip.replaceChildren(...sentences(chart, at).map((text) => made("div", {}, text)));
    const left = plot.over.offsetLeft + plot.valToPos(chart.x[at], "x");
    const room = stage.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(left + 12, room))}px`;
    tip.style.top = `${plot.over.offsetTop + 4}px`;
  }

  function follow(chart, at) {
    const link = chart.links?.[at];
    if (!link) return;
    const to = new URL(link, location.href);
    const isHere = /^https?:$/.test(to.protocol) && to.origin === location.origin;
    if (isHere || link.startsWith("#")) location.assign(link);
  }

  function click(event, plot, chart) {
    const isNear = Math.abs(snapped(plot, chart, event.offsetX) - event.offsetX) <= NEAR;
    if (isNear) follow(chart, plot.posToIdx(event.offsetX));
  }

  function press(event, drawn) {
    const { plot, chart, stage } = drawn;
    const last = chart.x.length - 1;
    const from = drawn.at ?? (event.key === "ArrowLeft" ? last + 1 : -1);
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === "Enter" && drawn.at !== null) follow(chart, drawn.at);
    if (to === undefined) return;
    event.preventDefault();
    drawn.at = Math.max(0, Math.min(to, last));
    plot.setCursor({ left: plot.valToPos(chart.x[drawn.at], "x"), top: 0 });
    stage.parentElement.querySelector(".chart-live").textContent = sentences(chart, drawn.at).join("; ");
  }

  // Making and remaking

  function legend(chart) {
    const entries = chart.series.map((series, place) => {
      const swatch = made("span", { class: `chart-swatch series-${(place % COLOURS) + 1}` });
      return made("li", {}, swatch, series.name);
    });
    return made("ul", { class: "legend" }, ...entries);
  }

  function stageFor(chart) {
    const tip = made("div", { class: "chart-tip", "aria-hidden": "true", hidden: "" });
    const label = `${chart.title}. Left and right go from point to point.`;
    const marks = { role: "group", "aria-roledescription": "chart", "aria-label": label };
    return made("div", { class: "chart-stage", tabindex: "0", ...marks }, tip);
  }

  function scaffold(holder, chart) {
    const stage = stageFor(chart);
    const live = made("p", { class: "chart-live visually-hidden", "aria-live": "polite" });
    const rest = [...holder.children].filter((one) => !one.matches("figcaption, script"));
    const parts = chart.series.length > 1 ? [legend(chart), stage, live] : [stage, live];
    const caption = holder.querySelector(":scope > figcaption");
    if (caption) caption.after(...parts);
    else holder.prepend(...parts);
    const summary = made("summary", {}, "the values");
    if (rest.length) holder.append(made("details", { class: "alternative" }, summary, ...rest));
    return stage;
  }

  function plotted(drawn) {
    drawn.plot?.destroy();
    drawn.plot = new uPlot(settings(drawn.chart, drawn.stage), columns(drawn.chart), drawn.stage);
    drawn.plot.over.addEventListener("click", (event) => click(event, drawn.plot, drawn.chart));
  }

  function draw(holder) {
    if (charts.has(holder)) return;
    const chart = JSON.parse(holder.querySelector('script[type="application/json"]').textContent);
    if (!chart.series.some((series) => series.values.some((value) => value !== null))) return;
    const drawn = { chart, stage: scaffold(holder, chart), at: null, plot: null };
    charts.set(holder, drawn);
    plotted(drawn);
    drawn.stage.addEventListener("keydown", (event) => press(event, drawn));
    drawn.stage.addEventListener("blur", () => drawn.plot.setCursor({ left: -10, top: -10 }));
    sizes.observe(drawn.stage);
  }

  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      const drawn = charts.get(target.closest("figure"));
      const width = target.clientWidth;
      if (drawn && width && width !== drawn.plot.width) drawn.plot.setSize({ width, height: HEIGHT });
    }
  });

  function redraw() {
    for (const [holder, drawn] of charts) {
      if (holder.isConnected) plotted(drawn);
      else charts.delete(holder);
    }
  }

  function prepare(root) {
    if (typeof uPlot === "undefined") return; // the table stays in view
    const inside = root.querySelectorAll("figure.chart[data-chart]");
    [...(root.matches?.("figure.chart[data-chart]") ? [root] : []), ...inside].forEach(draw);
  }

  const watched = new MutationObserver(redraw);
  watched.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  for (const medium of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(medium).addEventListener("change", redraw);
  }
  document.addEventListener("DOMContentLoaded", () => prepare(document));
  document.addEventListener("htmx:load", (event) => prepare(event.target));
})();
