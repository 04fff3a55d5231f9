// SPDX-License-Identifier: Apache-2.0
// A question to the collector as a component sees it.  An old answer stays on the page until the new
// one is there; answers to questions that nobody asks any more are thrown away.
import { useLayoutEffect, useState } from "preact/hooks";
import { ask, Problem } from "../api";
import type { Parameters } from "../model/selection";
import { urlOf } from "../model/selection";
import { isSignInWanted, signedIn } from "./app";
import { useAtom } from "./atom";

export interface Answer<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly isLoading: boolean;
  readonly at: number; // when VALUE was got
}

export const REFRESH_MS = 10000;

export function useReader<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>, everyMs = 0): Answer<T> {
  const token = useAtom(signedIn);
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, problem: null, isLoading: true, at: 0 });
  useLayoutEffect(() => { // an effect proper comes a frame later, and so would the answer
    if (key === null) {
      setAnswer({ value: null, problem: null, isLoading: false, at: 0 });
      return;
    }
    const abort = new AbortController();
    let timer = 0;
    const again = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        const value = await read(abort.signal);
        if (abort.signal.aborted) return;
        setAnswer({ value, problem: null, isLoading: false, at: Date.now() });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(0, String(error));
        if (problem.status === 401 || problem.status === 403) isSignInWanted.set(true);
        setAnswer((old) => ({ ...old, problem, isLoading: false }));
      }
      if (everyMs > 0) timer = window.setTimeout(() => { if (!document.hidden) void again(); }, everyMs);
    };
    const onVisible = (): void => { if (!document.hidden && everyMs > 0) void again(); };
    setAnswer((old) => ({ ...old, isLoading: true }));
    void again();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [key, everyMs, token]);
  return answer;
}

export function useAnswer<T>(path: string, parameters: Parameters | null, everyMs = 0): Answer<T> {
  const key = parameters === null ? null : urlOf(path, parameters);
  return useReader<T>(key, (signal) => ask<T>(path, parameters ?? {}, signal), everyMs);
}
