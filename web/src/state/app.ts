// SPDX-License-Identifier: Apache-2.0
// The app's state besides answers: the selection, which is the URL, and whether a token is needed.
import { formatSelection, parseSelection, type Selection } from "../model/selection";
import { Atom } from "./atom";

export const selection = new Atom(parseSelection(location.search));
// Incremented with each token entered: rejected queries are then sent again.
export const signedIn = new Atom(0);
export const isSignInWanted = new Atom(false);

addEventListener("popstate", () => {
  clearTimeout(timer);
  timer = 0;
  selection.set(parseSelection(location.search));
});

const URL_AFTER_MS = 150;
let timer = 0; // of a change that is not yet in the URL

function write(): void {
  clearTimeout(timer);
  timer = 0;
  history.replaceState(null, "", formatSelection(selection.get()));
}

addEventListener("pagehide", () => { if (timer) write(); });

export function go(next: Selection): void {
  if (timer) write();
  const url = formatSelection(next);
  if (url !== (location.search || "./")) history.pushState(null, "", url);
  selection.set(next);
}

// For frequent changes (search, zoom): adds no step to the history. The URL is updated with a
// delay, as browsers allow only some hundred updates a minute.
export function adjust(change: Partial<Selection>): void {
  selection.set({ ...selection.get(), ...change });
  if (!timer) timer = window.setTimeout(write, URL_AFTER_MS);
}

// An ordinary link, so the middle button and the context menu work as usual.
export function follow(next: Selection): { href: string; onClick: (event: MouseEvent) => void } {
  return {
    href: formatSelection(next),
    onClick: (event) => {
      if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(next);
    },
  };
}
