// Charts over the numbers of a `figure.chart[data-chart]`, drawn by uPlot before the table or
// picture that the server made, which stays in a `<details>` below.
(() => {
  "use strict";

  const { COLOURS, made, seriesColour, sentences, columns } = drawing;
  const HEIGHT = 260;
  const NEAR = 24; // pixels from a point within which a click is meant for it
  const charts = new Map();

  function settings(chart, stage) {
    const { hooks, ...look } = drawing.settings(chart);
    return {
      ...look,
      width: Math.max(stage.clientWidth, 120),
      height: HEIGHT,
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false, click: () => {} }, // snapping looks to uPlot like dragging
        y: false,
        move: (plot, left, top) => [left < 0 ? left : snapped(plot, chart, left), top],
        points: { show: dot, fill: (plot, line) => seriesColour((line - 1) / 3) },
      },
      hooks: { ...hooks, setCursor: [(plot) => showTip(plot, chart, stage)] },
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
