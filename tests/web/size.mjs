// SPDX-License-Identifier: Apache-2.0
// node size.mjs DIR: the page's script is below its size budget, and the page loads nothing from
// other hosts.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const GZIP_BYTES_MAX = 150 * 1000;
const [dir] = process.argv.slice(2);
const script = Buffer.concat(await Promise.all(["early.js", "app.js"].map((name) => readFile(join(dir, name)))));
const bytes = gzipSync(script, { level: 3 }).length; // like the collector
console.log(`its scripts: ${bytes} bytes with gzip, of ${GZIP_BYTES_MAX}`);
if (bytes >= GZIP_BYTES_MAX) throw new Error("the page's script is too large");
const all = [script, ...await Promise.all(["index.html", "style.css"].map((name) => readFile(join(dir, name))))].join("\n");
const elsewhere = all.match(/(src|href)="https?:[^"]*|@import[^;]*https?:|url\(["']?https?:[^)]*|import\(["']https?:[^)]*/g);
if (elsewhere) throw new Error("the page wants things from elsewhere: " + elsewhere.join(" "));
