// SPDX-License-Identifier: Apache-2.0
// What is new in the fleet: CPU by service, what has surely changed since yesterday, builds that were
// not there before.  The last two read two days of everybody: they are asked for, never by themselves.
import { useState } from "preact/hooks";
import type { Diff, Interval, Labels, Summary } from "../api";
import { viewOf, type Selection } from "../model/selection";
import { interval, percent, points, seconds, shown } from "../model/text";
import { useAnswer } from "../state/answer";
import { follow } from "../state/app";
import { State } from "./parts";

interface Load extends Summary { rows: { name: string; weight: number; share: number; ci: Interval }[] }

const SERVICES_MAX = 50;
const MOVERS_MAX = 10;
const BUILDS_MAX = 50;
const REFRESH_MS = 60000;

const matching = (label: string, value: string): string =>
  `{${label}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"}`;

export function Services({ chosen }: { chosen: Selection }) {
  const load = useAnswer<Load>("/api/v1/load", { by: "service", limit: SERVICES_MAX }, REFRESH_MS);
  if (!load.value) return <State of={load} what="the services" />;
  return <>
    <h2>CPU by service, the last hour</h2>
    {load.value.rows.length === 0 ? <p class="status">Nobody was sampled in the last hour. On a board: <code>fleetprof run -- PROGRAM</code></p> :
      <div class="scroll" tabIndex={0} role="region" aria-label="CPU by service"><table>
        <thead><tr><th scope="col">Service</th><th scope="col" class="number">Share</th>
          <th scope="col" class="number optional">95 % interval</th><th scope="col" class="number">CPU time</th><th scope="col">Look</th></tr></thead>
        <tbody id="services">{load.value.rows.map((row) => {
          const match = matching("service", row.name);
          return <tr><td class="name"><a {...follow(viewOf(chosen, "profile", { match }))}>{shown(row.name, 80) || "(none)"}</a></td>
            <td class="number">{percent(row.share)}<progress max={1} value={row.share} aria-hidden="true" /></td>
            <td class="number quiet optional">{interval(row.ci)}</td><td class="number">{seconds(row.weight)}</td>
            <td><a {...follow(viewOf(chosen, "diff", { match, b_from: "-1d" }))}>today with yesterday</a></td></tr>;
        })}</tbody>
      </table></div>}
  </>;
}

function Movers({ chosen }: { chosen: Selection }) {
  const diff = useAnswer<Diff>("/api/v1/diff", { b_from: "-1d", limit: 1000 });
  if (!diff.value) return <State of={diff} what="two days" />;
  const changed = diff.value.functions.filter((row) => row.verdict === "changed")
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference)).slice(0, MOVERS_MAX);
  if (changed.length === 0) return <p class="status">Nothing has surely changed since yesterday.</p>;
  return <ul>{changed.map((row) => <li>{points(row.difference)} points:{" "}
    <a class="name" {...follow(viewOf(chosen, "function", { function: row.name }))}>{shown(row.name, 80)}</a></li>)}</ul>;
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
      <a class="name" {...follow(viewOf(chosen, "profile", { match: matching("build_id", id), from: "-1d" }))}>{shown(id, 80)}</a></li>)}</ul>
    {builds.length > BUILDS_MAX && <p class="status">and {builds.length - BUILDS_MAX} more</p>}
  </>;
}

export function SinceYesterday({ chosen }: { chosen: Selection }) {
  const [isOpen, setIsOpen] = useState(false);
  return <details id="since" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
    <summary>Since yesterday: top movers, new builds</summary>
    {isOpen && <div class="columns"><div><h2>Top movers</h2><Movers chosen={chosen} /></div>
      <div><h2>New builds</h2><Builds chosen={chosen} /></div></div>}
  </details>;
}
