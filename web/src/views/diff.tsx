// SPDX-License-Identifier: Apache-2.0
// Two selections side by side.  Only what has surely changed has a colour: a difference that could be
// chance is grey, however large it looks.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Diff, DiffRow, Summary, TreeAnswer } from "../api";
import { differenceColour } from "../canvas/colour";
import { find, patternOf } from "../model/search";
import type { Parameters, Selection } from "../model/selection";
import { count, percent, points, seconds, shown, words } from "../model/text";
import { pairTrees } from "../model/transform";
import { treeOf } from "../model/tree";
import { useAnswer } from "../state/answer";
import { adjust, go, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { Flame } from "./flame";
import { Empty, ExportMenu, Figures, FunctionLink, State } from "./parts";
import { usePalette } from "./profile";
import { SelectorInput } from "./selector";

const ROWS = 1000;
const NODES_MAX = 50000;
const SIDES = ["a", "a_from", "a_to", "b", "b_from", "b_to"] as const;

function Sides({ chosen }: { chosen: Selection }) {
  const [drafts, setDrafts] = useState(chosen);
  useEffect(() => setDrafts(chosen), [chosen]);
  const set = (name: (typeof SIDES)[number]) => (text: string) => setDrafts({ ...drafts, [name]: text });
  const time = (name: "a_from" | "a_to" | "b_from" | "b_to", label: string, hint: string) =>
    <label>{label} <input id={name} value={drafts[name]} autocomplete="off" placeholder={hint}
                          onInput={(event) => set(name)(event.currentTarget.value)} /></label>;
  const none = Object.fromEntries(SIDES.map((name) => [name, ""]));
  return <form class="sides" onSubmit={(event) => { event.preventDefault(); go(drafts); }}>
    <fieldset><legend>A, before</legend>
      <SelectorInput id="a" label="Selector A" value={drafts.a} onInput={set("a")} />
      {time("a_from", "A from", "as above")}{time("a_to", "A to", "as above")}</fieldset>
    <fieldset><legend>B, after</legend>
      <SelectorInput id="b" label="Selector B" value={drafts.b} onInput={set("b")} />
      {time("b_from", "B from", "as above")}{time("b_to", "B to", "as above")}</fieldset>
    <button type="submit">Compare</button>
    <span class="ranges"><button type="button" onClick={() => go({ ...chosen, ...none, from: "", to: "", b_from: "-1h" })}>This hour with the last</button>
      <button type="button" onClick={() => go({ ...chosen, ...none, from: "", to: "", b_from: "-1d" })}>Today with yesterday</button></span>
  </form>;
}

function Verdict({ row }: { row: DiffRow }) {
  return <span class={"verdict " + row.verdict}>{row.verdict}{row.doubt && <span class="quiet"> ({words(row.doubt)})</span>}</span>;
}

const ORDER = { changed: 0, unclear: 1, same: 2 } as const;
const certainFirst = (rows: readonly DiffRow[]): DiffRow[] =>
  [...rows].sort((one, other) => ORDER[one.verdict] - ORDER[other.verdict] || one.p - other.p ||
                                 Math.abs(other.difference) - Math.abs(one.difference));

function Verdicts({ rows }: { rows: readonly DiffRow[] }) {
  const sorted = useMemo(() => certainFirst(rows), [rows]);
  return <div class="scroll" tabIndex={0} role="region" aria-label="Verdicts"><table>
    <thead><tr><th scope="col">Verdict</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th>
      <th scope="col" class="number">Points</th><th scope="col" class="number optional">95 % interval</th>
      <th scope="col" class="number optional">p</th><th scope="col">Function</th><th scope="col" class="optional">Module</th></tr></thead>
    <tbody id="verdicts">{sorted.map((row) => <tr>
      <td><Verdict row={row} /></td><td class="number">{percent(row.a)}</td><td class="number">{percent(row.b)}</td>
      <td class="number">{points(row.difference)}</td>
      <td class="number quiet optional">{points(row.ci[0])} … {points(row.ci[1])}</td>
      <td class="number quiet optional">{row.p < 0.0001 ? "< 0.0001" : row.p.toFixed(4)}</td>
      <td class="name"><FunctionLink name={row.name} module={/->|\*/.test(row.module) ? "" : row.module} /></td>
      <td class="name quiet optional">{shown(row.module)}</td></tr>)}</tbody>
  </table></div>;
}

function DiffGraph({ chosen, a, b, rows }: { chosen: Selection; a: TreeAnswer; b: TreeAnswer; rows: readonly DiffRow[] }) {
  const palette = usePalette();
  const pair = useMemo(() => pairTrees(treeOf(a.nodes), treeOf(b.nodes)), [a, b]);
  const changed = useMemo(() => new Set(rows.filter((row) => row.verdict === "changed").map((row) => row.name)), [rows]);
  const pattern = useMemo(() => patternOf(chosen.search), [chosen.search]);
  const found = useMemo(() => (pattern instanceof RegExp ? find(pair.tree, pattern) : null), [pair, pattern]);
  const sure = useMemo(() => pair.tree.fns.map((fn) => changed.has(fn.name)), [pair, changed]);
  const colourOf = useMemo(() => (node: number) => differenceColour(
    (pair.b[node] ?? 0) - (pair.a[node] ?? 0), sure[pair.tree.fn[node] as number] ?? false, palette), [pair, sure, palette]);
  return <Flame tree={pair.tree} found={found} palette={palette} colourOf={colourOf} zoom={chosen.zoom}
    onZoom={(zoom) => adjust({ zoom })} label="both selections: red is more in B, blue is less, grey is not sure"
    describe={(node) => `${percent(pair.a[node] ?? 0)} of A, ${percent(pair.b[node] ?? 0)} of B`} />;
}

const sideOf = (chosen: Selection, side: "a" | "b", summary: Summary): Parameters =>
  ({ match: chosen[side] || chosen.match, from: summary.from, to: summary.to, format: "tree", limit: NODES_MAX });

const sideText = (side: Summary): string => `${seconds(side.total)}, ${count(side.samples)} samples`;

export function DiffView() {
  const chosen = useAtom(selection);
  const { match, from, to } = chosen;
  const given = Object.fromEntries(SIDES.map((name) => [name, chosen[name]]));
  const isAsked = SIDES.some((name) => chosen[name] !== "");
  const asked = { match, from, to, ...given };
  const diff = useAnswer<Diff>("/api/v1/diff", isAsked ? { ...asked, limit: ROWS } : null);
  const value = isAsked ? diff.value : null;
  const one = useAnswer<TreeAnswer>("/api/v1/profile", value && sideOf(chosen, "a", value.a));
  const other = useAnswer<TreeAnswer>("/api/v1/profile", value && sideOf(chosen, "b", value.b));
  return <section id="diff">
    <Sides chosen={chosen} />
    {!isAsked && <Empty title="Which two?" hint="Say above what is compared (two releases, a board and the rest, two times), or in a shell:"
                        command={"fleetprof diff version=1.4 version=1.5\nfleetprof diff SERVICE --b-from -1h"} />}
    {isAsked && <State of={diff} what="the comparison" />}
    {value && (value.a.total === 0 || value.b.total === 0) && <Empty title={`No samples in ${value.a.total === 0 ? "A" : "B"}`}
      hint="Take a longer range or another selector. What there is, in a shell:" command="fleetprof query --by service --from -7d" />}
    {value && value.a.total > 0 && value.b.total > 0 && <>
      <div class="line"><Figures rows={[["A", sideText(value.a)], ["B", sideText(value.b)],
        ["Functions compared", count(value.tested)], ["Surely changed", count(value.changed)],
        ["Compared by", value.basis.pairs ? `${value.basis.pairs} pairs of boards` : shown(value.basis.a_unit)]]} />
        <ExportMenu path="/api/v1/diff" parameters={asked} /></div>
      {one.value && other.value && <DiffGraph chosen={chosen} a={one.value} b={other.value} rows={value.functions} />}
      <h2>Verdicts, the surest first</h2>
      <Verdicts rows={value.functions} />
    </>}
  </section>;
}
