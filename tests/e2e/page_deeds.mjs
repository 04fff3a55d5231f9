// SPDX-License-Identifier: Apache-2.0
// node page_deeds.mjs ORIGIN PICTURES: the page's functions in Chromium on the data of the
// collector at ORIGIN: by keyboard, by dragging over a timeline, by dropping a file. Each entry of
// the export menu is opened by a reader of its format, and the output of "Copy as curl" is run.
// Prints the errors.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { browse, LOOKS, until } from "./browser.mjs";

const [origin, pictures] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);
const has = (page, text, what) => until(() => page.url().includes(text)).then((is) => check(is, `${what}: ${page.url()} has no ${text}`));
const lacks = (page, text, what) => until(() => !page.url().includes(text)).then((is) => check(is, `${what}: ${page.url()} has ${text}`));
const now = Math.floor(Date.now() / 1000);
const HOUR = `from=${now - 3600}&to=${now}`; // fixed, so an answer is the same at any time

// The page opens on the fleet, a selection on its samples.
await visit("/", "#fleet #boards tr", LOOKS.light, async (page) => {
  check(await page.getAttribute("nav a:first-child", "aria-current") === "page", "the fleet is not the first of the views");
});
await visit("/?match=%7Bservice%3D%22truth%22%7D", "#profile #functions tr", LOOKS.light, async () => {});

// The queries of a first picture are sent once, and before anything is drawn.
for (const [path, question] of [["/", "/api/v1/boards"], ["/?view=profile", "format=columns"]])
  await visit(path, null, LOOKS.light, async (page) => {
    await page.waitForSelector(path === "/" ? "#boards tr" : ".flame canvas");
    const { starts, drawn } = await page.evaluate((text) => ({
      starts: performance.getEntriesByType("resource").filter(({ name }) => name.includes(text)).map(({ startTime }) => startTime),
      drawn: performance.getEntriesByName("draws")[0].startTime }), question);
    check(starts.length === 1 && starts[0] <= drawn, `${path}: asked at ${starts} ms, drawn at ${drawn}`);
  });

// By keyboard: zoom in and out, complete a selector, sort; the URL follows.
await visit("/?view=profile", ".flame-box", LOOKS.light, async (page) => {
  await page.focus(".flame-box");
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  const under = await page.textContent(".under");
  check(/ CPU s/.test(under), `keyboard: the cursor says ${under}`);
  await page.keyboard.press("Enter");
  await has(page, "zoom=", "keyboard");
  await page.reload();
  await page.waitForSelector("text=Whole graph");
  await page.focus(".flame-box");
  await page.keyboard.press("Escape");
  await lacks(page, "zoom=", "keyboard");
  await page.fill("#match", '{serv');
  await page.waitForSelector("[role=option]");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  check(await page.inputValue("#match") === '{service="', `completed: ${await page.inputValue("#match")}`);
  await page.waitForSelector("[role=option]");
  await page.fill("#match", "");
  await page.fill("#search", "alpha");
  await has(page, "search=alpha", "a search");
  await page.click("th button:has-text('Function')");
  check(await page.getAttribute("th:has(button:text('Function'))", "aria-sort") === "ascending", "no sort by name");
});

// Merged by thread, a thread is the outermost frame, and leads to its own profile.
await visit("/?view=profile&merge=thread&match=%7Bservice%3D%22truth%22%7D", ".flame-box", LOOKS.light, async (page) => {
  await page.focus(".flame-box");
  await page.keyboard.press("ArrowDown");
  const under = await page.textContent(".under");
  check(/^truth: /.test(under), `by thread: the outermost frame is ${under}`);
  await page.keyboard.press("Shift+Enter");
  await has(page, new URLSearchParams({ match: '{service="truth",thread="truth"}' }).toString(), "a thread");
});

// A timeline is dragged over: on a profile, and on the fleet's services.
for (const [path, box] of [["/?view=profile", ".timeline .u-over"], ["/?view=fleet", ".stack .u-over"]])
  await visit(path, box, LOOKS.light, async (page) => {
    await page.locator(box).scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator(box).boundingBox();
    await page.mouse.move(x + width * 0.5, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
    await page.mouse.up();
    check(await until(() => /[?&]from=\d+&to=\d+/.test(page.url())), `${path}: a drag chose ${page.url()}`);
    const [from, to] = /from=(\d+)&to=(\d+)/.exec(page.url())?.slice(1).map(Number) ?? [];
    check(Math.abs(to - from - 900) < 120, `${path}: a quarter of an hour is ${to - from} s`);
  });

// Two values of a label, and one of them against all others.
await visit("/?view=diff", "#by-label", LOOKS.light, async (page) => {
  await page.waitForSelector("#by-label option[value=service]", { state: "attached" });
  await page.selectOption("#by-label", "service");
  await page.fill("#label-a", "truth");
  await page.fill("#label-b", "other");
  await page.click("text=Compare by service");
  await page.waitForSelector("#verdicts tr");
  const said = await page.textContent("#sides");
  check(said.includes('{service="truth"}') && said.includes('{service="other"}'), `diff: the sides are ${said}`);
  await page.fill("#label-a", "");
  await page.click("text=Compare by service");
  await has(page, new URLSearchParams({ a: '{service!="other"}' }).toString(), "all others");
  await page.click("text=Today with yesterday");
  await has(page, "b_from=-1d", "yesterday");
});

// Changes since yesterday are queried when the section is opened, and by its link; this fleet has
// no yesterday.
await visit("/?view=fleet", "#services tr", LOOKS.light, async (page) => {
  await page.click("#since summary");
  await has(page, "since=1d", "since yesterday");
  await page.waitForSelector("#since .empty h2:text-is('No samples before yesterday')");
  check(await until(async () => !/Loading/.test(await page.textContent("#since"))), "since yesterday: " + await page.textContent("#since"));
  check(await page.locator("#since ul a.name").count() > 0, "since yesterday: no build is new: " + await page.textContent("#since"));
  check((await page.textContent("#since pre")).includes("fleetprof diff"), "since yesterday: no next step");
  await page.click("#since summary");
  await lacks(page, "since=", "closed again");
  await page.click(".head button:has-text('15 min')");
  await has(page, "from=-15m", "a range of the services");
});
await visit("/?view=fleet&since=1d", "#since .empty h2", LOOKS.light, async () => {});

// The days as in a fleet of a year: a mover's link has that day and that module.
const MOVED = { name: "parse", module: "app", file: null, a: 0.1, b: 0.4, difference: 0.3, ci: [0.2, 0.4], p: 0.001, verdict: "changed", doubt: null, detectable: null };
const mover = (row) => ({ ...row, total: row, cpu: { a: 0, b: 0, change: 0, change_ci: null, p: 1, verdict: row.verdict, doubt: null, detectable: null } });
for (const [functions, said] of [[[MOVED, { ...MOVED, name: "old_new", module: "app-1 -> app-2", difference: -0.5 }], null], [[{ ...MOVED, verdict: "unclear" }], "Nothing has surely changed"]])
  await visit("/?view=fleet&since=1d&from=-7d", "#services tr", LOOKS.light, async (page) => {
    if (said) return check(await until(async () => (await page.textContent("#since")).includes(said)), "unclear rows: " + await page.textContent("#since"));
    await page.waitForSelector("#since li a:text-is('parse')");
    const links = await page.locator("#since .columns > div:first-child li a").evaluateAll((found) => found.map((link) => link.search));
    const wanted = [{ function: "old_new" }, { function: "parse", module: "app" }].map((of) => "?" + new URLSearchParams({ view: "function", from: "-1d", ...of }));
    check(JSON.stringify(links) === JSON.stringify(wanted), `movers lead to ${links}, not to ${wanted}`);
  }, { before: (page) => page.route("**/api/v1/diff**", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    const changed = functions.filter(({ verdict }) => verdict === "changed").length;
    await route.fulfill({ response: answer, json: { ...body, a: { ...body.a, total: 1e9 }, tested: functions.length, changed, functions: functions.map(mover) } });
  }) });

// A range of the fleet is typed, and a dragged range is shown as dates.
await visit("/?view=fleet", "#services tr", LOOKS.light, async (page) => {
  await page.focus("#range #from");
  await page.keyboard.type("-2h");
  await page.keyboard.press("Tab");
  await page.keyboard.type("-1m");
  await page.keyboard.press("Enter");
  await has(page, "from=-2h&to=-1m", "a typed range");
});
await visit(`/?view=fleet&${HOUR}`, "#services tr", LOOKS.light, async (page) => {
  check(await page.inputValue("#range #to") === String(now), "a dragged range is not in its fields");
  const text = await page.textContent("#range-said");
  check(text.includes(" to ") && !text.includes(String(now)), `a dragged range in words: ${text}`);
});

// A board's cost of sampling is shown beside its losses, as reported by the board.
await visit("/?view=loss", "#cost tr", LOOKS.light, async (page) => {
  const { boards: [board] } = await (await fetch(origin + "/api/v1/boards")).json();
  const told = await page.textContent("#cost tr");
  const wanted = [board.name, `${(board.budget.bytes_day / 1e6).toFixed(1)} MB`, ` of ${board.asked_hz.toFixed(0)} Hz`, board.rate_reason.replaceAll("_", " ")];
  for (const text of wanted) check(told.includes(text), `cost: ${told} has no ${text}`);
  check(told.includes("none") && !told.includes("undefined") && !told.includes("NaN"), `cost: ${told}`);
});

// Omitted rows are counted: services beyond the fifty heaviest, counters of a large fleet.
await visit("/?view=fleet", "#services tr", LOOKS.light, async (page) => {
  check(await until(async () => /12 more with 25\.0 % of/.test(await page.textContent("#fleet"))), "12 services are left out in silence");
}, { before: (page) => page.route("**/api/v1/load**", async (route) => {
  const answer = await route.fetch();
  const body = await answer.json();
  await route.fulfill({ response: answer, json: { ...body, rest: { rows: 12, weight: body.total / 4 } } });
}) });
await visit("/?view=loss", "#metrics tr", LOOKS.light, async (page) => {
  check(await until(async () => (await page.textContent("#loss")).includes("234 more: search for them")), "counters are left out in silence");
  check(await page.locator("#metrics tr").count() === 1000, "not a thousand counters are drawn");
  await page.fill("#loss .find input", "x_1233");
  check(await until(async () => await page.locator("#metrics tr").count() === 1), "the last counter is not found");
}, { before: (page) => page.route("**/metrics", (route) => route.fulfill({ body: Array.from({ length: 1234 }, (_, i) => `x_${i} ${i}`).join("\n") })) });

// Each file of the export menu is valid.
async function boxesOf(page, file) {
  const picture = await page.context().newPage();
  await picture.goto("file://" + file);
  // A browser shows the part before an error anyway.
  const boxes = await picture.evaluate(() => (document.querySelector("parsererror") ? 0 : document.querySelectorAll("svg > g > rect").length));
  await picture.close();
  return boxes;
}
async function exported(page, label) {
  await page.click(".menu summary:text-is('Export')");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`.menu[open] button:text-is('${label}')`)]);
  const file = join(pictures, "exported." + label.toLowerCase().replace(/\W+/g, "-"));
  await download.saveAs(file);
  return readFile(file);
}
const FILES = {
  pprof: (bytes) => gunzipSync(bytes).includes("alpha_sixty"),
  folded: (bytes) => String(bytes).trim().split("\n").every((line) => / \d+$/.test(line)) && String(bytes).includes(";alpha_sixty "),
  speedscope: (bytes) => JSON.parse(bytes).shared.frames.some((frame) => frame.name === "alpha_sixty"),
  callgrind: (bytes) => /^events: /m.test(bytes) && String(bytes).includes("alpha_sixty"),
  SVG: async (bytes, page) => String(bytes).includes("alpha_sixty") && await boxesOf(page, join(pictures, "exported.svg")) > 5,
  PNG: (bytes, page) => page.evaluate(async (data) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(data)], { type: "image/png" }));
    return bitmap.width > 1000 && bitmap.height > 100;
  }, [...bytes]),
};
await visit(`/?view=profile&${HOUR}`, ".flame canvas", LOOKS.light, async (page) => {
  await page.waitForSelector("#functions tr");
  for (const [label, isOne] of Object.entries(FILES)) {
    const bytes = await exported(page, label);
    check(await isOne(bytes, page), `export: ${label} is no such file: ${bytes.subarray(0, 80)}`);
  }
});

// Of a comparison: its picture, and each side for itself.
const SIDES = "a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D";
await visit(`/?view=diff&${SIDES}&${HOUR}`, ".flame canvas", LOOKS.light, async (page) => {
  for (const label of ["SVG", "PNG"]) check(await FILES[label](await exported(page, label), page), `diff: ${label} is no picture`);
  check(FILES.pprof(await exported(page, "pprof of A")), "diff: no profile of A");
  const [a, b] = [await exported(page, "folded of A"), await exported(page, "folded of B")];
  check(FILES.folded(a) && !String(b).includes("alpha_sixty") && /;bottom /.test(b), `diff: A is ${a.subarray(0, 80)}, B is ${b.subarray(0, 80)}`);
});

// A unit that the URL names divides CPU time, in the headline and the rows.
await visit(`/?view=diff&${SIDES}&${HOUR}&unit=request&a_units=1000&b_units=500`, "#verdicts tr", LOOKS.light, async (page) => {
  const headline = await page.textContent("#whole");
  check(/CPU per request/.test(headline) && /1000 request in A, 500 in B: [\d.]+ (s|ms|µs) and [\d.]+ (s|ms|µs) of CPU each/.test(headline), `diff: no CPU per request: ${headline}`);
  const cells = await page.locator("#verdicts tr:has(a:text-is('alpha_sixty')) td").allTextContents();
  check(/^[\d.]+ (s|ms|µs)$/.test(cells[1]), `diff: alpha_sixty per request is ${cells}`);
  check(page.url().includes("unit=request"), `diff: the unit is not in ${page.url()}`);
});

// The page has the API's figures: of the whole, and of each function's total, its self share or its CPU time, as chosen.
await visit(`/?view=diff&${SIDES}&${HOUR}`, "#verdicts tr", LOOKS.light, async (page) => {
  const ask = (more) => page.evaluate(async (query) => (await fetch("api/v1/diff?" + query)).json(), `${SIDES}&${HOUR}&limit=10000${more}`);
  const signed = (part) => (part > 0 ? "+" : "") + (100 * part).toFixed(1);
  const cellsOf = (name) => page.locator(`#verdicts tr:has(a:text-is("${name}")) td`).allTextContents();
  const { whole, scope, functions } = await ask("");
  const headline = await page.textContent("#whole");
  check(scope === "these" && [`B uses ${signed(whole.ratio - 1)} % CPU per board-hour`, whole.verdict, "about these boards"].every((part) => headline.includes(part)), `diff: the headline is ${headline}`);
  const shows = async (what, { a, b, change }) => {
    const wanted = [`${(100 * a).toFixed(1)} %`, `${(100 * b).toFixed(1)} %`, signed(change)];
    let cells;
    check(await until(async () => { cells = (await cellsOf("alpha_sixty")).slice(1, 4); return cells.join() === wanted.join(); }), `diff: ${what} of alpha_sixty is ${cells}, not ${wanted}`);
  };
  const row = functions.find(({ name }) => name === "alpha_sixty");
  await shows("the total", { ...row.total, change: row.total.difference });
  await page.click("button:text-is('Self')");
  await has(page, "of=self", "self");
  await shows("the self share", { ...row, change: row.difference });
  await page.click("button:text-is('CPU')");
  await has(page, "measure=cpu", "CPU");
  const { cpu } = (await ask("&of=self&measure=cpu")).functions.find(({ name }) => name === "alpha_sixty");
  await shows("CPU", { a: cpu.a / whole.a, b: cpu.b / whole.a, change: cpu.change });
});

// Every view, in any state, has each of its queries as a command and its answers as files.
const MENUS = [
  [`/?view=profile&${HOUR}`, "#functions tr", ["functions", "call tree", "over time"]],
  ["/?view=profile&match=%7Bservice%3D%22nobody%22%7D", ".empty", ["functions", "call tree", "over time"], ["over time"]],
  ["/?view=profile&match=%7B", ".wrong", ["functions", "call tree", "over time"]],
  [`/?view=function&function=alpha_sixty&${HOUR}`, "#function-view h2", ["function", "callers", "callees"]],
  ["/?view=function&function=nobody_has_this", ".wrong", ["function", "callers", "callees"]],
  ["/?view=function", ".empty", ["functions"], ["functions"]],
  [`/?view=diff&${SIDES}&${HOUR}`, "#verdicts tr", ["comparison", "call tree of A", "call tree of B"]],
  ["/?view=diff&a=%7Bservice%3D%22nobody%22%7D&b=%7Bservice%3D%22other%22%7D", ".empty", ["comparison", "call tree of A", "call tree of B"]],
  ["/?view=diff", ".empty", ["labels"]],
  [`/?view=fleet&${HOUR}`, "#services tr", ["boards", "services", "over time", "since yesterday"], ["since yesterday"]],
  ["/?view=symbols", "#modules tr", ["modules"]],
  ["/?view=loss", "#cost tr", ["loss", "boards", "counters"]],
];
const keysOf = (answer) => JSON.stringify(Object.keys(answer).sort());
for (const [path, selector, labels, unasked = []] of MENUS) { // UNASKED: labels without a query by the page itself
  const answers = [];
  await visit(path, selector, { ...LOOKS.light, permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    const menu = page.locator(".menu:has(summary:text-is('Copy as curl'))");
    const found = await menu.locator("button").allTextContents();
    check(found.join() === labels.join(), `${path}: commands of ${found}, not of ${labels}`);
    const files = await page.locator(".menu:has(summary:text-is('Export')) button").allTextContents();
    check(labels.every((label) => files.some((file) => file.startsWith(label + ", "))), `${path}: the files are ${files}`);
    for (const label of labels) {
      await menu.locator("summary").click();
      await menu.locator(`button:text-is('${label}')`).click();
      await page.waitForSelector(`.export .said:text-is('copied: ${label}')`);
      const command = await page.evaluate(() => navigator.clipboard.readText());
      const said = execFileSync("bash", ["-c", `${command} -sS`], { encoding: "utf8", maxBuffer: 1 << 28 });
      if (label === "counters") { check(/^fleetprof_build_info/m.test(said), `${path}: ${command} has no counters`); continue; }
      const answer = JSON.parse(said);
      if (unasked.includes(label)) { check(!answer.title && answer.from !== undefined || answer.a, `${path}: ${command} is refused: ${said}`); continue; }
      const same = answers.filter((other) => keysOf(other) === keysOf(answer));
      check(same.length > 0, `${path}: ${command} answers with ${keysOf(answer)}`);
      if (path.includes(HOUR)) check(same.some((other) => JSON.stringify(other.functions) === JSON.stringify(answer.functions) && other.total === answer.total),
                                     `${path}: ${command} has another answer`);
    }
  }, { quiet: selector === ".wrong", before: (page, listen) => listen("response", async (response) => {
    if (response.url().includes("/api/v1/")) answers.push(await response.json().catch(() => ({})));
  }) });
}

// A dropped file is uploaded under its own build-id, and a rejection names the required token.
if (process.env.SYMBOLS_FILE) {
  const bytes = (await readFile(process.env.SYMBOLS_FILE)).toString("base64");
  await visit("/?view=symbols", "#modules tr", LOOKS.light, async (page) => {
    const drop = async () => page.dispatchEvent(".drop", "drop", { dataTransfer: await page.evaluateHandle((data) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], "truth.debug"));
      return dropped;
    }, bytes) });
    await drop();
    await page.waitForSelector("text=token of role symbols");
    await page.fill("#token", process.env.SYMBOLS_TOKEN);
    await page.click("#sign-in button");
    await page.setInputFiles("input[type=file]", process.env.SYMBOLS_FILE);
    await page.waitForSelector("text=here, as");
    await drop();
    await page.waitForSelector("text=truth.debug: here, as");
  }, { quiet: true });
}
await end();
