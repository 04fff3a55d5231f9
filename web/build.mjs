// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT [--tests]: builds the page's files in OUT; with --tests also the model's tests
// in OUT/tests. Run it where node_modules is: CMake copies web/ into the build tree for that.
import { build } from "esbuild";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

const [out, ...rest] = process.argv.slice(2);
if (!out) throw new Error("node build.mjs OUT [--tests]");
const common = {
  bundle: true, format: "esm", target: "es2021", jsx: "automatic", jsxImportSource: "preact",
  charset: "utf8", legalComments: "none", logLevel: "warning",
};
await mkdir(out, { recursive: true });
await build({ ...common, entryPoints: ["src/app.tsx"], outfile: join(out, "app.js"), minify: true });
await build({ ...common, entryPoints: ["src/early.ts"], outfile: join(out, "early.js"), minify: true, format: "iife" });
await build({ ...common, entryPoints: ["style.css"], outfile: join(out, "style.css"), minify: true });
for (const name of ["index.html", "icon.svg"]) await copyFile(name, join(out, name));
if (rest.includes("--tests")) {
  const names = (await readdir("tests")).filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: names.map((name) => join("tests", name)),
                outdir: join(out, "tests"), outExtension: { ".js": ".mjs" }, platform: "node" });
}
