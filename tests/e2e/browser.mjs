// SPDX-License-Identifier: Apache-2.0
// What the browser's scripts have in common: the page at ORIGIN in Chromium, and what was wrong with it.
//
//   const { check, visit, end } = await browse(ORIGIN, PICTURES);
//   await visit("/?view=fleet", "#boards tr", LOOKS.light, async (page) => { ... });
//   await end(); // prints what was wrong; the exit status tells whether anything was
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

  // A page whose complaints are ours.  QUIET is for views of refusals: a browser tells each of them on its console.
  async function opened(path, options, quiet) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(SETTLED_MS);
    page.on("console", (message) => { if (!quiet && ["error", "warning"].includes(message.type())) wrong.push(`${path}: console: ${message.text()}`); });
    page.on("pageerror", (error) => wrong.push(`${path}: ${error.message}`));
    page.on("dialog", (dialog) => { wrong.push(`${path}: a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith("blob:")) wrong.push(`${path}: asks ${request.url()}`); });
    await page.addInitScript(() => {
      window.reports = [];
      document.addEventListener("securitypolicyviolation", (event) => window.reports.push(event.violatedDirective + " " + event.blockedURI));
    });
    return { page, context };
  }

  // Opens PATH, waits until SELECTOR is there, and does what DO does.  BEFORE comes before the page.
  async function visit(path, selector, options, act, { quiet = false, before = async () => {} } = {}) {
    const { page, context } = await opened(path, options, quiet);
    try {
      await before(page, context);
      await page.goto(origin + path);
      if (selector) await page.waitForSelector(selector);
      await act(page, context);
      for (const report of await page.evaluate(() => window.reports)) wrong.push(`${path}: policy: ${report}`);
    } catch (error) {
      wrong.push(`${path}: ${error.message.split("\n").slice(0, 3).join(" ")}: ${(await page.evaluate(() => document.body.innerText).catch(() => "")).slice(0, 200)}`);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" }); // who answers in a test's place may be at it still
    await context.close();
  }

  return { browser, check, visit, end: async () => { await browser.close(); process.exit(tell()); } };
}

export async function until(is, ms = 5000) {
  for (const began = Date.now(); Date.now() - began < ms; await new Promise((later) => setTimeout(later, 30)))
    if (await is()) return true;
  return false;
}

const axe = readFile(require.resolve("axe-core/axe.min.js"), "utf8");

// What axe-core finds serious.  The page's policy stays in force: axe comes in as a debugger would.
export async function axeFinds(page) {
  await page.evaluate(await axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, impact, help, nodes }) => `${impact}: ${id}: ${help}: ${nodes[0].html}`);
}
