// SPDX-License-Identifier: Apache-2.0
// Shared by the browser's scripts: the page at ORIGIN in Chromium, and the list of errors.
//
//   const { check, visit, end } = await browse(ORIGIN, PICTURES);
//   await visit("/?view=fleet", "#boards tr", LOOKS.light, async (page) => { ... });
//   await end(); // prints the errors; the exit status is non-zero if there are any
import { createRequire } from "node:module";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const require = createRequire(join(process.env.FLEETPROF_WEB, "package.json"));
const { chromium } = require("playwright-core");
export const SETTLED_MS = 15000;

export const LOOKS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 800 }, colorScheme: "light", isMobile: true, hasTouch: true },
};

export async function browse(origin, pictures) {
  const wrong = [];
  const tell = () => {
    for (const text of [...new Set(wrong)]) console.log(text.slice(0, 600));
    return wrong.length ? 1 : 0;
  };
  process.on("uncaughtException", (error) => {
    wrong.push(String(error.stack));
    process.exit(tell());
  });
  const check = (is, text) => { if (!is) wrong.push(text); };
  await mkdir(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

  // A window costs a browser three times as much as a page in it: there is one for each of OPTIONS.
  const windows = new Map();
  const seen = { path: "", quiet: false }; // the visit in progress
  async function windowOf(options) {
    const key = JSON.stringify(options);
    if (!windows.has(key)) {
      const context = await browser.newContext(options);
      windows.set(key, await watched(await context.newPage()));
    }
    return windows.get(key);
  }

  // PAGE with its errors recorded. A quiet page is a view of rejections: a browser logs each of
  // them on its console.
  async function watched(page) {
    const complain = (text) => wrong.push(`${seen.path}: ${text}`);
    page.setDefaultTimeout(SETTLED_MS);
    page.on("console", (message) => { if (!seen.quiet && ["error", "warning"].includes(message.type())) complain(`console: ${message.text()}`); });
    page.on("pageerror", (error) => complain(error.message));
    page.on("dialog", (dialog) => { complain(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!/^(blob|about):/.test(request.url()) && !request.url().startsWith(origin)) complain(`asks ${request.url()}`); });
    await page.addInitScript(() => {
      window.reports = [];
      document.addEventListener("securitypolicyviolation", (event) => window.reports.push(event.violatedDirective + " " + event.blockedURI));
    });
    return page;
  }

  // Opens PATH, waits until SELECTOR exists, and calls DO; BEFORE runs before the page opens. Their
  // `page.route` and `listen` handlers end with the visit, as do the page's cookies and storage.
  async function visit(path, selector, options, act, { quiet = false, before = async () => {} } = {}) {
    const page = await windowOf(options), listeners = [];
    const listen = (event, hear) => listeners.push([event, hear]) && page.on(event, hear);
    Object.assign(seen, { path, quiet });
    try {
      await before(page, listen);
      await page.goto(origin + path);
      if (selector) await page.waitForSelector(selector);
      await act(page, listen);
      for (const report of await page.evaluate(() => window.reports)) wrong.push(`${path}: policy: ${report}`);
    } catch (error) {
      wrong.push(`${path}: ${error.message.split("\n").slice(0, 3).join(" ")}: ${(await page.evaluate(() => document.body.innerText).catch(() => "")).slice(0, 200)}`);
    }
    await page.evaluate(() => sessionStorage.clear()).catch(() => {});
    for (const [event, hear] of listeners) page.off(event, hear);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    seen.quiet = true; // errors from requests aborted here do not count
    await page.goto("about:blank");
    await page.mouse.move(0, 0);
  }

  return { browser, check, visit, end: async () => { await browser.close(); process.exit(tell()); } };
}

export async function until(is, ms = 5000) {
  for (const began = Date.now(); Date.now() - began < ms; await new Promise((later) => setTimeout(later, 30)))
    if (await is()) return true;
  return false;
}

const axe = readFile(require.resolve("axe-core/axe.min.js"), "utf8");

// Serious findings of axe-core, by all its rules or by RULES. The page's policy stays in force: axe
// is injected like by a debugger.
export async function axeFinds(page, rules) {
  await page.evaluate(await axe);
  const found = await page.evaluate((runOnly) => window.axe.run(document, { resultTypes: ["violations"], ...(runOnly && { runOnly }) }), rules);
  return found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, impact, help, nodes }) => `${impact}: ${id}: ${help}: ${nodes[0].html}`);
}
