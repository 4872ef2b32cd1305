// A link with all settings, and the scenario as a file.

import { core } from "./core.js";
import { by, element } from "./elements.js";
import { canTravel, toFragment } from "./state.js";

export function connectShare(current, fail) {
  by("share-button").addEventListener("click", async () => {
    const state = current();
    by("share-link").value = new URL(await toFragment(state), location.href).href;
    by("share-note").textContent = note(state);
    by("share").showModal();
    by("share-link").select();
  });
  by("copy-link").addEventListener("click", async () => {
    by("share-link").select();
    try {
      await navigator.clipboard.writeText(by("share-link").value);
      by("copy-link").textContent = "Copied";
      setTimeout(() => { by("copy-link").textContent = "Copy"; }, 1500);
    } catch {
      by("share-note").textContent = "Copy the selected text: the browser forbids the page to.";
    }
  });
  for (const side of ["a", "b"]) {
    by(`save-${side}`).addEventListener("click", () => save(current(), side).catch(fail));
  }
}

function note(state) {
  if (state.toml && !canTravel(state.toml)) {
    return "This scenario is too long for some programs to pass on as an address: share the file.";
  }
  if (state.link.startsWith("drop/") && !state.toml) {
    return "The recording that was dropped does not fit into an address: share the file.";
  }
  return "Everything is in the address itself, behind the #: no server sees it.";
}

async function save(state, side) {
  const { name, blob, recordings, made } = await core.scenario({
    source: state.link, settings: state.settings, remedy: state[side],
  });
  offer(name, blob);
  for (const [file, content] of Object.entries(made)) offer(file, new Blob([content]));
  by("share-command").textContent = name.endsWith(".zip")
    ? `saved ${name}: unpack it, then: `
      + `airtcp run ${name.replace(".zip", ".toml")} --seed ${state.seed}`
    : `saved ${[name, ...Object.keys(made)].join(", ")}`
      + `${recordings.length ? `; it names ${recordings.join(" and ")}` : ""}: `
      + `airtcp run ${name} --seed ${state.seed}`;
}

function offer(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
