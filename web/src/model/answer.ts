// SPDX-License-Identifier: Apache-2.0
// A query and the state of its answer. Figures are never shown under a query that they do not
// belong to. When the query changes, the old value is dropped, or stays and is marked as old until
// the new value arrives. If the new query fails, the old value is dropped at once.
export interface Fault { readonly status: number; readonly message: string }

export interface Answer<T> {
  readonly key: string | null; // the query; null: none
  readonly value: T | null;
  readonly isOld: boolean; // VALUE belongs to the previous query
  readonly problem: Fault | null;
  readonly isLoading: boolean;
  readonly at: number; // when VALUE arrived
}

export const unanswered = <T>(key: string | null): Answer<T> =>
  ({ key, value: null, isOld: false, problem: null, isLoading: key !== null, at: 0 });

// ANSWER as seen by a view that queries KEY. KEEPS: an old value stays until the new value arrives.
export function asked<T>(answer: Answer<T>, key: string | null, keeps: boolean): Answer<T> {
  if (answer.key === key) return answer;
  if (!keeps || key === null || answer.value === null) return unanswered(key);
  return { ...answer, key, isOld: true, problem: null, isLoading: true };
}

export const answered = <T>(key: string, value: T, at: number): Answer<T> =>
  ({ key, value, isOld: false, problem: null, isLoading: false, at });

// If the failed query is the one that VALUE answers, VALUE stays beside the problem.
export function refused<T>(answer: Answer<T>, key: string, problem: Fault): Answer<T> {
  const last = answer.key === key && !answer.isOld ? answer : unanswered<T>(key);
  return { ...last, problem, isLoading: false };
}

// True while there is no value that belongs to the current query.
export const isAwaited = (answer: Answer<unknown>): boolean => answer.isLoading && (answer.value === null || answer.isOld);

// An answer that lacks the newest samples has the field `stale`; an answer that lacks lost files
// has `incomplete`. The field's text is the reason.
export type Gap = "stale" | "incomplete";

export const withGap = (value: unknown, gap: Gap, why: string | null): unknown =>
  why !== null && typeof value === "object" && value !== null ? { ...value, [gap]: why } : value;

const whyOf = ({ value }: Answer<unknown>, gap: Gap): string =>
  typeof value === "object" && value !== null && gap in value ? String((value as Record<Gap, unknown>)[gap]) : "";

// The missing data of an answer, in sentences; "" if it is complete.
export const gapsOf = (answer: Answer<unknown>): string => {
  const stale = whyOf(answer, "stale"), incomplete = whyOf(answer, "incomplete");
  return [stale && `The newest samples are missing: ${stale}.`, incomplete && `Older samples are missing: ${incomplete}.`]
    .filter(Boolean).join(" ");
};
