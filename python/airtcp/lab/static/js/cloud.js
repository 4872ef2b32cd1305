// Every seed as a point: goodput of side A across, of side B up; on the line both are alike.

import { core } from "./core.js";
import { by, drawing } from "./elements.js";
import { bitRate } from "./format.js";

const SIZE = 300;
const EDGE = { left: 74, bottom: 34, right: 10, top: 10 };

export function clearCloud() {
  by("cloud-plot").replaceChildren();
  by("cloud-verdict").textContent = "";
}

export async function runCloud(request, signal) {
  const points = [];
  let verdict = "";
  await core.cloud(request, signal, (message) => {
    if (message.kind === "seed") {
      points.push(message);
      by("cloud-verdict").textContent = `${points.length} of ${request.seeds} seeds`;
      draw(points, request.sides);
    }
    if (message.kind === "verdict") verdict = message.sentence;
  });
  by("cloud-verdict").textContent = verdict;
}

function draw(points, names) {
  const all = points.flatMap((point) => point.goodput_bps);
  const spread = Math.max(...all) - Math.min(...all) || Math.max(...all) * 0.1 || 1;
  const low = Math.max(0, Math.min(...all) - spread * 0.08);
  const high = Math.max(...all) + spread * 0.08;
  const x = (value) => EDGE.left + ((value - low) / (high - low)) * (SIZE - EDGE.left - EDGE.right);
  const y = (value) => SIZE - EDGE.bottom
    - ((value - low) / (high - low)) * (SIZE - EDGE.bottom - EDGE.top);
  const text = (at, anchor, words) => drawing("text", {
    x: at[0], y: at[1], "text-anchor": anchor,
  }, words);
  const [a, b] = names.map((name) => name || "as written");
  by("cloud-plot").replaceChildren(drawing("svg", {
    viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
    "aria-label": `Goodput of ${points.length} seeds: A (${a}) across, B (${b}) up`,
  },
    drawing("path", {
      class: "axis", d: `M${EDGE.left} ${EDGE.top}V${SIZE - EDGE.bottom}H${SIZE}`,
    }),
    drawing("path", { class: "equal", d: `M${x(low)} ${y(low)}L${x(high)} ${y(high)}` }),
    text([x(low), SIZE - 20], "start", bitRate(low)),
    text([SIZE - EDGE.right, SIZE - 20], "end", bitRate(high)),
    text([EDGE.left - 4, y(low)], "end", bitRate(low)),
    text([EDGE.left - 4, y(high) + 8], "end", bitRate(high)),
    text([(SIZE + EDGE.left) / 2, SIZE - 5], "middle", "goodput of A →"),
    text([EDGE.left + 6, EDGE.top + 10], "start", "↑ goodput of B"),
    ...points.map((point) => drawing("circle", {
      cx: x(point.goodput_bps[0]), cy: y(point.goodput_bps[1] ?? point.goodput_bps[0]), r: 4.5,
    }, drawing("title", {}, `seed ${point.seed}: A ${bitRate(point.goodput_bps[0])}, `
      + `B ${bitRate(point.goodput_bps[1] ?? point.goodput_bps[0])}`)))));
}
