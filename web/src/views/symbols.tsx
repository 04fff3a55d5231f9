// SPDX-License-Identifier: Apache-2.0
// Modules without names, the reason, and the remedy: a debug file dropped here is uploaded.
import { useMemo, useRef, useState } from "preact/hooks";
import { Problem, uploadDebug, type Module, type Modules } from "../api";
import { buildIdOf } from "../model/elf";
import { count, percent, shown } from "../model/text";
import { REFRESH_MS, useAnswer } from "../state/answer";
import { adjust, isSignInWanted, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { ExportMenu } from "./export";
import { Empty, Figures, State } from "./parts";

const PATH = "/api/v1/debug";
const ROWS_MAX = 500; // drawn rows; a search finds the others
const FILES_MAX = 50; // at once

const WHOLE = ["dwarf", "translator"];
const isPoor = (module: Module): boolean => !WHOLE.includes(module.quality);

async function send(file: File, say: (text: string) => void): Promise<void> {
  const name = shown(file.name, 80);
  try {
    const id = await buildIdOf((offset, bytes) => file.slice(offset, offset + bytes).arrayBuffer(), file.size);
    say(`${name}: sending`);
    await uploadDebug(id, file, (sent) => say(`${name}: ${percent(sent / file.size)} sent`));
    say(`${name}: here, as ${id.slice(0, 16)}; names change within seconds`);
  } catch (error) {
    if (error instanceof Problem && (error.status === 401 || error.status === 403)) {
      isSignInWanted.set(true);
      return say(`${name}: sending wants a token of role symbols: fleetprof-collector token --data DIR --role symbols`);
    }
    say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function DropZone() {
  const input = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState<readonly string[]>([]);
  const [isOver, setIsOver] = useState(false);
  const take = async (files: FileList | null | undefined): Promise<void> => {
    const taken = [...(files ?? [])].slice(0, FILES_MAX);
    setSaid(taken.map((file) => `${shown(file.name, 80)}: waiting`));
    for (const [i, file] of taken.entries()) // in sequence: the collector reads one at a time
      await send(file, (text) => setSaid((old) => old.map((line, at) => (at === i ? text : line))));
  };
  return <div class={"drop" + (isOver ? " over" : "")}
    onDragOver={(event) => { event.preventDefault(); setIsOver(true); }} onDragLeave={() => setIsOver(false)}
    onDrop={(event) => { event.preventDefault(); setIsOver(false); void take(event.dataTransfer?.files); }}>
    <p>Drop debug files or unstripped programs here, or <button type="button" onClick={() => input.current?.click()}>choose files</button>.
      Whole directories, firmware images, packages: <code>fleetprof upload PATH...</code></p>
    <input ref={input} type="file" multiple hidden aria-label="Debug files" onChange={(event) => void take(event.currentTarget.files)} />
    <ul role="status" aria-live="polite">{said.map((line) => <li>{line}</li>)}</ul>
  </div>;
}

export function SymbolsView() {
  const chosen = useAtom(selection);
  const modules = useAnswer<Modules>(PATH, {}, REFRESH_MS);
  const all = modules.value?.modules ?? [];
  const rows = useMemo(() => {
    const text = chosen.search.toLowerCase();
    const found = all.filter((module) => (module.path + module.build_id + module.reason).toLowerCase().includes(text));
    return found.sort((one, other) => Number(isPoor(other)) - Number(isPoor(one)) || one.path.localeCompare(other.path));
  }, [all, chosen.search]);
  return <section id="symbols">
    <div class="line"><State of={modules} what="the modules" />
      <ExportMenu asks={[{ label: "modules", path: PATH, parameters: {} }]} /></div>
    <DropZone />
    {modules.value && all.length === 0 && <Empty title="No module has been seen"
      hint="Modules are listed once a program was sampled. On a board that is enrolled, type:" command="fleetprof run -- PROGRAM" />}
    {all.length > 0 && <>
      <Figures rows={[["Modules", count(all.length)], ["Without whole names", count(all.filter(isPoor).length)],
        ["Wanted from boards", count(all.filter((module) => module.wanted).length)]]} />
      <label class="find">Find a module <input type="search" value={chosen.search} onInput={(event) =>
        adjust({ search: event.currentTarget.value })} /></label>
      <div class="scroll" tabIndex={0} role="region" aria-label="Modules"><table>
        <thead><tr><th scope="col">Module</th><th scope="col">Names from</th><th scope="col">Why no better</th>
          <th scope="col" class="optional">Build</th></tr></thead>
        <tbody id="modules">{rows.slice(0, ROWS_MAX).map((module) => <tr>
          <td class="name">{shown(module.path)}</td>
          <td class={isPoor(module) ? "poor" : ""}>{shown(module.quality)}{module.wanted && <span class="quiet"> (asked for)</span>}</td>
          <td>{shown(module.reason)}</td><td class="name quiet optional">{shown(module.build_id).slice(0, 16)}</td></tr>)}</tbody>
      </table></div>
      {rows.length > ROWS_MAX && <p class="status">{count(rows.length - ROWS_MAX)} more: search for them.</p>}
    </>}
  </section>;
}
