// SPDX-License-Identifier: Apache-2.0
// node page_states.mjs ORIGIN PICTURES: what the page says while a question is slow, when it is refused, and when there is
// more than it shows, in Chromium on what the collector at ORIGIN has.  Prints what was wrong.
import { browse, LOOKS, until } from "./browser.mjs";

const [origin, pictures] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);
const TRUTH = "match=%7Bservice%3D%22truth%22%7D";

// Holds requests whose URL contains TEXT until the returned function is called.
async function hold(page, text) {
  let release = () => {};
  const waits = new Promise((done) => { release = done; });
  await page.route((url) => url.href.includes("/api/v1/") && url.href.includes(text), async (route) => {
    await waits;
    await route.fallback().catch(() => {}); // the request may have been cancelled
  });
  return release;
}
const refuse = (page, path, status, detail) => page.route((url) => url.pathname.endsWith(path), (route) =>
  route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify({ status, detail }) }));

// The figures of a function never appear under another function's name, nor under an error.
await visit(`/?view=function&function=alpha_sixty&${TRUTH}`, "#function-view .source tr", LOOKS.light, async (page) => {
  const figures = () => page.locator("#function-view td, #function-view dl.figures").count();
  const answer = await hold(page, "no_such_function");
  await page.fill("#function", "no_such_function");
  await page.press("#function", "Enter");
  check(await until(async () => await figures() === 0), `another function: ${await figures()} old figures while it is asked`);
  check(await page.locator("text=Loading the function").count() > 0, "another function: it is not said to be loading");
  answer();
  await page.waitForSelector(".status.wrong");
  check(await figures() === 0, `a function that is none: ${await figures()} old figures below the error`);
  check(/nothing sampled here.*Profile's table/.test(await page.textContent(".status.wrong")), "a function that is none: no next step");
}, { quiet: true });

// The same for two selections: new sides never appear with old totals.
await visit("/?view=diff&a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D", ".flame canvas", LOOKS.light, async (page, listen) => {
  const asked = [];
  listen("request", (request) => { if (request.url().includes("format=columns")) asked.push(request.url()); });
  const answer = await hold(page, "nobody");
  await page.fill("#b", '{service="nobody"}');
  await page.press("#b", "Enter");
  check(await until(async () => await page.locator("#verdicts tr, #sides").count() === 0), "other sides: old figures while they are asked");
  check(asked.length === 0, `other sides: trees of the old times are asked for: ${asked}`);
  answer();
  await page.waitForSelector("text=No samples in B");
});

// A profile stays, greyed and marked as old, until there is another.
await visit(`/?view=profile&${TRUTH}`, "#functions tr", LOOKS.light, async (page) => {
  const answer = await hold(page, "other");
  await page.fill("#match", '{service="other"}');
  await page.press("#match", "Enter");
  await page.waitForSelector("text=Loading the profile");
  check(await page.locator(".old #functions").count() === 1 && await page.locator(".old .flame").count() === 1, "another selector: old figures are not marked");
  answer();
  await page.waitForSelector("#functions >> text=bottom");
  check(await until(async () => await page.locator(".old").count() === 0), "another selector: new figures are marked as old");
  await page.fill("#match", "{");
  await page.press("#match", "Enter");
  await page.waitForSelector(".status.wrong");
  check(await until(async () => await page.locator("#functions").count() === 0), "a selector that is none: old figures below the error");
  check(/a selector is/.test(await page.textContent(".status.wrong")), "a selector that is none: no next step");
}, { quiet: true });

// A failure beside an answer is reported at the missing part, with the remedy.
const ALERT = "the store is busy";
const isSaid = async (page, box, what) => {
  const said = await page.locator(box).textContent().catch(() => "nothing");
  check(said.includes(ALERT) && /Narrow/.test(said), `${what}: refused, it says ${said.slice(0, 100)}`);
};
for (const [path, refused, selector, box] of [
  [`/?view=function&function=alpha_sixty&${TRUTH}`, "/callers", "#function-view .source tr", "h2:text('Callers') + .wrong"],
  [`/?view=function&function=alpha_sixty&${TRUTH}`, "/callees", "#function-view .source tr", "h2:text('Callees') + .wrong"],
  [`/?view=profile&${TRUTH}`, "/series", "#functions tr", ".timeline .wrong"],
  ["/?view=diff&a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D", "/profile", "#verdicts tr", "#diff > .wrong"],
  ["/?view=diff", "/labels", ".empty", ".presets + .wrong"],
])
  await visit(path, selector, LOOKS.light, async (page) => {
    await page.waitForSelector(box).catch(() => {});
    await isSaid(page, box, `${refused} of ${path}`);
  }, { quiet: true, before: (page) => refuse(page, refused, 503, ALERT) });
await visit("/?view=diff", ".empty", LOOKS.light, async (page) => {
  check(await until(async () => /Nothing has a .*fleetprof query/.test(await page.textContent("#diff"))), "no label's values: it is not said");
}, { before: (page) => page.route((url) => url.pathname.includes("/labels"), (route) => route.fulfill({ json: { data: [] } })) });

// [rest] is explained: in a profile, and in a side of a difference.
const REST = "an answer about one board has all";
for (const [path, selector, asked, add] of [
  [`/?view=profile&${TRUTH}`, "#functions tr", "/profile", (body) => ({ ...body, rest_hint: REST })],
  ["/?view=diff&a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D", "#verdicts tr", "/diff", (body) => ({ ...body, b: { ...body.b, rest_hint: REST } })],
])
  await visit(path, selector, LOOKS.light, async (page) => {
    check(await until(async () => (await page.textContent("body")).includes(`[rest]: ${REST}`)), `${asked}: it is not said what [rest] is`);
  }, { before: (page) => page.route((url) => url.pathname.endsWith(asked), async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: add(await response.json()) });
  }) });

// A sandwich belongs to one module's function, and controls that do not apply to it are disabled.
await visit(`/?view=function&function=alpha_sixty&module=truth&${TRUTH}`, "#function-view h2", LOOKS.light, async (page) => {
  await page.click("h2 a");
  await page.waitForSelector("h3");
  check(/sandwich=alpha_sixty/.test(page.url()) && /module=truth/.test(page.url()), `a sandwich's link is ${page.url()}`);
  check(/alpha_sixty in truth/.test(await page.textContent("h3")), `a sandwich is of ${await page.textContent("h3")}`);
  check(await page.locator(".tools select:disabled").count() === 1 && await page.locator(".tools [type=checkbox]:disabled").count() === 1,
        "a sandwich: Merge and Invert can be chosen and do nothing");
  await page.fill("#sandwich", "beta_thirty");
  await page.press("#sandwich", "Enter");
  check(await until(() => !/module=/.test(page.url())), `another name in the same module: ${page.url()}`);
});
await visit(`/?view=profile&sandwich=alpha_sixty&module=libc.so.6&${TRUTH}`, "h3", LOOKS.light, async (page) =>
  check(/No stack has a function alpha_sixty in libc/.test(await page.textContent("#profile")), "a sandwich of another module's function has frames"));

// Long tables: sorted as a whole, shown from the beginning, with the number of hidden rows.
const long = (row, rows) => Array.from({ length: rows }, (_, i) => ({ ...row, ...(row.function ? { function: `f${i}` } : { name: `f${i}` }) }));
await visit(`/?view=profile&${TRUTH}`, "#functions tr", LOOKS.light, async (page) => {
  const rows = () => page.locator("#functions tr").count();
  check(await rows() === 100 && /200 more/.test(await page.textContent("#profile")), `300 functions: ${await rows()} are shown, and nothing of the others`);
  await page.click("th button:has-text('Total')");
  const top = await page.locator("#functions tr").first().textContent();
  check(/f249/.test(top), `sorted by Total the first is ${top}`);
  await page.click("text=Show 200 of them");
  check(await rows() === 300, `all are asked for: ${await rows()}`);
}, { before: (page) => page.route((url) => url.pathname.endsWith("/profile") && !url.searchParams.has("format"), async (route) => {
  const response = await route.fetch();
  const json = await response.json();
  json.functions = long(json.functions[0], 300).map((row, i) => ({ ...row, total_share: i === 249 ? 1 : 0.5, total: i === 249 ? 10 : 5 }));
  await route.fulfill({ response, json });
}) });

// Beyond the requested rows the collector chooses by the table's sort key, and the page reports
// that.
const newcomers = (count) => Array.from({ length: count }, (_, i) => ({ name: `g${i}`, module: "app", file: null, line: null, quality: null }));
const orderOf = (request) => new URL(request.url()).searchParams.get("order") ?? "self";
const isTable = (request) => /\/profile\?(?!.*format=)/.test(request.url());
for (const count of [6000, 5000]) {
  const orders = []; // sort keys in requests of tables
  await visit(`/?view=profile&${TRUTH}`, "#functions tr", LOOKS.light, async (page) => {
    const says = async () => /These are the 5,000 functions of 6,000 that took the most (\w+)/.exec(await page.locator("#profile").innerText().catch(() => ""))?.[1];
    const top = () => page.locator("#functions tr").first().innerText();
    await page.waitForSelector(".flame canvas");
    if (count === 6000) check(await until(async () => await says() === "themselves"), `5000 of 6000: ${await says()}`);
    const answer = await hold(page, "order=total");
    await page.click("th button:has-text('Total')");
    await page.waitForSelector("th[aria-sort=descending]:has-text('Total')");
    if (count === 6000) check(await until(() => orders.includes("total")) && await says() === "themselves" && /self f0/.test(await top()), `5000 of 6000, by Total while it is asked: ${await says()}, the first is ${await top()}`);
    answer();
    if (count === 6000) return check(await until(async () => await says() === "in" && /total f0/.test(await top())), `5000 of 6000 by Total: ${await says()}, the first is ${await top()}`);
    const again = page.waitForRequest(isTable);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange"))); // the page reloads when it becomes visible again
    await again;
    check(!orders.includes("total"), `5000 of 5000: they are asked for by ${orders}`);
    check(await page.locator("#profile .notice").count() === 0 && /self f0/.test(await top()), `5000 of 5000: others are said to lack, or the first is ${await top()}`);
  }, { before: (page, listen) => listen("request", (request) => isTable(request) && orders.push(orderOf(request))).route((url) => url.pathname.endsWith("/profile"), async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const order = orderOf(route.request());
    if (json.nodes) json.functions.push(...newcomers(count - json.functions.filter(({ module }) => module !== "").length));
    else json.functions = long(json.functions[0], 5000).map((row) => ({ ...row, name: `${order} ${row.name}` }));
    await route.fulfill({ response, json });
  }) });
}
await visit(`/?view=function&function=alpha_sixty&${TRUTH}`, "h2:text('Callers')", LOOKS.light, async (page) => {
  check(await until(async () => /200 more/.test(await page.locator("h2:text('Callers') ~ .status").last().textContent())), "300 callers: nothing of those that are not shown");
}, { before: (page) => page.route("**/callers?**", async (route) => {
  const response = await route.fetch();
  const json = await response.json();
  json.edges = long(json.edges[0], 300);
  await route.fulfill({ response, json });
}) });
await visit(`/?view=profile&${TRUTH}`, ".flame canvas", LOOKS.light, async (page) =>
  check(await until(async () => /112 more levels/.test(await page.textContent(".flame"))), `1000 levels: ${await page.textContent(".flame")}`),
{ before: (page) => page.route((url) => url.searchParams.get("format") === "columns", async (route) => {
  const response = await route.fetch();
  const json = await response.json();
  const column = (of) => Array.from({ length: 1000 }, (_, i) => of(i));
  json.nodes = { function: column(() => 0), parent: column((i) => i - 1), self: column((i) => (i === 999 ? 7 : 0)), total: column(() => 7) };
  await route.fulfill({ response, json });
}) });

// A link with a pattern of exponential time is answered at once, whatever the names are.
for (const pattern of ["(x+)+$", "x*x*x*x*x*x*x*x*y"])
  await visit(`/?view=profile&${TRUTH}&search=${encodeURIComponent(pattern)}`, null, LOOKS.light, async (page) => {
    check(await until(async () => /for ever/.test(await page.textContent(".tools .said").catch(() => "")), 10000), `${pattern}: it says nothing`);
    check(await page.evaluate(() => 1) === 1, `${pattern}: the page is frozen`);
  }, { before: (page) => page.route((url) => url.searchParams.get("format") === "columns", async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    json.functions = json.functions.map((fn, i) => ({ ...fn, name: "x".repeat(300) + "é" + i }));
    await route.fulfill({ response, json });
  }) });
await end();
