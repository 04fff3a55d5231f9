// SPDX-License-Identifier: Apache-2.0
// The page's computations, without a browser.
// @ts-expect-error: node's own types would be one more package for two names
import test from "node:test";
// @ts-expect-error: as above
import assert from "node:assert/strict";
import { stateOf } from "../src/model/board";
import { buildIdOf } from "../src/model/elf";
import { DEPTH_MAX, layoutOf, nodeAt, visit } from "../src/model/layout";
import { parseMetrics } from "../src/model/metrics";
import { firstQuestion } from "../src/model/question";
import { find, patternOf } from "../src/model/search";
import { completed, curlOf, formatSelection, parseSelection, stepOf, urlOf, viewOf, wantedAt, withLabel } from "../src/model/selection";
import { ago, basisText, counted, lossText, moment, restText, shortTime, shown, spanText } from "../src/model/text";
import { callees, callers, invert, mergeModules, pairTrees } from "../src/model/transform";
import { windowOf } from "../src/model/window";
import { fnAt, pathNames, type Tree } from "../src/model/tree";
import { folded, grown, unfolded, type TreeNode } from "./folded";

const rootTotal = (tree: Tree): number => tree.total[0] as number;

test("an inverted tree begins with where time was spent and weighs the same", () => {
  const tree = invert(folded("main;work;read 3", "main;read 2", "main 1"));
  assert.deepEqual(unfolded(tree), ["main 1", "read;main 2", "read;work;main 3"]);
  assert.equal(rootTotal(tree), 6);
});

test("frames of one module in a row are one, those of another between them are not", () => {
  const tree = mergeModules(folded("app/a;app/b;libc/c;app/d 5", "app/a;app/x 2"));
  assert.deepEqual(unfolded(tree), ["app 2", "app;libc;app 5"]);
  assert.equal(rootTotal(tree), 7);
});

test("a sandwich counts a recursion once on both sides", () => {
  const tree = folded("main;f;f;g 4", "other;f 1", "main 7");
  assert.equal(rootTotal(callees(tree, "f")), 5);
  assert.equal(rootTotal(callers(tree, "f")), 5);
  assert.deepEqual(unfolded(callers(tree, "f")), ["main 4", "other 1"]);
  assert.deepEqual(unfolded(callees(tree, "f")), ["f;g 4"]);
});

test("a layout puts children side by side within their parent, the heaviest first", () => {
  const tree = folded("main;light 1", "main;heavy 5", "idle 2");
  const layout = layoutOf(tree);
  for (let node = 1; node < tree.fn.length; node++) {
    const parent = tree.parent[node] as number;
    assert.ok(layout.x[node]! >= layout.x[parent]!);
    assert.ok(layout.x[node]! + tree.total[node]! <= layout.x[parent]! + tree.total[parent]!);
  }
  assert.equal(fnAt(tree, nodeAt(tree, layout, 2, 0)).name, "heavy");
  assert.equal(fnAt(tree, nodeAt(tree, layout, 2, 5.5)).name, "light");
  assert.equal(nodeAt(tree, layout, 2, 7), -1);
});

test("what is too narrow is stepped over, and nothing seen is left out", () => {
  const tree = folded(...Array.from({ length: 5000 }, (_, i) => `main;f${i} ${i < 3 ? 1000 : 1}`));
  const layout = layoutOf(tree);
  let calls = 0, end = 0, widest = 0;
  visit(tree, layout, layout.levels[2]!, 0, rootTotal(tree), 50, (_, x, width) => {
    assert.ok(x >= end - 1e-9);
    assert.ok(x - end < 50, "a gap");
    end = x + width;
    widest = Math.max(widest, width);
    calls++;
  });
  assert.equal(widest, 1000);
  assert.ok(calls < 200, `${calls} calls`);
  assert.ok(end > rootTotal(tree) - 100);
});

test("a tree without end is drawn to a depth that has a name", () => {
  const nodes: TreeNode[] = Array.from({ length: DEPTH_MAX + 100 }, (_, i) =>
    ({ name: "f" + i, module: "app", file: null, line: null, quality: null, parent: i - 1, self: 0, total: 1 }));
  assert.equal(layoutOf(grown(nodes)).levels.length, DEPTH_MAX);
  assert.equal(layoutOf(grown([])).levels.length, 1);
});

test("what a search finds weighs once however deep it is nested", () => {
  const tree = folded("main;read;read_all 4", "main;write 3");
  const found = find(tree, patternOf("READ"));
  assert.deepEqual([found?.weight, found?.functions], [4, 2]);
  assert.equal(find(callers(tree, "read_all"), patternOf("read_all"))?.weight, 4);
  assert.equal(find(tree, patternOf("(")), null);
  assert.equal(patternOf(""), null);
  assert.equal(typeof patternOf("("), "string");
  assert.equal(typeof patternOf("x".repeat(1000)), "string");
});

test("no pattern takes for ever, whatever the names are", () => {
  const began = Date.now();
  const hostile = folded(...Array.from({ length: 50 }, (_, i) => `main;${"x".repeat(100000)}${i}y 1`));
  for (const text of ["(x+)+$", "(x*)*$", "(x|xx)+$", "((x?)+)+$", "(?:x+){2,}$", "(x+x+)+y", "x*x*x*x*x*x*x*x*z", "(x{1,50}){1,50}z",
                      "x?".repeat(60) + "z", "(x|x)".repeat(33), "[x]+[x]+[x]+[x]+z", "(?<n>x+)*z", "(x+?)+?z"])
    assert.equal(typeof patternOf(text), "string", text);
  for (const text of ["x*x*x*z", "a.*b", "^std::.*<(int|char)>::at$", "foo|bar|baz", "[(*+]+", "\\(\\)*", "a{3}", "operator\\+\\+", "x{", "(read|write)v?"]) {
    const pattern = patternOf(text);
    assert.equal(typeof pattern, "object", text);
    find(hostile, pattern);
  }
  assert.ok(Date.now() - began < 15000, `${Date.now() - began} ms`);
  let clock = 0;
  assert.equal(find(hostile, patternOf("nobody"), () => (clock += 200))?.isCut, true);
  assert.equal(find(hostile, patternOf("x"))?.isCut, false);
  assert.equal(find(folded(`main;${"x".repeat(3000)}::end 1`), patternOf("^x.*::end$"))?.functions, 1); // the ends of long names are found
});

test("two trees pair by path, and what is in one alone has a place", () => {
  const { tree, a, b } = pairTrees(folded("main;old 1", "main;same 1"), folded("main;new 3", "main;same 3"));
  const at = (name: string): number => Array.from(tree.fn).findIndex((_, node) => fnAt(tree, node).name === name);
  assert.deepEqual([a[at("old")], b[at("old")], a[at("new")], b[at("new")]], [0.5, 0, 0, 0.5]);
  assert.deepEqual([a[at("same")], b[at("same")]], [0.5, 0.5]);
  assert.equal(rootTotal(tree), 1);
});

test("a node keeps its name in another answer with the same path", () => {
  const one = folded("main;work;read 3", "main;idle 1"), other = folded("main;idle 9", "main;work;read 1");
  const nameIn = (tree: Tree): number | undefined =>
    pathNames(tree)[Array.from(tree.fn).findIndex((_, node) => fnAt(tree, node).name === "read")];
  assert.equal(nameIn(one), nameIn(other));
  assert.equal(new Set(pathNames(one)).size, one.fn.length);
});

test("names that reorder, hide or flood the text around them do not", () => {
  assert.equal(shown("a\u202eb\u0000\u2066"), "a\\u202eb\\u0000\\u2066");
  assert.equal(shown("</script><b>"), "</script><b>"); // text stays text
  assert.ok(shown("x".repeat(100000)).length < 500);
  assert.equal(shown(null), "");
});

test("the URL holds a selection and gives it back", () => {
  const selection = parseSelection('?match={service="a%26b"}&view=fleet&search=%2B&hostile=1');
  assert.equal(selection.match, '{service="a&b"}');
  assert.deepEqual(parseSelection(formatSelection(selection).slice(1)), selection);
  assert.equal(formatSelection(parseSelection("")), "./");
  const other = viewOf({ ...selection, zoom: "ff" }, "loss");
  assert.deepEqual([other.match, other.zoom, other.view], [selection.match, "", "loss"]);
});

test("a question is the same to curl, whatever quotes are in it", () => {
  assert.equal(urlOf("/api", { a: "", b: 1 }), "/api?b=1");
  assert.equal(curlOf("http://h:1/api", { match: "{a='b'}", to: "" }, false),
               "curl -G 'http://h:1/api' --data-urlencode 'match={a='\\''b'\\''}'");
});

test("a selector is given a label, whatever it said of it before and whatever the value is", () => {
  assert.equal(withLabel("", "board", 'a"b\\'), '{board="a\\"b\\\\"}');
  assert.equal(withLabel('{ service = "a,}", board=~"x.*" }', "board", "y", "!="), '{service = "a,}",board!="y"}');
  assert.equal(withLabel('{board_id="7"}', "board", "y"), '{board_id="7",board="y"}');
  assert.equal(withLabel("{service=}", "board", "y"), "{service=}");
});

test("a series of any range has some hundreds of points", () => {
  const step = (from: string, to = "") => stepOf({ ...parseSelection(""), from, to });
  assert.deepEqual([step(""), step("-1d"), step("-7d"), step("1000", "4600"), step("1000.250", "4600.5")], [60, 300, 1800, 60, 60]);
  assert.deepEqual([step("yesterday"), step("-1h", "2026-01-01T00:00:00Z")], ["", ""]);
});

test("completion knows what is being written", () => {
  assert.deepEqual(wantedAt("", 0), { kind: "name", start: 0, text: "" });
  assert.deepEqual(wantedAt('{service="sh', 12), { kind: "value", start: 10, text: "sh", label: "service" });
  assert.deepEqual(wantedAt('{service="a",bo', 15), { kind: "name", start: 13, text: "bo" });
  assert.equal(wantedAt('{service="a"', 12), null);
  assert.equal(completed("se", 2, { kind: "name", start: 0, text: "se" }, "service"), '{service="');
  assert.equal(completed('{service="', 10, { kind: "value", start: 10, text: "", label: "service" }, 'a"b'),
               '{service="a\\"b"}');
});

test("losses and times are told in words", () => {
  assert.equal(lossText({ ring_full: 1200, none: 0 }), "ring full 1,200");
  assert.equal(lossText({}), "none");
  assert.equal(ago("2026-01-01T00:00:00Z", Date.parse("2026-01-01T02:00:00Z")), "2 h ago");
});

// A 64-bit file with one note section.
function elf(little: boolean, note: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(64 + 64 * 2 + note.length);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, little ? 1 : 2]);
  view.setBigUint64(40, 64n, little);
  view.setUint16(58, 64, little);
  view.setUint16(60, 2, little);
  view.setUint32(128 + 4, 7, little);
  view.setBigUint64(128 + 24, 192n, little);
  view.setBigUint64(128 + 32, BigInt(note.length), little);
  bytes.set(note, 192);
  return bytes;
}
const readOf = (bytes: Uint8Array) => async (offset: number, length: number): Promise<ArrayBuffer> =>
  bytes.slice(offset, offset + length).buffer as ArrayBuffer;

test("a file's build-id is found, and a file that lies gets an error and no more", async () => {
  const note = [4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4e, 0x55, 0, 0xab, 0xcd, 0xef, 0];
  const whole = elf(true, note);
  assert.equal(await buildIdOf(readOf(whole), whole.length), "abcdef");
  for (let length = 0; length < whole.length - 1; length++)
    await assert.rejects(buildIdOf(readOf(whole.slice(0, length)), length));
  for (let at = 0; at < whole.length; at++) { // terminates, whichever byte is wrong
    const wrong = whole.slice();
    wrong[at] = 0xff;
    await buildIdOf(readOf(wrong), wrong.length).catch((error: unknown) => assert.ok(error instanceof Error));
  }
  await assert.rejects(buildIdOf(readOf(new TextEncoder().encode("#!/bin/sh")), 9), /not an ELF/);
});

test("counters are read with their labels and what they mean", () => {
  assert.deepEqual(parseMetrics('# HELP a_total What.\n# TYPE a_total counter\na_total{x="1 2"} 3\nb_bucket{le="1"} 2\nnoise\n'),
                   [{ name: "a_total", labels: 'x="1 2"', value: 3, help: "What." }]);
});

test("what is asked before anything is drawn is of the view that a URL opens", () => {
  const asked = (url: string) => { const first = firstQuestion(parseSelection(url)); return first && urlOf(...first); };
  assert.equal(asked(""), "/api/v1/boards?limit=100000");
  assert.equal(asked("?match=%7Ba%3D%22b%22%7D&merge=thread"), "/api/v1/profile?match=%7Ba%3D%22b%22%7D&format=columns&by=thread&limit=100000");
  assert.equal(asked("?view=profile&from=-1d"), "/api/v1/profile?from=-1d&format=columns&limit=100000");
  assert.equal(asked("?view=loss"), null);
});

test("moments are written the same everywhere, a span names its day once", () => {
  const at = (text: string): number => new Date(text).getTime(); // in the local time zone, as for a reader
  assert.equal(moment(at("2026-01-31T23:05:09"), true), "2026-01-31 23:05:09");
  assert.equal(moment(1764230400000000 * 1000), "1764230400000000000"); // microseconds in a link
  assert.equal(spanText(Date.parse("never"), at("2026-01-31T12:00:00")), "NaN to 2026-01-31 12:00");
  assert.equal(spanText(at("2026-01-31T12:00:00"), at("2026-01-31T13:30:00")), "2026-01-31 12:00 to 13:30");
  assert.equal(spanText(at("2026-01-31T23:00:00"), at("2026-02-01T01:00:00")), "2026-01-31 23:00 to 2026-02-01 01:00");
  assert.deepEqual([0, 1, 1200].map((n) => counted(n, "board")), ["0 boards", "1 board", "1,200 boards"]);
});

test("a board is live, late, silent, or revoked", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  assert.deepEqual(["2026-01-01T11:59:00Z", "2026-01-01T11:30:00Z", "2026-01-01T01:00:00Z", null].map((time) => stateOf({ last_seen: time, revoked: null }, now)),
                   ["live", "late", "silent", "silent"]);
  assert.equal(stateOf({ last_seen: "2026-01-01T11:59:00Z", revoked: "2026-01-01T11:58:00Z" }, now), "revoked");
});

test("of ten thousand rows those are drawn that are seen", () => {
  const { first, last } = windowOf(10000, 34, 34 * 5000, 800);
  assert.ok(first <= 5000 && last >= 5000 + 24 && last - first < 60);
  assert.deepEqual(windowOf(3, 34, 99999, 800).last, 3);
});

test("a sandwich of one module's function has nothing of its namesake", () => {
  const tree = folded("main;libz/read;deflate 4", "main;app/read;poll 3");
  assert.deepEqual([rootTotal(callees(tree, "read", "libz")), rootTotal(callers(tree, "read", "libz")), rootTotal(callees(tree, "read"))], [4, 4, 7]);
});

test("what intervals are about is said, and what a limit left out", () => {
  assert.equal(basisText({ unit: "samples", units: 0, scope: "these" }), "of what ran in this time, by samples");
  assert.equal(basisText({ unit: "boards", units: 20, scope: "fleet" }), "of boards like these, by how 20 boards differ");
  assert.equal(restText({ functions: 412, weight: 31, samples: 1204 }, 1000), "412 more are not here: 3.1 %, 1,204 samples.");
  assert.equal(restText({ rows: 0, weight: 0, samples: 0 }, 1000), "");
  assert.equal(restText(undefined, 1000), "");
});

test("the time of one request has three digits", () => {
  assert.deepEqual([1.234, 0.0123456, 4.2e-7].map(shortTime), ["1.23 s", "12.3 ms", "420 ns"]);
});
