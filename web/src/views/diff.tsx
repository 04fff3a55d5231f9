// SPDX-License-Identifier: Apache-2.0
// Two selections side by side.  Only what has surely changed has a colour: a difference that could be
// chance is grey, however large it looks.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Change, Diff, Labels, Summary, TreeAnswer } from "../api";
import { differenceColour } from "../canvas/colour";
import type { Scene } from "../canvas/flame";
import { isAwaited } from "../model/answer";
import { basisText, changesFirst, detectableText, headlineOf, isChange, moduleToAsk, movedText, ownUnits, rowsOf, scaleOf, throughText, totalChangeOf } from "../model/compare";
import { find, patternOf } from "../model/search";
import { range, viewOf, withLabel, type Name, type Parameters, type Selection } from "../model/selection";
import { count, percent, seconds, shortTime, shown, spanText, words } from "../model/text";
import { pairTrees } from "../model/transform";
import { treeOf, type Fn } from "../model/tree";
import { useAnswer } from "../state/answer";
import { adjust, go, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { ExportMenu, pictureFiles, sampleFiles, type Question, type Scenes } from "./export";
import { Flame, foundText, SearchField } from "./flame";
import { Empty, Figures, first, FunctionLink, State, useListed, usePalette } from "./parts";
import { SelectorInput } from "./selector";

const ROWS = 10000; // the largest differences; a small one may be sure, too
const NODES_MAX = 50000;
const SIDES = ["a", "a_from", "a_to", "b", "b_from", "b_to"] as const;

const TIMES = ["from", "to", "a_from", "a_to", "b_from", "b_to"] as const;
const NONE = Object.fromEntries(SIDES.map((name) => [name, ""]));
const RELEASE_LABELS = ["version", "release", "firmware", "build_id"];
const VALUES_MAX = 1000;

// Two values of one label: two releases; or one value and all others: a board and the rest.
function ByLabel({ chosen }: { chosen: Selection }) {
  const [wanted, setWanted] = useState("");
  const [a, setA] = useState("");
  const [b, setB] = useState("");
  const { match, from, to } = chosen;
  const labels = useAnswer<Labels>("/api/v1/labels", { from, to, limit: VALUES_MAX });
  const names = labels.value?.data ?? [];
  const label = wanted || (RELEASE_LABELS.find((name) => names.includes(name)) ?? "board");
  const choices = useAnswer<Labels>("/api/v1/labels/" + encodeURIComponent(label), { match, from, to, limit: VALUES_MAX });
  const values = choices.value?.data ?? [];
  const field = (id: string, text: string, value: string, set: (value: string) => void, hint: string) =>
    <label>{text} <input id={id} list="label-values" value={value} autocomplete="off" placeholder={hint} spellcheck={false}
                         onInput={(event) => set(event.currentTarget.value)} /></label>;
  const compare = (event: Event): void => {
    event.preventDefault();
    go({ ...chosen, ...NONE, b: withLabel(match, label, b), a: a ? withLabel(match, label, a) : withLabel(match, label, b, "!=") });
  };
  const known = first(labels, choices);
  return <><form class="presets" onSubmit={compare}>
    <label>By <select id="by-label" value={label} onChange={(event) => { setWanted(event.currentTarget.value); setA(""); setB(""); }}>
      {[...new Set([label, ...names])].map((name) => <option value={name}>{shown(name, 40)}</option>)}</select></label>
    {field("label-a", "A, before", a, setA, "all others")}
    {field("label-b", "B, after", b, setB, values.length > 0 ? shown(values[values.length - 1], 30) : "")}
    <datalist id="label-values">{values.map((value) => <option value={value} />)}</datalist>
    <button type="submit" disabled={b === ""}>Compare by {shown(label, 30)}</button>
    <span class="ranges" role="group" aria-label="Two times">
      <button type="button" onClick={() => go({ ...chosen, ...NONE, from: "", to: "", b_from: "-1h" })}>This hour with the last</button>
      <button type="button" onClick={() => go({ ...chosen, ...NONE, from: "", to: "", b_from: "-1d" })}>Today with yesterday</button></span>
  </form>
  {known.problem || isAwaited(known) ? <State of={known} what="the labels" />
    : values.length === 0 && <p class="status">Nothing has a {shown(label, 30)} in this range. What there is, in a shell:{" "}
        <code>fleetprof query --by service --from -7d</code></p>}
  </>;
}

// The common part of both selections, and the part of each side.
function Sides({ chosen }: { chosen: Selection }) {
  const [drafts, setDrafts] = useState(chosen);
  useEffect(() => setDrafts(chosen), ["match" as const, ...TIMES, "a" as const, "b" as const].map((name) => chosen[name])); // not of a search or zoom
  const set = (name: "match" | (typeof SIDES)[number] | (typeof TIMES)[number]) => (text: string) => setDrafts({ ...drafts, [name]: text.trimStart() });
  const time = (name: (typeof TIMES)[number], label: string, hint: string) =>
    <label>{label} <input id={name} value={drafts[name]} autocomplete="off" placeholder={hint}
                          onInput={(event) => set(name)(event.currentTarget.value)} /></label>;
  return <form class="sides" onSubmit={(event) => { event.preventDefault(); go({ ...drafts, search: chosen.search, zoom: chosen.zoom, measure: chosen.measure, of: chosen.of, scope: chosen.scope,
    unit: chosen.unit, a_units: chosen.a_units, b_units: chosen.b_units }); }}>
    <fieldset><legend>A, before</legend>
      <SelectorInput id="a" label="Selector A" value={drafts.a} onInput={set("a")} hint={drafts.match || "as both"} />
      {time("a_from", "A from", drafts.from || "as both")}{time("a_to", "A to", drafts.to || "as both")}</fieldset>
    <fieldset><legend>B, after</legend>
      <SelectorInput id="b" label="Selector B" value={drafts.b} onInput={set("b")} hint={drafts.match || "as both"} />
      {time("b_from", "B from", drafts.from || "as both")}{time("b_to", "B to", drafts.to || "as both")}</fieldset>
    <fieldset><legend>Both, where A or B say nothing</legend>
      <SelectorInput id="match" label="Selector of both" value={drafts.match} onInput={set("match")} />
      {time("from", "From", "-1h")}{time("to", "To", "now")}</fieldset>
    <button type="submit">Compare</button>
  </form>;
}

type Judgement = Pick<Change, "verdict" | "doubt" | "detectable">;

function Verdict({ of, part }: { of: Judgement; part?: (part: number) => string }) {
  const detectable = detectableText(of, part);
  return <><span class={"verdict " + of.verdict}>{of.verdict}{of.doubt && <span class="quiet"> ({words(of.doubt)})</span>}</span>
    {detectable && <span class="quiet small"> {detectable}</span>}</>;
}

// The comparison: one choice of each pair; the answer's own is pressed.
const CHOICES = [
  ["of", [["total", "Total"], ["self", "Self"]]],
  ["measure", [["share", "Share"], ["cpu", "CPU"]]],
  ["scope", [["these", "These boards"], ["fleet", "Boards like these"]]],
] as const;

function Measures({ chosen, diff }: { chosen: Selection; diff: Diff }) {
  return <>{CHOICES.map(([name, values]) => <span class="ranges" role="group" aria-label={name}>{values.map(([value, text]) =>
    <button type="button" aria-pressed={diff[name] === value} onClick={() => go({ ...chosen, [name as Name]: value })}>{text}</button>)}</span>)}</>;
}

// Whether B takes more comes before where.
function Headline({ diff }: { diff: Diff }) {
  const units = ownUnits(diff);
  return <div id="whole"><h2>{headlineOf(diff.whole)} <Verdict of={diff.whole} /></h2>
    <p class="status">{basisText(diff)}{units && `; ${units}: ${shortTime(diff.whole.a)} and ${shortTime(diff.whole.b)} of CPU each`}</p></div>;
}

// The samples of each side, as other views take them.
interface Sided { readonly a: Selection; readonly b: Selection }

const sidesOf = (chosen: Selection, { a, b }: Diff): Sided => ({
  a: { ...chosen, match: chosen.a || chosen.match, from: a.from, to: a.to },
  b: { ...chosen, match: chosen.b || chosen.match, from: b.from, to: b.to },
});

function Verdicts({ diff, sides }: { diff: Diff; sides: Sided }) {
  const sorted = useMemo(() => changesFirst(diff), [diff]);
  const { listed, more } = useListed(sorted);
  const { heading, side, change: changeText } = scaleOf(diff);
  const isInTime = heading === "Difference";
  const missing = diff.changed - sorted.filter(({ change }) => isChange(change)).length;
  return <><div class="scroll" tabIndex={0} role="region" aria-label="Verdicts"><table>
    <thead><tr><th scope="col">Verdict</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th>
      <th scope="col" class="number">{heading}</th><th scope="col" class="number optional">95 % interval</th>
      <th scope="col" class="number optional">p</th><th scope="col">Function</th><th scope="col" class="optional">Module</th></tr></thead>
    <tbody id="verdicts">{listed.map(({ row, change }) => <tr>
      <td><Verdict of={change} part={side} />{row.moved && <span class="quiet small"> {movedText(row, isInTime ? side : undefined)}</span>}
        {throughText(change, row) && <span class="quiet small"> {throughText(change, row)}</span>}</td>
      <td class="number">{side(change.a)}</td><td class="number">{side(change.b)}</td>
      <td class="number">{changeText(change.difference)}</td>
      <td class="number quiet optional">{change.ci && `${changeText(change.ci[0])} … ${changeText(change.ci[1])}`}</td>
      <td class="number quiet optional">{change.p !== null && (change.p < 0.0001 ? "< 0.0001" : change.p.toFixed(4))}</td>
      <td class="name"><FunctionLink name={row.name} module={moduleToAsk(row.module)}
                                      of={change.b > 0 ? sides.b : sides.a} /></td>
      <td class="name quiet optional">{shown(row.module)}</td></tr>)}</tbody>
  </table></div>
  {more}
  {missing > 0 && <p class="notice">{count(missing)} more have surely changed, each by less than these {count(sorted.length)} did: narrow the selectors.</p>}
  </>;
}

interface GraphProps { chosen: Selection; a: TreeAnswer; b: TreeAnswer; diff: Diff; sides: Sided; onScene: (scene: Scene) => void }

function DiffGraph({ chosen, a, b, diff, sides, onScene }: GraphProps) {
  const palette = usePalette();
  const [one, other] = useMemo(() => [treeOf(a), treeOf(b)] as const, [a, b]);
  const of = useMemo(() => rowsOf(diff.functions, one, other), [diff, one, other]);
  const pair = useMemo(() => pairTrees(one, other, of.frameOf), [one, other, of]);
  const pattern = useMemo(() => patternOf(chosen.search), [chosen.search]);
  const found = useMemo(() => find(pair.tree, pattern), [pair, pattern]);
  // The colour of a frame is of its function's total, wherever the frame stands.
  const verdicts = useMemo(() => pair.tree.fns.map((fn) => {
    const row = of.rowOf(fn);
    return row && totalChangeOf(diff, row);
  }), [pair, of, diff]);
  const colourOf = useMemo(() => {
    const colours = verdicts.map((change) => differenceColour(change?.difference ?? 0, change !== null && isChange(change), palette));
    return (node: number) => colours[pair.tree.fn[node] as number] as string;
  }, [pair, verdicts, palette]);
  // For self weights the totals in the answer are shares.
  const scale = scaleOf(diff.of === "total" ? diff : { ...diff, measure: "share" });
  const totalText = (difference: number): string => scale.change(difference) + (scale.heading === "Difference" ? "" : " " + scale.heading.replace("Points", "points"));
  const describe = (node: number): string => {
    const change = verdicts[pair.tree.fn[node] as number];
    return `${percent(pair.a[node] ?? 0)} of A, ${percent(pair.b[node] ?? 0)} of B` +
           (change ? `; its total ${totalText(change.difference)}, ${change.verdict}` : "");
  };
  const open = (fn: Fn, _isOutermost: boolean, node: number): void =>
    go(viewOf((pair.b[node] ?? 0) > 0 ? sides.b : sides.a, "function", { function: fn.name, module: moduleToAsk(fn.module) }));
  const isCut = [a, b].some(({ nodes }) => nodes.parent.length >= NODES_MAX);
  return <>
    <div class="tools" role="group" aria-label="Flame graph"><SearchField search={chosen.search} />
      <span role="status" class="said">{foundText(pattern, found, pair.tree)}</span></div>
    <Flame tree={pair.tree} found={found} palette={palette} colourOf={colourOf} zoom={chosen.zoom}
      onZoom={(zoom) => adjust({ zoom })} onOpen={open} describe={describe} onScene={onScene}
      legend={DIFFERENCES.map(([text, by]) => [text, differenceColour(by, by !== 0, palette)] as const)}
      label="both selections: what takes more in B, with all that it calls, is red, less is blue, what is not sure is grey" />
    {isCut && <p class="status">Of each side the {count(NODES_MAX)} heaviest frames are drawn.</p>}
  </>;
}

const DIFFERENCES = [["takes more in B", 0.1], ["takes less", -0.1], ["not sure, or the same", 0]] as const;

const treeAsked = (side: Selection): Parameters => ({ ...range(side), format: "columns", limit: NODES_MAX });

const PATH = "/api/v1/diff";
const TREE_PATH = "/api/v1/profile";

// Before both sides are chosen: the labels to choose from.
function questions({ from, to }: Selection, asked: Parameters | null, sides: Sided | null): Question[] {
  if (!asked) return [{ label: "labels", path: "/api/v1/labels", parameters: { from, to, limit: VALUES_MAX } }];
  const trees = sides ? [{ label: "call tree of A", parameters: treeAsked(sides.a) }, { label: "call tree of B", parameters: treeAsked(sides.b) }] : [];
  return [{ label: "comparison", path: PATH, parameters: asked }, ...trees.map((tree) => ({ ...tree, path: TREE_PATH }))];
}

// A side's full description, including parts that are shortened above.
function Side({ name, match, of }: { name: string; match: string; of: Summary }) {
  return <div><dt>{name}</dt><dd><span class="name">{shown(match) || "everything"}</span>,{" "}
    {spanText(Date.parse(of.from), Date.parse(of.to))}: {seconds(of.total)}, {count(of.samples)} samples
    {of.rest_hint && <p class="notice">[rest]: {shown(of.rest_hint)}</p>}</dd></div>;
}

export function DiffView() {
  const chosen = useAtom(selection);
  const { match, from, to, measure, of, scope, unit, a_units, b_units } = chosen;
  const given = Object.fromEntries(SIDES.map((name) => [name, chosen[name]]));
  const isAsked = SIDES.some((name) => chosen[name] !== "");
  const asked = isAsked ? { match, from, to, ...given, limit: ROWS, measure, of, scope, unit, a_units, b_units } : null;
  const diff = useAnswer<Diff>(PATH, asked);
  const value = isAsked ? diff.value : null;
  const sides = useMemo(() => value && sidesOf(chosen, value), [value, chosen]);
  const one = useAnswer<TreeAnswer>(TREE_PATH, sides && treeAsked(sides.a));
  const other = useAnswer<TreeAnswer>(TREE_PATH, sides && treeAsked(sides.b));
  const scenes = useRef<Scenes>({});
  return <section id="diff">
    <ByLabel chosen={chosen} />
    <Sides chosen={chosen} />
    {!isAsked && <Empty title="Which two?" hint="Say above what is compared (two releases, a board and the rest, two times), or in a shell:"
                        command={"fleetprof diff version=1.4 version=1.5\nfleetprof diff SERVICE --b-from -1h"} />}
    {isAsked && <State of={diff} what="the comparison" />}
    <div class="line"><div>{value && <Figures rows={[["Functions compared", count(value.tested)], ["Surely changed", count(value.changed)]]} />}</div>
      <ExportMenu asks={questions(chosen, asked, sides)}
                  files={sides ? [...sampleFiles(range(sides.a), "A"), ...sampleFiles(range(sides.b), "B"), ...pictureFiles(scenes.current)] : []} /></div>
    {value && (value.a.total === 0 || value.b.total === 0) && <Empty title={`No samples in ${value.a.total === 0 ? "A" : "B"}`}
      hint="Take a longer range or another selector. What there is, in a shell:" command="fleetprof query --by service --from -7d" />}
    {value && sides && value.a.total > 0 && value.b.total > 0 && <>
      <Headline diff={value} />
      <dl id="sides"><Side name="A, before" match={chosen.a || match} of={value.a} /><Side name="B, after" match={chosen.b || match} of={value.b} /></dl>
      {one.value && other.value ? <DiffGraph chosen={chosen} a={one.value} b={other.value} diff={value} sides={sides}
                                             onScene={(scene) => { scenes.current.upper = scene; }} />
                                : <State of={first(one, other)} what="both call trees" />}
      <div class="line head"><h2>Functions, changes first</h2><div><Measures chosen={chosen} diff={value} /></div></div>
      <Verdicts diff={value} sides={sides} />
    </>}
  </section>;
}
