// One instance of the module, in a worker. crates/browser is the other side.

const MAX_WALL_MS = 60_000;

let module = null;
let exports = null;
const cancelled = new Set();

addEventListener("message", async ({ data: { number, module: given, cancel, request, files } }) => {
  if (given) {
    module = given;
    return;
  }
  if (cancel) {
    cancelled.add(number);
    return;
  }
  try {
    exports ??= (await WebAssembly.instantiate(module)).exports;
    if (request.ask === "play") await play(number, request, files);
    else postMessage({ number, value: answer(request, files) });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
});

// Sends the messages of both sides, stretch after stretch, until their end or 60 s.
async function play(number, request, files) {
  const tell = (message) => postMessage({ number, message });
  const begun = performance.now();
  tell(answer(request, files));
  let took_s = null;
  for (;;) {
    await others();
    if (cancelled.delete(number)) return;
    const before = performance.now();
    const done = answer({ ask: "advance", took_s });
    const now = performance.now();
    took_s = (now - before) / 1e3;
    done.messages.forEach(tell);
    if (done.finished) break;
    if (now - begun > MAX_WALL_MS) {
      tell({
        kind: "stopped",
        message: `stopped at ${done.time_s.toPrecision(3)} s of `
          + `${done.duration_s.toPrecision(3)} s: this link takes longer than `
          + `${MAX_WALL_MS / 1e3} s to compute; choose a shorter duration`,
      });
      break;
    }
  }
  postMessage({ number, value: null });
}

// Lets messages that came meanwhile be handled, without the delay of a timer.
const channel = new MessageChannel();
function others() {
  return new Promise((done) => {
    channel.port1.onmessage = done;
    channel.port2.postMessage(null);
  });
}

// The module's answer to one request: its length, its JSON, and the files' contents.
function answer(request, files = {}) {
  const contents = Object.values(files);
  const listed = Object.entries(files).map(([name, content]) => [name, content.length]);
  const json = new TextEncoder().encode(JSON.stringify({ ...request, files: listed }));
  const length = contents.reduce((sum, content) => sum + content.length, 4 + json.length);
  let at = exports.allocate(length);
  new DataView(exports.memory.buffer).setUint32(at, json.length, true);
  at += 4;
  for (const bytes of [json, ...contents]) {
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    at += bytes.length;
  }
  const { value, error } = JSON.parse(called());
  if (error !== undefined) throw new Error(error);
  return value;
}

// An instance that trapped is not used again: what it kept may be half changed.
function called() {
  try {
    exports.answer();
    return output();
  } catch (error) {
    const fault = error instanceof RangeError
      ? "this link needs a deeper stack than browsers have; `airtcp run` has one"
      : `a fault of the core: ${output() || error.message}`;
    exports = null;
    throw new Error(fault);
  }
}

function output() {
  const bytes = new Uint8Array(exports.memory.buffer, exports.output(), exports.output_length());
  return new TextDecoder().decode(bytes);
}
