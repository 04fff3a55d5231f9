// SPDX-License-Identifier: Apache-2.0
// A view's data for other tools: each of its queries as a curl command, each answer as a file, and
// the samples and pictures behind it. It is offered in every state of a view: empty answers and
// rejections can be repeated too.
import { useState } from "preact/hooks";
import { fetchFile, hasToken, here } from "../api";
import type { Scene } from "../canvas/flame";
import { pngOf, save, svgOf } from "../canvas/picture";
import { curlOf, type Parameters } from "../model/selection";
import { selection } from "../state/app";

export interface Question { readonly label: string; readonly path: string; readonly parameters: Parameters }
interface Saved { readonly label: string; readonly blob: () => Promise<Blob> | Blob; readonly name: string }

const fileOf = (label: string, name: string, path: string, parameters: Parameters): Saved =>
  ({ label, name, blob: () => fetchFile(path, parameters) });

function answerOf({ label, path, parameters }: Question): Saved {
  const [kind, ending] = path.startsWith("/api/") ? ["JSON", "json"] : ["text", "txt"];
  return fileOf(`${label}, ${kind}`, `fleetprof-${label.replaceAll(" ", "-")}.${ending}`, path, parameters);
}

// The samples of a selection in other tools' formats; SIDE selects a side of a comparison.
export function sampleFiles(asked: Parameters, side: "" | "A" | "B" = ""): Saved[] {
  const [of, stem] = side ? [" of " + side, "fleetprof-" + side.toLowerCase()] : ["", "fleetprof"];
  const one = (format: string, name: string): Saved => fileOf(format + of, name, "/api/v1/profile", { ...asked, format });
  return [one("pprof", stem + ".pb.gz"), one("folded", stem + ".folded"), one("speedscope", stem + ".speedscope.json"),
          one("callgrind", "callgrind.out." + stem)];
}

const bitmapOf = (selector: string): Promise<Blob> => new Promise((done, failed) => {
  const canvas = document.querySelector<HTMLCanvasElement>(selector);
  const isNone = (): void => failed(new Error("nothing is drawn yet"));
  if (canvas) canvas.toBlob((blob) => (blob ? done(blob) : isNone()), "image/png");
  else isNone();
});

export const chartFile = (selector: string): Saved =>
  ({ label: "PNG", name: "fleetprof.png", blob: () => bitmapOf(selector) });

// The drawn flame graphs; a sandwich has both halves.
export interface Scenes { upper?: Scene; lower?: Scene }

// The pictures of the current SCENES.
export function pictureFiles(scenes: Scenes): Saved[] {
  const drawn = (): Scene[] => {
    const shownNow = [scenes.upper, selection.get().sandwich ? scenes.lower : undefined].filter((scene) => scene !== undefined);
    if (shownNow.length === 0) throw new Error("nothing is drawn yet");
    return shownNow;
  };
  return [{ label: "SVG", name: "fleetprof.svg", blob: () => new Blob([svgOf(drawn())], { type: "image/svg+xml" }) },
          { label: "PNG", name: "fleetprof.png", blob: () => pngOf(drawn()) }];
}

interface Entry { readonly label: string; readonly act: () => void }

function Menu({ title, entries }: { title: string; entries: readonly Entry[] }) {
  return <details class="menu" onKeyDown={(event) => {
    if (event.key !== "Escape" || !event.currentTarget.open) return;
    event.currentTarget.open = false;
    event.currentTarget.querySelector("summary")?.focus();
  }}>
    <summary>{title}</summary>
    <ul>{entries.map(({ label, act }) => <li><button type="button" onClick={(event) => {
      const menu = event.currentTarget.closest("details");
      if (menu) menu.open = false;
      act();
    }}>{label}</button></li>)}</ul>
  </details>;
}

export function ExportMenu({ asks, files = [] }: { asks: readonly Question[]; files?: readonly Saved[] }) {
  const [said, setSaid] = useState("");
  const copy = ({ label, path, parameters }: Question): void => {
    const curl = curlOf(here(path), parameters, hasToken());
    if (!navigator.clipboard) return setSaid(curl); // absent over plain HTTP from another host
    navigator.clipboard.writeText(curl).then(() => setSaid("copied: " + label), () => setSaid(curl));
  };
  const get = async (file: Saved): Promise<void> => {
    setSaid(`making ${file.label}…`);
    try {
      save(await file.blob(), file.name);
      setSaid("");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return <div class="export">
    <Menu title="Copy as curl" entries={asks.map((question) => ({ label: question.label, act: () => copy(question) }))} />
    <Menu title="Export" entries={[...files, ...asks.map(answerOf)].map((file) => ({ label: file.label, act: () => void get(file) }))} />
    <span role="status" class="said">{said}</span>
  </div>;
}
