// SPDX-License-Identifier: Apache-2.0
// Where the time went: timeline, flame graph, function table.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Boards, FunctionRow, Profile, Series, TreeAnswer } from "../api";
import { moduleColour, type Palette } from "../canvas/colour";
import { drawTimeline } from "../canvas/timeline";
import { isAwaited } from "../model/answer";
import { BOARDS_PATH, isMergedByThread, NODES_MAX, PROFILE_PATH, treeAsked } from "../model/question";
import { find, patternOf } from "../model/search";
import { range, stepOf, viewOf, withLabel, type Parameters, type Selection } from "../model/selection";
import { count, interval, percent, shown } from "../model/text";
import { callees, callers, invert, mergeModules } from "../model/transform";
import { treeOf, type Fn, type Tree } from "../model/tree";
import { REFRESH_MS, useAnswer } from "../state/answer";
import { adjust, go, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { ExportMenu, pictureFiles, sampleFiles, type Scenes } from "./export";
import { Flame, foundText, SearchField } from "./flame";
import { Dimmed, Empty, first, FunctionLink, RestLine, seriesSpan, StackEnds, State, SummaryFigures, useListed, usePalette } from "./parts";

const ROWS = 5000;
const SERIES_PATH = "/api/v1/series";

const seriesAsked = (chosen: Selection): Parameters => ({ ...range(chosen), step: stepOf(chosen) });

function moduleColours(tree: Tree, palette: Palette): (node: number) => string {
  const colours = tree.fns.map((fn) => moduleColour(fn.module, palette));
  return (node) => colours[tree.fn[node] as number] as string;
}

function Timeline({ chosen, everyMs }: { chosen: Selection; everyMs: number }) {
  const series = useAnswer<Series>(SERIES_PATH, seriesAsked(chosen), everyMs, true);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current || !series.value) return;
    return drawTimeline(box.current, series.value, (from, to) =>
      go({ ...selection.get(), from: String(Math.floor(from)), to: String(Math.ceil(to)) }));
  }, [series.value]);
  return <figure class="timeline">
    <figcaption>CPUs busy{series.value && !series.isOld && ", " + seriesSpan(series.value)}; drag to choose a range</figcaption>
    {(series.problem || isAwaited(series)) && <State of={series} what="the timeline" />}
    <Dimmed as={series}><div ref={box} role="img" aria-label="CPUs busy over time" /></Dimmed>
  </figure>;
}

type Sort = "self" | "total" | "name" | "module" | "quality";
const SORTS: readonly (readonly [Sort, string, string])[] = [
  ["self", "Self", "number"], ["total", "Total", "number"], ["name", "Function", ""],
  ["module", "Module", "optional"], ["quality", "Name from", "optional"],
];

// "-name" sorts downwards, which is the default for figures.
function sorted(rows: readonly FunctionRow[], sort: string): FunctionRow[] {
  const by = (SORTS.find(([name]) => sort.replace("-", "") === name)?.[0] ?? "self");
  const way = sort.startsWith("-") ? -1 : 1;
  return [...rows].sort((one, other) => way * (by === "self" || by === "total"
    ? other[by] - one[by] : (one[by] ?? "").localeCompare(other[by] ?? "")));
}

// KNOWN: the number of functions in the call tree, if known. ORDER: the order by which the
// collector chose these ROWS.
function FunctionTable({ of: { functions: rows, rest, total: whole }, known, sort, order }: { of: Profile; known: number; sort: string; order: string }) {
  const shownRows = useMemo(() => sorted(rows, sort), [rows, sort]);
  const { listed, more } = useListed(shownRows);
  const head = ([name, text, className]: (typeof SORTS)[number]) => {
    const isIt = (sort.replace("-", "") || "self") === name;
    const way = !isIt ? "none" : (name === "self" || name === "total") === sort.startsWith("-") ? "ascending" : "descending";
    return <th scope="col" class={className} aria-sort={way}>
      <button type="button" onClick={() => adjust({ sort: isIt && !sort.startsWith("-") ? "-" + name : name })}>{text}</button>
    </th>;
  };
  const [self, total, ...others] = SORTS.map(head);
  return <><div class="scroll" tabIndex={0} role="region" aria-label="Functions">
    <table>
      <thead><tr>{self}<th scope="col" class="number optional">95 % interval</th>{total}
        <th scope="col" class="number optional">95 % interval</th>{others}</tr></thead>
      <tbody id="functions">{listed.map((row) => <tr>
        <td class="number">{percent(row.self_share)}<progress max={1} value={row.self_share} aria-hidden="true" /></td>
        <td class="number quiet optional">{interval(row.self_ci)}</td>
        <td class="number">{percent(row.total_share)}</td>
        <td class="number quiet optional">{interval(row.total_ci)}</td>
        <td class="name" title={row.file ? shown(row.line ? `${row.file}:${row.line}` : row.file) : undefined}>
          <FunctionLink name={row.name} module={row.module} />
          {row.too_few_samples && <span class="few" title="too few samples to go by"> few</span>}
          {row.too_few_boards && <span class="few" title="samples enough, but too few boards to say how much boards like these differ"> few boards</span>}</td>
        <td class="name quiet optional">{shown(row.module)}</td>
        <td class="quiet optional">{shown(row.quality) || "–"}</td>
      </tr>)}</tbody>
    </table>
  </div>
  {more}
  <RestLine rest={rest} whole={whole} />
  {rows.length >= ROWS && known !== rows.length &&
    <p class="notice">These are the {count(ROWS)} functions{known > ROWS && ` of ${count(known)}`} that took the
      most {order ? "in all" : "themselves"}: whatever they are sorted by, others are not here. Narrow the selector.</p>}
  </>;
}

function transformed(tree: Tree, chosen: Selection): Tree {
  const merged = chosen.merge === "module" ? mergeModules(tree) : tree;
  return chosen.invert ? invert(merged) : merged;
}

// A sandwich uses the unmodified stacks: inverting and merging are off meanwhile.
function Tools({ chosen, said }: { chosen: Selection; said: string }) {
  const isSandwich = chosen.sandwich !== "";
  return <div class="tools" role="group" aria-label="Flame graph">
    <SearchField search={chosen.search} />
    <label>Merge <select value={isSandwich ? "" : chosen.merge} disabled={isSandwich} onChange={(event) => adjust({ merge: event.currentTarget.value, zoom: "" })}>
      <option value="">by function</option><option value="module">by module</option><option value="thread">by thread</option></select></label>
    <label class="check"><input type="checkbox" checked={!isSandwich && chosen.invert !== ""} disabled={isSandwich}
      onChange={(event) => adjust({ invert: event.currentTarget.checked ? "1" : "", zoom: "" })} /> Invert</label>
    <label>Sandwich <input id="sandwich" value={chosen.sandwich} placeholder="a function" spellcheck={false}
                           onChange={(event) => adjust({ sandwich: event.currentTarget.value.trim(), module: "", zoom: "" })} /></label>
    <span role="status" class="said">{said}</span>
  </div>;
}

function Graph({ answer, chosen, scenes }: { answer: TreeAnswer; chosen: Selection; scenes: Scenes }) {
  const palette = usePalette();
  const isByThread = isMergedByThread(chosen);
  const whole = useMemo(() => treeOf(answer), [answer]);
  const upper = useMemo(() => (chosen.sandwich ? callers(whole, chosen.sandwich, chosen.module) : transformed(whole, chosen)),
                        [whole, chosen.sandwich, chosen.module, chosen.merge, chosen.invert]);
  const lower = useMemo(() => (chosen.sandwich ? callees(whole, chosen.sandwich, chosen.module) : null),
                        [whole, chosen.sandwich, chosen.module]);
  const pattern = useMemo(() => patternOf(chosen.search), [chosen.search]);
  const hits = useMemo(() => find(upper, pattern), [upper, pattern]);
  const lowerHits = useMemo(() => lower && find(lower, pattern), [lower, pattern]);
  const colours = useMemo(() => moduleColours(upper, palette), [upper, palette]);
  const lowerColours = useMemo(() => (lower ? moduleColours(lower, palette) : colours), [lower, palette]);
  const middle = <><span class="name">{shown(chosen.sandwich)}</span>{chosen.module && <> in <span class="name">{shown(chosen.module)}</span></>}</>;
  const common = {
    palette, zoom: chosen.zoom, onZoom: (zoom: string) => adjust({ zoom }),
    onOpen: (fn: Fn, isOutermost: boolean) => go(isByThread && isOutermost && fn.module === ""
      ? { ...chosen, match: withLabel(chosen.match, "thread", fn.name), merge: "", zoom: "" }
      : viewOf(chosen, "function", { function: fn.name, module: fn.module })),
  };
  return <>
    <Tools chosen={chosen} said={foundText(pattern, hits, upper)} />
    {chosen.sandwich && upper.total[0] === 0 &&
      <p class="notice">No stack has a function {middle}: a name is as the table has it.</p>}
    {chosen.sandwich && <h3>Who calls {middle}, the nearest first</h3>}
    <Flame {...common} tree={upper} found={hits} colourOf={colours} onScene={(scene) => { scenes.upper = scene; }}
           label={chosen.sandwich ? "callers of " + shown(chosen.sandwich)
             : isByThread ? "threads, and the call stacks of each" : "call stacks, outermost function first"} />
    {answer.nodes.parent.length >= NODES_MAX && <p class="status">The {count(NODES_MAX)} heaviest frames are drawn.</p>}
    {lower && <>
      <h3>What it calls</h3>
      <Flame {...common} tree={lower} found={lowerHits} colourOf={lowerColours} onScene={(scene) => { scenes.lower = scene; }}
             label={"callees of " + shown(chosen.sandwich)} />
    </>}
  </>;
}

function NoSamples({ chosen }: { chosen: Selection }) {
  const boards = useAnswer<Boards>(BOARDS_PATH, { limit: 1 }, REFRESH_MS);
  const hasBoards = (boards.value?.boards.length ?? 0) > 0;
  const hint = !hasBoards ? "No board is enrolled yet. Make a token beside this collector, then enroll a board with it:"
    : chosen.match ? "Nothing matches the selector in this time range. To profile a program on a board, type:"
    : "On a board that is enrolled, type:";
  const command = hasBoards ? "fleetprof run -- PROGRAM"
    : "fleetprof-collector token --data DIR --board NAME\n" +
      `fleetprof enroll --collector ${location.hostname || "HOST"}:7443 --token TOKEN\nfleetprof run -- PROGRAM`;
  return <Empty title="No samples in this range" hint={hint} command={command}>
    <p>The page fills within seconds of the first batch; it looks again by itself.</p>
  </Empty>;
}

export function ProfileView() {
  const chosen = useAtom(selection);
  const asked = range(chosen);
  const everyMs = chosen.to ? 0 : REFRESH_MS; // past data does not change
  // The collector answers in sequence, and the graph is seen first.
  const tree = useAnswer<TreeAnswer>(PROFILE_PATH, treeAsked(chosen), everyMs, true);
  const known = useMemo(() => tree.value?.functions.filter(({ module }) => module !== "").length ?? 0, [tree.value]);
  // If the collector sends only some functions, it must choose by the order of the table: main has
  // no self time, but is first by Total.
  const isByTotal = chosen.sort.replace("-", "") === "total";
  const tableAsked = { ...asked, limit: ROWS, order: known > ROWS && isByTotal ? "total" : "" };
  const profile = useAnswer<Profile>(PROFILE_PATH, tableAsked, everyMs, true);
  const orderShown = useRef(""); // order of the shown rows, which may belong to the previous query
  if (!profile.isOld) orderShown.current = tableAsked.order;
  const scenes = useRef<Scenes>({});
  const newest = [profile, tree].find(({ value, isOld }) => value && !isOld) ?? profile;
  const of = newest.value;
  const isEmpty = of?.total === 0;
  // Zoom and search change neither of these, and change many times a second.
  const table = useMemo(() => profile.value &&
    <FunctionTable of={profile.value} known={known} sort={chosen.sort} order={orderShown.current} />,
    [profile.value, known, chosen.sort, orderShown.current]);
  const exports = useMemo(() => <ExportMenu files={[...sampleFiles(asked), ...pictureFiles(scenes.current)]}
    asks={[{ label: "functions", path: PROFILE_PATH, parameters: tableAsked }, { label: "call tree", path: PROFILE_PATH, parameters: treeAsked(chosen) },
           { label: "over time", path: SERIES_PATH, parameters: seriesAsked(chosen) }]} />,
    [chosen.match, chosen.from, chosen.to, isMergedByThread(chosen), tableAsked.order]);
  const figures = useMemo(() => of && !isEmpty && <><SummaryFigures of={of} />{of.stacks && <StackEnds stacks={of.stacks} />}</>, [of, isEmpty]);
  const timeline = useMemo(() => <Timeline chosen={chosen} everyMs={everyMs} />, [everyMs, chosen.match, chosen.from, chosen.to]);
  return <>
    <State of={first(tree, profile)} what="the profile" />
    <div class="line"><Dimmed as={newest}>{figures}</Dimmed>{exports}</div>
    {isEmpty && !newest.isOld && <NoSamples chosen={chosen} />}
    {of && !isEmpty && <section id="profile">
      {timeline}
      <h2>Flame graph</h2>
      {tree.value && <Dimmed as={tree}>
        <Graph answer={tree.value} chosen={chosen} scenes={scenes.current} /></Dimmed>}
      <h2>Functions</h2>
      <Dimmed as={profile}>{table}</Dimmed>
    </section>}
  </>;
}
