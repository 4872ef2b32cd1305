// The numbers of both sides, and how to have their remedies on a real system.

import { by, element, withCode } from "./elements.js";
import { bitRate, count, milliseconds, percent, rpm, signedPercent } from "./format.js";

const ROWS = [
  ["goodput", (one) => bitRate(one.goodput_bps)],
  ["RTT, median", (one) => milliseconds(one.rtt_p50_ms)],
  ["RTT, 95 %", (one) => milliseconds(one.rtt_p95_ms)],
  ["retransmitted", (one) => percent(one.segments_sent
    ? one.segments_retransmitted / one.segments_sent : 0)],
  ["lost by the link", (one) => count(one.segments_lost_link)],
  ["dropped by the queue", (one) => count(one.segments_dropped_queue)],
  ["fast retransmits", (one) => count(one.fast_retransmits)],
  ["timeouts", (one) => count(one.timeouts)],
  ["of these spurious", (one) => count(one.timeouts_spurious)],
];
// Probes under load; calls may be left out of it.
const UNDER_LOAD = [
  ["ping under load, median", (one) => milliseconds(one.under_load.ping_p50_ms)],
  ["ping, 95 %", (one) => milliseconds(one.under_load.ping_p95_ms)],
  ["new connection and exchange, median", (one) => milliseconds(one.under_load.exchange_p50_ms)],
  ["exchange, 95 %", (one) => milliseconds(one.under_load.exchange_p95_ms)],
  ["responsiveness", (one) => rpm(one.under_load.rpm)],
  ["of others", (one) => rpm(one.under_load.rpm_foreign)],
  ["of the load itself", (one) => rpm(one.under_load.rpm_own)],
  ["call, late or lost", (one) => (one.under_load.call_late === null ? "–"
    : percent(one.under_load.call_late))],
];
const AIR = ["MAC retries", (one) => count(one.attempts_on_air - one.packets_on_air)];
const ALL = [
  ["goodput of all flows", (one) => bitRate(one.goodput_all_bps)],
  ["Jain's fairness", (one) => (one.fairness === null ? "–" : one.fairness.toFixed(3))],
];

export function showSummary(sides, names, profile) {
  const results = sides.map((side) => side.result);
  if (!results.every(Boolean)) return;
  const rows = [...ROWS];
  if (results.every((one) => one.under_load)) rows.push(...UNDER_LOAD);
  if (results.some((one) => one.packets_on_air > 0)) rows.push(AIR);
  if (results[0].flows > 1) rows.push(...ALL);
  const flow = results[0].flows > 1 ? `flow ${results[0].flow}, ` : "";
  const table = element("table", {},
    element("caption", { class: "note" }, `${flow}sender ${profile}, one seed`),
    element("thead", {}, element("tr", {}, element("th", {}, ""), ...results.map((_, index) =>
      element("th", { class: `remedy ${"ab"[index]}`, scope: "col" },
        `${"AB"[index]}: ${names[index] || "as written"}`)))),
    element("tbody", {}, ...rows.map(([name, show]) => element("tr", {},
      element("th", { scope: "row" }, name),
      ...results.map((one) => element("td", {}, show(one)))))));
  const more = results.flatMap((one, index) => one.deployment.map((text) =>
    element("p", { class: "deploy" },
      element("span", { class: `mark ${"ab"[index]}` }, `${"AB"[index]} on a real system: `),
      ...withCode(text))));
  by("gain").textContent = gain(results.map((one) => one.goodput_bps), names);
  by("summary").replaceChildren(element("div", { class: "wide" }, table), ...more);
}

// What B carries against A, of this one seed; what many seeds say stands below it.
function gain([a, b], names) {
  if (b === undefined || names[0] === names[1]) return "";
  const change = a > 0 ? ` (${signedPercent(b / a - 1)})` : "";
  return `B, ${names[1] || "as written"}: ${bitRate(b)} for ${bitRate(a)} of A${change}, one seed`;
}
