// SPDX-License-Identifier: Apache-2.0
// node behind_a_proxy.mjs COLLECTOR TOKEN WRITER KEY CERTIFICATE BUILD_ID PICTURES: the page at
// COLLECTOR behind a proxy that terminates TLS and serves it below a path, and beside a site of
// another origin that tries to frame it, to read it and to make its visitors write. Prints the
// errors.
import { readFile } from "node:fs/promises";
import { createServer as createSite, request } from "node:http";
import { createServer } from "node:https";
import { browse, LOOKS, until } from "../../e2e/browser.mjs";

const [collector, token, writer, key, certificate, buildId, pictures] = process.argv.slice(2);
const SYMBOLS = "0000000000001000 T planted\n"; // a debug file that is accepted from a writer
const PREFIX = "/tools/fleetprof";
const HEADERS = { "content-security-policy": /default-src 'none'.*frame-ancestors 'none'/, "x-frame-options": /^DENY$/, "x-content-type-options": /^nosniff$/,
                  "referrer-policy": /^no-referrer$/, "cross-origin-resource-policy": /^same-origin$/, "cache-control": /^no-(store|cache)$/,
                  vary: /Authorization/ };
const missing = (headers) => Object.entries(HEADERS).filter(([name, value]) => !value.test(headers[name] ?? "")).map(([name]) => name);

// Like a proxy: removes the prefix, passes Host and the client's address on.
const proxy = createServer({ key: await readFile(key), cert: await readFile(certificate) }, (asked, answer) => {
  if (!asked.url.startsWith(PREFIX + "/")) return void answer.writeHead(404).end("elsewhere");
  const passed = request(collector + asked.url.slice(PREFIX.length), { method: asked.method, headers: { ...asked.headers, "x-forwarded-for": "192.0.2.7" } }, (got) => {
    answer.writeHead(got.statusCode, got.headers);
    got.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  asked.pipe(passed);
});
// Another origin: a page that frames the collector's.
const site = createSite((_, answer) => answer.setHeader("Content-Type", "text/html").end(
  `<!doctype html><title>elsewhere</title><iframe src="${collector}/"></iframe>`));
for (const server of [proxy, site]) await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const origin = `https://127.0.0.1:${proxy.address().port}`;
const { browser, check, visit, end } = await browse(origin + PREFIX + "/", pictures);

// Without a token nothing can be read through a proxy; with a token the whole page works, and
// requests nothing above its path.
await visit("?view=profile", "#token", { ...LOOKS.light, ignoreHTTPSErrors: true }, async (page) => {
  check((await page.textContent(".wrong")).includes("token"), `without a token: ${await page.textContent(".wrong")}`);
  await page.fill("#token", token);
  await page.click("#sign-in button");
  await page.waitForSelector("#functions tr");
  await page.waitForSelector(".flame canvas");
  for (const [view, selector] of [["Fleet", "#boards tr"], ["Symbols", "#modules tr"], ["Loss and health", "#books tr"], ["Diff", "#by-label"], ["Profile", "#functions tr"]]) {
    await page.click(`nav a:text-is("${view}")`);
    await page.waitForSelector(selector);
    check(await until(() => page.url().startsWith(`${origin}${PREFIX}/?`)), `${view} is at ${page.url()}`);
  }
  await page.reload();
  await page.waitForSelector("#functions tr");
  const curl = await page.evaluate(() => { Object.defineProperty(navigator, "clipboard", { value: undefined }); document.querySelector(".export button").click();
                                           return new Promise((said) => setTimeout(() => said(document.querySelector(".export .said").textContent), 200)); });
  check(curl.includes(`'${origin}${PREFIX}/api/v1/profile'`) && !curl.includes(token), `curl: ${curl}`);
}, { quiet: true, before: (page, listen) => listen("response", (answer) => {
  if (answer.url().startsWith("blob:")) return;
  const without = missing(answer.headers());
  check(without.length === 0, `${answer.url().slice(0, 100)}: without ${without}`);
}) });

// A site of another origin in the browser of a user with read access: it cannot frame the page,
// read an answer, or write.
const context = await browser.newContext();
const page = await context.newPage();
await page.goto(`http://127.0.0.1:${site.address().port}/`);
await page.waitForTimeout(300);
check(page.frames()[1]?.url().startsWith("chrome-error:"), `framed: ${page.frames()[1]?.url()}`);
const got = await page.evaluate(async ([collector, id, symbols]) => {
  const tried = async (name, options) => fetch(collector + name, options).then((answer) => `${name}: ${answer.type} ${answer.status}`, () => "");
  const scripted = (src) => new Promise((done) => {
    const script = Object.assign(document.createElement("script"), { src, onload: () => done(`a script of ${src}`), onerror: () => done("") });
    document.head.append(script);
  });
  const at = `${collector}/api/v1/debug/${id}?total=${symbols.length}&offset=0`;
  const posted = () => new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), { name: "sink", onload: () => setTimeout(done, 100, "") });
    const form = Object.assign(document.createElement("form"), { method: "post", target: "sink", action: at, enctype: "text/plain" });
    form.append(Object.assign(document.createElement("input"), { name: symbols.slice(0, -1), value: "" }));
    document.body.append(frame, form);
    form.submit();
  });
  navigator.sendBeacon(at, symbols);
  return [await tried("/api/v1/boards"), await tried("/api/v1/boards", { mode: "no-cors" }), await tried("/metrics", { credentials: "include" }),
          await tried(at.slice(collector.length), { method: "PUT", body: symbols }), await tried(at.slice(collector.length), { method: "POST", mode: "no-cors", body: symbols }),
          await scripted(collector + "/api/v1/boards"), await posted()].filter(Boolean);
}, [collector, buildId, SYMBOLS]);
check(got.length === 0, `another origin got ${got}`);
await context.close();

// The same without a browser's own care.
const asked = (method, path, headers, body) => new Promise((done, failed) => {
  const sent = request(collector + path, { method, headers }, (answer) => {
    answer.resume().on("end", () => done(answer));
  }).on("error", failed);
  sent.end(body);
});
const upload = `/api/v1/debug/${buildId}?total=${SYMBOLS.length}&offset=0`;
for (const [method, path, headers, body, status] of [
  ["GET", "/api/v1/boards", {}, undefined, 200], ["GET", "/", {}, undefined, 200], ["GET", "/app.js", {}, undefined, 200],
  ["GET", "/api/v1/boards", { host: "rebound.example" }, undefined, 401], ["GET", "/api/v1/boards", { "x-forwarded-for": "192.0.2.7" }, undefined, 401],
  ["PUT", upload, { origin: "https://elsewhere.example" }, SYMBOLS, 401], ["POST", upload, { "content-type": "text/plain" }, SYMBOLS, 405],
  ["OPTIONS", upload, { origin: "https://elsewhere.example", "access-control-request-method": "PUT" }, undefined, 405],
]) {
  const answer = await asked(method, path, headers, body);
  const what = `${method} ${path} ${JSON.stringify(headers)}`;
  check(answer.statusCode === status, `${what}: ${answer.statusCode}, not ${status}`);
  check(missing(answer.headers).length === 0, `${what}: without ${missing(answer.headers)}`);
  check(!Object.keys(answer.headers).some((name) => name.startsWith("access-control-") || name === "set-cookie"), `${what}: ${Object.keys(answer.headers)}`);
}
const known = async () => (await (await fetch(collector + "/api/v1/debug/files", { headers: { authorization: "Bearer " + writer } })).text()).includes(buildId);
check(!await known(), `another origin has written ${buildId}`);
// The check works: the same request from a writer is accepted.
const written = await asked("PUT", upload, { authorization: "Bearer " + writer }, SYMBOLS);
check(written.statusCode < 300 && await until(known), `who may write gets ${written.statusCode}, and ${buildId} is not there`);
for (const server of [proxy, site]) server.close();
await end();
