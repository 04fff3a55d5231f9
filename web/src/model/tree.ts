// SPDX-License-Identifier: Apache-2.0
// A call tree in arrays: as objects, 100 000 nodes would load the garbage collector in every frame.
// Parents precede their children; node 0 is the root.
export interface Fn {
  readonly name: string;
  readonly module: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly quality: string | null;
}

// A tree in the collector's format: each function once, nodes as columns of numbers. Columns parse
// much faster than that many objects.
export interface Columns {
  readonly functions: readonly Fn[];
  readonly nodes: {
    readonly function: readonly number[];
    readonly parent: readonly number[];
    readonly self: readonly number[];
    readonly total: readonly number[];
  };
}

export interface Tree {
  readonly fns: readonly Fn[];
  readonly fn: Uint32Array;
  readonly parent: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
}

const keyOf = (fn: Fn): string => fn.module + "\0" + fn.name + "\0" + (fn.file ?? "");

// Builds a tree from its root. Equal frames below the same parent share a node.
export class TreeBuilder {
  private readonly fns: Fn[] = [];
  private readonly ids = new Map<string, number>();
  private readonly fn: number[] = [0];
  private readonly parent: number[] = [-1];
  private readonly self: number[] = [0];
  private readonly total: number[] = [0];
  private readonly children = new Map<number, number>();

  constructor(rootName: string, rootModule = "") {
    this.idOf({ name: rootName, module: rootModule, file: null, line: null, quality: null });
  }

  idOf(fn: Fn): number {
    const key = keyOf(fn);
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.fns.length;
      this.fns.push(fn);
      this.ids.set(key, id);
    }
    return id;
  }

  child(parent: number, fn: number): number {
    const key = parent * 4194304 + fn; // no answer has more than 2^22 functions
    let node = this.children.get(key);
    if (node === undefined) {
      node = this.fn.length;
      this.fn.push(fn);
      this.parent.push(parent);
      this.self.push(0);
      this.total.push(0);
      this.children.set(key, node);
    }
    return node;
  }

  add(node: number, self: number, total: number): void {
    this.self[node] = (this.self[node] ?? 0) + self;
    this.total[node] = (this.total[node] ?? 0) + total;
  }

  done(): Tree {
    return {
      fns: this.fns, fn: Uint32Array.from(this.fn), parent: Int32Array.from(this.parent),
      self: Float64Array.from(this.self), total: Float64Array.from(this.total),
    };
  }
}

const NO_FUNCTION: Fn = { name: "all", module: "", file: null, line: null, quality: null };

export function treeOf({ functions, nodes }: Columns): Tree {
  if (nodes.parent.length === 0)
    return { fns: [NO_FUNCTION], fn: Uint32Array.of(0), parent: Int32Array.of(-1), self: Float64Array.of(0), total: Float64Array.of(0) };
  return {
    fns: functions, fn: Uint32Array.from(nodes.function), parent: Int32Array.from(nodes.parent),
    self: Float64Array.from(nodes.self), total: Float64Array.from(nodes.total),
  };
}

export const fnAt = (tree: Tree, node: number): Fn => tree.fns[tree.fn[node] ?? 0] as Fn;

// The nodes from NODE up to the root's child, leaf first.
export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at] as number) path.push(at);
  return path;
}

// An identifier of a node that stays valid in the next answer: an FNV-1a hash of the names on its
// path.
export function pathNames(tree: Tree): Uint32Array {
  const hashOfFn = tree.fns.map((fn) => hashText(fn.module + "\0" + fn.name));
  const hashes = new Uint32Array(tree.fn.length);
  for (let at = 1; at < hashes.length; at++)
    hashes[at] = Math.imul((hashes[tree.parent[at] as number] as number) ^
                           (hashOfFn[tree.fn[at] as number] as number), 16777619);
  return hashes;
}

export function hashText(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length && i < 4096; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}
