// SPDX-License-Identifier: Apache-2.0
// Which rows of a long table are drawn: the visible rows and some more on both sides.
const MORE = 8;

export function windowOf(rows: number, rowPx: number, top: number, height: number): { first: number; last: number } {
  const first = Math.max(0, Math.min(rows, Math.floor(top / rowPx)) - MORE);
  return { first, last: Math.min(rows, Math.ceil((top + height) / rowPx) + MORE) };
}
