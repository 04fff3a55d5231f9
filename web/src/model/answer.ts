// SPDX-License-Identifier: Apache-2.0
// A question and what is known of its answer.  Figures never stand under another question than their
// own: when the question changes its old value goes, or stays and is said to be old, until the new
// one is there; and when that fails, it goes at once.
export interface Fault { readonly status: number; readonly message: string }

export interface Answer<T> {
  readonly key: string | null; // the question; null: none
  readonly value: T | null;
  readonly isOld: boolean; // VALUE is of the question before this one
  readonly problem: Fault | null;
  readonly isLoading: boolean;
  readonly at: number; // when VALUE was got
}

export const unanswered = <T>(key: string | null): Answer<T> =>
  ({ key, value: null, isOld: false, problem: null, isLoading: key !== null, at: 0 });

// ANSWER as it is to who asks KEY; KEEPS says that an old value stays meanwhile.
export function asked<T>(answer: Answer<T>, key: string | null, keeps: boolean): Answer<T> {
  if (answer.key === key) return answer;
  if (!keeps || key === null || answer.value === null) return unanswered(key);
  return { ...answer, key, isOld: true, problem: null, isLoading: true };
}

export const answered = <T>(key: string, value: T, at: number): Answer<T> =>
  ({ key, value, isOld: false, problem: null, isLoading: false, at });

// The same question that was answered before keeps its value, beside the problem.
export function refused<T>(answer: Answer<T>, key: string, problem: Fault): Answer<T> {
  const last = answer.key === key && !answer.isOld ? answer : unanswered<T>(key);
  return { ...last, problem, isLoading: false };
}

// Nothing of it can be shown yet as what was asked for.
export const isAwaited = (answer: Answer<unknown>): boolean => answer.isLoading && (answer.value === null || answer.isOld);

// What is answered without the newest samples has the field `stale`: why it is so.
export const withStale = (value: unknown, why: string | null): unknown =>
  why !== null && typeof value === "object" && value !== null ? { ...value, stale: why } : value;

export const staleOf = ({ value }: Answer<unknown>): string =>
  typeof value === "object" && value !== null && "stale" in value ? String(value.stale) : "";
