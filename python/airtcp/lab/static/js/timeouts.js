// The timeouts of both sides, and the packets around one of them.

import { by, colour, element, withCode } from "./elements.js";
import { significant } from "./format.js";

const MAX_LISTED = 60;
const NEAR_ROWS = 60;

let plot = null;

// `explain` is called with a side and a time; without it the times are listed alone.
export function listTimeouts(sides, explain) {
  const lists = sides.map((side, index) => {
    const name = "AB"[index];
    const spurious = side.timeouts.filter((one) => one.spurious).length;
    const listed = side.timeouts.slice(0, MAX_LISTED).map((one) => {
      const text = `${name} ${one.time_s.toFixed(2)} s${one.spurious ? " spurious" : ""}`;
      return element("li", {}, explain ? element("button", {
        type: "button", class: "ab"[index], "aria-pressed": "false",
        "data-side": String(index), "data-time": String(one.time_s), title: one.detail ?? "",
        onclick: () => explain(index, one.time_s),
      }, text) : element("span", { class: "note", title: one.detail ?? "" }, text));
    });
    const hidden = side.timeouts.length - listed.length;
    return element("div", {},
      element("p", { class: "note" }, element("span", { class: `mark ${"ab"[index]}` }, name),
        side.timeouts.length
          ? `: ${side.timeouts.length}, of these ${spurious} spurious`
            + `${hidden > 0 ? `; the first ${MAX_LISTED} are listed` : ""}`
          : ": none"),
      element("ul", {}, ...listed));
  });
  const head = explain ? "Timeouts: choose one to see its packets" : "Timeouts";
  const any = sides.some((side) => side.timeouts.length);
  const lab = explain || !any ? [] : [element("p", { class: "note" },
    ...withCode("`airtcp lab` shows the packets around each."))];
  by("timeouts").replaceChildren(element("h2", {}, head), ...lists, ...lab);
}

export function closeExplanation() {
  by("explanation").hidden = true;
  for (const button of document.querySelectorAll("#timeouts button")) {
    button.setAttribute("aria-pressed", "false");
  }
}

export function showExplanation(side, explained) {
  for (const button of document.querySelectorAll("#timeouts button")) {
    const chosen = Number(button.dataset.side) === side
      && Math.abs(Number(button.dataset.time) - explained.time_s) < 1e-5;
    button.setAttribute("aria-pressed", String(chosen));
  }
  const place = element("div", { class: "plot" });
  by("explanation").hidden = false;
  by("explanation").replaceChildren(
    element("h2", {}, `Side ${"AB"[side]}: the timeout at ${explained.time_s.toFixed(4)} s, `
      + (explained.spurious ? "spurious" : "of a loss")),
    ...explained.sentences.map((sentence) => element("p", {}, sentence)),
    place, packetTable(explained));
  drawSequence(place, explained);
  const table = by("explanation").querySelector(".packets");
  const row = table.querySelector("tr.expired td[colspan]");
  table.scrollTop = row.offsetTop - table.offsetTop - table.clientHeight / 2;
  by("explanation").scrollIntoView({ block: "nearest" });
  by("explanation").focus({ preventScroll: true });
}

// The time-sequence graph (Shepard, "TCP Packet Trace Analysis", 1991).
function drawSequence(place, explained) {
  plot?.destroy();
  const { packets } = explained;
  const kinds = [
    ["data", colour("soft"), (kind, note) => kind === "data" && !isLost(note)],
    ["retransmitted", colour("b"), (kind, note) => kind === "retransmission" && !isLost(note)],
    ["lost", colour("alarm"), (kind, note) => isLost(note)],
    ["ACK", colour("a"), (kind) => kind.endsWith("ACK")],
  ];
  const data = [packets.map((row) => row[0]), ...kinds.map(([, , is]) =>
    packets.map(([, kind, where, , note]) =>
      (is(kind, note) && where !== null ? where / 1e3 : null)))];
  const axis = {
    stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  plot = new uPlot({
    width: Math.max(200, place.clientWidth), height: 230,
    scales: { x: { time: false } },
    axes: [{ ...axis, size: 28, label: "time (s)", labelSize: 16 },
      { ...axis, size: 60, label: "byte of the stream (kB)", labelSize: 18 }],
    series: [{ label: "time" }, ...kinds.map(([label, stroke], index) => ({
      label, stroke, width: index === 3 ? 1.2 : 0, spanGaps: index === 3,
      paths: index === 3 ? uPlot.paths.stepped({ align: 1 }) : undefined,
      points: { show: index !== 3, size: index === 2 ? 8 : 5, fill: stroke },
    }))],
    hooks: { draw: [(view) => drawTimer(view, explained)] },
  }, data, place);
}

function drawTimer(view, explained) {
  const { ctx } = view;
  const x = view.valToPos(explained.time_s, "x", true);
  ctx.save();
  ctx.strokeStyle = colour("foreground");
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(x, view.bbox.top);
  ctx.lineTo(x, view.bbox.top + view.bbox.height);
  ctx.stroke();
  ctx.restore();
}

const isLost = (note) => /lost by the link|queue full/.test(note);

function packetTable(explained) {
  const { packets } = explained;
  const middle = packets.findIndex((row) => row[0] > explained.time_s);
  const at = middle < 0 ? packets.length : middle;
  const first = Math.max(0, at - NEAR_ROWS / 2);
  const near = packets.slice(first, at + NEAR_ROWS / 2);
  const rowsBefore = at - first;
  const expired = element("tr", { class: "expired" }, element("td", { class: "number" }, "0 ms"),
    element("td", { colspan: "4" }, "the retransmission timer expires"));
  const rows = near.map(([time_s, kind, where, bytes, note]) => element("tr", {
    class: [where === explained.offset && !kind.endsWith("ACK") ? "expired" : "",
      isLost(note) ? "lost" : ""].join(" ").trim(),
  },
    element("td", { class: "number" }, `${significant((time_s - explained.time_s) * 1e3)} ms`),
    element("td", {}, kind),
    element("td", { class: "number" }, where === null ? "" : String(where)),
    element("td", { class: "number" }, bytes ? String(bytes) : ""),
    element("td", {}, note)));
  return element("div", { class: "packets wide", tabindex: "0", role: "region",
    "aria-label": "Packets around the timeout" },
    element("table", {}, element("thead", {}, element("tr", {},
      ...["from the timeout", "packet", "byte", "length", "note"].map((head, index) =>
        element("th", { scope: "col", class: [0, 2, 3].includes(index) ? "number" : "" }, head)))),
      element("tbody", {}, ...rows.slice(0, rowsBefore), expired, ...rows.slice(rowsBefore))));
}
