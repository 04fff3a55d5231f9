// SPDX-License-Identifier: Apache-2.0
// A search is by regular expression over functions, of which a tree has some thousands, and not over
// its nodes.  What is found weighs once however often it is on a stack.
import { fnAt, type Tree } from "./tree";

export const PATTERN_CHARS_MAX = 200;
const NAME_CHARS_SEARCHED = 4096;

export interface Found {
  readonly fns: Uint8Array;
  readonly weight: number;
  readonly functions: number;
}

// Null for no search, an Error's text for a pattern that is none.
export function patternOf(text: string): RegExp | string | null {
  if (text === "") return null;
  if (text.length > PATTERN_CHARS_MAX) return `a pattern has at most ${PATTERN_CHARS_MAX} characters`;
  try {
    return new RegExp(text, "i");
  } catch (error) {
    return error instanceof Error ? error.message : "not a regular expression";
  }
}

export function find(tree: Tree, pattern: RegExp): Found {
  const fns = new Uint8Array(tree.fns.length);
  let functions = 0;
  tree.fns.forEach((fn, i) => {
    const name = fn.name.length > NAME_CHARS_SEARCHED ? fn.name.slice(0, NAME_CHARS_SEARCHED) : fn.name;
    if (!pattern.test(name) && !pattern.test(fn.module)) return;
    fns[i] = 1;
    functions++;
  });
  const isWithin = new Uint8Array(tree.fn.length);
  let weight = 0;
  // A root that is a function (of a sandwich) counts, too; that of a whole tree has no module.
  for (let node = fnAt(tree, 0).module === "" ? 1 : 0; node < tree.fn.length; node++) {
    const above = node > 0 ? isWithin[tree.parent[node] as number] : 0;
    const isMatch = fns[tree.fn[node] as number];
    if (isMatch && !above) weight += tree.total[node] as number;
    isWithin[node] = isMatch || above ? 1 : 0;
  }
  return { fns, weight, functions };
}
