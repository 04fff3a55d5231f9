// SPDX-License-Identifier: Apache-2.0
// A search matches a regular expression against functions, of which a tree has some thousands, not
// against nodes. A match counts once per stack, however often it occurs on it.
//
// A link may contain any pattern and a program any name, and a regular expression cannot be
// interrupted: (x+)+$ takes 2^n steps on n letters. So the number of ways to match is bounded first
// (model/pattern.ts). The more ways, the shorter the part of a name that is searched, down to
// nothing. A search that is still slow is aborted.
import { waysOf } from "./pattern";
import { fnAt, type Tree } from "./tree";

const PATTERN_CHARS_MAX = 200;
const CHARS = [4096, 1024, 400, 200]; // searched characters of a name
const STEPS_MAX = 2e9; // ways from each character; this takes about 0.1 s, as few ways are tried to the end
const TOO_MANY_WAYS = "a pattern that could take for ever: repeat no repetition and no alternatives, and have three repetitions at most";
const SEARCH_MS_MAX = 300;

export interface Found {
  readonly fns: Uint8Array;
  readonly weight: number;
  readonly functions: number;
  readonly isCut: boolean; // aborted: there may be more
}

export interface Pattern { readonly regexp: RegExp; readonly chars: number }

// Returns null for an empty search and an error text for an invalid pattern.
export function patternOf(text: string): Pattern | string | null {
  if (text === "") return null;
  if (text.length > PATTERN_CHARS_MAX) return `a pattern has at most ${PATTERN_CHARS_MAX} characters`;
  try {
    const regexp = new RegExp(text, "i");
    const chars = CHARS.find((size) => waysOf(text, size) * size <= STEPS_MAX);
    return chars ? { regexp, chars } : TOO_MANY_WAYS;
  } catch (error) {
    return error instanceof Error ? error.message : "not a regular expression";
  }
}

// Returns null if there is no pattern to search for.
export function find(tree: Tree, pattern: Pattern | string | null, now = (): number => performance.now()): Found | null {
  if (pattern === null || typeof pattern === "string") return null;
  const fns = new Uint8Array(tree.fns.length);
  const until = now() + SEARCH_MS_MAX;
  const has = (text: string): boolean => pattern.regexp.test(text.slice(0, pattern.chars));
  let functions = 0, isCut = false;
  for (let i = 0; i < fns.length && !isCut; i++) {
    const fn = tree.fns[i]!;
    if (has(fn.name) || has(fn.module)) {
      fns[i] = 1;
      functions++;
    }
    isCut = now() > until;
  }
  const isWithin = new Uint8Array(tree.fn.length);
  let weight = 0;
  // The root counts if it is a function (in a sandwich); the root of a whole tree has no module.
  for (let node = fnAt(tree, 0).module === "" ? 1 : 0; node < tree.fn.length; node++) {
    const above = node > 0 ? isWithin[tree.parent[node] as number] : 0;
    const isMatch = fns[tree.fn[node] as number];
    if (isMatch && !above) weight += tree.total[node] as number;
    isWithin[node] = isMatch || above ? 1 : 0;
  }
  return { fns, weight, functions, isCut };
}
