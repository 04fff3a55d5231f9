// SPDX-License-Identifier: Apache-2.0
// When a query is sent: at once, periodically, and again if no answer arrived. In a hidden tab it
// waits until the tab is visible. It also waits while the user scrolls: the answer of a large fleet
// is megabytes, and parsing it would delay frames. Answers to outdated queries are dropped.
import { Problem } from "../api";

export const REFRESH_MS = 10000;
const CALM_MS = 500;

interface Told<T> { answer: (value: T) => void; problem: (problem: Problem) => void }

// EVERY_MS 0 repeats until an answer or a rejection arrives. Returns a function that stops it.
export function keepAsking<T>(read: (signal: AbortSignal) => Promise<T>, everyMs: number, told: Told<T>): () => void {
  const abort = new AbortController();
  let timer = 0, againMs = everyMs; // 0: no repetition
  let hasScrolled = false; // since the last check
  const again = async (): Promise<void> => {
    window.clearTimeout(timer);
    againMs = everyMs;
    try {
      const value = await read(abort.signal);
      if (abort.signal.aborted) return;
      told.answer(value);
    } catch (error) {
      if (abort.signal.aborted) return;
      const problem = error instanceof Problem ? error : new Problem(0, String(error));
      if (problem.status === 0) againMs ||= REFRESH_MS;
      told.problem(problem);
    }
    if (againMs > 0) timer = window.setTimeout(onDue, againMs);
  };
  const onDue = (): void => {
    if (document.hidden) return;
    if (!hasScrolled) return void again();
    hasScrolled = false;
    timer = window.setTimeout(onDue, CALM_MS);
  };
  const onScroll = (): void => { hasScrolled = true; };
  const onVisible = (): void => { if (!document.hidden && againMs > 0) void again(); };
  void again();
  document.addEventListener("visibilitychange", onVisible);
  document.addEventListener("scroll", onScroll, { capture: true, passive: true });
  return () => {
    abort.abort();
    window.clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisible);
    document.removeEventListener("scroll", onScroll, { capture: true });
  };
}
