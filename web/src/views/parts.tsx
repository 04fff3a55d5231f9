// SPDX-License-Identifier: Apache-2.0
// Components shared by several views.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ENDS, type EndShares, type End, type Rest, type Series, type Stacks, type Summary } from "../api";
import { paletteNow, type Palette } from "../canvas/colour";
import { gapsOf, isAwaited, type Fault } from "../model/answer";
import { viewOf, type Selection } from "../model/selection";
import { basisText, clock, count, lossText, percent, restText, seconds, shown, spanText, words } from "../model/text";
import type { Answer } from "../state/answer";
import { follow, selection } from "../state/app";

export const endsOf = (shares: EndShares): End[] => ENDS.filter((end) => shares[end] > 0);
export const endText = (end: End, share: number): string => percent(share) + " " + words(end);

function EndItem({ end, share }: { end: End; share: number }) {
  return <span class={"end " + end}><i />{endText(end, share)}</span>;
}

// The meaning of a stack end, and the modules in which stacks of that end lie.
function EndMeaning({ end, stacks }: { end: End; stacks: Stacks }) {
  const rows = (stacks.ends_in ?? []).filter((row) => row.end === end);
  return <>
    <dt><EndItem end={end} share={stacks[end]} /></dt>
    <dd>{shown(stacks.meanings?.[end])}
      {rows.length > 0 && <ul>{rows.map((row) =>
        <li>{percent(row.share)} in <span class="name">{shown(row.module)}</span>, which {shown(row.why)}</li>)}</ul>}
    </dd>
  </>;
}

export function StackEnds({ stacks }: { stacks: Stacks }) {
  const ends = stacks.weight > 0 ? endsOf(stacks) : [];
  const short = ends.filter((end) => end !== "complete");
  return <div id="stacks" hidden={ends.length === 0}>
    <Figures rows={[["Stacks", ends.map((end) => <EndItem end={end} share={stacks[end]} />)]]} />
    <details id="stacks-why" hidden={short.length === 0}>
      <summary>Why some are short</summary>
      <dl>{short.map((end) => <EndMeaning end={end} stacks={stacks} />)}</dl>
    </details>
  </div>;
}

export function Figures({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return <dl class="figures">{rows.map(([term, text]) => <div><dt>{term}</dt><dd>{text}</dd></div>)}</dl>;
}

export function SummaryFigures({ of }: { of: Summary }) {
  return <>
    <Figures rows={[["Total", seconds(of.total)], ["Samples", count(of.samples)], ["Lost", lossText(of.loss)],
                    ...(of.basis ? [["Intervals", basisText(of.basis)] as const] : [])]} />
    {(of.marks ?? []).map((mark) =>
      <p class="notice">{shown(mark.service)}: {words(mark.mark)} {shown(mark.certainty)}: {shown(mark.meaning)}</p>)}
    {of.kernel_hint && <p class="notice">[kernel]: {shown(of.kernel_hint)}</p>}
    {of.unsampled_hint && <p class="notice">[unsampled]: {shown(of.unsampled_hint)}</p>}
    {of.rest_hint && <p class="notice">[rest]: {shown(of.rest_hint)}</p>}
  </>;
}

// The part that a limit left out of a table whose rows add up to WHOLE.
export function RestLine({ rest, whole }: { rest: Rest | undefined; whole: number }) {
  const text = restText(rest, whole);
  return text === "" ? null : <p class="status">{text}</p>;
}

export const seriesSpan = ({ from, to }: Series): string => spanText(Date.parse(from), Date.parse(to));

// The meaning of a picture's colours. Hidden from screen readers: the picture's label has the same
// text.
export function Legend({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return <ul class="legend" aria-hidden="true">{rows.map(([text, colour]) =>
    <li><i style={{ background: colour }} />{text}</li>)}</ul>;
}

const LINK_CHARS_MAX = 2000; // no server accepts a URL with a longer name

// OF: the selection of samples, if it is not the page's.
export function FunctionLink({ name, module, of = selection.get() }: { name: string; module: string; of?: Selection }) {
  if (name.length + module.length > LINK_CHARS_MAX) return <>{shown(name)}</>;
  return <a {...follow(viewOf(of, "function", { function: name, module }))}>{shown(name)}</a>;
}

const sentence = (text: string): string => text.replace(/[^.!?]$/, "$&.");

// Loading, rejected, or an old answer beside a new problem.
export function State({ of, what }: { of: Answer<unknown>; what: string }) {
  if (of.problem)
    return <p class="status wrong" role="alert">{sentence(shown(of.problem.message))} {nextStep(of.problem)}
      {of.value !== null && ` What stands here is of ${clock(of.at)}.`}</p>;
  const gaps = isAwaited(of) ? "" : gapsOf(of);
  return <p class="status" role="status" aria-live="polite">
    {isAwaited(of) ? `Loading ${what}…` : of.at ? `Updated ${clock(of.at)}.` : ""}
    {gaps && ` ${shown(gaps)}`}</p>;
}

// The answer whose state is shown, out of several.
export const first = (...answers: readonly [Answer<unknown>, ...Answer<unknown>[]]): Answer<unknown> =>
  answers.find((answer) => answer.problem) ?? answers.find(isAwaited) ?? answers.find(gapsOf) ?? answers[0];

// Marks an old value as old, visually and for screen readers, while another query is loading.
export function Dimmed({ as: answer, children }: { as: Answer<unknown>; children: ComponentChildren }) {
  return <div class={answer.isOld ? "old" : ""} aria-busy={answer.isOld}>{children}</div>;
}

function nextStep({ status }: Fault): string {
  if (status === 0) return "Look at it: systemctl status fleetprof-collector, or its log. This page asks again.";
  if (status === 400) return "Mend that field: a selector is {label=\"value\"}, a time -1h, 2026-01-31T12:00:00Z or now. In a shell: fleetprof query --help";
  if (status === 401 || status === 403)
    return "Make a token beside the collector (fleetprof-collector token --data DIR --role read) and give it above.";
  if (status === 404) return "Take a longer range, or a name as the Profile's table has it. In a shell: fleetprof query SERVICE --from -7d";
  if (status === 422 || status === 503 || status === 504) return "Narrow the selector or the time range.";
  return status >= 500 ? "Its log says more: journalctl -u fleetprof-collector" : "";
}

export function Empty({ title, hint, command, children }:
                      { title: string; hint: string; command: string; children?: ComponentChildren }) {
  return <section class="empty">
    <h2>{title}</h2>
    <p>{hint}</p>
    <pre>{command}</pre>
    {children}
  </section>;
}

const LISTED = 100;
const LISTED_MORE = 500;

// A long table shows its FIRST rows and the number of hidden rows, with a button that shows them.
export function useListed<Row>(rows: readonly Row[], firstRows = LISTED): { listed: readonly Row[]; more: JSX.Element | null } {
  const [shownCount, setCount] = useState(firstRows);
  const left = rows.length - shownCount;
  const more = left <= 0 ? null : <p class="status">{count(left)} more.{" "}
    <button type="button" onClick={() => setCount(shownCount + LISTED_MORE)}>Show {count(Math.min(left, LISTED_MORE))} of them</button></p>;
  return { listed: left > 0 ? rows.slice(0, shownCount) : rows, more };
}

export function usePalette(): Palette {
  const [palette, setPalette] = useState(paletteNow);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const change = (): void => setPalette(paletteNow());
    dark.addEventListener("change", change);
    return () => dark.removeEventListener("change", change);
  }, []);
  return palette;
}
