// SPDX-License-Identifier: Apache-2.0
// The cost of sampling on each board, in the board's own figures: its budget, the reason for its
// rate, and the collector's quotas that it has used up. The highest cost first.
import { useMemo } from "preact/hooks";
import type { Board, Boards, QuotaUse } from "../api";
import { BOARDS_ASKED, BOARDS_PATH } from "../model/question";
import { count, counted, percent, shown, words } from "../model/text";
import { useAnswer } from "../state/answer";
import type { Question } from "./export";
import { State } from "./parts";

export const BOARDS_QUESTION: Question = { label: "boards", path: BOARDS_PATH, parameters: BOARDS_ASKED };
const ROWS_MAX = 200;
const REFRESH_MS = 60000; // ten thousand boards give megabytes

const BUDGET_STATES: Readonly<Record<string, string>> = {
  off: "no budget", within: "within", window: "within, by longer windows", cpu: "held by lower rates, for CPU",
  bytes: "held by lower rates, for bytes", threads: "held by lower rates, but of old threads",
  floor: "over, at the lowest rate", daemon: "over: the daemon alone takes it", unheld: "over: rates that were asked for are not held",
};

const mega = (bytes: number): string => (bytes / 1e6).toFixed(1) + " MB";
const share = (value: number | null | undefined): string => (value === null || value === undefined ? "–" : (100 * value).toFixed(2) + " %");
const hertz = (value: number | null): string => (value ? value.toFixed(0) : "–");

const isUsedUp = (of: QuotaUse): boolean => of.refused > 0 || of.delayed > 0 || (of.limit !== null && of.used >= of.limit);

function quotaText(quotas: Board["quotas"]): string {
  return Object.entries(quotas ?? {}).filter(([, of]) => isUsedUp(of)).map(([name, of]) =>
    `${words(name)} ${count(of.used)}${of.limit === null ? "" : " of " + count(of.limit)}` +
    (of.refused ? `, ${count(of.refused)} batches refused` : "") + (of.delayed ? `, ${count(of.delayed)} delayed` : "")).join("; ");
}

const budgetText = ({ cost, budget }: Board): string => (!cost ? "–"
  : mega(cost.bytes_day) + (budget?.bytes_day ? " of " + mega(budget.bytes_day) : ""));

const over = (board: Board): number => Number(quotaText(board.quotas) !== "");
const costliestFirst = (boards: readonly Board[]): Board[] => [...boards].sort((one, other) =>
  over(other) - over(one) || (other.cost?.added_cpu ?? -1) - (one.cost?.added_cpu ?? -1) || one.name.localeCompare(other.name));

function CostRow({ board }: { board: Board }) {
  const { cost, budget } = board;
  const state = budget?.state ? BUDGET_STATES[budget.state] ?? words(budget.state) : "–";
  return <tr><td class="name">{shown(board.name, 80)}</td>
    <td class="number">{share(cost?.added_cpu)}{budget?.cpu ? " of " + share(budget.cpu) : ""}</td>
    <td class="number optional">{share(cost?.daemon_cpu)}</td>
    <td class="number optional">{cost?.handler_ns_p50 ? count(cost.handler_ns_p50) + " ns" : "–"}</td>
    <td class="number optional">{budgetText(board)}</td>
    <td class="number optional">{hertz(board.achieved_hz)} of {hertz(board.asked_hz)} Hz</td>
    <td>{state}{board.rate_reason && <span class="quiet"> ({words(board.rate_reason)})</span>}</td>
    <td>{quotaText(board.quotas) || "none"}</td></tr>;
}

export function Cost() {
  const boards = useAnswer<Boards>(BOARDS_QUESTION.path, BOARDS_QUESTION.parameters, REFRESH_MS);
  const rows = useMemo(() => costliestFirst(boards.value?.boards ?? []), [boards.value]);
  if (!boards.value) return <State of={boards} what="what sampling costs" />;
  if (rows.length === 0) return null;
  const metered = rows.filter((board) => board.cost && board.cost.added_cpu !== null);
  const added = metered.reduce((sum, board) => sum + (board.cost?.added_cpu ?? 0), 0) / (metered.length || 1);
  return <>
    <h2>What sampling costs</h2>
    {metered.length > 0 && <p class="status">{percent(added)} of a CPU on the average of {counted(metered.length, "board")} that measured it,
      daemon and samples together. Over a quota of the collector's: {counted(rows.filter((board) => over(board) > 0).length, "board")}.</p>}
    <div class="scroll" tabIndex={0} role="region" aria-label="What sampling costs"><table>
      <thead><tr><th scope="col">Board</th><th scope="col" class="number">Added CPU</th><th scope="col" class="number optional">Daemon alone</th>
        <th scope="col" class="number optional">A sample</th><th scope="col" class="number optional">Bytes a day</th>
        <th scope="col" class="number optional">Rate</th><th scope="col">Budget</th><th scope="col">Over quota</th></tr></thead>
      <tbody id="cost">{rows.slice(0, ROWS_MAX).map((board) => <CostRow key={board.name} board={board} />)}</tbody>
    </table></div>
    {rows.length > ROWS_MAX && <p class="status">{count(rows.length - ROWS_MAX)} more that cost less: all are in what Copy as curl and Export give.</p>}
  </>;
}
