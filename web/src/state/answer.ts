// SPDX-License-Identifier: Apache-2.0
// A query to the collector as a component uses it. model/answer.ts defines how long an old answer
// stays.
import { useLayoutEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { answered, asked, refused, unanswered, type Answer } from "../model/answer";
import type { Parameters } from "../model/selection";
import { urlOf } from "../model/selection";
import { isSignInWanted, signedIn } from "./app";
import { keepAsking } from "./asking";
import { useAtom } from "./atom";

export type { Answer };
export { REFRESH_MS } from "./asking";

// EVERY_MS 0 queries once. KEEPS: the previous query's value stays until the new one arrives.
export function useReader<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>, everyMs = 0,
                             keeps = false): Answer<T> {
  const token = useAtom(signedIn);
  const [answer, setAnswer] = useState<Answer<T>>(() => unanswered<T>(key));
  useLayoutEffect(() => { // useEffect would run, and show the answer, a frame later
    setAnswer((old) => asked(old, key, keeps));
    if (key === null) return;
    return keepAsking(read, everyMs, {
      answer: (value) => setAnswer(answered(key, value, Date.now())),
      problem: (problem) => {
        if (problem.status === 401 || problem.status === 403) isSignInWanted.set(true);
        setAnswer((old) => refused(old, key, problem));
      },
    });
  }, [key, everyMs, token]);
  return asked(answer, key, keeps);
}

export function useAnswer<T>(path: string, parameters: Parameters | null, everyMs = 0, keeps = false): Answer<T> {
  const key = parameters === null ? null : urlOf(path, parameters);
  return useReader<T>(key, (signal) => ask<T>(path, parameters ?? {}, signal), everyMs, keeps);
}
