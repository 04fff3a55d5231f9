// SPDX-License-Identifier: Apache-2.0
// Derived trees: inverted, with a module's frames merged, and the two halves of a sandwich. Each
// keeps the sum: the root's weight is the sum of its leaves.
import { fnAt, TreeBuilder, type Fn, type Tree } from "./tree";

const moduleFn = (fn: Fn): Fn => ({ ...fn, name: fn.module || fn.name, file: null, line: null, quality: null });

// Frames of one module that call each other become one frame.
export function mergeModules(tree: Tree): Tree {
  const made = new TreeBuilder(fnAt(tree, 0).name);
  const at = new Int32Array(tree.fn.length);
  const ids = tree.fns.map((fn) => made.idOf(moduleFn(fn)));
  made.add(0, tree.self[0] as number, tree.total[0] as number);
  for (let node = 1; node < tree.fn.length; node++) {
    const parent = tree.parent[node] as number;
    const id = ids[tree.fn[node] as number] as number;
    const isSame = parent > 0 && ids[tree.fn[parent] as number] === id;
    at[node] = isSame ? (at[parent] as number) : made.child(at[parent] as number, id);
    made.add(at[node] as number, tree.self[node] as number, isSame ? 0 : (tree.total[node] as number));
  }
  return made.done();
}

// Leaf functions first, their callers above them.
export function invert(tree: Tree): Tree {
  const made = new TreeBuilder(fnAt(tree, 0).name);
  const ids = tree.fns.map((fn) => made.idOf(fn));
  for (let node = 0; node < tree.fn.length; node++) {
    const self = tree.self[node] as number;
    if (self <= 0) continue;
    made.add(0, node === 0 ? self : 0, self);
    let at = 0;
    for (let up = node; up > 0; up = tree.parent[up] as number) {
      at = made.child(at, ids[tree.fn[up] as number] as number);
      made.add(at, 0, self);
    }
    if (at > 0) made.add(at, self, 0);
  }
  return made.done();
}

const isIt = (fn: Fn, name: string, module: string): boolean =>
  fn.name === name && (module === "" || fn.module === module);

const moduleOf = (tree: Tree, name: string, module: string): string =>
  tree.fns.find((fn) => isIt(fn, name, module))?.module ?? module;

// Everything that NAME calls, below one root. A recursive call is part of the outer call.
export function callees(tree: Tree, name: string, module = ""): Tree {
  const made = new TreeBuilder(name, moduleOf(tree, name, module));
  const at = new Int32Array(tree.fn.length).fill(-1);
  const wanted = tree.fns.map((fn) => isIt(fn, name, module));
  const ids = tree.fns.map((fn) => made.idOf(fn));
  for (let node = 1; node < tree.fn.length; node++) {
    const parent = tree.parent[node] as number;
    const self = tree.self[node] as number;
    const total = tree.total[node] as number;
    const above = at[parent] as number;
    const id = tree.fn[node] as number;
    if (above >= 0) {
      at[node] = made.child(above, ids[id] as number);
      made.add(at[node] as number, self, total);
    } else if (wanted[id]) {
      at[node] = 0;
      made.add(0, self, total);
    }
  }
  return made.done();
}

// All callers of NAME, the nearest first; with recursion, callers of the outermost call.
export function callers(tree: Tree, name: string, module = ""): Tree {
  const made = new TreeBuilder(name, moduleOf(tree, name, module));
  const wanted = tree.fns.map((fn) => isIt(fn, name, module));
  const ids = tree.fns.map((fn) => made.idOf(fn));
  const isWithin = new Uint8Array(tree.fn.length);
  for (let node = 1; node < tree.fn.length; node++) {
    const parent = tree.parent[node] as number;
    const id = tree.fn[node] as number;
    if (isWithin[parent]) isWithin[node] = 1;
    else if (wanted[id]) {
      isWithin[node] = 1;
      const total = tree.total[node] as number;
      made.add(0, 0, total);
      let at = 0;
      for (let up = parent; up > 0; up = tree.parent[up] as number) {
        at = made.child(at, ids[tree.fn[up] as number] as number);
        made.add(at, 0, total);
      }
      made.add(at, total, 0);
    }
  }
  return made.done();
}

// Merges two trees by share. A node's width is the mean of both sides, so nodes of one side only
// are visible too. FRAME_OF maps a function of either side to its common frame.
interface Pair { readonly tree: Tree; readonly a: Float64Array; readonly b: Float64Array }

export function pairTrees(one: Tree, other: Tree, frameOf = (fn: Fn): Fn => ({ ...fn, file: null })): Pair {
  const made = new TreeBuilder("all");
  const sides = [one, other].map((tree) => {
    const at = new Int32Array(tree.fn.length);
    const ids = tree.fns.map((fn) => made.idOf(frameOf(fn)));
    const whole = (tree.total[0] as number) || 1;
    const shares: [number, number][] = [];
    for (let node = 0; node < tree.fn.length; node++) {
      if (node > 0)
        at[node] = made.child(at[tree.parent[node] as number] as number, ids[tree.fn[node] as number] as number);
      const share = (tree.total[node] as number) / whole;
      made.add(at[node] as number, (tree.self[node] as number) / whole / 2, share / 2);
      shares.push([at[node] as number, share]);
    }
    return shares;
  });
  const tree = made.done();
  const [a, b] = sides.map((shares) => {
    const sums = new Float64Array(tree.fn.length);
    for (const [node, share] of shares) sums[node] = (sums[node] as number) + share;
    return sums;
  }) as [Float64Array, Float64Array];
  return { tree, a, b };
}
