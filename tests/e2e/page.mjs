// SPDX-License-Identifier: Apache-2.0
// node page.mjs ORIGIN PICTURES: every view of the page in Chromium, on what the collector at ORIGIN
// has: as light, dark and on a phone, seen by axe-core, by keyboard, and with hostile names in every
// answer.  Prints what was wrong; pictures of each view stay in PICTURES.
import { createRequire } from "node:module";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

const [origin, pictures] = process.argv.slice(2);
const require = createRequire(join(process.env.FLEETPROF_WEB, "package.json"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const SETTLED_MS = 15000;

const wrong = [];
function tell() {
  for (const text of [...new Set(wrong)]) console.log(text.slice(0, 600));
}
process.on("uncaughtException", (error) => {
  wrong.push(String(error.stack));
  tell();
  process.exit(1);
});
const check = (is, text) => { if (!is) wrong.push(text); };
await mkdir(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

// A page whose complaints are ours.  Its policy stays in force: axe comes in as a debugger would.
async function open(options, path) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(SETTLED_MS);
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(`${path}: console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`${path}: ${error.message}`));
  page.on("dialog", (dialog) => { wrong.push(`${path}: a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith("blob:")) wrong.push(`${path}: asks ${request.url()}`); });
  await page.addInitScript(() => {
    window.reports = [];
    document.addEventListener("securitypolicyviolation", (event) => window.reports.push(event.violatedDirective + " " + event.blockedURI));
  });
  return { page, context };
}

async function settled(page, path, selector) {
  await page.goto(origin + path);
  await page.waitForSelector(selector, { timeout: SETTLED_MS }).catch(() => wrong.push(`${path}: no ${selector}`));
}

async function closed({ page, context }, path) {
  for (const report of await page.evaluate(() => window.reports)) wrong.push(`${path}: policy: ${report}`);
  await context.close();
}

async function isFluent(page, path) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(wide <= room, `${path}: ${wide} px wide on ${room}`);
}

async function axeFinds(page, path) {
  const source = await (await import("node:fs/promises")).readFile(axe, "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, help, nodes } of found.violations)
    if (["serious", "critical"].includes(impact)) wrong.push(`${path}: ${impact}: ${id}: ${help}: ${nodes[0].html}`);
}

const FUNCTION = process.env.FUNCTION || "alpha_sixty";
const VIEWS = {
  profile: ["/?view=profile", "#functions tr"],
  sandwich: [`/?view=profile&sandwich=${FUNCTION}&search=alpha`, "h3"],
  module: ["/?view=profile&merge=module&invert=1", "#functions tr"],
  thread: ["/?view=profile&merge=thread", "#functions tr"],
  nothing: ["/?view=profile&match=%7Bservice%3D%22nobody%22%7D", ".empty"],
  refused: ["/?view=profile&match=%7B", ".wrong"],
  fleet: ["/?view=fleet", ".stack canvas"],
  function: [`/?view=function&function=${FUNCTION}`, "#function-view .source tr"],
  callers: [`/?view=function&function=choose`, "#function-view h2"],
  which: ["/?view=function", ".empty"],
  diff: ["/?view=diff&a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D", "#verdicts tr"],
  "which-two": ["/?view=diff", ".empty"],
  symbols: ["/?view=symbols", "#modules tr"],
  loss: ["/?view=loss", "#books tr"],
  ...JSON.parse(process.env.MORE_VIEWS || "{}"),
};
const LOOKS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 800 }, colorScheme: "light", isMobile: true, hasTouch: true },
};
for (const [look, options] of Object.entries(LOOKS))
  for (const [view, [path, selector]] of Object.entries(VIEWS)) {
    const opened = await open(options, path);
    if (view === "refused") opened.page.removeAllListeners("console"); // a browser tells each 400
    await settled(opened.page, path, selector);
    await opened.page.waitForTimeout(150);
    await opened.page.screenshot({ path: join(pictures, `${view}-${look}.png`) });
    await isFluent(opened.page, `${view}, ${look}`);
    if (look !== "phone") await axeFinds(opened.page, `${view}, ${look}`);
    await closed(opened, path);
  }

// By keyboard: zoom in and out, complete a selector, sort; the URL follows.
{
  const path = "/?view=profile";
  const opened = await open(LOOKS.light, path);
  const { page } = opened;
  await settled(page, path, ".flame-box");
  await page.focus(".flame-box");
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  const under = await page.textContent(".under");
  check(/ CPU s/.test(under), `keyboard: the cursor says ${under}`);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.search.includes("zoom="), null, { timeout: 5000 }).catch(() => wrong.push("keyboard: no zoom in the URL"));
  const zoomed = page.url();
  await page.reload();
  await page.waitForSelector("text=Whole graph", { timeout: SETTLED_MS }).catch(() => wrong.push(`${zoomed} is not zoomed when it is opened`));
  await page.focus(".flame-box");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.search.includes("zoom="), null, { timeout: 5000 }).catch(() => wrong.push("keyboard: zoom stays"));
  await page.fill("#match", '{serv');
  await page.waitForSelector("[role=option]", { timeout: 5000 }).catch(() => wrong.push("no completion of a label"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  check(await page.inputValue("#match") === '{service="', `completed: ${await page.inputValue("#match")}`);
  await page.waitForSelector("[role=option]", { timeout: 5000 }).catch(() => wrong.push("no completion of a value"));
  await page.fill("#match", "");
  await page.fill("#search", "alpha");
  await page.waitForFunction(() => location.search.includes("search=alpha"), null, { timeout: 5000 }).catch(() => wrong.push("a search is not in the URL"));
  await page.click("th button:has-text('Function')");
  check(await page.getAttribute("th:has(button:text('Function'))", "aria-sort") === "ascending", "no sort by name");
  await closed(opened, path);
}

// A fleet: what moved since yesterday is asked for when it is opened.
{
  const path = "/?view=fleet";
  const opened = await open(LOOKS.light, path);
  const { page } = opened;
  await settled(page, path, "#services tr");
  await page.click("#since summary");
  await page.waitForSelector("#since .columns ul, #since .columns .status", { timeout: SETTLED_MS }).catch(() => wrong.push("nothing since yesterday"));
  await page.waitForTimeout(500);
  check(!/Loading/.test(await page.textContent("#since")), "since yesterday: " + await page.textContent("#since"));
  await closed(opened, path);
}

// A file that is dropped is sent under its own build-id, and a refusal says which token is wanted.
if (process.env.SYMBOLS_FILE) {
  const path = "/?view=symbols";
  const opened = await open(LOOKS.light, path);
  const { page } = opened;
  page.removeAllListeners("console"); // a browser tells each 401
  await settled(page, path, "#modules tr");
  await page.setInputFiles("input[type=file]", process.env.SYMBOLS_FILE);
  await page.waitForSelector("text=token of role symbols", { timeout: SETTLED_MS }).catch(() => wrong.push("no word on the token"));
  await page.waitForSelector("#token", { timeout: 5000 }).catch(async () => wrong.push("no field for a token: " + await page.textContent(".drop ul")));
  await page.fill("#token", process.env.SYMBOLS_TOKEN);
  await page.click("#sign-in button");
  await page.setInputFiles("input[type=file]", []);
  await page.setInputFiles("input[type=file]", process.env.SYMBOLS_FILE);
  await page.waitForSelector("text=here, as", { timeout: SETTLED_MS }).catch(async () => wrong.push("not sent: " + await page.textContent(".drop ul")));
  await closed(opened, path);
}

// Names of strangers: what any answer calls anything.
const HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a\u202Etxt.exe\u0000end", "x".repeat(100000),
                 "{{constructor}}", "javascript:alert(3)", "\uFFFD\uD800", "שלום עולם", "&lt;b&gt;"];
let turn = 0;
const soiled = (value, key) => {
  if (Array.isArray(value)) return value.map((item) => soiled(item, key));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, soiled(item, name)]));
  const isText = typeof value === "string" && !["from", "to", "unit", "first_seen", "last_seen", "verdict", "end", "kind"].includes(key);
  return isText ? HOSTILE[turn++ % HOSTILE.length] : value;
};
for (const [view, [path]] of Object.entries(VIEWS)) {
  if (["nothing", "refused", "which", "which-two"].includes(view)) continue;
  const opened = await open(LOOKS.light, path);
  await opened.page.route("**/api/v1/**", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json().catch(() => null);
    await route.fulfill({ response: answer, json: soiled(body, "") });
  });
  await opened.page.goto(origin + path);
  await opened.page.waitForTimeout(1200);
  await opened.page.screenshot({ path: join(pictures, `${view}-hostile.png`) });
  const said = await opened.page.evaluate(() => ({ text: document.body.textContent, strange: document.querySelectorAll("#app img, #app script").length }));
  check(said.strange === 0, `${view}: markup of a name`);
  check(!/[\u0000\u202a-\u202e\u2066-\u2069]/.test(said.text), `${view}: a control of a name`);
  check(HOSTILE.some((name) => said.text.includes(name.slice(0, 60))), `${view}: hostile names are not shown`);
  await isFluent(opened.page, `${view}, hostile`);
  await closed(opened, `${view}, hostile`);
}
await browser.close();
tell();
process.exit(wrong.length ? 1 : 0);
