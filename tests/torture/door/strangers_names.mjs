// SPDX-License-Identifier: Apache-2.0
// node strangers_names.mjs ORIGIN PICTURES SERVICE NOTE IMAGE SCRIPT TURNED LOOKS: every view of
// the page on samples whose service, label `note` and functions have these names, in each of LOOKS;
// flame graphs are kept as SVG. Prints the errors.
import { join } from "node:path";
import { browse, LOOKS, SETTLED_MS, until } from "../../e2e/browser.mjs";

const [origin, pictures, service, note, image, script, turned, looks] = process.argv.slice(2);
const { check, visit, end } = await browse(origin, pictures);
const inQuotes = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
const of = (name, value) => `{${name}=${inQuotes(value)}}`;
const path = (parameters) => "/?" + new URLSearchParams(parameters);
const TURNED = turned.replace("\u202e", "\\u202e"); // the page's escape of a control character that reverses text
const FUNCTIONS = [image, script, "a???txt.exe", "br?oken?", '{{constructor}}&lt;b&gt;"\'', "x".repeat(300)];
const FILE = "<svg onload=alert(3)>" + TURNED;
const match = of("service", service);

// View: where it is, and the names that it must show.
const VIEWS = {
  fleet: [path({ view: "fleet", since: "1d" }), [service, image, "<b>liar\\u202e</b>"]],
  profile: [path({ view: "profile", match }), [...FUNCTIONS, FILE, match]],
  thread: [path({ view: "profile", match, merge: "thread" }), FUNCTIONS],
  sandwich: [path({ view: "profile", match, sandwich: script }), [script]],
  label: [path({ view: "profile", match: of("note", note) }), [image, script]],
  image: [path({ view: "function", function: image }), [image, FILE, "<i>th</i>"]],
  files: [path({ view: "function", function: "part_script", match: of("service", "files") }), ["</script><script>alert(8)</script>.c"]],
  diff: [path({ view: "diff", a: match, b: of("service", "other") }), [match, image, script, TURNED, "br?oken?"]],
  symbols: [path({ view: "symbols" }), [FILE]],
  loss: [path({ view: "loss", search: "function_cpu" }), ["<img src=x onerror=alert(1)>", "</script>"]],
};
const shown = (page) => page.evaluate(() => document.body.textContent + [...document.querySelectorAll("input")].map((input) => input.value).join(" "));
async function keep(page, name) {
  await page.click(".menu summary:text-is('Export')");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(".menu[open] button:text-is('SVG')")]);
  await download.saveAs(join(pictures, name + ".svg"));
}
for (const look of looks.split(" "))
  for (const [view, [url, names]] of Object.entries(VIEWS))
    await visit(url, view === "symbols" ? "#modules tr" : "h2", LOOKS[look], async (page) => {
      for (const name of names)
        check(await until(async () => (await shown(page)).includes(name), SETTLED_MS), `${view}, ${look}: does not show ${name.slice(0, 60)}: ${(await shown(page)).slice(0, 300)}`);
      const [wide, room, strange] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth,
        document.querySelectorAll("#app img, #app script, #app :not(h1) > svg, #app i:not([style]):not(.end i), #app b").length]);
      check(wide <= room, `${view}, ${look}: ${wide} px wide on ${room}`);
      check(strange === 0, `${view}, ${look}: markup of a name`);
      const controls = (await page.evaluate(() => document.body.textContent)).match(/[\u0000\u202a-\u202e\u2066-\u2069]/);
      check(!controls, `${view}, ${look}: a control of a name`);
      await page.screenshot({ path: join(pictures, `${view}-${look}.png`) });
      if (look === "light" && ["profile", "diff"].includes(view)) {
        await page.waitForSelector(".flame canvas");
        await keep(page, view);
      }
    });
await end();
