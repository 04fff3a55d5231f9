// SPDX-License-Identifier: Apache-2.0
// A module's hue is derived from its name, so a module has the same colour in every answer. In a
// comparison only certain changes are coloured; noise is grey.
import { hashText } from "../model/tree";

export interface Palette {
  readonly isDark: boolean;
  readonly text: string;
  readonly quiet: string;
  readonly ground: string;
  readonly found: string;
  readonly root: string;
}

export function paletteNow(): Palette {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark
    ? { isDark, text: "#e4e7ea", quiet: "#2a2f35", ground: "#14171a", found: "#8a2fa8", root: "#343a41" }
    : { isDark, text: "#1a1d21", quiet: "#eceef1", ground: "#ffffff", found: "#f0a6ff", root: "#d9dde2" };
}

export function moduleColour(module: string, palette: Palette): string {
  if (module === "") return palette.root;
  const hash = hashText(module);
  const hue = hash % 360, light = (hash >>> 9) % 8;
  return palette.isDark ? `hsl(${hue} 38% ${26 + light}%)` : `hsl(${hue} 62% ${74 + light}%)`;
}

// Colours of the largest series in one chart; the rest has a colour of its own.
const SERIES = {
  light: ["#3b7dd8", "#e08a1e", "#3a9d5d", "#b3509c", "#7a6bd1", "#c94f4f", "#2d9da6", "#8f7a2e"],
  dark: ["#5b97e6", "#c98530", "#4fa56d", "#b56aa4", "#8d80d6", "#c96a6a", "#44a0a8", "#9a883f"],
};
export const SERIES_MAX = SERIES.light.length;

export const seriesColour = (index: number, palette: Palette): string =>
  SERIES[palette.isDark ? "dark" : "light"][index] ?? palette.root;

// Red where b has more. The deepest colour stands for a quarter of all time.
export function differenceColour(difference: number, isSure: boolean, palette: Palette): string {
  if (!isSure || difference === 0) return palette.root;
  const strength = Math.min(1, Math.sqrt(Math.abs(difference) / 0.25));
  const hue = difference > 0 ? 8 : 214;
  return palette.isDark ? `hsl(${hue} ${30 + 40 * strength}% ${28 + 10 * strength}%)`
                        : `hsl(${hue} 85% ${90 - 22 * strength}%)`;
}
