// The runs of both sides as they stream in.

import { core } from "./core.js";

export function newSide() {
  return { times: [], columns: {}, timeouts: [], result: null, time_s: 0 };
}

// Plays `request`; `progress(sides, duration_s)` is called for each message, at most once a frame
// by its caller's choice. Returns the sides, and why they stopped early if they did.
export async function playSides(request, signal, progress) {
  const sides = request.sides.map(newSide);
  let duration_s = 0;
  let stopped = null;
  await core.play(request, signal, (message) => {
    const side = sides[message.side];
    switch (message.kind) {
      case "begin":
        duration_s = message.duration_s;
        break;
      case "rows":
        append(side, message);
        progress(sides, duration_s);
        break;
      case "result":
        side.result = message;
        break;
      case "stopped":
        stopped = message.message;
        break;
    }
  });
  return { sides, duration_s, stopped };
}

function append(side, message) {
  const { time_s: times, ...columns } = message.columns;
  side.times.push(...times);
  for (const [name, values] of Object.entries(columns)) {
    (side.columns[name] ??= []).push(...values);
  }
  side.time_s = message.time_s;
  for (const [time_s, event, detail] of message.events) {
    if (event === "timeout") side.timeouts.push({ time_s, detail, spurious: false });
    if (event === "spurious-timeout") {
      // It stands at the time of the timeout, but may be known later.
      const found = side.timeouts.findLast((one) => Math.abs(one.time_s - time_s) < 1e-6);
      if (found) found.spurious = true;
    }
  }
}
