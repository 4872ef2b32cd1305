// Quantities as texts that a scenario reads, and back. Base units: bit/s, seconds, bytes.

const UNITS = {
  rate: [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
  time: [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]],
  bytes: [[1e6, "MB"], [1e3, "kB"], [1, "B"]],
};

// Three significant digits, never in exponent form, without zeros at the end.
export function significant(value) {
  if (value === 0) return "0";
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const text = value.toFixed(Math.min(decimals, 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// The text of a value as `--set` takes it; null stands for "unlimited".
export function quantity(kind, value) {
  if (value === null) return "unlimited";
  if (kind === "count") return String(Math.round(value));
  if (kind === "bytes" && value < 1e3) return `${Math.round(value)} B`;
  const units = UNITS[kind];
  if (!units) return significant(value);
  if (value === 0) return `0 ${units.at(-1)[1] === "ns" ? "s" : units.at(-1)[1]}`;
  const [size, unit] = units.find(([size]) => value >= size * 0.9995) ?? units.at(-1);
  return `${significant(value / size)} ${unit}`;
}

// The same as a person reads it: shares in per cent.
export function shown(kind, value) {
  if (kind === "share" && value !== null) return `${significant(value * 100)} %`;
  return quantity(kind, value);
}

export const bitRate = (bps) => (bps === null ? "–" : quantity("rate", bps));
export const milliseconds = (ms) => (ms === null ? "–" : `${significant(ms)} ms`);
export const rpm = (value) => (value === null ? "–" : `${Math.round(value)} RPM`);
export const percent = (share) => `${(share * 100).toFixed(1)} %`;
export const signedPercent = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
export const count = (number) => Math.round(number).toLocaleString("en").replaceAll(",", "\u202f");
