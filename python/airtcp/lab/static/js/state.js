// What is shown, and the same as the fragment of the address: a link to share.

export const DEFAULT = {
  link: "", settings: {}, a: "", b: "bbr", seed: 1, flow: 0, can: "", aim: "", toml: null,
};

const MAX_TOML = 24_000;

// A fragment never leaves the browser: the server does not see it, nor does anyone on the way.
export async function toFragment(state) {
  const parts = new URLSearchParams();
  if (state.toml) {
    parts.set("name", state.toml.name);
    parts.set("toml", await packed(state.toml.text));
  } else {
    parts.set("link", state.link);
  }
  for (const [key, value] of Object.entries(state.settings)) parts.append("set", `${key}=${value}`);
  parts.set("a", state.a);
  parts.set("b", state.b);
  parts.set("seed", String(state.seed));
  if (state.can) parts.set("can", state.can);
  if (state.aim) parts.set("for", state.aim);
  if (state.flow) parts.set("flow", String(state.flow));
  return `#${parts}`;
}

export async function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = structuredClone(DEFAULT);
  state.link = parts.get("link") ?? "";
  for (const setting of parts.getAll("set")) {
    const at = setting.indexOf("=");
    if (at > 0) state.settings[setting.slice(0, at)] = setting.slice(at + 1);
  }
  state.a = parts.get("a") ?? state.a;
  state.b = parts.get("b") ?? state.b;
  state.seed = whole(parts.get("seed"), 1);
  state.flow = whole(parts.get("flow"), 0);
  state.can = parts.get("can") ?? "";
  state.aim = parts.get("for") ?? "";
  const toml = parts.get("toml");
  if (toml) {
    try {
      state.toml = { name: parts.get("name") ?? "shared.toml", text: await unpacked(toml) };
    } catch {
      throw new Error("this address holds a scenario that is damaged: it was not copied whole");
    }
  }
  return state;
}

export function canTravel(toml) {
  return toml.text.length <= MAX_TOML;
}

function whole(text, otherwise) {
  const number = Number(text ?? otherwise);
  return Number.isSafeInteger(number) && number >= 0 ? number : otherwise;
}

async function packed(text) {
  const through = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(through).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (one) => one.charCodeAt(0));
  const through = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = through.pipeThrough(new TextDecoderStream()).getReader();
  // Bounded: a few bytes can unpack to very many.
  let whole = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return whole;
    whole += value;
    if (whole.length > 40 * MAX_TOML) throw new Error("too large");
  }
}
