// How things are written: durations, moments, sizes, ids.

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** A duration with its two largest units. */
export function duration(ms) {
  if (ms === undefined || ms === null || Number.isNaN(ms)) return "–";
  if (ms < 1) return "0 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[at];
  const [smaller, part] = UNITS[at + 1];
  const rest = Math.floor((ms % size) / part);
  return `${Math.floor(ms / size)} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
}

/** A duration with one unit, for what changes as one looks. */
export function roughly(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const [unit, size] = UNITS.find(([, size]) => seconds * 1_000 >= size);
  return `${Math.floor((seconds * 1_000) / size)} ${unit}`;
}

/** How long ago a moment was, or how long until it is. */
export function relative(at, now) {
  const past = now - at;
  if (past >= 0 && past < 2_000) return "just now";
  return past >= 0 ? `${roughly(past)} ago` : `in ${roughly(-past)}`;
}

/** A moment, exactly, here. */
export function exact(at) {
  const date = new Date(at);
  const two = (number, digits = 2) => String(number).padStart(digits, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${clock(at)}.${two(date.getMilliseconds(), 3)}`;
}

export function clock(at) {
  return new Date(at).toTimeString().slice(0, 8);
}

export function bytes(count) {
  if (count < 1_024) return `${count} B`;
  if (count < 1_048_576) return `${(count / 1_024).toFixed(1)} KiB`;
  return `${(count / 1_048_576).toFixed(1)} MiB`;
}

/** 1234567 as 1 234 567, with narrow spaces at which no line breaks. */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A number in little room. */
export function compact(number) {
  if (number < 10_000) return count(number);
  if (number < 1_000_000) return `${Math.floor(number / 1_000)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** The end of an id: its random part, by which a person tells two apart. */
export function shortId(id) {
  return id.slice(-8);
}

/** Words of the API as a person writes them. */
export function words(name) {
  return String(name).replace(/_/g, " ");
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
