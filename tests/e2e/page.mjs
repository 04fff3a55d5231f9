// SPDX-License-Identifier: Apache-2.0
// node page.mjs ORIGIN PICTURES: every view of the page in Chromium, with the data of the collector
// at ORIGIN: light, dark and on a phone, checked by axe-core, and with hostile names in every
// answer. Prints the errors; pictures of each view stay in PICTURES. page_deeds.mjs tests the
// page's functions.
import { join } from "node:path";
import { axeFinds, browse, LOOKS, SETTLED_MS, until } from "./browser.mjs";

const [origin, pictures] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);

async function isFluent(page, path) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(wide <= room, `${path}: ${wide} px wide on ${room}`);
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
for (const [look, options] of Object.entries(LOOKS))
  for (const [view, [path, selector]] of Object.entries(VIEWS))
    await visit(path, selector, options, async (page) => {
      await page.waitForTimeout(150);
      await page.screenshot({ path: join(pictures, `${view}-${look}.png`) });
      await isFluent(page, `${view}, ${look}`);
      for (const finding of await axeFinds(page, look === "dark" ? ["color-contrast"] : undefined)) check(false, `${view}, ${look}: ${finding}`);
    }, { quiet: view === "refused" });

// Untrusted names, used for every name in any answer.
const HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a\u202Etxt.exe\u0000end", "x".repeat(100000),
                 "{{constructor}}", "javascript:alert(3)", "\uFFFD\uD800", "שלום עולם", "&lt;b&gt;"];
const CONTROLS = "\u202E\u0000"; // appended to each: a place that shows names unescaped is found, whichever name it gets
let turn = 0;
const soiled = (value, key) => {
  if (Array.isArray(value)) return value.map((item) => soiled(item, key));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, soiled(item, name)]));
  const isText = typeof value === "string" && !["from", "to", "unit", "first_seen", "last_seen", "verdict", "end", "kind"].includes(key);
  return isText ? HOSTILE[turn++ % HOSTILE.length] + CONTROLS : value;
};
for (const [view, [path]] of Object.entries(VIEWS)) {
  if (["nothing", "refused", "which", "which-two"].includes(view)) continue;
  const soil = (page) => page.route("**/api/v1/**", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json().catch(() => null);
    await route.fulfill({ response: answer, json: soiled(body, "") });
  });
  await visit(path, null, LOOKS.light, async (page) => {
    const known = HOSTILE.map((name) => name.slice(0, 60));
    await until(() => page.evaluate((names) => names.some((name) => document.body.textContent.includes(name)), known), SETTLED_MS);
    await page.waitForLoadState("networkidle"); // the remaining requests
    await page.screenshot({ path: join(pictures, `${view}-hostile.png`) });
    const said = await page.evaluate(() => ({ text: document.body.textContent, strange: document.querySelectorAll("#app img, #app script").length }));
    check(said.strange === 0, `${view}: markup of a name`);
    check(!/[\u0000\u202a-\u202e\u2066-\u2069]/.test(said.text), `${view}: a control of a name`);
    check(known.some((name) => said.text.includes(name)), `${view}: hostile names are not shown`);
    await isFluent(page, `${view}, hostile`);
  }, { before: soil });
}
await end();
