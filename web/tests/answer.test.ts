// SPDX-License-Identifier: Apache-2.0
// The page's display while a query is running and after it failed.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { ask } from "../src/api";
import { answered, asked, isAwaited, gapsOf, refused, unanswered, withGap } from "../src/model/answer";

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
  assert.equal(asked(kept, "/other", true), kept); // does not load again with each drawing
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
  const told = (why: string | null): string => gapsOf(answered("/one", withGap({ total: 1 }, "stale", why), 5));
  assert.deepEqual([told(null), told("a backlog settles"), gapsOf(unanswered("/one"))],
    ["", "The newest samples are missing: a backlog settles.", ""]);
  assert.deepEqual(withGap({ total: 1 }, "stale", null), { total: 1 });
});

test("what lacks lost files says so beside that", () => {
  const lacking = withGap({ total: 1 }, "incomplete", "files were lost");
  assert.equal(gapsOf(answered("/one", lacking, 5)), "Older samples are missing: files were lost.");
  assert.equal(gapsOf(answered("/one", withGap(lacking, "stale", "the disk is full"), 5)),
    "The newest samples are missing: the disk is full. Older samples are missing: files were lost.");
});

test("an answer takes both gaps from its header fields", async () => {
  const headers = new Headers({ "Fleetprof-Stale": "the disk fails", "Fleetprof-Incomplete": "files were lost" });
  Object.assign(globalThis, { document: { baseURI: "http://collector/" }, sessionStorage: { getItem: () => null } });
  globalThis.fetch = async () => new Response("{}", { headers });
  assert.deepEqual(await ask("boards", {}), { stale: "the disk fails", incomplete: "files were lost" });
});
