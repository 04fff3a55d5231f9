// SPDX-License-Identifier: Apache-2.0
// The boards: who is there, how well each is sampled, what was lost.  Rows are drawn where they are
// seen: 10 000 boards are as many table rows as fit on the screen.  A row is made once, and the style
// sheet lays it out by itself: a table proper, laid out as a whole each time, takes longer than a frame.
// Without its layout some browsers know no table any more: roles say what all of it is.
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Board, Boards } from "../api";
import { STATES, stateOf, type BoardState } from "../model/board";
import { BOARDS_ASKED, BOARDS_PATH } from "../model/question";
import { parseSelection, viewOf, withLabel } from "../model/selection";
import { ago, count, lossText, percent, shown } from "../model/text";
import { windowOf } from "../model/window";
import { REFRESH_MS, useAnswer } from "../state/answer";
import { adjust, follow, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { chartFile, ExportMenu, sampleFiles } from "./export";
import { movementQuestions, Services, SinceYesterday } from "./movement";
import { Empty, endsOf, endText, Figures, State } from "./parts";

const ROW_PX = 34;

function rateTitle(board: Board): string | undefined {
  if (!board.cost) return undefined;
  const adds = board.cost.added_cpu === null ? "" : `; adds ${percent(board.cost.added_cpu)} of a CPU`;
  return `asked ${board.asked_hz ?? "–"} Hz (${shown(board.rate_reason)})${adds}`;
}

// Batches and reports of the board refused for good, except by quotas: the collector's last reason,
// which contains the board's numbers.
const refusedText = ({ refused }: Board): string => refused ? `${count(refused.times)} refused: ${shown(refused.why, 256)}` : "";

// The number of CPUs that the board reports. With a false number more CPU time than it has is
// accepted.
const cpusText = ({ arch, cpus, cpus_most: most }: Board): string =>
  [shown(arch), cpus ? `× ${count(cpus)}` : "", cpus && most && most > cpus ? `(× ${count(most)} once)` : ""].filter(Boolean).join(" ");
const cpusTitle = (board: Board): string =>
  cpusText(board) + (board.cpus_changed ? `; it said another number until ${shown(board.cpus_changed)}` : "");

// Text cut to the room there is; all of it in a tooltip.
const cell = (text: string, title = text) => <td role="cell" class="optional" title={title}>{text || "–"}</td>;

function BoardRow({ board, now, index }: { board: Board; now: number; index: number }) {
  const state = stateOf(board, now);
  const stacks = board.stacks ? endsOf(board.stacks).map((end) => endText(end, board.stacks![end])).join(", ") : "";
  const chosen = { ...parseSelection(""), match: withLabel("", "board", board.name) };
  return <tr role="row" aria-rowindex={index + 2}>
    <td role="cell" class="name" title={shown(board.name, 80)}><a {...follow(viewOf(chosen, "profile"))}>{shown(board.name, 80)}</a></td>
    <td role="cell" title={board.revoked ? `since ${shown(board.revoked)}; fleetprof-collector revoke --undo lets it in again` : undefined}><span class={"state " + state}>{state}</span></td>
    <td role="cell" title={shown(board.last_seen)}>{ago(board.last_seen, now)}</td>
    {cell(shown(board.sampler))}
    <td role="cell" class="number" title={rateTitle(board)}>{board.achieved_hz ? board.achieved_hz.toFixed(0) + " Hz" : "–"}</td>
    {cell(stacks)}
    {cell([lossText(board.loss), refusedText(board)].filter(Boolean).join("; "))}
    {cell(shown(board.labels["firmware"], 80))}
    {cell(shown(board.versions["fleetprofd"]))}
    {cell(cpusText(board), cpusTitle(board))}
    {cell(shown(board.kernel))}
  </tr>;
}

const HEADS = [["Board", ""], ["State", ""], ["Last seen", ""], ["Sampler", "optional"], ["Rate", "number"], ["Stacks", "optional"],
               ["Lost", "optional"], ["Firmware", "optional"], ["Daemon", "optional"], ["CPU", "optional"], ["Kernel", "optional"]] as const;

function BoardTable({ boards, now }: { boards: readonly Board[]; now: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const made = useMemo(() => new Map<Board, JSX.Element>(), [boards, now]);
  const { first, last } = windowOf(boards.length, ROW_PX, top, box.current?.clientHeight ?? 800);
  const rows = boards.slice(first, last).map((board, i) => {
    const row = made.get(board) ?? <BoardRow key={board.name} board={board} now={now} index={first + i} />;
    made.set(board, row);
    return row;
  });
  return <div class="scroll rows" ref={box} tabIndex={0} role="region" aria-label="Boards"
              onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
    <table role="table" aria-rowcount={boards.length + 1}>
      <thead role="rowgroup"><tr role="row" aria-rowindex={1}>{HEADS.map(([text, className]) => <th role="columnheader" scope="col" class={className}>{text}</th>)}</tr></thead>
      <tbody role="rowgroup" id="boards" style={{ paddingTop: first * ROW_PX + "px", paddingBottom: (boards.length - last) * ROW_PX + "px" }}>{rows}</tbody>
    </table>
  </div>;
}

export function FleetView() {
  const chosen = useAtom(selection);
  const boards = useAnswer<Boards>(BOARDS_PATH, BOARDS_ASKED, REFRESH_MS);
  const now = boards.at || Date.now();
  const all = boards.value?.boards ?? [];
  const found = useMemo(() => {
    const text = chosen.search.toLowerCase();
    return text ? all.filter((board) => [board.name, board.kernel, board.arch, board.sampler, ...Object.values(board.labels)]
      .some((part) => part?.toLowerCase().includes(text))) : all;
  }, [all, chosen.search]);
  const counts = useMemo(() => {
    const made: Record<BoardState, number> = { live: 0, late: 0, silent: 0, revoked: 0 };
    for (const board of all) made[stateOf(board, now)]++;
    return made;
  }, [all, now]);
  return <section id="fleet">
    <State of={boards} what="the fleet" />
    <div class="line">
      <div>{all.length > 0 && <Figures rows={[["Boards", count(all.length)], ...STATES.filter((state) => state !== "revoked" || counts[state] > 0).map((state) =>
        [state, <span class={"state " + (counts[state] > 0 ? state : "none")}>{count(counts[state])}</span>] as const)]} />}</div>
      <ExportMenu asks={[{ label: "boards", path: BOARDS_PATH, parameters: BOARDS_ASKED }, ...movementQuestions(chosen)]}
                  files={[...sampleFiles({ from: chosen.from, to: chosen.to }), chartFile(".stack canvas")]} />
    </div>
    {boards.value && all.length === 0 &&
      <Empty title="No board yet" hint="Make a token beside this collector, then enroll a board with it:"
             command={`fleetprof-collector token --data DIR --board NAME\nfleetprof enroll --collector ${location.hostname}:7443 --token TOKEN`} />}
    {all.length > 0 && <>
      <label class="find">Find a board <input type="search" value={chosen.search} onInput={(event) =>
        adjust({ search: event.currentTarget.value })} /></label>
      {found.length === 0 ? <p class="status" role="status">No board has that in its name, labels, kernel or CPU.</p>
                          : <BoardTable boards={found} now={now} />}
      <Services chosen={chosen} />
      <SinceYesterday chosen={chosen} />
    </>}
  </section>;
}
