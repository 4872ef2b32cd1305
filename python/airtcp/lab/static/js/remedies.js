// The remedies of the two sides: a text as `--remedy` takes it, and a field for each parameter.

import { by, element } from "./elements.js";

let catalogue = new Map();

export function setCatalogue(remedies) {
  catalogue = new Map(remedies.map((remedy) => [remedy.name, remedy]));
}

// Offers the remedies that have a place on this link.
export function offer(amiss) {
  by("remedies").replaceChildren(...[...catalogue.values()]
    .filter((remedy) => !(remedy.name in amiss))
    .map((remedy) =>
      element("option", { value: remedy.name }, `${remedy.place}: ${remedy.effect}`)));
}

// Connects one side; `changed(text)` is called with its new remedies.
export function connect(side, changed) {
  const field = by(`remedy-${side}`);
  field.addEventListener("change", () => {
    showSide(side, field.value, changed);
    changed(field.value.trim());
  });
  // Chosen from the list: no need to leave the field first.
  field.addEventListener("input", () => {
    if (catalogue.has(field.value) || field.value === "") {
      showSide(side, field.value, changed);
      changed(field.value);
    }
  });
}

export function showSide(side, text, changed) {
  const field = by(`remedy-${side}`);
  if (field.value !== text) field.value = text;
  const parts = text.split("+").map((part) => part.trim()).filter(Boolean);
  const known = parts.map((part) => catalogue.get(part.split(":")[0])).filter(Boolean);
  by(`effect-${side}`).textContent = known.map((remedy) => remedy.effect).join(" ");
  const fields = [];
  parts.forEach((part, index) => {
    const remedy = catalogue.get(part.split(":")[0]);
    for (const parameter of remedy?.parameters ?? []) {
      fields.push(parameterField(part, parameter, (replaced) => {
        const all = [...parts];
        all[index] = replaced;
        showSide(side, all.join("+"), changed);
        changed(all.join("+"));
      }));
    }
  });
  by(`parameters-${side}`).replaceChildren(...fields);
}

function parameterField(part, parameter, changed) {
  const [name, ...given] = part.split(":");
  const values = new Map(given.join(":").split(",").filter(Boolean).map((one) => one.split("=")));
  const input = element("input", {
    value: values.get(parameter.name) ?? String(parameter.default), spellcheck: "false",
    title: `${parameter.effect} (${parameter.minimum} to ${parameter.maximum})`,
  });
  input.addEventListener("change", () => {
    const text = input.value.trim();
    if (text === "" || text === String(parameter.default)) values.delete(parameter.name);
    else values.set(parameter.name, text);
    const list = [...values].map(([key, value]) => `${key}=${value}`).join(",");
    changed(list ? `${name}:${list}` : name);
  });
  const unit = parameter.unit ? ` (${parameter.unit})` : "";
  return element("label", {}, `${name} ${parameter.name}${unit}`, input);
}
