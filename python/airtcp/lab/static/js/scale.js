// Slider positions and values: logarithmic, with 0 and "unlimited" at the ends where these are
// values.

const STEPS = 1000;

export const steps = (control) => (control.choices.length ? control.choices.length - 1 : STEPS);

// The positions between which values are above 0 and limited.
const ends = (control) => [control.zero ? 1 : 0, control.unlimited ? STEPS - 1 : STEPS];

export function toValue(control, position) {
  if (control.choices.length) return control.choices[position];
  if (control.unlimited && position >= STEPS) return null;
  if (control.zero && position <= 0) return 0;
  const [first, last] = ends(control);
  const share = (position - first) / (last - first);
  if (control.low <= 0) return control.low + share * (control.high - control.low);
  const value = control.low * (control.high / control.low) ** share;
  return control.kind === "count" ? Math.round(value) : Number(value.toPrecision(3));
}

export function toPosition(control, value) {
  if (control.choices.length) {
    const off = control.choices.map((choice) => Math.abs(choice - value));
    return off.indexOf(Math.min(...off));
  }
  if (value === null) return STEPS;
  const [first, last] = ends(control);
  let share;
  if (control.low <= 0) share = (value - control.low) / (control.high - control.low);
  else if (value <= 0) return 0;
  else share = Math.log(value / control.low) / Math.log(control.high / control.low);
  return Math.round(first + Math.max(0, Math.min(1, share)) * (last - first));
}
