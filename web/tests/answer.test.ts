// SPDX-License-Identifier: Apache-2.0
// What stands on the page while a question is asked, and when it is refused.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { answered, asked, isAwaited, refused, staleOf, unanswered, withStale } from "../src/model/answer";

const GONE = { status: 404, message: "nothing is called that" };

test("no figure stands under another question than its own", () => {
  const one = answered("/one", 1, 5);
  const other = asked(one, "/other", false);
  assert.deepEqual([other.value, other.isLoading, isAwaited(other)], [null, true, true]);
  assert.equal(asked(one, null, true).value, null);
  assert.equal(asked(one, null, true).isLoading, false);
});

test("a value that stays meanwhile is said to be old, and goes when its successor is refused", () => {
  const kept = asked(answered("/one", 1, 5), "/other", true);
  assert.deepEqual([kept.value, kept.isOld, isAwaited(kept)], [1, true, true]);
  assert.equal(asked(kept, "/other", true), kept); // and not loading anew with each drawing
  assert.deepEqual([refused(kept, "/other", GONE).value, refused(kept, "/other", GONE).isOld], [null, false]);
  assert.equal(refused(answered("/one", 1, 5), "/other", GONE).value, null);
  assert.deepEqual([answered("/other", 2, 6).value, answered("/other", 2, 6).isOld], [2, false]);
});

test("the same question keeps what it was answered beside a new problem", () => {
  const old = refused(answered("/one", 1, 5), "/one", GONE);
  assert.deepEqual([old.value, old.at, old.problem?.message, old.isLoading], [1, 5, GONE.message, false]);
  assert.equal(isAwaited(unanswered("/one")), true);
  assert.equal(isAwaited(unanswered(null)), false);
});

test("what lacks the newest samples says why", () => {
  const told = (why: string | null): string => staleOf(answered("/one", withStale({ total: 1 }, why), 5));
  assert.deepEqual([told(null), told("a backlog settles"), staleOf(unanswered("/one"))], ["", "a backlog settles", ""]);
  assert.deepEqual(withStale({ total: 1 }, null), { total: 1 });
});
