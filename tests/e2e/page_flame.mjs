// SPDX-License-Identifier: Apache-2.0
// node page_flame.mjs ORIGIN PICTURES: the flame graph by keyboard, its pictures, and that of two
// selections, in Chromium on the data of the collector at ORIGIN. Prints the errors.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { browse, LOOKS, until } from "./browser.mjs";

const [origin, pictures] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);
const of = (service) => `match=${encodeURIComponent(`{service="${service}"}`)}`;
const now = Math.floor(Date.now() / 1000);
const HOUR = `from=${now - 3600}&to=${now}`; // fixed, so an answer is the same at any time
const ROW_PX = 18;

async function exported(page, label) {
  const button = `button:text-is('${label}')`;
  const menu = page.locator(".menu").filter({ has: page.locator(button) });
  await menu.evaluate((its) => { its.open = true; });
  const [download] = await Promise.all([page.waitForEvent("download"), menu.locator(button).click()]);
  const file = join(pictures, "whole." + label.toLowerCase());
  await download.saveAs(file);
  await menu.evaluate((its) => { its.open = false; });
  return readFile(file);
}
// Size, and the colours in the middle of each row from the last one up.
const rowsOf = (page, bytes) => page.evaluate(async ([data, rowPx]) => {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }));
  const context = Object.assign(document.createElement("canvas"), { width: bitmap.width, height: bitmap.height }).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const at = (x, y) => [...context.getImageData(x, y, 1, 1).data].join();
  const ups = [];
  for (let y = bitmap.height - rowPx + 2; y > 0; y -= rowPx) ups.push(at(bitmap.width / 2, y));
  return { height: bitmap.height, ups };
}, [bytes.toString("base64"), ROW_PX]);
const GROUND = "255,255,255,255";

// A picture is whole: it includes the part below the fold and both halves of a sandwich, but not
// the keyboard's cursor.
await visit(`/?view=profile&${of("other")}&${HOUR}`, ".flame canvas", LOOKS.light, async (page) => {
  await page.waitForSelector("#functions tr");
  const seen = await page.evaluate(() => document.querySelector(".flame-box").clientHeight);
  const bytes = await exported(page, "PNG");
  const { height, ups } = await rowsOf(page, bytes);
  check(height >= 50 * ROW_PX && height > seen, `PNG: ${height} px high, ${seen} are seen`);
  check(ups.slice(0, 3).every((colour) => colour !== GROUND && !colour.endsWith(",0")), `PNG: its last rows are ${ups.slice(0, 3)}`);
  await page.focus(".flame-box");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  check((await exported(page, "PNG")).equals(bytes), "PNG: another one with the cursor elsewhere");
  check(String(await exported(page, "SVG")).includes("bottom"), "SVG: without its last rows");
});
await visit(`/?view=profile&${of("other")}&${HOUR}&sandwich=bottom`, ".flame canvas", LOOKS.light, async (page) => {
  await page.waitForSelector("#functions tr");
  const halves = await page.locator(".flame canvas").evaluateAll((all) => all.map((canvas) => canvas.clientHeight));
  const { height, ups } = await rowsOf(page, await exported(page, "PNG"));
  check(halves.length === 2 && height >= halves[0] + halves[1], `PNG of a sandwich: ${height} px of ${halves}`);
  check(ups[0] !== GROUND, "PNG of a sandwich: no lower half");
  const svg = String(await exported(page, "SVG"));
  check(svg.split("<title>bottom ").length >= 3 && svg.includes("<title>descend "), "SVG of a sandwich: not both halves");
});

const under = (page) => page.textContent(".under");
const press = async (page, key, times) => { for (let i = 0; i < times; i++) await page.keyboard.press(key); };

// The keyboard's cursor is always visible, and a pointer that only leaves does not remove it.
await visit(`/?view=profile&${of("other")}`, ".flame-box", LOOKS.light, async (page) => {
  let across = 300; // varied each time: a resting pointer sends no events
  const pointAtRoot = async () => {
    await page.evaluate(() => { document.querySelector(".flame-box").scrollTop = 0; });
    const { x, y } = await page.locator(".flame-box").boundingBox();
    const at = { clientX: Math.floor(x) + (across += 20), clientY: Math.floor(y + ROW_PX / 2) };
    await page.mouse.move(at.clientX, at.clientY, { steps: 3 });
    check(await until(async () => /^root: /.test(await under(page))), `a pointer over the root: ${await under(page)}`);
    return at;
  };
  await page.focus(".flame-box");
  await pointAtRoot();
  let depth = 0; // of the innermost frame: those above it are all called the same
  for (; depth < 99 && !/^bottom /.test(await under(page)); depth++) await page.keyboard.press("ArrowDown");
  const atRest = await pointAtRoot();
  await press(page, "ArrowDown", 45);
  const place = await page.evaluate(() => {
    const box = document.querySelector(".flame-box"), shape = box.getBoundingClientRect();
    return { top: box.scrollTop, height: box.clientHeight, shape: [shape.top, shape.bottom], window: innerHeight };
  });
  check(45 * ROW_PX >= place.top && 46 * ROW_PX <= place.top + place.height, `45 times down: the box is scrolled to ${place.top}, ${place.height} high`);
  check(place.shape[0] > -1 && place.shape[1] < place.window + 1, `the box stands at ${place.shape} of ${place.window}`);
  await page.dispatchEvent(".flame canvas", "mousemove", atRest); // other browsers report scrolling below a pointer in this way
  check(/^descend /.test(await under(page)), `45 times down: the cursor says ${await under(page)}`);
  await press(page, "ArrowDown", depth - 45);
  check(/^bottom /.test(await under(page)), `${depth} times down, and a page that scrolled between: the cursor says ${await under(page)}`);
  await press(page, "ArrowUp", depth - 45);
  await page.mouse.move(5, 5);
  await page.waitForTimeout(100);
  check(/^descend /.test(await under(page)), "a pointer that left has taken the keyboard's cursor");
  await pointAtRoot();
  await page.mouse.move(5, 5);
  check(await until(async () => /^Click/.test(await under(page))), "a pointer that left is still told of");
});

// A refreshed profile has other node numbers: the cursor keeps its place.
let answers = 0;
await visit(`/?view=profile&${of("truth")}`, ".flame-box", LOOKS.light, async (page) => {
  await page.focus(".flame-box");
  for (let i = 0; i < 20 && !/^alpha_sixty /.test(await under(page)); i++) await page.keyboard.press("ArrowDown");
  check(/^alpha_sixty /.test(await under(page)), `the innermost frame is ${await under(page)}`);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  check(await until(() => answers >= 2), "a page that is seen again does not ask again");
  await page.waitForTimeout(500); // it is drawn
  check(/^alpha_sixty /.test(await under(page)), `after another answer the cursor is at ${await under(page)}`);
}, { before: async (page) => {
  await page.route((url) => url.searchParams.get("format") === "columns", async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const { nodes } = json;
    if (answers > 0) { // adds a function before all others
      json.functions.push({ name: "a newcomer", module: "app", file: null, line: null, quality: null });
      nodes.parent = nodes.parent.map((parent) => (parent > 0 ? parent + 1 : parent));
      nodes.parent.splice(1, 0, 0);
      nodes.function.splice(1, 0, json.functions.length - 1);
      nodes.self.splice(1, 0, 1);
      nodes.total.splice(1, 0, 1);
    }
    await route.fulfill({ response, json });
    answers++;
  });
} });

// The graph of two selections: it can be searched, shows each frame's share on both sides, and
// links to its samples.
const SIDES = new URLSearchParams({ a: '{service="truth"}', b: '{service="other"}', from: String(now - 3600), to: String(now) });
await visit(`/?view=diff&${SIDES}`, ".flame canvas", LOOKS.light, async (page) => {
  await page.fill("#search", "^alpha_sixty$");
  check(await until(async () => /^1 functions/.test(await page.textContent(".tools .said"))), `a search says ${await page.textContent(".tools .said")}`);
  await page.fill("#search", "");
  check(/double-click/.test(await under(page)), "the graph of two does not say how a function is opened");
  await page.focus(".flame-box");
  await page.keyboard.press("ArrowDown");
  for (let i = 0; i < 5 && !/: 0.0 % of A/.test(await under(page)); i++) await page.keyboard.press("ArrowRight"); // to a frame of B alone
  for (let i = 0; i < 80 && !/^bottom /.test(await under(page)); i++) await page.keyboard.press("ArrowDown");
  check(/of A, .* of B; its total \+\d.* points, (changed|new|unclear)/.test(await under(page)), `a frame of two says ${await under(page)}`);
  await page.keyboard.press("Shift+Enter");
  await page.waitForSelector("#function-view h2");
  const asked = new URL(page.url()).searchParams;
  check(asked.get("match") === '{service="other"}' && Date.parse(asked.get("to")) === now * 1000, `it leads to ${page.url()}`);
  check(await page.locator(".status.wrong").count() === 0, "it leads to a function that is not there");
});
await visit(`/?view=diff&${SIDES}`, "#verdicts tr", LOOKS.light, async (page) => {
  const sideOf = async (name) => new URLSearchParams(await page.locator(`#verdicts a:text-is('${name}')`).getAttribute("href")).get("match");
  check(await sideOf("bottom") === '{service="other"}', `bottom, which B alone has, leads to ${await sideOf("bottom")}`);
  check(await sideOf("alpha_sixty") === '{service="truth"}', `alpha_sixty, which A alone has, leads to ${await sideOf("alpha_sixty")}`);
});
await end();
