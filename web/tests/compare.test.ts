// SPDX-License-Identifier: Apache-2.0
// Matching frames of two trees, and the row of the comparison for each.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { differenceColour, type Palette } from "../src/canvas/colour";
import type { Change, Diff, DiffRow } from "../src/api";
import { basisText, changeOf, changesFirst, headlineOf, moduleToAsk, movedText, moversOf, ownUnits, rowsOf, scaleOf, throughText, totalChangeOf, detectableText } from "../src/model/compare";
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
  assert.equal(frameOf(fn("libc.so.6", "g")).module, "libc.so.6"); // both sides have it
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

const change = (difference: number, verdict: Change["verdict"]): Change =>
  ({ a: 0.1, b: 0.1 + difference, difference, ci: null, p: 0.01, verdict, doubt: null, detectable: verdict === "same" ? 0.014 : null });
const whole: Diff["whole"] = { a: 2, b: 3, ratio: 1.492, ci: [1.36, 1.63], p: 0, verdict: "changed", doubt: null, detectable: null, unit: "board-hour" };
const basis = { a_unit: "boards", a_units: 6, a_seconds: null, b_unit: "boards", b_units: 7, b_seconds: null, pairs: 5, phase_seconds: null };
const diffOf = (functions: DiffRow[], more: Partial<Diff> = {}): Diff =>
  ({ measure: "share", of: "total", scope: "fleet", basis, whole, tested: 3, changed: 0, functions, ...more } as Diff);
const compared = (name: string, total: Change, self = change(0, "same")): DiffRow =>
  ({ name, module: "app", file: null, ...self, total,
     cpu: { a: 0.2, b: 1, change: 0.4, change_ci: [0.3, 0.5], p: 0, verdict: "changed", doubt: null, detectable: null } });

test("movers are counted by the answer's count, not by the rows that it has", () => {
  const noise = compared("noise", change(0.5, "unclear")), small = compared("small", change(-0.01, "gone")), large = compared("large", change(0.2, "new"));
  assert.deepEqual(moversOf(diffOf([noise], { changed: 3 }), 10), { rows: [], more: 3 });
  assert.deepEqual(moversOf(diffOf([noise, small, large], { changed: 2 }), 10), { rows: [large, small], more: 0 });
  assert.deepEqual(moversOf(diffOf([noise, small, large], { changed: 5 }), 1), { rows: [large], more: 4 });
});

test("a row's change is of the measure that was asked for, and a frame's colour of its total", () => {
  const row = compared("validate", change(0.18, "new"), change(0.001, "same"));
  assert.equal(changeOf(diffOf([]), row).verdict, "new");
  assert.equal(changeOf(diffOf([], { of: "self" }), row).verdict, "same");
  assert.equal(totalChangeOf(diffOf([], { of: "self" }), row).difference, 0.18);
  const cpu = changeOf(diffOf([], { measure: "cpu" }), row); // parts of A's total of 2 s
  assert.deepEqual([cpu.a, cpu.b, cpu.difference, cpu.ci], [0.1, 0.5, 0.4, [0.3, 0.5]]);
});

test("changes come first, the largest of them at the top, and what is the same last", () => {
  const rows = [compared("same", change(0.3, "same")), compared("unclear", change(0.4, "unclear")), compared("gone", change(-0.2, "gone")), compared("changed", change(0.1, "changed"))];
  assert.deepEqual(changesFirst(diffOf(rows)).map(({ row: { name } }) => name), ["gone", "changed", "unclear", "same"]);
});

test("the headline says how much more, of what, and how surely", () => {
  assert.equal(headlineOf(whole), "B uses +49.2 % CPU per board-hour (+36.0 … +63.0)");
  assert.equal(headlineOf({ ...whole, ratio: null, ci: null, a: 0 }), "B uses 3.00 CPU s per board-hour, A 0.00");
  assert.equal(basisText(diffOf([])), "about boards like these, by 6 and 7 boards, 5 of them on both sides");
  const times = { ...basis, a_unit: "stretches of time", b_unit: "stretches of time", a_seconds: 10, b_seconds: 20, pairs: 0, phase_seconds: null };
  assert.equal(basisText(diffOf([], { scope: "these", basis: times })), "about these boards, by 6 and 7 stretches of time of 10 s and 20 s");
});

test("a unit that the user named is shown, and so is time that moved", () => {
  assert.equal(ownUnits({ units: { unit: "board-hour", a: 2, b: 3 } }), null);
  assert.equal(ownUnits({}), null);
  assert.equal(ownUnits({ units: { unit: "request", a: 1000, b: 2500 } }), "1000 request in A, 2500 in B");
  assert.equal(movedText({ moved: { amount: 0.2, how: "renamed", function: "price" } }), "+20.0 points in place of price");
  assert.equal(movedText({ moved: { amount: 0.1, how: "calls", function: null } }), "+10.0 points called from elsewhere before");
  assert.equal(movedText({}), "");
});

test("CPU time per unit of the user's is in time, and never in points of the whole", () => {
  const named = { units: { unit: "request", a: 1000, b: 2500 }, whole: { ...whole, a: 50e-6 } };
  const { heading, side, change } = scaleOf({ ...named, measure: "cpu" });
  assert.deepEqual([heading, side(0.564), side(0.608), change(0.045), change(-0.0001), change(1e-17), side(0)],
                   ["Difference", "28.2 µs", "30.4 µs", "+2.25 µs", "-5 ns", "0", "0 µs"]);
  assert.equal(detectableText({ verdict: "same", detectable: 0.014 }, side), "detectable from 700 ns");
  assert.equal(movedText({ moved: { amount: 0.04, how: "renamed", function: "price" } }, side), "2 µs in place of price");
  assert.equal(scaleOf({ ...named, measure: "share" }).change(0.045), "+4.5");
  assert.equal(scaleOf({ whole, measure: "cpu" }).heading, "% of A's CPU");
});

test("a change that a callee explains names it", () => {
  const through = { name: "check", module: "shop", file: null };
  assert.equal(throughText({ verdict: "changed" }, { through }), "by check");
  assert.equal(throughText({ verdict: "same" }, { through }), "");
  assert.equal(throughText({ verdict: "new" }, { through: null }), "");
  assert.equal(throughText({ verdict: "new" }, {}), "");
});

test("what is the same or unclear says which increase would have been called changed", () => {
  assert.equal(detectableText({ verdict: "same", detectable: 0.014 }), "detectable from 1.4 %");
  assert.equal(detectableText({ verdict: "unclear", detectable: null }), "no increase would be called changed");
  assert.equal(detectableText({ verdict: "gone", detectable: 0.014 }), "");
});
