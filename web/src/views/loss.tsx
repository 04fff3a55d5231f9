// SPDX-License-Identifier: Apache-2.0
// Whether the books close, what went missing where, what sampling costs, and the collector's own counters.
import { useMemo } from "preact/hooks";
import { askText, type LossAnswer } from "../api";
import { parseMetrics } from "../model/metrics";
import { count, lossText, lostBy, percent, shown } from "../model/text";
import { REFRESH_MS, useAnswer, useReader } from "../state/answer";
import { adjust, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { BOARDS_QUESTION, Cost } from "./cost";
import { ExportMenu } from "./export";
import { Empty, Figures, State } from "./parts";

const PATH = "/api/v1/loss";
const COUNTERS_PATH = "/metrics";
const QUESTIONS = [{ label: "loss", path: PATH, parameters: {} }, BOARDS_QUESTION,
                   { label: "counters", path: COUNTERS_PATH, parameters: {} }];
const ROWS_MAX = 200;
const COUNTERS_MAX = 1000; // drawn: in a large fleet most counters only mark a board's last contact

const droppedOf = (dropped: Readonly<Record<string, number>>): number =>
  lostBy(dropped).reduce((sum, [reason, lost]) => sum + (reason === "pending" ? 0 : lost), 0);

function Books({ loss }: { loss: LossAnswer }) {
  const rows = useMemo(() => loss.boards.map((board) => ({ ...board, lost: droppedOf(board.dropped) }))
    .sort((one, other) => other.lost - one.lost), [loss]);
  const lost = droppedOf(loss.dropped);
  return <>
    <Figures rows={[["Produced", count(loss.produced)], ["Stored", count(loss.stored)], ["Dropped", count(lost)],
                    ["On their way", count(loss.dropped["pending"] ?? 0)],
                    ["Lost", percent(loss.produced ? lost / loss.produced : 0)]]} />
    <p class={loss.produced === loss.stored + lost + (loss.dropped["pending"] ?? 0) ? "status" : "notice"}>
      produced = stored + dropped + on their way, since each board's first sample. By reason: {lossText(loss.dropped)}.</p>
    <div class="scroll" tabIndex={0} role="region" aria-label="Boards' books"><table>
      <thead><tr><th scope="col">Board</th><th scope="col" class="number">Produced</th><th scope="col" class="number">Stored</th>
        <th scope="col" class="number">Dropped</th><th scope="col">By reason</th></tr></thead>
      <tbody id="books">{rows.slice(0, ROWS_MAX).map((board) => <tr><td class="name">{shown(board.board, 80)}</td>
        <td class="number">{count(board.produced)}</td><td class="number">{count(board.stored)}</td>
        <td class="number">{count(board.lost)}</td><td>{lossText(board.dropped)}</td></tr>)}</tbody>
    </table></div>
    {rows.length > ROWS_MAX && <p class="status">{count(rows.length - ROWS_MAX)} boards that lost less are not listed: all are in what Copy as curl and Export give.</p>}
  </>;
}

function Health({ search }: { search: string }) {
  const text = useReader(COUNTERS_PATH, (signal) => askText(COUNTERS_PATH, signal), REFRESH_MS);
  const metrics = useMemo(() => parseMetrics(text.value ?? ""), [text.value]);
  const wanted = search.toLowerCase();
  const found = metrics.filter(({ name, labels }) => (name + labels).toLowerCase().includes(wanted));
  return <>
    <h2>The collector</h2>
    <State of={text} what="the counters" />
    <label class="find">Find a counter <input type="search" value={search} onInput={(event) =>
      adjust({ search: event.currentTarget.value })} /></label>
    <div class="scroll" tabIndex={0} role="region" aria-label="Counters"><table>
      <thead><tr><th scope="col">Counter</th><th scope="col" class="number">Value</th><th scope="col" class="optional">What it counts</th></tr></thead>
      <tbody id="metrics">{found.slice(0, COUNTERS_MAX).map(({ name, labels, value, help }) => <tr>
        <td class="name">{shown(name)}{labels && <span class="quiet labels">{"{" + shown(labels) + "}"}</span>}</td>
        <td class="number">{value.toLocaleString("en", { maximumFractionDigits: 6 })}</td><td class="optional">{shown(help)}</td></tr>)}</tbody>
    </table></div>
    {found.length > COUNTERS_MAX && <p class="status">{count(found.length - COUNTERS_MAX)} more: search for them.</p>}
  </>;
}

export function LossView() {
  const chosen = useAtom(selection);
  const loss = useAnswer<LossAnswer>(PATH, {}, REFRESH_MS);
  return <section id="loss">
    <div class="line"><State of={loss} what="the books" /><ExportMenu asks={QUESTIONS} /></div>
    {loss.value && loss.value.boards.length === 0 && <Empty title="No board has brought anything yet"
      hint="What a board has done, and why it delivers nothing, it tells itself:" command={"fleetprof status\nfleetprof doctor"} />}
    {loss.value && loss.value.boards.length > 0 && <>
      <h2>Samples</h2><Books loss={loss.value} /><Cost /></>}
    <Health search={chosen.search} />
  </section>;
}
