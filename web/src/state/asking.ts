// SPDX-License-Identifier: Apache-2.0
// When a question is asked: at once, each so often, and again where nobody answered at all; in a tab that nobody sees
// as soon as it is seen, and not while somebody scrolls: of a large fleet an answer is megabytes, and to read them takes
// as long as frames.  Answers to questions that nobody asks any more are thrown away.
import { Problem } from "../api";

export const REFRESH_MS = 10000;
const CALM_MS = 500;

interface Told<T> { answer: (value: T) => void; problem: (problem: Problem) => void }

// EVERY_MS 0 asks until there is an answer or a refusal.  Returns what ends it.
export function keepAsking<T>(read: (signal: AbortSignal) => Promise<T>, everyMs: number, told: Told<T>): () => void {
  const abort = new AbortController();
  let timer = 0, againMs = everyMs; // 0: not again
  let hasScrolled = false; // since it was last looked at
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
