// What helps on this link, for who may change what is chosen, and for what it is wanted: every remedy tried, best first.

import { core } from "./core.js";
import { by, element, withCode } from "./elements.js";

export function listAims(aims, chosen) {
  by("aim").replaceChildren(...aims.map(({ name, words }) =>
    element("option", { value: name }, words)));
  by("aim").value = chosen;
}

export function listAskers(askers, chosen) {
  const known = askers.some((asker) => asker.name === chosen);
  // Several places with commas come from the command line or an address.
  const several = known ? [] : [{ name: chosen, words: chosen.replaceAll(",", " and ") }];
  by("can").replaceChildren(...[...askers, ...several].map(({ name, words }) =>
    element("option", { value: name }, words)));
  by("can").value = chosen;
}

// Before anything is tried; a link on which no remedy is to be judged says so at once.
export function clearAnswer(refusal) {
  by("answer").replaceChildren(...(refusal ? refused(refusal) : []));
  by("ask").disabled = Boolean(refusal);
}

// Tries every remedy; `chosen(remedy)` is called with one that is to be side B.
export async function ask(request, signal, chosen) {
  by("answer").replaceChildren(element("p", { class: "note" }, "trying every remedy…"));
  await core.answer(request, signal, (message) => {
    if (message.kind === "progress") {
      by("answer").replaceChildren(element("p", { class: "note" },
        `trying every remedy: ${message.done} of ${message.runs} runs`));
    }
    if (message.kind === "refusal") by("answer").replaceChildren(...refused(message.sentence));
    if (message.kind === "answer") by("answer").replaceChildren(...told(message, chosen));
  });
}

function refused(sentence) {
  return [element("p", { class: "verdict refusal" }, "Not ranked. ", ...withCode(sentence))];
}

function told({ headline, sentences, seeds, metric, rows }, chosen) {
  const parts = [element("p", { class: "verdict" }, ...withCode(headline))];
  if (rows.length) {
    parts.push(element("div", { class: "wide" }, element("table", {},
      element("caption", { class: "note" },
        `${metric} against the scenario as written, ${seeds} seeds, 95 % for all at once`),
      element("thead", {}, element("tr", {}, ...["remedy", "gain", "", "where to deploy it"]
        .map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...rows.map((row) => element("tr", { class: row.is_yours ? "yours" : "" },
        element("th", { scope: "row" }, element("button", {
          type: "button", title: "make it side B", onclick: () => chosen(row.remedy),
        }, row.name)),
        element("td", {}, row.gain),
        element("td", {}, [row.state, row.harm].filter(Boolean).join("; ")),
        element("td", {}, row.is_yours ? `${row.place}: yours` : row.place)))))));
  }
  parts.push(element("details", {}, element("summary", {}, "What else the runs say"),
    element("ul", {}, ...sentences.map((one) => element("li", {}, ...withCode(one))))));
  return parts;
}
