// Asks the lab's module under Node, through the page's own worker: requests as lines of JSON on
// standard input, a line of JSON for each answer. Files are given by path.
//
//     node browser_core.mjs worker.js core.wasm < requests

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { runInThisContext } from "node:vm";

const [worker, path] = process.argv.slice(2);
const waiting = new Map();
let heard = [];
let take = null;
globalThis.addEventListener = (_, handler) => { take = handler; };
globalThis.postMessage = ({ number, message, value, error }) => {
  if (message !== undefined) heard.push(message);
  else waiting.get(number)({ value, error, messages: heard });
};
runInThisContext(readFileSync(worker, "utf8"), { filename: worker });
await take({ data: { module: await WebAssembly.compile(readFileSync(path)) } });
let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { files: named = {}, ...request } = JSON.parse(line);
  const files = {};
  for (const [name, place] of Object.entries(named)) {
    files[name] = new Uint8Array(readFileSync(place));
  }
  number += 1;
  heard = [];
  const begun = performance.now();
  const answered = new Promise((done) => { waiting.set(number, done); });
  void take({ data: { number, request, files } });
  const answer = await answered;
  const took_s = (performance.now() - begun) / 1e3;
  const text = JSON.stringify({ ...answer, took_s });
  await new Promise((done) => { process.stdout.write(`${text}\n`, done); });
}
process.exit(0);
