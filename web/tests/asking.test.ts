// SPDX-License-Identifier: Apache-2.0
// A query without an answer is sent again, also in a tab that was hidden then.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { Problem } from "../src/api";
import { keepAsking } from "../src/state/asking";

// A tab whose timers fire by hand.
function tab() {
  const page = Object.assign(new EventTarget(), { hidden: false });
  let due: (() => void) | null = null;
  const window = { setTimeout: (call: () => void) => { due = call; return 1; }, clearTimeout: () => { due = null; } };
  Object.assign(globalThis, { document: page, window });
  return {
    scroll: () => { page.dispatchEvent(new Event("scroll")); },
    show: (isSeen: boolean) => { page.hidden = !isSeen; page.dispatchEvent(new Event("visibilitychange")); },
    fire: () => { const call = due; due = null; call?.(); },
    isDue: () => due !== null,
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

// Queries with the given results in turn: a value, or a problem's status.
function asking(answers: (string | number)[], everyMs: number) {
  const heard: (string | number)[] = [];
  let asked = 0;
  const end = keepAsking<string>(async () => {
    const answer = answers[asked++] ?? "?";
    if (typeof answer === "number") throw new Problem(answer, "no");
    return answer;
  }, everyMs, { answer: (value) => heard.push(value), problem: ({ status }) => heard.push(status) });
  return { heard, end };
}

test("a question whose turn came in a hidden tab is asked when the tab is seen", async () => {
  const { show, fire, isDue } = tab();
  const { heard, end } = asking([0, "there"], 0);
  await settled();
  show(false);
  fire(); // no other timer is set
  await settled();
  assert.deepEqual([heard, isDue()], [[0], false]);
  show(true);
  await settled();
  assert.deepEqual(heard, [0, "there"]);
  show(false);
  show(true); // it already has its answer
  await settled();
  assert.deepEqual(heard, [0, "there"]);
  end();
});

test("what is asked each so often waits until nobody has scrolled for a while", async () => {
  const { scroll, fire, isDue } = tab();
  const { heard, end } = asking(["one", "two", "three"], 10000);
  await settled();
  for (let i = 0; i < 3; i++) {
    scroll();
    fire();
    await settled();
    assert.deepEqual([heard, isDue()], [["one"], true]);
  }
  fire();
  await settled();
  assert.deepEqual(heard, ["one", "two"]);
  end();
  scroll(); // no listener is left
});

test("what was refused is not asked again, what nobody answered is", async () => {
  const { show, fire, isDue } = tab();
  const refused = asking([404], 0);
  await settled();
  show(true);
  await settled();
  assert.deepEqual([refused.heard, isDue()], [[404], false]);
  refused.end();
  const unheard = asking([0, 0, "there"], 0);
  await settled();
  fire();
  await settled();
  fire();
  await settled();
  assert.deepEqual(unheard.heard, [0, 0, "there"]);
  unheard.end();
  show(true);
  await settled();
  assert.equal(unheard.heard.length, 3);
});
