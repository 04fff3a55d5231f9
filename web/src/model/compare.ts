// SPDX-License-Identifier: Apache-2.0
// Maps a frame to its row in a comparison of two trees. The collector pairs modules that are one
// program under two file names. Its rows name the pair "app-1.4 -> app-1.5", or "app-*" where a
// side has several versions (collector/view/module_pairs.c). A frame belongs to a row if that
// module name and the function name match. Where a side has several functions of that name in
// different files, the file must match too (collector/view/diff_rows.c).
import type { Change, Diff, DiffRow, Whole } from "../api";
import { percent, points, shortTime, shown } from "./text";
import type { Fn, Tree } from "./tree";

export interface Compared { readonly name: string; readonly module: string; readonly file: string | null }

const ARROW = " -> ";

// NAME with a star for each version: a number with dots, or the number after ".so.".
function stemOf(name: string): string {
  const library = name.replace(/(\.so\.)\d+(?:\.\d+)*[A-Za-z0-9]*/g, "$1*");
  return library.replace(/(^|\D)\d+(?:\.\d+)+[A-Za-z0-9]*/g, "$1*");
}

const modulesOf = (tree: Tree): Set<string> => new Set(tree.fns.map(({ module }) => module));

// Maps each side's module names to the pair's name in rows.
function pairsOf(shown: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const module of shown)
    for (let at = module.indexOf(ARROW); at >= 0; at = module.indexOf(ARROW, at + 1))
      for (const side of [module.slice(0, at), module.slice(at + ARROW.length)]) names.set(side, module);
  return names;
}

// The common name of each module in both trees. A module that is in no received row is paired by
// its versions, as the collector does.
function moduleNames(rows: readonly Compared[], a: Tree, b: Tree): ReadonlyMap<string, string> {
  const shown = new Set(rows.map(({ module }) => module));
  const names = pairsOf(shown);
  const [ofA, ofB] = [modulesOf(a), modulesOf(b)];
  const stems = new Map<string, string[]>();
  for (const module of new Set([...ofA, ...ofB])) {
    const stem = stemOf(module);
    if (shown.has(module) || names.has(module) || stem === module || !/[A-Za-z]/.test(stem)) continue;
    if (shown.has(stem)) names.set(module, stem);
    else stems.set(stem, [...(stems.get(stem) ?? []), module]);
  }
  for (const [stem, modules] of stems) {
    const olds = modules.filter((module) => ofA.has(module)), news = modules.filter((module) => ofB.has(module));
    if (olds.length === 0 || news.length === 0 || modules.every((module) => ofA.has(module) && ofB.has(module))) continue;
    const name = olds.length === 1 && news.length === 1 ? olds[0] + ARROW + news[0] : stem;
    for (const module of modules) names.set(module, name);
  }
  return names;
}

// The last folder and the file name of a path; a version at the folder's end is removed.
function placeOf(file: string): string {
  const [last = "", folder = ""] = file.split("/").reverse();
  return folder.replace(/[-_]?\d[\d.]*$/, "") + "/" + last;
}
const isSameFile = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && placeOf(one) === placeOf(other));

export interface Rows<Row> {
  readonly frameOf: (fn: Fn) => Fn; // FN as named for both sides
  readonly rowOf: (fn: Fn) => Row | null; // null: no received row has it
}

export function rowsOf<Row extends Compared>(rows: readonly Row[], a: Tree, b: Tree): Rows<Row> {
  const names = moduleNames(rows, a, b);
  const moduleOf = (module: string): string => names.get(module) ?? module;
  const families = new Map<string, Row[]>(); // by module and name
  for (const row of rows) {
    const key = row.module + "\0" + row.name;
    const family = families.get(key);
    if (family) family.push(row);
    else families.set(key, [row]);
  }
  const familyOf = (fn: Fn): readonly Row[] => families.get(moduleOf(fn.module) + "\0" + fn.name) ?? [];
  const rowOf = (fn: Fn): Row | null => {
    const family = familyOf(fn);
    if (family.length === 1 && family[0]!.file === null) return family[0]!;
    return family.find((row) => isSameFile(row.file, fn.file)) ?? null;
  };
  const frameOf = (fn: Fn): Fn =>
    ({ ...fn, module: moduleOf(fn.module), file: rowOf(fn)?.file ?? null, line: null });
  return { frameOf, rowOf };
}

// A module as query parameter. A pair is two files, and the function is in both, so it gives "".
export const moduleToAsk = (module: string): string => (/ -> |\*/.test(module) ? "" : module);

export const isChange = ({ verdict }: { verdict: string }): boolean =>
  verdict === "changed" || verdict === "new" || verdict === "gone";

// The change of ROW in the measure of DIFF: the measure that was requested, or always that of
// totals.
export function changeOf({ measure, of, whole }: Pick<Diff, "measure" | "of" | "whole">, row: DiffRow): Change {
  if (measure === "share") return of === "self" ? row : row.total;
  const { a, b, change, change_ci, p, verdict, doubt, detectable } = row.cpu;
  const part = (seconds: number): number => (whole.a > 0 ? seconds / whole.a : 0);
  return { a: part(a), b: part(b), difference: change ?? 0, ci: change_ci, p, verdict, doubt, detectable };
}
export const totalChangeOf = (diff: Pick<Diff, "measure" | "of" | "whole">, row: DiffRow): Change =>
  (diff.of === "total" ? changeOf(diff, row) : row.total);

// The MAX rows with the largest certain changes, and the number of further certain changes. The
// answer only has the rows with the largest differences, noise included; its count covers all rows.
export function moversOf(diff: Diff, max: number): { rows: DiffRow[]; more: number } {
  const by = (row: DiffRow): number => Math.abs(changeOf(diff, row).difference);
  const rows = diff.functions.filter((row) => isChange(changeOf(diff, row)))
    .sort((one, other) => by(other) - by(one)).slice(0, max);
  return { rows, more: Math.max(diff.changed - rows.length, 0) };
}

// Changes first, then unclear rows; the largest first in each group.
const ORDER = { changed: 0, new: 0, gone: 0, unclear: 1, same: 2 } as const;
export function changesFirst(diff: Diff): { row: DiffRow; change: Change }[] {
  return diff.functions.map((row) => ({ row, change: changeOf(diff, row) }))
    .sort(({ change: one }, { change: other }) => ORDER[one.verdict] - ORDER[other.verdict] ||
                                                  Math.abs(other.difference) - Math.abs(one.difference));
}

// PART formats a part of the whole.
export const detectableText = ({ verdict, detectable }: { verdict: string; detectable: number | null }, part = percent): string =>
  isChange({ verdict }) ? "" : detectable === null ? "no increase would be called changed" : `detectable from ${part(detectable)}`;

// The unit that a user divided CPU time by; null: boards and hours.
export function ownUnits({ units }: Pick<Diff, "units">): string | null {
  return units && units.unit !== "board-hour" ? `${units.a} ${shown(units.unit)} in A, ${units.b} in B` : null;
}

// How to show parts of the whole. CPU time per user-defined unit is shown as time: points of the
// whole would be mistaken for the function's own change.
export interface Scale { readonly heading: string; readonly side: (part: number) => string; readonly change: (part: number) => string }
const NOTHING = 1e-9; // of the whole: rounding of doubles
export function scaleOf(diff: Pick<Diff, "measure" | "units" | "whole">): Scale {
  if (diff.measure === "share") return { heading: "Points", side: percent, change: points };
  if (ownUnits(diff) === null) return { heading: "% of A's CPU", side: percent, change: points };
  const side = (part: number): string => shortTime(part * diff.whole.a);
  return { heading: "Difference", side, change: (part) => (Math.abs(part) < NOTHING ? "0" : (part > 0 ? "+" : "") + side(part)) };
}

const MOVES = { calls: "called from elsewhere before", renamed: "in place of", split: "out of", inlined: "inlined:" } as const;

// The part of a change that was another function's time before.
export function movedText({ moved }: Pick<DiffRow, "moved">, amountOf = (part: number): string => points(part) + " points"): string {
  if (!moved) return "";
  return `${amountOf(moved.amount)} ${MOVES[moved.how]}${moved.function ? " " + shown(moved.function) : ""}`;
}

// The callee that explains a change.
export const throughText = ({ verdict }: { verdict: string }, { through }: Pick<DiffRow, "through">): string =>
  (isChange({ verdict }) && through?.name ? "by " + shown(through.name) : "");

export function headlineOf({ a, b, ratio, ci, unit }: Pick<Whole, "a" | "b" | "ratio" | "ci" | "unit">): string {
  if (ratio === null) return `B uses ${b.toPrecision(3)} CPU s per ${shown(unit)}, A ${a.toPrecision(3)}`;
  const between = ci ? ` (${points(ci[0] - 1)} … ${points(ci[1] - 1)})` : "";
  return `B uses ${points(ratio - 1)} % CPU per ${shown(unit)}${between}`;
}

// The data behind the verdicts, and their scope.
export function basisText({ scope, basis }: Pick<Diff, "scope" | "basis">): string {
  const { a_units, a_seconds, b_units, b_seconds, pairs, phase_seconds } = basis;
  const [a_unit, b_unit] = [shown(basis.a_unit), shown(basis.b_unit)];
  const about = scope === "fleet" ? "about boards like these" : "about these boards";
  const counts = a_units > 0 && a_unit === b_unit ? `${a_units} and ${b_units} ${a_unit}`
    : [[a_units, a_unit], [b_units, b_unit]].map(([units, unit]) => (units ? `${units} ${unit}` : unit)).join(" and ");
  const lengths = a_seconds && b_seconds ? ` of ${Number(a_seconds.toPrecision(3))} s and ${Number(b_seconds.toPrecision(3))} s` : "";
  const phases = phase_seconds ? `; phases of more than ${Number(phase_seconds.toPrecision(2))} s may look like a change` : "";
  return `${about}, by ${counts}${lengths}${pairs > 0 ? `, ${pairs} of them on both sides` : ""}${phases}`;
}
