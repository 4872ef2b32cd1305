// The core in this browser: one worker for the charts, and a crew for seeds. Each worker has its
// instance of the module; nothing leaves the browser.

import { Crew } from "./crew.js";
import { Instance } from "./instance.js";

const MAX_WALL_MS = 60_000;

export class Browser {
  offers = { answer: false, explain: false, reports: false };
  place = "Everything is computed in this browser, and nothing leaves it.";
  #overview;
  #front;
  #crew;
  #ready = new Map();
  #dropped = new Map();

  // Loads the module that `listed` names.
  static async begin(listed) {
    const module = await compiled(new URL(listed.module, document.baseURI));
    const own = new Browser();
    own.#front = new Instance(module);
    own.#crew = new Crew(module);
    own.#overview = { askers: [], aims: [], can: "", ...await own.#front.ask({ ask: "overview" }) };
    for (const link of listed.links) own.#ready.set(link.id, link);
    return own;
  }

  async overview() {
    const dropped = [...this.#dropped].reverse().map(([id, { name }]) => (
      { id, name, description: `dropped: ${name}`, kind: "dropped" }));
    return { ...this.#overview, links: [...dropped, ...this.#ready.values()] };
  }

  async link({ source, settings }, signal) {
    const { files, found, ...text } = await this.#source(source);
    const told = await this.#front.ask({ ask: "link", ...text, settings }, { files, signal });
    return { ...told, found, refusal: "" };
  }

  async play({ source, settings, sides, seed, flow }, signal, heard) {
    const { files, found: _, ...text } = await this.#source(source);
    const request = { ask: "play", ...text, settings, sides, seed, flow };
    await this.#front.ask(request, { files, signal, heard });
  }

  // Every seed of every side, shared among the workers, and what they say together.
  async cloud({ source, settings, sides, seeds }, signal, heard) {
    const { files, found: _, ...text } = await this.#source(source);
    const left = Array.from({ length: seeds }, (_, index) => index + 1);
    const goodput = [];
    const until = performance.now() + MAX_WALL_MS;
    await this.#crew.share(left, signal, async (instance, seed) => {
      if (performance.now() > until) {
        throw new Error(`these seeds take longer than ${MAX_WALL_MS / 1e3} s: choose fewer, or a `
          + "shorter duration");
      }
      const request = { ask: "seed", ...text, settings, sides, seed };
      const done = await instance.ask(request, { files });
      goodput[seed - 1] = done.goodput_bps;
      if (!signal.aborted) heard({ kind: "seed", ...done });
    });
    if (sides.length < 2 || signal.aborted) return;
    const [a_bps, b_bps] = [0, 1].map((side) => goodput.map((both) => both[side]));
    heard({
      kind: "verdict", sentence: await this.#front.ask({ ask: "verdict", a_bps, b_bps }),
    });
  }

  async scenario({ source, settings, remedy }) {
    const { files, made, found: _, ...link } = await this.#source(source);
    const request = { ask: "scenario", ...link, settings, remedy };
    const { name, text } = await this.#front.ask(request, { files });
    const recordings = Object.keys(files).filter((file) => !(file in made));
    return { name, blob: new Blob([text]), recordings, made };
  }

  async drop(list) {
    const files = {};
    for (const file of list) files[file.name] = new Uint8Array(await file.arrayBuffer());
    const { name, text, files: made, found } = await this.#front.ask({ ask: "drop" }, { files });
    // The scenario is the text; a log is played by the files that were made of it.
    if (name.toLowerCase().endsWith(".toml") || Object.keys(made).length) delete files[name];
    for (const [file, content] of Object.entries(made)) {
      files[file] = new TextEncoder().encode(content);
    }
    const id = `drop/${this.#dropped.size + 1}`;
    this.#dropped.set(id, { name, text, found, files, made });
    return { id };
  }

  // The text of a link, its name in errors, its files by name, those that were made, and findings.
  async #source(id) {
    const dropped = this.#dropped.get(id);
    if (dropped) return dropped;
    const ready = this.#ready.get(id);
    if (!ready) {
      throw new Error(`link "${id.slice(0, 60)}": no longer here; choose one of the list, or drop `
        + "its file");
    }
    ready.content ??= read(ready);
    return ready.content;
  }
}

// A ready scenario with the files that it names.
async function read({ path, files: names }) {
  const place = new URL(path, document.baseURI);
  const files = {};
  for (const name of names) {
    const response = await fetch(new URL(name, place));
    files[name] = new Uint8Array(await response.arrayBuffer());
  }
  const text = await (await fetch(place)).text();
  return { text, name: path.split("/").at(-1), files, made: {}, found: [] };
}

async function compiled(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${response.statusText}`);
  // Servers that do not know the type of a module send it as bytes.
  return WebAssembly.compile(await response.arrayBuffer());
}
