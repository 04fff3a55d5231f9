// SPDX-License-Identifier: Apache-2.0
// Trees written as text in tests.
import { fnAt, pathOf, treeOf, type Fn, type Tree } from "../src/model/tree";

export interface TreeNode extends Fn { readonly parent: number; readonly self: number; readonly total: number }

export const grown = (nodes: readonly TreeNode[]): Tree => treeOf({
  functions: nodes,
  nodes: { function: nodes.map((_, i) => i), parent: nodes.map((node) => node.parent), self: nodes.map((node) => node.self),
           total: nodes.map((node) => node.total) },
});

// "main;work 3" lines, like folded stacks; a module precedes a slash.
export function folded(...lines: string[]): Tree {
  const nodes: TreeNode[] = [];
  const at = new Map<string, number>();
  const add = (path: string, parent: number): number => {
    let node = at.get(path);
    if (node === undefined) {
      const last = path.split(";").pop() as string;
      const [module, name] = parent < 0 ? ["", last] : last.includes("/") ? (last.split("/") as [string, string]) : ["app", last];
      node = nodes.length;
      nodes.push({ name, module, file: null, line: null, quality: null, parent, self: 0, total: 0 });
      at.set(path, node);
    }
    return node;
  };
  const weigh = (node: number, self: number, total: number): void => {
    const old = nodes[node] as TreeNode;
    nodes[node] = { ...old, self: old.self + self, total: old.total + total };
  };
  add("all", -1);
  for (const line of lines) {
    const [stack, weight] = line.split(" ") as [string, string];
    let parent = 0, path = "all";
    weigh(0, 0, +weight);
    for (const name of stack.split(";")) {
      path += ";" + name;
      parent = add(path, parent);
      weigh(parent, 0, +weight);
    }
    weigh(parent, +weight, 0);
  }
  return grown(nodes);
}

// A tree as folded stacks, sorted: the order of children does not matter.
export function unfolded(tree: Tree): string[] {
  const lines: string[] = [];
  for (let node = 1; node < tree.fn.length; node++)
    if ((tree.self[node] as number) > 0)
      lines.push(pathOf(tree, node).reverse().map((at) => fnAt(tree, at).name).join(";") + " " + tree.self[node]);
  return lines.sort();
}
