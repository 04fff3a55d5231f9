// SPDX-License-Identifier: Apache-2.0
// The URL's content: everything that a view depends on, so every view is a link. The collector
// rejects unknown parameters of its page: collector/http/routes.c has the same names.
export const NAMES = [
  "view", "match", "from", "to", "function", "module", "search", "merge", "invert", "sandwich",
  "zoom", "sort", "since", "a", "b", "a_from", "a_to", "b_from", "b_to",
  "measure", "of", "scope", "unit", "a_units", "b_units",
] as const;

export type Name = (typeof NAMES)[number];
export type Selection = Readonly<Record<Name, string>>;

export function parseSelection(search: string): Selection {
  const given = new URLSearchParams(search);
  return Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? ""])) as Selection;
}

// The default view: profile if the URL has a selector, otherwise fleet.
export const viewNameOf = ({ view, match }: Selection): string => view || (match ? "profile" : "fleet");

// Relative, like all URLs of the page: behind a proxy the page may have a path other than "/".
export function formatSelection(selection: Selection): string {
  const chosen = new URLSearchParams();
  for (const name of NAMES) if (selection[name]) chosen.set(name, selection[name]);
  const query = chosen.toString();
  return query ? "?" + query : "./";
}

export type Parameters = Readonly<Record<string, string | number>>;

export function urlOf(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== "") query.set(name, String(value));
  const text = query.toString();
  return text ? path + "?" + text : path;
}

// The parameters of every query about samples.
export const range = ({ match, from, to }: Selection): Parameters => ({ match, from, to });

// Another view of the same samples; parameters of the old view alone are dropped.
export function viewOf(selection: Selection, view: string, more: Partial<Selection> = {}): Selection {
  const { match, from, to } = selection;
  return { ...parseSelection(""), match, from, to, view, ...more };
}

const inQuotes = (value: string): string => '"' + value.replaceAll("\\", "\\\\").replaceAll('"', '\\"') + '"';

// MATCH with a condition on LABEL: equal to VALUE, or not. It replaces MATCH's condition on LABEL.
export function withLabel(match: string, label: string, value: string, operator: "=" | "!=" = "="): string {
  const terms = [...match.matchAll(/([A-Za-z_][\w.-]*)\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"/gs)];
  if (terms.length === 0 && /[^\s{}]/.test(match)) return match; // no selector: the collector reports that
  const others = terms.filter((term) => term[1] !== label).map((term) => term[0]);
  return "{" + [...others, label + operator + inQuotes(value)].join(",") + "}";
}

// The step for a series with some hundreds of points, so the answer for a week is no larger than
// for an hour. If a time is not written as a duration, the collector chooses.
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };
const STEPS = [60, 300, 900, 1800, 3600, 7200, 21600, 86400];
const POINTS_MAX = 400;

// Seconds since 1970, as written by a drag over a timeline and by a run's link.
export const isUnix = (time: string): boolean => /^\d+(\.\d+)?$/.test(time);

export function stepOf({ from, to }: Selection): number | "" {
  const ago = /^-(\d{1,6})([smhdw])$/.exec(from || "-1h");
  const seconds = ago && (to === "" || to === "now") ? Number(ago[1]) * (UNITS[ago[2] as string] as number)
    : isUnix(from) && isUnix(to) ? Number(to) - Number(from) : NaN;
  return Number.isNaN(seconds) ? "" : STEPS.find((step) => seconds / step <= POINTS_MAX) ?? "";
}

const quoted = (text: string): string => "'" + text.replaceAll("'", "'\\''") + "'";

// The query as a curl command.
export function curlOf(url: string, parameters: Parameters, hasToken: boolean): string {
  const asked = Object.entries(parameters).filter(([, value]) => value !== "");
  return ["curl -G", hasToken ? '-H "Authorization: Bearer $TOKEN"' : "", quoted(url),
          ...asked.map(([name, value]) => "--data-urlencode " + quoted(`${name}=${value}`))]
    .filter(Boolean).join(" ");
}

// The text before the cursor in a selector, for completion: a label's name or a label's value.
export type Wanted =
  | { kind: "name"; start: number; text: string }
  | { kind: "value"; start: number; text: string; label: string };

export function wantedAt(selector: string, cursor: number): Wanted | null {
  const before = selector.slice(0, cursor);
  const value = /([A-Za-z_][A-Za-z0-9_.-]*)\s*(?:=~|!~|!=|=)\s*"([^"]*)$/.exec(before);
  if (value) {
    const text = value[2] ?? "";
    return { kind: "value", start: cursor - text.length, text, label: value[1] ?? "" };
  }
  const name = /(?:^|[{,])\s*([A-Za-z0-9_.-]*)$/.exec(before);
  if (!name) return null;
  const text = name[1] ?? "";
  return { kind: "name", start: cursor - text.length, text };
}

export function completed(selector: string, cursor: number, wanted: Wanted, choice: string): string {
  const head = selector.slice(0, wanted.start);
  const tail = selector.slice(cursor);
  if (wanted.kind === "value")
    return head + inQuotes(choice).slice(1) + (tail.replace(/^"/, "") || "}");
  return (head.includes("{") ? head : "{" + head) + choice + '="' + tail;
}
