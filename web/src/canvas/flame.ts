// SPDX-License-Identifier: Apache-2.0
// The flame graph on its canvas. A frame draws only the visible part (model/layout.ts); colours are
// computed once per function. The canvas is as high as its tree, up to the browsers' limit for a
// canvas, and the page scrolls.
import { firstBeyond, layoutOf, nodeAt, visit, type Layout } from "../model/layout";
import type { Found } from "../model/search";
import { shown } from "../model/text";
import { fnAt, type Tree } from "../model/tree";
import type { Palette } from "./colour";

export const ROW_PX = 18;
const HEIGHT_PX_MAX = 16000; // browsers draw nothing on a much higher canvas
const LEAST_PX = 2; // narrower nodes are drawn as runs
export const GAP_PX = 2 * ROW_PX; // between two graphs of one picture
const GAP_FROM_PX = 3; // wider nodes get a gap
const TEXT_FROM_PX = 30;
const FONT = "12px ui-monospace, SFMono-Regular, Menlo, monospace";

export interface Scene {
  readonly tree: Tree;
  readonly layout: Layout;
  readonly zoom: number;
  readonly cursor: number;
  readonly found: Found | null;
  readonly colourOf: (node: number) => string;
  readonly palette: Palette;
}

export const sceneLayout = layoutOf;

export function levelsShown(layout: Layout): number {
  return Math.min(layout.levels.length, Math.floor(HEIGHT_PX_MAX / ROW_PX));
}

interface Range { x0: number; x1: number }

export const rangeOf = ({ tree, layout, zoom }: Pick<Scene, "tree" | "layout" | "zoom">): Range =>
  ({ x0: layout.x[zoom]!, x1: layout.x[zoom]! + (tree.total[zoom] || 1) });

// The node under a point of the canvas, or -1.
export function nodeAtPoint(scene: Scene, width: number, x: number, y: number): number {
  const { x0, x1 } = rangeOf(scene);
  return nodeAt(scene.tree, scene.layout, Math.floor(y / ROW_PX), x0 + (x / width) * (x1 - x0));
}

function drawText(context: CanvasRenderingContext2D, scene: Scene, node: number, x: number, y: number, width: number,
                  charPx: number): void {
  const room = Math.floor((width - 6) / charPx);
  if (room < 3) return;
  const name = shown(fnAt(scene.tree, node).name, room - 1) || "(no name)";
  context.fillText(name.slice(0, room), x + 3, y + ROW_PX / 2 + 0.5);
}

function colourIn(scene: Scene, node: number): string {
  if (scene.found === null) return scene.colourOf(node);
  return scene.found.fns[scene.tree.fn[node]!] === 0 ? scene.palette.quiet : scene.palette.found;
}

// Draws a new rectangle only where the colour changes: adjacent narrow nodes of one colour share a
// rectangle. A search leaves few colours, so few rectangles.
function drawRow(context: CanvasRenderingContext2D, scene: Scene, level: Uint32Array, depth: number, widthPx: number,
                 charPx: number): void {
  const { x0, x1 } = rangeOf(scene);
  const scale = widthPx / (x1 - x0);
  const y = depth * ROW_PX;
  let colour = "", from = 0, to = 0; // the pending rectangle
  const flush = (): void => {
    if (to <= from) return;
    context.fillStyle = colour;
    context.fillRect(from, y, to - from, ROW_PX - 1);
  };
  const texts: number[] = [];
  visit(scene.tree, scene.layout, level, x0, x1, LEAST_PX / scale, (node, x, width) => {
    const left = Math.max(0, (x - x0) * scale);
    const right = Math.min(widthPx, (x + width - x0) * scale);
    const wide = right - left;
    const its = colourIn(scene, node);
    const isNarrow = wide <= GAP_FROM_PX;
    if (its !== colour || !isNarrow || left > to) {
      flush();
      colour = its;
      from = left;
    }
    to = isNarrow ? left + Math.max(LEAST_PX, wide) : right - 1;
    if (!isNarrow) {
      flush();
      from = to = right;
    }
    if (wide >= TEXT_FROM_PX) texts.push(node, left, wide);
  });
  flush();
  if (texts.length > 0) context.fillStyle = scene.palette.text;
  for (let i = 0; i < texts.length; i += 3) drawText(context, scene, texts[i]!, texts[i + 1]!, y, texts[i + 2]!, charPx);
}

// Whether NODE is drawn: it belongs to the zoomed stacks and is not too deep.
function isDrawn(scene: Scene, node: number): boolean {
  const { tree, layout } = scene;
  const { x0, x1 } = rangeOf(scene);
  const least = (x1 - x0) * 1e-9; // sums of shares are inexact
  return layout.x[node]! < x1 - least && layout.x[node]! + tree.total[node]! > x0 + least &&
         layout.depth[node]! < levelsShown(layout);
}

function drawCursor(context: CanvasRenderingContext2D, scene: Scene, widthPx: number): void {
  const { tree, layout, cursor } = scene;
  if (cursor < 0 || !isDrawn(scene, cursor)) return;
  const { x0, x1 } = rangeOf(scene);
  const scale = widthPx / (x1 - x0);
  const left = Math.max(0, (layout.x[cursor]! - x0) * scale);
  const right = Math.min(widthPx, (layout.x[cursor]! + tree.total[cursor]! - x0) * scale);
  context.strokeStyle = scene.palette.text;
  context.lineWidth = 2;
  context.strokeRect(left + 1, layout.depth[cursor]! * ROW_PX + 1, Math.max(2, right - left - 2), ROW_PX - 3);
}

const CHARS = "0000000000";

// Draws rows FIRST to LAST of SCENE at the position given by CONTEXT's transform.
function paint(context: CanvasRenderingContext2D, scene: Scene, widthPx: number, first: number, last: number): void {
  context.fillStyle = scene.palette.ground;
  context.fillRect(0, first * ROW_PX, widthPx, (last - first) * ROW_PX);
  context.font = FONT;
  context.textBaseline = "middle";
  const charPx = context.measureText(CHARS).width / CHARS.length;
  for (let depth = first; depth < last; depth++)
    drawRow(context, scene, scene.layout.levels[depth]!, depth, widthPx, charPx);
}

// The rows between TOP and BOTTOM, in pixels of the page.
export function draw(canvas: HTMLCanvasElement, scene: Scene, widthPx: number, top: number, bottom: number): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const first = Math.max(0, Math.floor(top / ROW_PX));
  paint(context, scene, widthPx, first, Math.min(levelsShown(scene.layout), Math.ceil(bottom / ROW_PX)));
  drawCursor(context, scene, widthPx);
}

// Draws all rows of all SCENES one below the other, without cursors, for a saved picture. Where a
// full-size canvas would exceed a browser's limit, the picture is scaled down.
export function drawWhole(canvas: HTMLCanvasElement, scenes: readonly Scene[], widthPx: number): void {
  const heights = scenes.map(({ layout }) => layout.levels.length * ROW_PX + GAP_PX);
  const height = heights.reduce((sum, its) => sum + its, -GAP_PX);
  const ratio = Math.min(devicePixelRatio || 1, HEIGHT_PX_MAX / height);
  canvas.width = Math.round(widthPx * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context || !scenes[0]) return;
  context.fillStyle = scenes[0].palette.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = 0;
  scenes.forEach((scene, i) => {
    context.setTransform(ratio, 0, 0, ratio, 0, top * ratio);
    paint(context, scene, widthPx, 0, scene.layout.levels.length);
    top += heights[i]!;
  });
}

export function resize(canvas: HTMLCanvasElement, widthPx: number, heightPx: number): void {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(widthPx * ratio), height = Math.round(heightPx * ratio);
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
  canvas.style.height = heightPx + "px";
}

function heaviestChild({ tree, layout }: Scene, node: number): number {
  const level = layout.levels[layout.depth[node]! + 1] ?? [];
  for (let i = firstBeyond(tree, layout, level as Uint32Array, layout.x[node]!); i < level.length; i++) {
    if (tree.parent[level[i]!] === node) return level[i]!;
    if (layout.x[level[i]!]! > layout.x[node]!) break;
  }
  return node;
}

function neighbour({ tree, layout }: Scene, node: number, way: number): number {
  const level = layout.levels[layout.depth[node]!]!;
  const index = level.indexOf(node, firstBeyond(tree, layout, level, layout.x[node]!));
  return index < 0 ? node : level[index + way] ?? node;
}

// The node that an arrow key moves the cursor to: down to the heaviest child, up to the caller,
// sideways to a neighbour of the same depth. Nodes that are not drawn are skipped.
export function step(scene: Scene, key: string): number {
  const at = scene.cursor >= 0 && isDrawn(scene, scene.cursor) ? scene.cursor : scene.zoom;
  const next = key === "ArrowUp" ? Math.max(0, scene.tree.parent[at]!)
    : key === "ArrowDown" ? heaviestChild(scene, at) : neighbour(scene, at, key === "ArrowRight" ? 1 : -1);
  return isDrawn(scene, next) ? next : at;
}

// The scroll position at which the row of NODE is visible in a box of height HEIGHT, now scrolled
// to TOP.
export function scrollFor(layout: Layout, node: number, top: number, height: number): number {
  const row = layout.depth[node]! * ROW_PX;
  return Math.max(row + ROW_PX - height, Math.min(top, row));
}
