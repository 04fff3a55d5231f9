// SPDX-License-Identifier: Apache-2.0
// Flame graphs as a picture to save: the whole graph, regardless of scroll position and cursor.
// Other programs parse an SVG as markup, so names are escaped. Characters that XML cannot hold are
// already shown as text.
import { visit } from "../model/layout";
import { percent, shown } from "../model/text";
import { fnAt } from "../model/tree";
import { drawWhole, GAP_PX, rangeOf, ROW_PX, type Scene } from "./flame";

const WIDTH = 1200;

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\ud800-\udfff\ufffe\uffff]/g, "\ufffd");

// The rows of SCENE below TOP.
function svgRows(scene: Scene, top: number): string {
  const { tree, layout, palette } = scene;
  const { x0, x1 } = rangeOf(scene);
  const scale = WIDTH / (x1 - x0);
  const parts: string[] = [];
  layout.levels.forEach((level, depth) => {
    const y = top + depth * ROW_PX;
    visit(tree, layout, level, x0, x1, 0.5 / scale, (node, x, width) => {
      const left = Math.max(0, (x - x0) * scale);
      const wide = Math.min(WIDTH, (x + width - x0) * scale) - left;
      const name = shown(fnAt(tree, node).name);
      const room = Math.floor((wide - 6) / 7.3);
      parts.push(`<g><title>${escape(name)} ${percent((tree.total[node] ?? 0) / (tree.total[0] || 1))}</title>` +
        `<rect x="${left.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${ROW_PX - 1}" ` +
        `fill="${scene.colourOf(node)}"/>` +
        (room > 2 ? `<text x="${(left + 3).toFixed(1)}" y="${y + 13}" fill="${palette.text}">` +
                    `${escape(name.slice(0, room))}</text>` : "") + "</g>");
    });
  });
  return parts.join("");
}

export function svgOf(scenes: readonly Scene[]): string {
  let height = 0;
  const parts = scenes.map((scene) => {
    const rows = svgRows(scene, height);
    height += scene.layout.levels.length * ROW_PX + GAP_PX;
    return rows;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height - GAP_PX}" ` +
    `font-family="monospace" font-size="12"><rect width="100%" height="100%" fill="${scenes[0]?.palette.ground ?? "#fff"}"/>` +
    parts.join("") + "</svg>";
}

export function pngOf(scenes: readonly Scene[]): Promise<Blob> {
  const canvas = document.createElement("canvas");
  drawWhole(canvas, scenes, WIDTH);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the browser makes no picture of that size"))), "image/png"));
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
