// SPDX-License-Identifier: Apache-2.0
// What the app knows beside answers: the selection, which is the URL, and whether a token is wanted.
import { formatSelection, parseSelection, type Selection } from "../model/selection";
import { Atom } from "./atom";

export const selection = new Atom(parseSelection(location.search));
// Grows with each token that is given: questions that were refused are asked again.
export const signedIn = new Atom(0);
export const isSignInWanted = new Atom(false);

addEventListener("popstate", () => {
  clearTimeout(timer);
  timer = 0;
  selection.set(parseSelection(location.search));
});

const URL_AFTER_MS = 150;
let timer = 0; // of a change that the URL does not hold yet

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

// What is changed many times a minute (a search, a zoom) makes no steps for the back button, and a
// browser that is told of each lets no more than some hundred a minute pass.
export function adjust(change: Partial<Selection>): void {
  selection.set({ ...selection.get(), ...change });
  if (!timer) timer = window.setTimeout(write, URL_AFTER_MS);
}

// An ordinary link, so that the middle button and the context menu do what they do everywhere.
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
