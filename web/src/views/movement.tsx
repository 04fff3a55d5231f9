// SPDX-License-Identifier: Apache-2.0
// Recent changes of the fleet: CPU by service over time and in sum, certain changes since
// yesterday, and new builds. The last two read two days of all boards, so they are queried only on
// request.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Diff, Interval, Labels, Series, Summary } from "../api";
import { seriesColour, SERIES_MAX, type Palette } from "../canvas/colour";
import { drawStack } from "../canvas/timeline";
import { changeOf, headlineOf, moduleToAsk, moversOf } from "../model/compare";
import { stepOf, viewOf, withLabel, type Parameters, type Selection } from "../model/selection";
import { count, interval, percent, points, seconds, shown } from "../model/text";
import { useAnswer } from "../state/answer";
import { adjust, follow, go, selection } from "../state/app";
import type { Question } from "./export";
import { Empty, Legend, seriesSpan, State, usePalette } from "./parts";
import { RangeForm } from "./selector";

interface Load extends Summary {
  rows: { name: string; weight: number; share: number; ci: Interval }[];
  rest: { rows: number; weight: number };
}

const SERVICES_MAX = 50;
const MOVERS_MAX = 10;
const BUILDS_MAX = 50;
const REFRESH_MS = 60000;

const loadAsked = ({ from, to }: Selection): Parameters => ({ by: "service", from, to, limit: SERVICES_MAX });
const seriesAsked = (chosen: Selection): Parameters =>
  ({ by: "service", from: chosen.from, to: chosen.to, step: stepOf(chosen), limit: SERIES_MAX });
const MOVERS_ASKED: Parameters = { b_from: "-1d", limit: 1000 };

export const movementQuestions = (chosen: Selection): Question[] => [
  { label: "services", path: "/api/v1/load", parameters: loadAsked(chosen) },
  { label: "over time", path: "/api/v1/series", parameters: seriesAsked(chosen) },
  { label: "since yesterday", path: "/api/v1/diff", parameters: MOVERS_ASKED },
];

function LoadChart({ series, palette }: { series: Series; palette: Palette }) {
  const box = useRef<HTMLDivElement>(null);
  const colours = useMemo(() => Array.from({ length: series.series.length + 1 }, (_, i) =>
    seriesColour(i < series.series.length ? i : SERIES_MAX, palette)), [series, palette]);
  useEffect(() => {
    if (!box.current) return;
    return drawStack(box.current, series, colours, (from, to) =>
      go({ ...selection.get(), from: String(Math.floor(from)), to: String(Math.ceil(to)) }));
  }, [series, colours]);
  const names = series.series.map((row) => shown(row.labels["service"], 40) || "(none)");
  return <figure class="timeline stack">
    <figcaption>CPUs busy, one service on top of the other, {seriesSpan(series)}; drag to choose a range</figcaption>
    <div ref={box} role="img" aria-label={"CPUs busy over time, by service: " + names.join(", ")} />
    <Legend rows={[...names, ...(series.rest.weight > 0 ? [`${series.rest.series} others`] : [])].map((name, i) =>
      [name, colours[Math.min(i, colours.length - 1)] as string] as const)} />
  </figure>;
}

function ServiceTable({ load, chosen }: { load: Load; chosen: Selection }) {
  return <><div class="scroll" tabIndex={0} role="region" aria-label="CPU by service"><table>
    <thead><tr><th scope="col">Service</th><th scope="col" class="number">Share</th>
      <th scope="col" class="number optional">95 % interval</th><th scope="col" class="number">CPU time</th><th scope="col">Look</th></tr></thead>
    <tbody id="services">{load.rows.map((row) => {
      const match = withLabel("", "service", row.name);
      return <tr><td class="name"><a {...follow(viewOf(chosen, "profile", { match }))}>{shown(row.name, 80) || "(none)"}</a></td>
        <td class="number">{percent(row.share)}<progress max={1} value={row.share} aria-hidden="true" /></td>
        <td class="number quiet optional">{interval(row.ci)}</td><td class="number">{seconds(row.weight)}</td>
        <td><a {...follow(viewOf(chosen, "diff", { match, from: "", to: "", b_from: "-1d" }))}>today with yesterday</a></td></tr>;
    })}</tbody>
  </table></div>
  {load.rest.rows > 0 && <p class="status">{count(load.rest.rows)} more with {percent(load.rest.weight / (load.total || 1))} of
    the time: all are in <code>fleetprof query --by service</code>.</p>}</>;
}

export function Services({ chosen }: { chosen: Selection }) {
  const palette = usePalette();
  const everyMs = chosen.to ? 0 : REFRESH_MS;
  const load = useAnswer<Load>("/api/v1/load", loadAsked(chosen), everyMs);
  const series = useAnswer<Series>("/api/v1/series", seriesAsked(chosen), everyMs);
  const isEmpty = load.value?.rows.length === 0;
  return <>
    <div class="line head"><h2>CPU by service</h2><RangeForm /></div>
    {isEmpty && <p class="status">Nobody was sampled in this range. On a board: <code>fleetprof run -- PROGRAM</code></p>}
    {series.value && !isEmpty ? <LoadChart series={series.value} palette={palette} /> : !isEmpty && <State of={series} what="the load" />}
    {!load.value ? <State of={load} what="the services" /> : !isEmpty && <ServiceTable load={load.value} chosen={chosen} />}
  </>;
}

// A day has no samples; offers a comparison that is possible.
function NoDays({ isBefore, chosen }: { isBefore: boolean; chosen: Selection }) {
  const hours = viewOf(chosen, "diff", { match: "", from: "", to: "", b_from: "-1h" });
  return <Empty title={isBefore ? "No samples before yesterday" : "No samples since yesterday"}
    hint={isBefore ? "There is one day at most, and nothing to compare it with before tomorrow. Two hours, in a shell:"
                   : "Nobody was sampled for a day. On a board:"}
    command={isBefore ? "fleetprof diff SERVICE --b-from -1h" : "fleetprof run -- PROGRAM"}>
    <p><a {...follow(hours)}>This hour with the last</a></p>
  </Empty>;
}

function Movers({ chosen }: { chosen: Selection }) {
  const diff = useAnswer<Diff>("/api/v1/diff", MOVERS_ASKED);
  if (!diff.value) return <State of={diff} what="two days" />;
  const { a, b, tested, changed } = diff.value;
  if (a.total === 0 || b.total === 0) return <NoDays isBefore={a.total === 0} chosen={chosen} />;
  const whole = <p>{headlineOf(diff.value.whole)}: {diff.value.whole.verdict}</p>;
  if (changed === 0) return <>{whole}<p class="status">Nothing has surely changed since yesterday: {count(tested)} functions were compared.</p></>;
  const answer = diff.value, { rows, more } = moversOf(answer, MOVERS_MAX);
  const comparison = viewOf(chosen, "diff", { match: "", from: "", to: "", b_from: "-1d" });
  return <>
    {whole}
    <ul>{rows.map((row) => <li>{points(changeOf(answer, row).difference)} points:{" "}
      <a class="name" {...follow(viewOf(chosen, "function",
        { function: row.name, module: moduleToAsk(row.module), match: "", from: "-1d", to: "" }))}>{shown(row.name, 80)}</a></li>)}</ul>
    <p class="status">{more > 0 && `${count(more)} ${rows.length > 0 ? "more" : "have surely changed, each by little"}: `}<a {...follow(comparison)}>the whole comparison</a></p>
  </>;
}

function Builds({ chosen }: { chosen: Selection }) {
  const today = useAnswer<Labels>("/api/v1/labels/build_id", { from: "-1d" });
  const before = useAnswer<Labels>("/api/v1/labels/build_id", { from: "-8d", to: "-1d" });
  if (!today.value || !before.value) return <State of={today.value ? before : today} what="the builds" />;
  const old = new Set(before.value.data);
  const builds = today.value.data.filter((id) => id !== "" && !old.has(id));
  if (builds.length === 0) return <p class="status">No build that was not here in the week before.</p>;
  return <>
    <ul>{builds.slice(0, BUILDS_MAX).map((id) => <li>
      <a class="name" {...follow(viewOf(chosen, "profile", { match: withLabel("", "build_id", id), from: "-1d", to: "" }))}>{shown(id, 80)}</a></li>)}</ul>
    {builds.length > BUILDS_MAX && <p class="status">{count(builds.length - BUILDS_MAX)} more</p>}
  </>;
}

export function SinceYesterday({ chosen }: { chosen: Selection }) {
  const isOpen = chosen.since !== "";
  return <details id="since" open={isOpen} onToggle={(event) => {
    if (event.currentTarget.open !== isOpen) adjust({ since: event.currentTarget.open ? "1d" : "" });
  }}>
    <summary>Since yesterday: top movers, new builds</summary>
    {isOpen && <div class="columns"><div><h2>Top movers</h2><Movers chosen={chosen} /></div>
      <div><h2>New builds</h2><Builds chosen={chosen} /></div></div>}
  </details>;
}
