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

// An answer without the newest samples has the field `stale`, one without lost files `incomplete`: why it is so.
export type Gap = "stale" | "incomplete";

export const withGap = (value: unknown, gap: Gap, why: string | null): unknown =>
  why !== null && typeof value === "object" && value !== null ? { ...value, [gap]: why } : value;

const whyOf = ({ value }: Answer<unknown>, gap: Gap): string =>
  typeof value === "object" && value !== null && gap in value ? String((value as Record<Gap, unknown>)[gap]) : "";

// What the answer lacks, in sentences; "" where it is whole.
export const gapsOf = (answer: Answer<unknown>): string => {
  const stale = whyOf(answer, "stale"), incomplete = whyOf(answer, "incomplete");
  return [stale && `The newest samples are missing: ${stale}.`, incomplete && `Older samples are missing: ${incomplete}.`]
    .filter(Boolean).join(" ");
};
