// SPDX-License-Identifier: Apache-2.0
// node page_states.mjs ORIGIN PICTURES: what the page says while a question is slow, when it is refused, and when there is
// more than it shows, in Chromium on what the collector at ORIGIN has.  Prints what was wrong.
import { browse, LOOKS, until } from "./browser.mjs";

const [origin, pictures] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);
const TRUTH = "match=%7Bservice%3D%22truth%22%7D";

// Questions whose URL holds TEXT are answered when LET is called, and not before.
async function hold(page, text) {
  let release = () => {};
  const waits = new Promise((done) => { release = done; });
  await page.route((url) => url.href.includes("/api/v1/") && url.href.includes(text), async (route) => {
    await waits;
    await route.continue().catch(() => {}); // nobody may ask it any more
  });
  return release;
}
const refuse = (page, path, status, detail) => page.route((url) => url.pathname.endsWith(path), (route) =>
  route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify({ status, detail }) }));

// The figures of one function never stand under the name of another, nor under an error.
await visit(`/?view=function&function=alpha_sixty&${TRUTH}`, "#function-view .source tr", LOOKS.light, async (page) => {
  const figures = () => page.locator("#function-view td, #function-view dl.figures").count();
  const answer = await hold(page, "no_such_function");
  await page.fill("#function", "no_such_function");
  await page.click("text=Look");
  check(await until(async () => await figures() === 0), `another function: ${await figures()} old figures while it is asked`);
  check(await page.locator("text=Loading the function").count() > 0, "another function: it is not said to be loading");
  answer();
  await page.waitForSelector(".status.wrong");
  check(await figures() === 0, `a function that is none: ${await figures()} old figures below the error`);
  check(/nothing sampled here.*Profile's table/.test(await page.textContent(".status.wrong")), "a function that is none: no next step");
}, { quiet: true });

// Of two selections, too: new sides with old totals there are none.
await visit("/?view=diff&a=%7Bservice%3D%22truth%22%7D&b=%7Bservice%3D%22other%22%7D", "#verdicts tr", LOOKS.light, async (page) => {
  const asked = [];
  page.on("request", (request) => { if (request.url().includes("format=columns")) asked.push(request.url()); });
  const answer = await hold(page, "nobody");
  await page.fill("#b", '{service="nobody"}');
  await page.click("form.sides button");
  check(await until(async () => await page.locator("#verdicts tr, #sides").count() === 0), "other sides: old figures while they are asked");
  check(asked.length === 0, `other sides: trees of the old times are asked for: ${asked}`);
  answer();
  await page.waitForSelector("text=No samples in B");
});

// A profile stays, greyed and said to be old, until there is another.
await visit(`/?view=profile&${TRUTH}`, "#functions tr", LOOKS.light, async (page) => {
  const answer = await hold(page, "other");
  await page.fill("#match", '{service="other"}');
  await page.click("text=Show");
  await page.waitForSelector("text=Loading the profile");
  check(await page.locator(".old #functions").count() === 1 && await page.locator(".old .flame").count() === 1, "another selector: old figures are not marked");
  answer();
  await page.waitForSelector("#functions >> text=bottom");
  check(await until(async () => await page.locator(".old").count() === 0), "another selector: new figures are marked as old");
  await page.fill("#match", "{");
  await page.click("text=Show");
  await page.waitForSelector(".status.wrong");
  check(await page.locator("#functions").count() === 0, "a selector that is none: old figures below the error");
  check(/a selector is/.test(await page.textContent(".status.wrong")), "a selector that is none: no next step");
}, { quiet: true });
await end();
