// How a chart looks: what uPlot is told of it, what is drawn beside its lines, and its words.
const drawing = (() => {
  "use strict";

  const DAY = 86400;
  const COLOURS = 6;
  const LONGEST = 28; // characters of a mark's words; all of them stand beside its values
  const LABEL = 96; // pixels of a time below the axis; half of the last may stand beyond its end
  const FONT = "12px system-ui, sans-serif";

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
    const x = { ...look, grid: { show: false }, space: LABEL, size: 34, gap: 10 };
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

  function settings(chart) {
    return {
      padding: [chart.marks?.length ? 22 : 10, LABEL / 2, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time: Boolean(chart.x_is_time), range: across(chart) },
        y: { range: chart.y || ((plot, min, max) => widened(min, max, 0.08, 0.1)) },
      },
      series: [{}, ...lines(chart)],
      bands: bands(chart),
      axes: axes(chart),
      hooks: { draw: [drawBeside(chart)] },
    };
  }

  return { COLOURS, made, seriesColour, sentences, columns, settings };
})();
