// SPDX-License-Identifier: Apache-2.0
// The position of each node: from x, total wide, in the unit of the weights. A level holds the
// nodes of one depth from left to right. Computed once per tree. The visible nodes are found by
// bisection, and nodes narrower than a pixel are skipped. So the cost of a frame depends on the
// visible part, not on the tree's size.
import type { Tree } from "./tree";

export interface Layout {
  readonly x: Float64Array;
  readonly depth: Uint16Array;
  readonly levels: readonly Uint32Array[];
}

export const DEPTH_MAX = 4096; // deeper ones are not drawn

export function layoutOf(tree: Tree): Layout {
  const size = tree.fn.length;
  const start = new Uint32Array(size + 1);
  for (let node = 1; node < size; node++) start[(tree.parent[node] as number) + 1]! += 1;
  for (let node = 0; node < size; node++) start[node + 1]! += start[node]!;
  const fill = start.slice();
  const children = new Uint32Array(Math.max(0, size - 1));
  for (let node = 1; node < size; node++) children[fill[tree.parent[node] as number]!++] = node;
  const heavier = (a: number, b: number): number => tree.total[b]! - tree.total[a]! || a - b;
  const x = new Float64Array(size);
  const depth = new Uint16Array(size);
  const levels: Uint32Array[] = [Uint32Array.of(0)];
  for (let level = levels[0]!; levels.length < DEPTH_MAX;) {
    const next = new Uint32Array(level.reduce((sum, node) => sum + start[node + 1]! - start[node]!, 0));
    let at = 0;
    for (const node of level) {
      const below = children.subarray(start[node], start[node + 1]!);
      if (below.length > 1) below.sort(heavier);
      let cursor = x[node]!;
      for (const child of below) {
        x[child] = cursor;
        depth[child] = levels.length;
        cursor += tree.total[child]!;
        next[at++] = child;
      }
    }
    if (next.length === 0) break;
    levels.push(next);
    level = next;
  }
  return { x, depth, levels };
}

const endOf = (tree: Tree, layout: Layout, node: number): number => layout.x[node]! + tree.total[node]!;

// The first node of LEVEL between FROM and TO that extends beyond X.
export function firstBeyond(tree: Tree, layout: Layout, level: Uint32Array, x: number, from = 0, to = level.length): number {
  let low = from, high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(tree, layout, level[middle]!) > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The same, fast if the node is near FROM.
function firstNear(tree: Tree, layout: Layout, level: Uint32Array, x: number, from: number): number {
  let low = from, step = 1;
  while (low + step < level.length && endOf(tree, layout, level[low + step]!) <= x) {
    low += step;
    step *= 2;
  }
  return firstBeyond(tree, layout, level, x, low, Math.min(level.length, low + step));
}

// The node of depth DEPTH at X, or -1.
export function nodeAt(tree: Tree, layout: Layout, depth: number, x: number): number {
  const level = layout.levels[depth];
  if (!level) return -1;
  const node = level[firstBeyond(tree, layout, level, x)];
  return node !== undefined && layout.x[node]! <= x ? node : -1;
}

// Calls ON for each visible node of LEVEL between X0 and X1. Adjacent nodes narrower than LEAST
// form a run: one call, with the run's first node and the run's width.
export function visit(tree: Tree, layout: Layout, level: Uint32Array, x0: number, x1: number, least: number,
                      on: (node: number, x: number, width: number) => void): void {
  for (let i = firstBeyond(tree, layout, level, x0); i < level.length;) {
    const node = level[i]!;
    const x = layout.x[node]!;
    if (x >= x1) return;
    const width = tree.total[node]!;
    if (width >= least) {
      on(node, x, width);
      i++;
      continue;
    }
    const next = Math.max(i + 1, firstNear(tree, layout, level, x + least, i));
    const last = level[next - 1]!;
    on(node, x, layout.x[last]! + tree.total[last]! - x > least ? least : layout.x[last]! + tree.total[last]! - x);
    i = next;
  }
}
