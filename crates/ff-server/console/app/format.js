// Formats durations, times, sizes, counts and ids.

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** Formats a duration with its two largest units. */
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

/** Formats a duration with one unit, for values that count up on the page. */
export function shortDuration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const [unit, size] = UNITS.find(([, size]) => seconds * 1_000 >= size);
  return `${Math.floor((seconds * 1_000) / size)} ${unit}`;
}

/** Formats a time relative to `now`: how long ago it was, or how long until then. */
export function relative(at, now) {
  const past = now - at;
  if (past >= 0 && past < 2_000) return "just now";
  return past >= 0 ? `${shortDuration(past)} ago` : `in ${shortDuration(-past)}`;
}

/** Formats a time in the browser's time zone, with milliseconds. */
export function timestamp(at) {
  const date = new Date(at);
  const two = (number, digits = 2) => String(number).padStart(digits, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${clock(at)}.${two(date.getMilliseconds(), 3)}`;
}

/** Formats the time of day in the browser's time zone. */
export function clock(at) {
  return new Date(at).toTimeString().slice(0, 8);
}

export function bytes(count) {
  if (count < 1_024) return `${count} B`;
  if (count < 1_048_576) return `${(count / 1_024).toFixed(1)} KiB`;
  return `${(count / 1_048_576).toFixed(1)} MiB`;
}

/** Formats 1234567 as 1 234 567, with narrow no-break spaces. */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Formats a number in few characters: 12k, 1.2M. */
export function compact(number) {
  if (number < 10_000) return count(number);
  if (number < 1_000_000) return `${Math.floor(number / 1_000)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** The last eight characters of an id. They are random, so they distinguish ids. */
export function shortId(id) {
  return id.slice(-8);
}

/** Converts a name of the API for display: `waiting_children` becomes `waiting children`. */
export function humanize(name) {
  return String(name).replace(/_/g, " ");
}

export function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
