// SPDX-License-Identifier: Apache-2.0
// A question to the collector as a component sees it (model/answer.ts says what becomes of an old
// answer).  Answers to questions that nobody asks any more are thrown away; what was not answered at
// all is asked again.
import { useLayoutEffect, useState } from "preact/hooks";
import { ask, Problem } from "../api";
import { answered, asked, refused, unanswered, type Answer } from "../model/answer";
import type { Parameters } from "../model/selection";
import { urlOf } from "../model/selection";
import { isSignInWanted, signedIn } from "./app";
import { useAtom } from "./atom";

export type { Answer };

export const REFRESH_MS = 10000;

// EVERY_MS 0 asks once; KEEPS lets the value of the question before stay until there is another.
export function useReader<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>, everyMs = 0,
                             keeps = false): Answer<T> {
  const token = useAtom(signedIn);
  const [answer, setAnswer] = useState<Answer<T>>(() => unanswered<T>(key));
  useLayoutEffect(() => { // an effect proper comes a frame later, and so would the answer
    setAnswer((old) => asked(old, key, keeps));
    if (key === null) return;
    const abort = new AbortController();
    let timer = 0;
    const again = async (): Promise<void> => {
      clearTimeout(timer);
      let againMs = everyMs;
      try {
        const value = await read(abort.signal);
        if (abort.signal.aborted) return;
        setAnswer(answered(key, value, Date.now()));
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(0, String(error));
        if (problem.status === 401 || problem.status === 403) isSignInWanted.set(true);
        if (problem.status === 0) againMs ||= REFRESH_MS;
        setAnswer((old) => refused(old, key, problem));
      }
      if (againMs > 0) timer = window.setTimeout(() => { if (!document.hidden) void again(); }, againMs);
    };
    const onVisible = (): void => { if (!document.hidden && everyMs > 0) void again(); };
    void again();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [key, everyMs, token]);
  return asked(answer, key, keeps);
}

export function useAnswer<T>(path: string, parameters: Parameters | null, everyMs = 0, keeps = false): Answer<T> {
  const key = parameters === null ? null : urlOf(path, parameters);
  return useReader<T>(key, (signal) => ask<T>(path, parameters ?? {}, signal), everyMs, keeps);
}
