// SPDX-License-Identifier: Apache-2.0
// node flame.mjs WEB NODES [COLLECTOR STORE]: the cost of a flame graph in Chromium. WEB is the
// build's web folder. The page's own files are served with generated answers: a call tree of NODES
// nodes, 60 deep. Prints one figure a line beside its budget:
//
//   first draw, from the last byte of the tree's answer to the picture
//   frames of zooming and of searching, each from the key to the picture
//   frames of scrolling a fleet of 10 000 different boards
//   the first query to a COLLECTOR just started on STORE, from the address to a graph or rows on the screen
//
// An error of the page ends it.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [web, nodes = "100000", collector, store] = process.argv.slice(2);
const require = createRequire(resolve(web, "package.json"));
const { chromium } = require("playwright-core");
const FRAMES = 60;
const DROPPED_MS = 25; // at 60 a second one has 16.7: more than this, and the next one is late

let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

function treeOf(size) {
  const made = [{ name: "root", module: "", parent: -1, self: 0, depth: 0 }];
  const open = [0];
  while (made.length < size) {
    const parent = random() < 0.7 ? open[open.length - 1] : open[Math.floor(random() * open.length)];
    const depth = made[parent].depth + 1;
    if (depth > 60) { open.length = Math.max(1, Math.floor(open.length / 2)); continue; }
    const f = Math.floor(random() * 3000);
    open.push(made.push({ name: `namespace::function_${f}(int, std::string const&)`, module: `lib${f % 40}.so`, parent,
                          self: Math.floor(random() * 1e7), depth }) - 1);
    if (open.length > 200) open.splice(0, 100, 0);
  }
  const totals = made.map((node) => node.self);
  for (let i = made.length - 1; i > 0; i--) totals[made[i].parent] += totals[i];
  return made.map((node, i) => ({ ...node, total: totals[i] }));
}

// As the collector writes it: functions once, nodes as columns.
function columnsOf(made) {
  const functions = [], ids = new Map();
  const of = made.map(({ name, module }) => {
    const key = name + module;
    if (!ids.has(key)) ids.set(key, functions.push({ name, module, file: "src/file.cc", line: 10, quality: "dwarf" }) - 1);
    return ids.get(key);
  });
  const column = (name) => made.map((node) => node[name]);
  return { functions, nodes: { function: of, parent: column("parent"), self: column("self"), total: column("total") }, inlined: [] };
}

const tree = treeOf(+nodes);
const total = tree[0].total;
const now = new Date().toISOString();
const summary = { total, samples: 100000, from: new Date(Date.now() - 3600e3).toISOString(), to: now, loss: {}, marks: [],
                  stacks: { weight: total, complete: 1, truncated: 0, no_table: 0, bad: 0, not_told: 0 } };
const functions = Array.from({ length: 100 }, (_, i) => ({ ...tree[i + 1], self_share: 0.01, total_share: 0.02, self_ci: [0, 0.1], total_ci: [0, 0.1] }));
// No two boards are alike: names, states, labels, figures, losses, quotas as the collector writes them.
const agoMs = (i) => (i % 20 === 0 ? 86400e3 * (1 + i % 9) : i % 10 === 0 ? 600e3 : 1000 * (i % 60));
const boards = Array.from({ length: 10000 }, (_, i) => ({ name: `${["press", "edge", "gate"][i % 3]}-${i}`,
  labels: { site: "hall-" + (i % 50), firmware: `2.${i % 7}.${i % 13}`, rack: String(i % 400) }, arch: ["aarch64", "armv7l", "x86_64"][i % 3], kernel: `6.1.${i % 90}`,
  versions: { fleetprofd: `1.${i % 4}.0` }, first_seen: new Date(Date.now() - 30 * 86400e3).toISOString(), last_seen: new Date(Date.now() - agoMs(i)).toISOString(),
  sampler: i % 5 ? "perf" : "timer", achieved_hz: 90 + random() * 10, asked_hz: 99, rate_reason: i % 6 ? "asked" : "budget", clock: "synced",
  cost: i % 11 ? { handler_ns_p50: 500 + i % 300, handler_ns_p99: 4000, sample_ns: 2800, daemon_cpu: random() / 500, added_cpu: random() / 200, bytes_day: 1e6 + 400 * i } : null,
  budget: i % 11 ? { cpu: 0.005, bytes_day: 5 << 20, state: i % 6 ? "within" : "cpu" } : null,
  loss: i % 4 ? {} : { ring_full: i % 900, spool_full: i % 31 },
  stacks: i % 13 ? { complete: 0.9 - (i % 5) / 50, truncated: (i % 5) / 50, no_table: 0.06, bad: 0, not_told: 0.04 } : null,
  quotas: Object.fromEntries(["bytes", "refusals", "series", "nodes", "modules"].map((name, k) =>
    [name, { used: (i * (k + 3)) % 10007, limit: 10000, refused: i % 500 ? 0 : k, delayed: 0 }])) }));
const services = Array.from({ length: 60 }, (_, i) => ({ name: "service-" + i, weight: total / 2 ** Math.min(i + 1, 30), samples: 1000, share: 1 / 2 ** (i + 1), ci: [0, 1 / 2 ** i] }));
const load = { ...summary, by: "service", rows: services.slice(0, 50), rest: { rows: 10, weight: 1 } };
const from = Math.floor(Date.parse(summary.from) / 60e3) * 60;
const pointsOf = (k) => Array.from({ length: 60 }, (_, i) => [from + 60 * i, Math.floor(random() * 1e10 / (k + 1))]);
const series = (by) => ({ ...summary, step: 60, series: by ? services.slice(0, 8).map(({ name }, k) => ({ labels: { service: name }, weight: 1e12 / (k + 1), points: pointsOf(k) })) : [],
                          rest: { series: by ? 52 : 1, weight: 1e11, points: pointsOf(9) } });
const answers = { columns: JSON.stringify({ ...summary, ...columnsOf(tree) }), top: JSON.stringify({ ...summary, functions }), load: JSON.stringify(load),
  series: JSON.stringify(series(false)), "series by": JSON.stringify(series(true)), boards: JSON.stringify({ boards }), labels: '{"data":["board","service","site"]}' };
console.log(`the boards as JSON: ${(answers.boards.length / 1e6).toFixed(1)} MB`);
console.log(`the tree as JSON: ${(answers.columns.length / 1e6).toFixed(1)} MB`);
const types = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
function wrong(text) { // otherwise another page would be measured
  console.error(text);
  process.exit(1);
}
const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://localhost");
  const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
  const by = name.endsWith("series") && url.searchParams.has("by") ? " by" : "";
  const kind = (url.searchParams.get("format") ?? (name.endsWith("profile") ? "top" : name.split("/").pop())) + by;
  const body = name.startsWith("api/") ? answers[kind] : await readFile(join(web, "dist", name));
  if (body === undefined) wrong(`the page asks ${url}, for which there is no answer here`);
  response.setHeader("Content-Type", name.startsWith("api/") ? "application/json" : types[name.slice(name.lastIndexOf("."))] ?? "text/html");
  response.end(body);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

async function opened(url, what) {
  const made = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  made.on("pageerror", (error) => wrong(`${what}: ${error.stack}`));
  await made.goto(url);
  return made;
}

const at = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const say = (what, ms, budget) => console.log(`${what}: ${ms.toFixed(1)} ms (budget ${budget} ms)`);

const firsts = [];
let page;
for (let round = 0; round < 5; round++) {
  page?.context().close();
  page = await opened(origin + "/?view=profile", "the profile");
  await page.waitForFunction(() => performance.getEntriesByName("flame").length > 0);
  firsts.push(await page.evaluate(() => {
    const got = performance.getEntriesByType("resource").find((entry) => entry.name.includes("format=columns")).responseEnd;
    const drawn = performance.getEntriesByName("flame")[0];
    return drawn.startTime + drawn.duration - got;
  }));
}
say(`first draw of ${nodes} nodes, median of 5`, at(firsts, 0.5), 300);

// From an event to the end of the drawing that it caused.
await page.evaluate(() => {
  window.frameOf = (act) => new Promise((done) => {
    const before = performance.getEntriesByName("flame").length;
    const began = performance.now();
    act();
    const look = () => {
      const drawn = performance.getEntriesByName("flame");
      if (drawn.length === before) return setTimeout(look, 0);
      const last = drawn[drawn.length - 1];
      done(last.startTime + last.duration - began);
    };
    look();
  });
});
const zooms = await page.evaluate(async (frames) => {
  const canvas = document.querySelector(".flame canvas"), times = [];
  for (let i = 0; i < frames; i++) {
    const box = canvas.getBoundingClientRect();
    const where = { bubbles: true, clientX: box.left + 100 + (i * 37) % 900, clientY: box.top + (i % 2 ? 9 : 18 * (1 + i % 5) + 9) };
    times.push(await window.frameOf(() => canvas.dispatchEvent(new MouseEvent("click", where))));
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}, FRAMES);
say("frame of a zoom, 95th percentile", at(zooms, 0.95), 32);
say("of that drawing, 95th percentile", at(await page.evaluate(() => performance.getEntriesByName("flame").map((entry) => entry.duration)), 0.95), 32);
say("frame of a zoom, median", at(zooms, 0.5), 32);
const searches = await page.evaluate(async (frames) => {
  const field = document.querySelector("#search"), times = [];
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  for (let i = 0; i < frames; i++) {
    times.push(await window.frameOf(() => {
      set.call(field, "function_" + (i * 7) % 90);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }));
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}, FRAMES);
say("frame of a search, 95th percentile", at(searches, 0.95), 32);
say("frame of a search, median", at(searches, 0.5), 32);

page = await opened(origin + "/?view=fleet", "the fleet");
await page.waitForSelector("#boards tr");
say("a fleet of 10 000 boards, from the address to its rows", await page.evaluate(() => performance.now()), 2000);
await page.waitForSelector("#services tr");
await page.waitForSelector(".stack canvas");
await page.waitForTimeout(1000); // the view's other queries are done
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable");
const busyMs = async () => 1000 * (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
// Dragging the scroll bar moves whole screens; a fast wheel moves three rows.
for (const [how, px, budget] of [["three rows a frame", 102, 0], ["a screen of 20 rows a frame", 700, FRAMES]]) {
  const before = await busyMs();
  const scrolls = await page.evaluate(async ([frames, step]) => {
    const box = document.querySelector(".rows"), times = [];
    let last = performance.now();
    for (let i = 0; i < frames; i++) {
      box.scrollTop += step;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times;
  }, [FRAMES, px]);
  const busy = (await busyMs() - before) / FRAMES;
  if (!/-\d{2,}$/.test(await page.textContent("#boards tr:nth-child(15) .name"))) wrong("the rows were not scrolled");
  say(`scrolling it by ${how}, median and 95th percentile ${at(scrolls, 0.5).toFixed(1)} and`, at(scrolls, 0.95), 32);
  console.log(`frames of that which took more than ${DROPPED_MS} ms: ${scrolls.filter((ms) => ms > DROPPED_MS).length} of ${scrolls.length} (budget ${budget}), the longest ${Math.max(...scrolls).toFixed(1)} ms; the page was busy for ${busy.toFixed(1)} ms of each`);
}
server.close();

// Started for each view, so its caches are empty; none of its data expires meanwhile. The store
// ends at the last midnight: the hour before it stands for the last hour, the page's default range.
const midnight = Math.floor(Date.now() / 86400e3) * 86400;
const COLD_VIEWS = [["an hour", `/?view=profile&from=${midnight - 3600}&to=${midnight}`, "#functions tr"], ["a week", "/?view=profile&from=-8d", "#functions tr"], ["the fleet", "/?view=fleet&from=-8d", "#boards tr"]];
async function started() {
  const ages = ["--retention", "--retention-raw", "--retention-minutes", "--retention-hours"].flatMap((name) => [name, "0"]);
  const child = spawn(collector, ["--data", store, "--agents", "127.0.0.1:0", "--http", "127.0.0.1:0", ...ages], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((ready, failed) => {
    const hear = (text) => {
      said += text;
      const found = /ready collector: (http[^,\s]*)/.exec(said);
      if (found) ready(found[1].replace(/\/$/, ""));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => failed(new Error(said)));
  });
  process.on("exit", () => child.kill());
  return { url, end: () => new Promise((gone) => { child.removeAllListeners("exit").on("exit", gone); child.kill(); }) };
}
for (const [what, path, selector] of store ? COLD_VIEWS : []) {
  const { url, end } = await started();
  const cold = await opened(url + path, what);
  await cold.waitForSelector(selector, { timeout: 120000 });
  say(`${what} from a cold collector, first useful paint`, await cold.evaluate(() => {
    const [drawn] = performance.getEntriesByName("flame");
    return drawn ? drawn.startTime + drawn.duration : performance.now();
  }), 1000);
  say(`${what} from a cold collector, all of it`, await cold.evaluate(() => performance.now()), 2000);
  await cold.context().close();
  await end();
}
await browser.close();
