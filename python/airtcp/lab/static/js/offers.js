// Parts of the page that need a server are hidden without one, and commands are shown in place.

import { by } from "./elements.js";

export function showOffers({ offers, place }) {
  for (const part of document.querySelectorAll("[data-offer]")) {
    part.hidden = !offers[part.dataset.offer];
  }
  for (const part of document.querySelectorAll("[data-without]")) {
    part.hidden = offers[part.dataset.without];
  }
  by("place").textContent = place;
}

// The command that tries every remedy on the link as it is set.
export function showCommand({ link, settings, toml }, name) {
  const scenario = toml?.name ?? (link.startsWith("ready/") ? link.slice(6) : `${name}.toml`);
  const set = Object.entries(settings).map(([key, value]) => ` --set ${quoted(`${key}=${value}`)}`);
  by("command").textContent = `airtcp compare ${quoted(scenario)}${set.join("")}`;
}

const quoted = (text) => (/^[\w.=/:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
