// SPDX-License-Identifier: Apache-2.0
// How figures and strangers' names are written.  Names come from programs that we do not know: they
// enter the page as text, never as markup; what reorders or hides the text around it is shown and
// not obeyed; and no name is longer than a cell can hold.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const NAME_CHARS_MAX = 400;

const escaped = (c: string): string => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");

export function shown(text: string | null | undefined, max = NAME_CHARS_MAX): string {
  const whole = text ?? "";
  // Cut first: replacing all of a name of 100 KB is not worth it.
  const cut = whole.length > max ? whole.slice(0, max) + "…" : whole;
  return cut.replace(CONTROLS, escaped);
}

export const percent = (share: number): string => (100 * share).toFixed(1) + " %";

export const interval = ([low, high]: readonly [number, number]): string =>
  (100 * low).toFixed(1) + " – " + (100 * high).toFixed(1) + " %";

export const points = (difference: number): string =>
  (difference > 0 ? "+" : "") + (100 * difference).toFixed(1);

// Made once: toLocaleString makes one a call.
const WHOLE = new Intl.NumberFormat("en");

export const count = (value: number): string => WHOLE.format(value);

// With the plural "s" except for 1: 1 board, 2 boards.
export const counted = (value: number, one: string): string => count(value) + " " + one + (value === 1 ? "" : "s");

// The subject and the source of an answer's intervals.
export function basisText({ unit, units, scope }: { unit: string; units: number; scope?: string }): string {
  if (scope === "fleet") return `of boards like these, by how ${count(units)} ${shown(unit)} differ`;
  return "of what ran in this time, by " + (units > 0 ? `how ${count(units)} ${shown(unit)} differ` : "samples");
}

// The part of WHOLE left out by a limit; "": none.
export function restText(rest: { weight: number; samples: number; functions?: number; rows?: number } | undefined, whole: number): string {
  const rows = rest?.functions ?? rest?.rows ?? 0;
  return !rest || rows === 0 ? "" : `${count(rows)} more are not here: ${percent(rest.weight / (whole || 1))}, ${count(rest.samples)} samples.`;
}

// Times as in ISO 8601, which is unambiguous, in the reader's time zone: the Swedish locale formats
// them so.
const ISO_LOCALE = "sv";
const DAY_TIME = new Intl.DateTimeFormat(ISO_LOCALE, { dateStyle: "short", timeStyle: "short" });
const DAY_TIME_SECONDS = new Intl.DateTimeFormat(ISO_LOCALE, { dateStyle: "short", timeStyle: "medium" });

// An invalid time, as a link may contain, is shown unchanged.
const MOMENT_MAX_MS = 8.64e15;
export const moment = (at: number, hasSeconds = false): string =>
  Math.abs(at) <= MOMENT_MAX_MS ? (hasSeconds ? DAY_TIME_SECONDS : DAY_TIME).format(at) : String(at);
export const clock = (at: number): string => moment(at, true).slice(-8);

// From one time to another; the second has a date only if it is another day.
export function spanText(from: number, to: number): string {
  const [one, other] = [moment(from), moment(to)];
  return one + " to " + (one.slice(0, 10) === other.slice(0, 10) ? other.slice(-5) : other);
}

export const words = (name: string): string => shown(name).replaceAll("_", " ");

export function seconds(nanoseconds: number): string {
  const value = nanoseconds / 1e9;
  const digits = value < 10 ? 3 : 1;
  return value.toLocaleString("en", { maximumFractionDigits: digits }) + " CPU s";
}

// Of one request or frame: in the unit that leaves three digits.
export function shortTime(seconds: number): string {
  const size = Math.abs(seconds) / 0.9995; // 999.6 µs are 1 ms
  const [factor, unit] = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e3, "ms"] : size >= 1e-6 || size === 0 ? [1e6, "µs"] : [1e9, "ns"];
  return (seconds * factor).toLocaleString("en", { maximumSignificantDigits: 3 }) + " " + unit;
}

// By reason; a number above 2^53 also appears as a string of its digits.
export const lostBy = (loss: Readonly<Record<string, number>> | null | undefined): [string, number][] =>
  Object.entries(loss ?? {}).filter(([reason, lost]) => !reason.endsWith("_exact") && lost > 0);

export function lossText(loss: Readonly<Record<string, number>> | null | undefined): string {
  const reasons = lostBy(loss);
  if (reasons.length === 0) return "none";
  return reasons.map(([reason, lost]) => `${words(reason)} ${count(lost)}`).join(", ");
}

export function ago(time: string | null, now: number): string {
  if (time === null) return "never";
  const passed = Math.max(0, (now - Date.parse(time)) / 1000);
  if (passed < 90) return Math.round(passed) + " s ago";
  if (passed < 5400) return Math.round(passed / 60) + " min ago";
  if (passed < 129600) return Math.round(passed / 3600) + " h ago";
  return Math.round(passed / 86400) + " days ago";
}
