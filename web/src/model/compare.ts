// SPDX-License-Identifier: Apache-2.0
// Which row of a comparison of two trees a frame belongs to.  The collector pairs modules that are one program under
// two file names and says so in its rows: "app-1.4 -> app-1.5", or "app-*" where a side has several
// versions (collector/view/module_pairs.c).  A frame is of a row when module, so called, and name are
// the same; where a side has several functions of that name, in different files, the file as well
// (collector/view/diff_rows.c).
import type { Fn, Tree } from "./tree";

export interface Compared { readonly name: string; readonly module: string; readonly file: string | null }

const ARROW = " -> ";

// NAME with a star for each version: a number with dots, or the one after ".so.".
function stemOf(name: string): string {
  const library = name.replace(/(\.so\.)\d+(?:\.\d+)*[A-Za-z0-9]*/g, "$1*");
  return library.replace(/(^|\D)\d+(?:\.\d+)+[A-Za-z0-9]*/g, "$1*");
}

const modulesOf = (tree: Tree): Set<string> => new Set(tree.fns.map(({ module }) => module));

// What rows call the sides of a pair.
function pairsOf(shown: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const module of shown)
    for (let at = module.indexOf(ARROW); at >= 0; at = module.indexOf(ARROW, at + 1))
      for (const side of [module.slice(0, at), module.slice(at + ARROW.length)]) names.set(side, module);
  return names;
}

// The name of each module in both trees.  One whose functions have no time of their own is in no row,
// and is paired by its versions as the collector would.
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

// The last part of a path and the folder that it is in, less a version at that one's end.
function placeOf(file: string): string {
  const [last = "", folder = ""] = file.split("/").reverse();
  return folder.replace(/[-_]?\d[\d.]*$/, "") + "/" + last;
}
const isSameFile = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && placeOf(one) === placeOf(other));

export interface Rows<Row> {
  readonly frameOf: (fn: Fn) => Fn; // FN as both sides have it
  readonly rowOf: (fn: Fn) => Row | null; // null: it has no time of its own, or stands in no row that came
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

// A module as a question takes it: that of a pair is two files, of which none is the function's alone.
export const moduleToAsk = (module: string): string => (/ -> |\*/.test(module) ? "" : module);

// Of an answer the MAX rows that have surely changed most, and how many more have: the answer has the rows of the
// largest differences alone, be they noise, and its count is of all.
export function moversOf<Row extends { verdict: string; difference: number }>(
  { functions, changed }: { functions: readonly Row[]; changed: number }, max: number): { rows: Row[]; more: number } {
  const rows = functions.filter((row) => row.verdict === "changed")
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference)).slice(0, max);
  return { rows, more: Math.max(changed - rows.length, 0) };
}
