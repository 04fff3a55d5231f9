// SPDX-License-Identifier: Apache-2.0
// Keyboard navigation in a flame graph.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { levelsShown, ROW_PX, scrollFor, step, type Scene } from "../src/canvas/flame";
import { layoutOf } from "../src/model/layout";
import { rowsOf } from "../src/model/compare";
import { pairTrees } from "../src/model/transform";
import { fnAt, type Tree } from "../src/model/tree";
import { folded, grown } from "./folded";

const sceneOf = (tree: Tree): Scene => ({
  tree, layout: layoutOf(tree), zoom: 0, cursor: -1, found: null, colourOf: () => "",
  palette: { isDark: false, text: "", quiet: "", ground: "", found: "", root: "" },
});
const nameOf = ({ tree }: Scene, node: number): string => fnAt(tree, node).name;
const nodeOf = (scene: Scene, name: string): number =>
  Array.from(scene.tree.fn).findIndex((_, node) => nameOf(scene, node) === name);
// The names that KEYS visit.
function walk(scene: Scene, ...keys: string[]): string[] {
  let cursor = scene.cursor;
  return keys.map((key) => nameOf(scene, (cursor = step({ ...scene, cursor }, "Arrow" + key))));
}

test("arrow keys go to the heaviest child, the caller and the neighbours", () => {
  const scene = sceneOf(folded("main;heavy;leaf 5", "main;light 1"));
  assert.deepEqual(walk(scene, "Down", "Down", "Right", "Right", "Left", "Down", "Down", "Up", "Up", "Up", "Up"),
                   ["main", "heavy", "light", "light", "heavy", "leaf", "leaf", "heavy", "main", "all", "all"]);
});

test("no key leaves what is zoomed to, but for its callers", () => {
  const whole = sceneOf(folded("main;a;x 3", "main;a;y 2", "main;b;z 1"));
  const scene = { ...whole, zoom: nodeOf(whole, "a") };
  assert.deepEqual(walk(scene, "Right", "Down", "Right", "Right", "Left", "Left", "Up", "Up", "Right"),
                   ["a", "x", "y", "y", "x", "x", "a", "main", "main"]);
  // A cursor outside the zoomed part starts anew.
  assert.deepEqual(walk({ ...scene, cursor: nodeOf(whole, "z") }, "Down"), ["x"]);
});

test("each node of a row is reached, whatever their widths add up to", () => {
  const lines = Array.from({ length: 300 }, (_, i) => `main;f${i % 60};g${i} ${1 + (i * 7919) % 97}`);
  const a = folded(...lines), b = folded(...[...lines].reverse().map((line) => line.replace(/\d$/, "7")));
  const scene = sceneOf(pairTrees(a, b, rowsOf([], a, b).frameOf).tree);
  for (const [downs, size] of [[2, 60], [3, 300]] as const) {
    const way = walk(scene, ...Array.from({ length: downs }, () => "Down"), ...Array.from({ length: 400 }, () => "Right"));
    assert.equal(new Set(way.slice(downs - 1)).size, size);
  }
});

test("the cursor stays within what is drawn, and the box scrolls to it", () => {
  const deep = sceneOf(grown(Array.from({ length: 2000 }, (_, i) =>
    ({ name: "f" + i, module: "app", file: null, line: null, quality: null, parent: i - 1, self: 0, total: 1 }))));
  const way = walk(deep, ...Array.from({ length: 1500 }, () => "Down"));
  assert.equal(way[way.length - 1], "f" + (levelsShown(deep.layout) - 1));
  assert.equal(scrollFor(deep.layout, 10, 0, 20 * ROW_PX), 0); // already visible
  assert.equal(scrollFor(deep.layout, 45, 0, 20 * ROW_PX), 26 * ROW_PX);
  assert.equal(scrollFor(deep.layout, 5, 26 * ROW_PX, 20 * ROW_PX), 5 * ROW_PX);
});
