// SPDX-License-Identifier: Apache-2.0
// Which frames of two trees are one, and which row of the comparison says what of them.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { differenceColour, type Palette } from "../src/canvas/colour";
import { moduleToAsk, moversOf, rowsOf } from "../src/model/compare";
import { pairTrees } from "../src/model/transform";
import { fnAt, type Fn, type Tree } from "../src/model/tree";
import { folded } from "./folded";

const row = (module: string, name: string, difference = 0, file: string | null = null) => ({ module, name, difference, file });
const fn = (module: string, name: string, file: string | null = null): Fn => ({ module, name, file, line: null, quality: null });
const framesOf = (tree: Tree): string[] =>
  Array.from(tree.fn).slice(1).map((_, i) => fnAt(tree, i + 1)).map(({ module, name }) => module + "/" + name).sort();

test("two modules have a function of one name, and only that one of them is coloured that changed", () => {
  const tree = folded("app/main;libz.so/read 1", "app/main;app/read 1");
  const { rowOf } = rowsOf([row("libz.so", "read", 0.2), row("app", "read")], tree, tree);
  assert.equal(rowOf(fn("libz.so", "read"))?.difference, 0.2);
  assert.equal(rowOf(fn("app", "read"))?.difference, 0);
  assert.equal(rowOf(fn("app", "main")), null);
  assert.equal(rowsOf([row("libz.so", "read", 0.2)], tree, tree).rowOf(fn("app", "read")), null);
});

test("a program under two names of two releases is one", () => {
  const a = folded("app-1.4/main;app-1.4/parse 1"), b = folded("app-1.5/main;app-1.5/parse 1");
  const { frameOf, rowOf } = rowsOf([row("app-1.4 -> app-1.5", "parse", 0.1)], a, b);
  assert.deepEqual(framesOf(pairTrees(a, b, frameOf).tree), ["app-1.4 -> app-1.5/main", "app-1.4 -> app-1.5/parse"]);
  assert.equal(rowOf(fn("app-1.5", "parse"))?.difference, 0.1);
  assert.equal(rowOf(fn("app-1.4 -> app-1.5", "parse"))?.difference, 0.1); // a frame of the pair
  assert.deepEqual([moduleToAsk("app-1.4 -> app-1.5"), moduleToAsk("app-*"), moduleToAsk("app-1.4")], ["", "", "app-1.4"]);
});

test("a service's program that was renamed is one because a row says so, and unlike ones are not", () => {
  const a = folded("old/main;old/f 1"), b = folded("new/main;new/f 1");
  assert.equal(pairTrees(a, b, rowsOf([row("old -> new", "f")], a, b).frameOf).tree.fn.length, 3);
  assert.equal(pairTrees(a, b, rowsOf([row("old", "f"), row("new", "f")], a, b).frameOf).tree.fn.length, 5);
});

test("several versions of a side are their stem's, also of modules that no row tells of", () => {
  const a = folded("libx.so.1.2/f 1", "run-1.0/main;libc.so.6/g 1");
  const b = folded("libx.so.1.3/f 1", "libx.so.2/f 1", "run-1.1/main;libc.so.6/g 1");
  const { frameOf, rowOf } = rowsOf([row("libx.so.*", "f", 0.3), row("libc.so.6", "g")], a, b);
  assert.deepEqual(framesOf(pairTrees(a, b, frameOf).tree),
                   ["libc.so.6/g", "libx.so.*/f", "run-1.0 -> run-1.1/main"]);
  assert.equal(rowOf(fn("libx.so.2", "f"))?.difference, 0.3);
  assert.equal(frameOf(fn("libc.so.6", "g")).module, "libc.so.6"); // both have it
  const both = folded("python3.10/f 1", "python3.11/f 1");
  assert.equal(pairTrees(both, both, rowsOf([], both, both).frameOf).tree.fn.length, 3);
});

test("functions of one name in two files are two, wherever they were built", () => {
  const tree = folded("app/f 1");
  const { rowOf, frameOf } = rowsOf([row("app", "f", 0.1, "/src/app-1.4/net/a.c"), row("app", "f", 0.2, "/src/app-1.4/disk/a.c")], tree, tree);
  assert.equal(rowOf(fn("app", "f", "/build/net/a.c"))?.difference, 0.1);
  assert.equal(rowOf(fn("app", "f", "/build/disk/a.c"))?.difference, 0.2);
  assert.equal(rowOf(fn("app", "f")), null);
  assert.notEqual(frameOf(fn("app", "f", "/build/net/a.c")).file, frameOf(fn("app", "f", "/build/disk/a.c")).file);
});

test("what could be chance is grey however large it is; else more is red and less is blue", () => {
  const palette: Palette = { isDark: false, text: "", quiet: "", ground: "", found: "", root: "grey" };
  assert.equal(differenceColour(0.9, false, palette), "grey");
  assert.match(differenceColour(0.1, true, palette), /^hsl\(8 /);
  assert.match(differenceColour(-0.1, true, palette), /^hsl\(214 /);
});

test("movers are counted by the answer's count, not by the rows that it has", () => {
  const noise = { verdict: "unclear", difference: 0.5 }, small = { verdict: "changed", difference: -0.01 }, large = { verdict: "changed", difference: 0.2 };
  assert.deepEqual(moversOf({ functions: [noise], changed: 3 }, 10), { rows: [], more: 3 });
  assert.deepEqual(moversOf({ functions: [noise, small, large], changed: 2 }, 10), { rows: [large, small], more: 0 });
  assert.deepEqual(moversOf({ functions: [noise, small, large], changed: 5 }, 1), { rows: [large], more: 4 });
});
