// The sliders of a link: a range, and a field for an exact value with its unit.

import { by, element, withCode } from "./elements.js";
import { quantity, shown } from "./format.js";
import { steps, toPosition, toValue } from "./scale.js";

let rows = new Map();

// Builds all sliders of a link. `changed(key, text)` is called while one moves; null takes it back.
export function buildSliders(link, settings, changed) {
  rows = new Map();
  const main = link.picks.map((one) => pick(one, settings[one.key], changed));
  const more = [];
  for (const control of link.controls) {
    const row = slider(control, settings[control.key], changed);
    (control.main ? main : more).push(row);
  }
  by("sliders").replaceChildren(...main);
  by("more-sliders").replaceChildren(...more);
  by("more").hidden = more.length === 0;
  by("switches").replaceChildren(...link.switches.map((one) => switchOf(one, settings, changed)));
}

// Shows what `settings` say, where that was changed elsewhere.
export function showSettings(settings) {
  for (const [key, row] of rows) row.show(settings[key]);
}

// Offers what fits the other settings as they are now, by the core's description.
export function fitChoices(link) {
  for (const one of [...link.picks, ...link.controls]) rows.get(one.key)?.fit(one);
}

// A key that is one of a few words. One that does not fit the other keys is shown and cannot be
// chosen.
function pick(one, text, changed) {
  const id = `pick-${one.key.replaceAll(".", "-")}`;
  const select = element("select", { id, "data-key": one.key });
  const note = element("p", { class: "note" });
  const row = element("div", { class: "slider" },
    element("div", { class: "top" }, element("label", { for: id }, one.key), select), note);
  const show = (setting) => {
    row.classList.toggle("changed", setting !== undefined);
    select.value = setting ?? one.value;
    const word = one.words.find((each) => each.text === select.value);
    note.replaceChildren(...withCode(word?.meaning ?? one.meaning));
  };
  const fit = ({ words }) => {
    const chosen = select.value;
    select.replaceChildren(...words.map((word) => element("option", {
      value: word.text, title: word.meaning, disabled: !word.fits && word.text !== chosen,
    }, word.text)));
    select.value = chosen;
  };
  select.addEventListener("change", () => {
    const word = select.value;
    show(word);
    changed(one.key, word === one.value ? null : word);
    row.classList.toggle("changed", word !== one.value);
  });
  select.append(...one.words.map((word) => element("option", { value: word.text }, word.text)));
  show(text);
  fit(one);
  rows.set(one.key, { show, fit });
  return row;
}

function slider(own, text, changed) {
  let control = own;
  const id = `slider-${control.key.replaceAll(".", "-")}`;
  const range = element("input", {
    type: "range", id, min: "0", max: String(steps(control)), step: "1", "data-key": control.key,
  });
  const field = element("input", {
    "aria-label": `${control.key}, exact value`, spellcheck: "false",
  });
  const row = element("div", { class: "slider" },
    element("div", { class: "top" }, element("label", { for: id }, control.key), field),
    range,
    element("p", { class: "note" }, ...withCode(control.meaning)));
  const show = (setting) => {
    row.classList.toggle("changed", setting !== undefined);
    if (setting === undefined) {
      range.value = String(toPosition(control, control.value ?? null));
      field.value = shown(control.kind, control.value ?? null);
    } else {
      const value = read(control, setting);
      field.value = control.kind === "share" && value !== undefined
        ? shown(control.kind, value) : setting;
      if (value !== undefined) range.value = String(toPosition(control, value));
    }
    range.setAttribute("aria-valuetext", field.value);
  };
  range.addEventListener("input", () => {
    const value = toValue(control, Number(range.value));
    field.value = shown(control.kind, value);
    range.setAttribute("aria-valuetext", field.value);
    row.classList.add("changed");
    changed(control.key, quantity(control.kind, value));
  });
  field.addEventListener("change", () => {
    const setting = field.value.trim();
    changed(control.key, setting === "" ? null : setting);
  });
  const fit = ({ choices }) => {
    if (!control.choices.length || String(choices) === String(control.choices)) return;
    const value = toValue(control, Number(range.value));
    control = { ...control, choices };
    range.max = String(steps(control));
    range.value = String(toPosition(control, value));
  };
  show(text);
  rows.set(control.key, { show, fit });
  return row;
}

function switchOf(one, settings, changed) {
  const inside = element("div", { hidden: true });
  const keys = one.controls.map((control) => control.key);
  const box = element("input", { type: "checkbox" });
  const build = () => {
    inside.replaceChildren(...one.controls.map(
      (control) => slider(control, settings[control.key], changed)));
  };
  box.checked = keys.some((key) => key in settings);
  inside.hidden = !box.checked;
  build();
  box.addEventListener("change", () => {
    inside.hidden = !box.checked;
    for (const control of one.controls) {
      changed(control.key, box.checked ? quantity(control.kind, control.value) : null);
    }
    build();
  });
  return element("div", {}, element("label", { class: "switch" }, box, ` ${one.name}`), inside);
}

const SIZES = {
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1,
  min: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824,
  "%": 0.01, "": 1,
};

// The value of a setting's text; undefined where only the core can say.
function read(control, text) {
  if (text === "unlimited") return null;
  const found = /^\s*(-?[0-9.]+)\s*([A-Za-z/%]*)\s*$/.exec(text);
  if (!found || !(found[2] in SIZES)) return undefined;
  return Number(found[1]) * SIZES[found[2]];
}
