// SPDX-License-Identifier: Apache-2.0
// node parameters.mjs SELECTION ROUTES: the parameters that the page writes into its URL
// (web/src/model/selection.ts) are those that the collector accepts (the row of "/" in
// collector/http/routes.c). Other parameters would get status 400.
import { readFile } from "node:fs/promises";

const [selection, routes] = await Promise.all(process.argv.slice(2).map((file) => readFile(file, "utf8")));
const written = [.../NAMES = \[([^\]]*)\]/.exec(selection)[1].matchAll(/"(\w+)"/g)].map((found) => found[1]);
const row = /\{"GET", "\/", ROLE_NONE, LANE_LOOP,\s*((?:"[^"]*"\s*)+),/.exec(routes)[1];
const taken = [...row.matchAll(/"([^"]*)"/g)].map((found) => found[1]).join("").trim().split(/\s+/);
const missing = [...written.filter((name) => !taken.includes(name)), ...taken.filter((name) => !written.includes(name))];
if (missing.length > 0 || written.length < 10) throw new Error(`on one side alone: ${missing}; the page has ${written}; the route has ${taken}`);
console.log(`${written.length} parameters on both sides`);
