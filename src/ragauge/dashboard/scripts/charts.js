// Charts over the numbers of a `figure.chart[data-chart]`, drawn by uPlot before the table or
// picture that the server made, which stays in a `<details>` below.
(() => {
  "use strict";

  const HEIGHT = 260;
  const DAY = 86400;
  const COLOURS = 6;
  const NEAR = 24; // pixels from a point within which a click is meant for it
  const FONT = "12px system-ui, sans-serif";
  const charts = new Map();

  // Colours come from the style sheet, where a theme may change them.

  function colour(name, share = 100) {
    const probe = document.createElement("span");
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

  function time(seconds) {
    return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
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
    return [chart.x, ...lines];
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

  function widened(share) {
    return (plot, min, max) => {
      const room = (max - min || Math.abs(min) || 1) * share;
      return [min - room, max + room];
    };
  }

  function timeTicks(plot, splits, axis, space, step) {
    return splits.map((split) => (step >= DAY ? time(split).slice(0, 10) : time(split).slice(5)));
  }

  function labelTicks(chart) {
    return (plot, splits) => splits.map((split) => chart.labels[chart.x.indexOf(split)] ?? "");
  }

  function axes(chart) {
    const look = { stroke: colour("soft"), font: FONT, ticks: { show: false } };
    const grid = { stroke: colour("rule"), width: 1 };
    const x = { ...look, grid: { show: false }, space: 96 };
    if (chart.x_is_time) x.values = timeTicks;
    else if (chart.labels) Object.assign(x, { values: labelTicks(chart), incrs: [1, 2, 5, 10, 50, 100] });
    return [x, { ...look, grid, size: 56 }];
  }

  function drawMarks(chart) {
    return (plot) => {
      const { ctx, bbox } = plot;
      const ratio = devicePixelRatio;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("ink");
      ctx.font = `${12 * ratio}px system-ui, sans-serif`;
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      for (const mark of chart.marks || []) drawMark(plot, ctx, bbox, ratio, mark);
      ctx.restore();
    };
  }

  function drawMark(plot, ctx, bbox, ratio, mark) {
    const x = Math.round(plot.valToPos(mark.x, "x", true));
    const room = ctx.measureText(mark.label).width + 6 * ratio;
    const isLeft = x + room > bbox.left + bbox.width;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.textAlign = isLeft ? "right" : "left";
    ctx.fillText(mark.label, x + (isLeft ? -4 : 4) * ratio, bbox.top - 5 * ratio);
  }

  function settings(chart, stage) {
    return {
      width: Math.max(stage.clientWidth, 120),
      height: HEIGHT,
      padding: [chart.marks?.length ? 22 : 10, 12, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: isValue } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time: Boolean(chart.x_is_time), range: widened(0.03) },
        y: { range: chart.y || widened(0.08) },
      },
      series: [{}, ...lines(chart)],
      bands: bands(chart),
      axes: axes(chart),
      hooks: { draw: [drawMarks(chart)], setCursor: [(plot) => showTip(plot, chart, stage)] },
    };
  }

  function isValue(plot, line) {
    if (line % 3 !== 1) return undefined;
    const dot = document.createElement("div");
    dot.className = "chart-dot";
    return dot;
  }

  // Pointing, by mouse and by keyboard

  function showTip(plot, chart, stage) {
    const tip = stage.querySelector(".chart-tip");
    const at = plot.cursor.idx;
    tip.hidden = at === null || at === undefined || plot.cursor.left < 0;
    if (tip.hidden) return;
    tip.replaceChildren(...sentences(chart, at).map(line));
    const left = plot.over.offsetLeft + plot.valToPos(chart.x[at], "x");
    const room = stage.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(left + 12, room))}px`;
    tip.style.top = `${plot.over.offsetTop + 4}px`;
  }

  function line(text) {
    const made = document.createElement("div");
    made.textContent = text;
    return made;
  }

  function follow(chart, at) {
    const link = chart.links?.[at];
    if (!link) return;
    const to = new URL(link, location.href);
    const isHere = /^https?:$/.test(to.protocol) && to.origin === location.origin;
    if (isHere || link.startsWith("#")) location.assign(link);
  }

  function click(plot, chart) {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) return;
    const isNear = Math.abs(plot.valToPos(chart.x[at], "x") - plot.cursor.left) <= NEAR;
    if (isNear) follow(chart, at);
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
    const list = document.createElement("ul");
    list.className = "legend";
    chart.series.forEach((series, place) => {
      const entry = document.createElement("li");
      const swatch = document.createElement("span");
      swatch.className = `chart-swatch series-${(place % COLOURS) + 1}`;
      entry.append(swatch, series.name);
      list.append(entry);
    });
    return list;
  }

  function scaffold(holder, chart) {
    const [stage, tip, live] = ["div", "div", "p"].map((name) => document.createElement(name));
    stage.className = "chart-stage";
    stage.tabIndex = 0;
    stage.setAttribute("role", "group");
    stage.setAttribute("aria-roledescription", "chart");
    stage.setAttribute("aria-label", `${chart.title}. Left and right go from point to point.`);
    tip.className = "chart-tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true");
    live.className = "chart-live visually-hidden";
    live.setAttribute("aria-live", "polite");
    stage.append(tip);
    const rest = [...holder.children].filter((one) => !one.matches("figcaption, script"));
    const values = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "the values";
    values.className = "alternative";
    values.append(summary, ...rest);
    const caption = holder.querySelector(":scope > figcaption");
    const parts = chart.series.length > 1 ? [legend(chart), stage, live] : [stage, live];
    if (caption) caption.after(...parts);
    else holder.prepend(...parts);
    if (rest.length) holder.append(values);
    return stage;
  }

  function plotted(drawn) {
    drawn.plot?.destroy();
    drawn.plot = new uPlot(settings(drawn.chart, drawn.stage), columns(drawn.chart), drawn.stage);
    drawn.plot.over.addEventListener("click", () => click(drawn.plot, drawn.chart));
  }

  function draw(holder) {
    if (charts.has(holder)) return;
    const chart = JSON.parse(holder.querySelector('script[type="application/json"]').textContent);
    if (!chart.x.length) return;
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
