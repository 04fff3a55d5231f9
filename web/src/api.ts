// SPDX-License-Identifier: Apache-2.0
// The only file that fetches.  What the answers mean is in docs/api.md; the types are the fields that
// the page reads, no more.
import { withGap } from "./model/answer";
import { urlOf, type Parameters } from "./model/selection";
import type { Columns, Fn } from "./model/tree";

export type Loss = Readonly<Record<string, number>>;
export type Interval = readonly [number, number];

export interface Basis { unit: string; units: number; scope?: string }
// Rows left out by a limit; collectors of earlier versions do not send them.
export interface Rest { weight: number; samples: number; functions?: number; rows?: number }

export interface Summary {
  basis?: Basis;
  total: number;
  samples: number;
  from: string;
  to: string;
  loss: Loss;
  marks?: { service: string; mark: string; certainty: string; meaning: string }[];
  kernel_hint?: string;
  unsampled_hint?: string;
  rest_hint?: string;
}

export const ENDS = ["complete", "truncated", "no_table", "bad", "other_stack", "not_told"] as const;
export type End = (typeof ENDS)[number];
export type EndShares = Readonly<Record<End, number>>;

export interface Stacks extends EndShares {
  weight: number;
  meanings?: Partial<Record<End, string>>;
  ends_in?: { module: string; end: End; share: number; why: string }[];
}

export interface FunctionRow extends Fn {
  self: number;
  total: number;
  self_share: number;
  total_share: number;
  self_ci: Interval;
  total_ci: Interval;
  self_samples: number;
  too_few_samples: boolean;
  too_few_boards?: boolean;
}

export interface Profile extends Summary { stacks: Stacks; functions: FunctionRow[]; rest?: Rest }
export interface TreeAnswer extends Summary, Columns { stacks?: Stacks }

export interface Series extends Summary {
  step: number;
  series: { labels: Record<string, string>; weight: number; points: [number, number][] }[];
  rest: { series: number; weight: number; points: [number, number][] };
}

export interface QuotaUse { used: number; limit: number | null; refused: number; delayed: number }

export interface Board {
  name: string;
  labels: Record<string, string>;
  arch: string | null;
  kernel: string | null;
  cpus?: number | null;
  cpus_most?: number | null;
  cpus_changed?: string | null;
  versions: Record<string, string>;
  first_seen: string | null;
  last_seen: string | null;
  sampler: string | null;
  achieved_hz: number;
  asked_hz: number | null;
  rate_reason: string | null;
  cost: { added_cpu: number | null; daemon_cpu: number | null; handler_ns_p50: number | null; bytes_day: number } | null;
  budget: { cpu: number | null; bytes_day: number | null; state: string | null } | null;
  quotas?: Readonly<Record<string, QuotaUse>>;
  loss: Loss;
  refused?: { times: number; last: string | null; why: string } | null;
  stacks: EndShares | null;
  revoked: string | null;
}

export interface Boards { boards: Board[] }
export interface Labels { data: string[] }

interface Edge {
  function: string;
  module: string | null;
  file: string | null;
  kind: "stack" | "lr";
  weight: number;
  measured: number;
  extrapolated: number;
  samples: number;
  share: number;
  ci: Interval;
}
export interface Edges extends Summary { edges: Edge[]; rest?: Rest }

export interface NamedPart { name?: string | null; build_id?: string; module?: string; self: number; total: number }
export interface FunctionAnswer extends Summary {
  function: FunctionRow;
  definitions: { module: string; file: string | null; line: number | null }[];
  by_offset: { offset: number | null; address: string | null; code: string; module: string; build_id: string;
               self: number; samples: number }[];
  by_line: { file: string | null; line: number | null; self: number; total: number; text?: string | null }[];
  source?: { file: string; build_id: string; first_line: number; lines: string[] } | null;
  by_build: NamedPart[];
  by_board: NamedPart[];
  by_thread: NamedPart[];
  rest?: Partial<Record<string, Rest>>;
}

interface Judged {
  p: number | null;
  verdict: "changed" | "new" | "gone" | "same" | "unclear";
  doubt: string | null;
  detectable: number | null; // the least increase that would be called changed; null: none
}
// In shares, or in CPU time as a part of all that A takes.
export interface Change extends Judged {
  a: number;
  b: number;
  difference: number;
  ci: Interval | null;
}
interface CpuChange extends Judged { // a and b in seconds per unit
  a: number;
  b: number;
  change: number | null;
  change_ci: Interval | null;
}
export interface DiffRow extends Change { // its own share
  name: string;
  module: string;
  file: string | null;
  total: Change;
  cpu: CpuChange;
  moved?: { amount: number; how: "calls" | "renamed" | "split" | "inlined"; function: string | null } | null;
  through?: { name: string; module: string; file: string | null } | null; // the deepest callee that has most of the change
}
export interface Whole extends Judged { // in seconds per unit
  a: number;
  b: number;
  ratio: number | null;
  ci: Interval | null;
  unit: string;
}
export interface Diff {
  a: Summary;
  b: Summary;
  measure: "share" | "cpu";
  of: "self" | "total";
  scope: "these" | "fleet";
  basis: { a_unit: string; a_units: number; a_seconds: number | null; b_unit: string; b_units: number; b_seconds: number | null; pairs: number; phase_seconds: number | null };
  units?: { unit: string; a: number; b: number };
  whole: Whole;
  tested: number;
  changed: number;
  functions: DiffRow[];
}

export interface Module { build_id: string; path: string; quality: string; wanted: boolean; reason: string }
export interface Modules { modules: Module[] }

interface Books { produced: number; stored: number; dropped: Loss }
export interface LossAnswer extends Books { boards: (Books & { board: string })[] }

export class Problem extends Error {
  constructor(readonly status: number, text: string) {
    super(text);
  }
}

const TOKEN = "token"; // only of this tab: deleted when the tab is closed

export const hasToken = (): boolean => Boolean(sessionStorage.getItem(TOKEN));
export const setToken = (token: string): void => sessionStorage.setItem(TOKEN, token);

function headers(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: "Bearer " + token } : {};
}

async function problemOf(answer: Response): Promise<Problem> {
  const body: unknown = await answer.json().catch(() => null);
  const detail = typeof body === "object" && body !== null && "detail" in body ? String(body.detail) : "";
  return new Problem(answer.status, detail || answer.statusText || `status ${answer.status}`);
}

// Relative to the page's own address, wherever a proxy serves it.
export const here = (path: string): string => new URL("." + path, document.baseURI).href;

declare global { // shared by two scripts: early.ts is separate
  var early: Map<string, Promise<Response>> | undefined;
}

const EARLY_MS = 10000; // by then it is used, or too old for a later request

// A request started before its answer was needed; its answer is taken once.
function take(url: string): Promise<Response> | undefined {
  const begun = globalThis.early?.get(url);
  globalThis.early?.delete(url);
  return begun;
}

export function askEarly(path: string, parameters: Parameters): void {
  const url = urlOf(path, parameters);
  const begun = fetch(here(url), { headers: headers() });
  begun.catch(() => {}); // the caller of take() handles the error
  const early = globalThis.early = new Map([[url, begun]]);
  setTimeout(() => early.delete(url), EARLY_MS);
}

async function get(url: string, signal?: AbortSignal): Promise<Response> {
  let answer: Response;
  try {
    answer = await (take(url) ?? fetch(here(url), { headers: headers(), ...(signal ? { signal } : {}) }));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, "The collector does not answer.");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

export async function ask<T>(path: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
  const answer = await get(urlOf(path, parameters), signal);
  const stale = withGap(await answer.json(), "stale", answer.headers.get("Fleetprof-Stale"));
  return withGap(stale, "incomplete", answer.headers.get("Fleetprof-Incomplete")) as T;
}

export async function askText(path: string, signal?: AbortSignal): Promise<string> {
  return (await get(path, signal)).text();
}

// A file for another tool. A plain link would not send the token.
export async function fetchFile(path: string, parameters: Parameters): Promise<Blob> {
  return (await get(urlOf(path, parameters))).blob();
}

// Sends a debug file in pieces, because the collector accepts at most 64 MiB at once.
const PIECE_BYTES = 32 << 20;

export async function uploadDebug(buildId: string, file: Blob, on: (sent: number) => void): Promise<void> {
  for (let offset = 0; offset < file.size; offset += PIECE_BYTES) {
    const url = urlOf("/api/v1/debug/" + encodeURIComponent(buildId), { offset, total: file.size });
    const answer = await fetch(here(url), {
      method: "PUT", headers: headers(), body: file.slice(offset, offset + PIECE_BYTES),
    }).catch(() => { throw new Problem(0, "The collector does not answer."); });
    if (!answer.ok) throw await problemOf(answer);
    on(Math.min(file.size, offset + PIECE_BYTES));
  }
}
