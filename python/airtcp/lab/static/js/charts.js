// The time series of both sides, chart under chart, with one cursor.

import { by, colour, element } from "./elements.js";
import { significant } from "./format.js";

const HEIGHT = 150;
const SIDES = ["a", "b"];

// Title, unit of the axis, columns with the factor by which they are drawn; `dash` for the second of a chart.
const CHARTS = [
  { id: "cwnd", title: "Congestion window", unit: "kB", series: [["cwnd_bytes", 1e-3, ""]] },
  { id: "rtt", title: "SRTT and RTO", unit: "ms", log: true,
    series: [["srtt_ms", 1, "SRTT"], ["rto_ms", 1, "RTO"]] },
  { id: "goodput", title: "Goodput, mean of a 60th of the run", unit: "Mbit/s", mean: 5,
    series: [["goodput_bps", 1e-6, ""]] },
  { id: "queue", title: "Queue of the link", unit: "packets", series: [["queue_packets", 1, ""]] },
  { id: "retransmitted", title: "Retransmitted so far", unit: "segments",
    series: [["retransmitted_segments", 1, ""]] },
  { id: "retries", title: "MAC retries so far", unit: "frames", optional: true,
    series: [["mac_retries_frames", 1, ""]] },
];

let plots = [];
let marked = { timeouts: [[], []], chosen: null };

// Empty charts for `sides` runs of `duration_s`; a time that is clicked goes to `picked`.
export function buildCharts(picked) {
  for (const plot of plots) plot.view?.destroy();
  plots = CHARTS.map((chart) => {
    const place = element("div", { class: "plot", role: "img", "aria-label": `${chart.title} (${chart.unit})` });
    const reading = element("span", { class: "note" });
    const box = element("div", { class: "chart", id: `chart-${chart.id}` },
      element("h2", {}, chart.title, reading), place);
    return { chart, place, reading, box, view: null };
  });
  by("charts").replaceChildren(...plots.map((plot) => plot.box));
  for (const plot of plots) plot.view = view(plot, picked);
}

function view({ chart, place, reading }, picked) {
  const axis = {
    stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 },
    ticks: { stroke: colour("line"), width: 1 }, font: "11px system-ui, sans-serif",
  };
  const series = [{ label: "time" }];
  for (const side of SIDES) {
    chart.series.forEach(([, , name], index) => series.push({
      label: `${side.toUpperCase()}${name ? ` ${name}` : ""}`,
      stroke: colour(side), width: index ? 1 : 1.6, dash: index ? [4, 3] : undefined,
      points: { show: false }, spanGaps: false,
    }));
  }
  const made = new uPlot({
    width: Math.max(200, place.clientWidth), height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: "lab" }, drag: { x: true, y: false } },
    scales: { x: { time: false }, y: chart.log ? { distr: 3 } : { range: fromZero } },
    axes: [
      { ...axis, size: 24, values: (_, splits) => splits.map((value) => `${value} s`) },
      { ...axis, size: 46, values: axisValues, label: chart.unit, labelSize: 15,
        labelFont: "11px system-ui, sans-serif" },
    ],
    series,
    hooks: {
      draw: chart.id === "cwnd" ? [drawTimeouts] : [],
      setCursor: [(own) => { reading.textContent = readingAt(own); }],
    },
  }, empty(series.length), place);
  if (chart.id === "cwnd") {
    made.over.addEventListener("click", () => {
      if (made.cursor.left >= 0) picked(made.posToVal(made.cursor.left, "x"));
    });
  }
  return made;
}

// What the cursor is on, in words next to the title.
function readingAt(view) {
  const { idx } = view.cursor;
  if (idx === null || idx === undefined) return "";
  const values = view.series.slice(1).map((one, index) => [one.label, view.data[index + 1][idx]])
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([label, value]) => `${label} ${significant(value)}`);
  return values.length ? ` ${significant(view.data[0][idx])} s: ${values.join(", ")}` : "";
}

const empty = (length) => Array.from({ length }, () => []);

function fromZero(_, low, high) {
  return [0, high > 0 ? high * 1.05 : 1];
}

function axisValues(_, splits) {
  return splits.map((value) => (value === null ? "" : significant(value)));
}

// Draws what the sides have so far; times reach to `duration_s`.
export function drawCharts(sides, duration_s) {
  const times = sides.reduce(
    (longest, side) => (side.times.length > longest.length ? side.times : longest), []);
  for (const { chart, box, view } of plots) {
    const data = [times];
    let any = false;
    for (const index of [0, 1]) {
      for (const [column, factor] of chart.series) {
        const sampled = sides[index]?.columns[column] ?? [];
        const values = chart.mean ? means(sampled, chart.mean) : sampled;
        any ||= values.some((value) => value);
        data.push(Array.from(times, (_, at) => {
          const value = values[at];
          if (value === null || value === undefined) return null;
          return chart.log && value <= 0 ? null : value * factor;
        }));
      }
    }
    const hide = chart.optional === true && !any;
    if (box.hidden !== hide) box.hidden = hide;
    if (hide) continue;
    view.batch(() => {
      view.setData(data, false);
      view.setScale("x", { min: 0, max: duration_s });
    });
  }
}

// Each sample as the mean of itself and those before it, `count` in all.
function means(values, count) {
  let sum = 0;
  return values.map((value, at) => {
    sum += value - (at >= count ? values[at - count] : 0);
    return sum / Math.min(count, at + 1);
  });
}

// Marks timeouts on the chart of the window: lists of { time_s, spurious } of both sides.
export function markTimeouts(timeouts, chosen) {
  marked = { timeouts, chosen };
  plots.find((plot) => plot.chart.id === "cwnd")?.view.redraw(false);
}

function drawTimeouts(view) {
  const { ctx } = view;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  marked.timeouts.forEach((timeouts, side) => {
    const bottom = view.bbox.top + view.bbox.height - (1 - side) * 7 * ratio;
    for (const one of timeouts) {
      const x = view.valToPos(one.time_s, "x", true);
      if (x < view.bbox.left || x > view.bbox.left + view.bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bottom);
      ctx.lineTo(x - 4 * ratio, bottom - 7 * ratio);
      ctx.lineTo(x + 4 * ratio, bottom - 7 * ratio);
      ctx.closePath();
      ctx.lineWidth = ratio;
      ctx.strokeStyle = ctx.fillStyle = colour(SIDES[side]);
      if (one.spurious) ctx.stroke();
      else ctx.fill();
    }
  });
  if (marked.chosen !== null) {
    const x = view.valToPos(marked.chosen, "x", true);
    ctx.strokeStyle = colour("foreground");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(x, view.bbox.top);
    ctx.lineTo(x, view.bbox.top + view.bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// Fits the charts to their places after these changed.
export function fitCharts() {
  for (const { place, box, view } of plots) {
    const width = place.clientWidth;
    if (!box.hidden && width > 0 && Math.abs(width - view.width) > 1) {
      view.setSize({ width, height: HEIGHT });
    }
  }
}
