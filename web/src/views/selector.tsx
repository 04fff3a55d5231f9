// SPDX-License-Identifier: Apache-2.0
// The selector bar: label conditions and time range. Labels and values are completed from the
// collector's data in that range.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Labels } from "../api";
import { completed, isUnix, wantedAt, type Selection, type Wanted } from "../model/selection";
import { moment, shown } from "../model/text";
import { go, selection } from "../state/app";
import { useAtom } from "../state/atom";

const CHOICES_MAX = 12;
const ASK_AFTER_MS = 120;

interface Choices { wanted: Wanted; cursor: number; texts: string[] }

const HINT = '{service="…",board=~"…"}';

export function SelectorInput({ value, label, id, onInput, hint = HINT }:
                       { value: string; label: string; id: string; onInput: (text: string) => void; hint?: string }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const [choices, setChoices] = useState<Choices | null>(null);
  const [at, setAt] = useState(-1);

  const complete = (): void => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(async () => {
      const field = input.current;
      const cursor = field?.selectionStart ?? 0;
      const wanted = field ? wantedAt(field.value, cursor) : null;
      if (!wanted) return setChoices(null);
      const path = wanted.kind === "name" ? "/api/v1/labels" : "/api/v1/labels/" + encodeURIComponent(wanted.label);
      const { from, to } = selection.get();
      const answer = await ask<Labels>(path, { from, to, limit: 1000 }).catch(() => ({ data: [] }));
      if (document.activeElement !== field) return;
      const texts = answer.data.filter((text) => text.includes(wanted.text) && text !== wanted.text);
      setChoices(texts.length > 0 ? { wanted, cursor, texts: texts.slice(0, CHOICES_MAX) } : null);
      setAt(-1);
    }, ASK_AFTER_MS);
  };
  const choose = (text: string): void => {
    if (!choices) return;
    onInput(completed(value, choices.cursor, choices.wanted, text));
    setChoices(null);
    input.current?.focus();
    complete();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (!choices) return;
    const size = choices.texts.length;
    if (event.key === "Escape") setChoices(null);
    else if (event.key === "ArrowDown") setAt((at + 1) % size);
    else if (event.key === "ArrowUp") setAt((at + size - 1 + (at < 0 ? 1 : 0)) % size);
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) choose(choices.texts[at] as string);
    else return;
    event.preventDefault();
  };
  return <label class="wide completed">{label}
    <input ref={input} id={id} value={value} spellcheck={false} autocapitalize="off" autocomplete="off"
           role="combobox" aria-expanded={choices !== null} aria-controls={id + "-choices"} aria-autocomplete="list"
           aria-activedescendant={at >= 0 ? `${id}-choice-${at}` : undefined}
           placeholder={hint}
           onInput={(event) => { onInput(event.currentTarget.value); complete(); }}
           onFocus={complete} onKeyDown={onKey}
           onBlur={() => { clearTimeout(timer.current); setChoices(null); }} />
    <ul id={id + "-choices"} role="listbox" aria-label={"Completions of " + label} hidden={choices === null}>
      {choices?.texts.map((text, i) =>
        <li id={`${id}-choice-${i}`} role="option" aria-selected={i === at}
            onMouseDown={(event) => { event.preventDefault(); choose(text); }}>{shown(text, 80)}</li>)}
    </ul>
  </label>;
}

const RANGES = [["-15m", "15 min"], ["-1h", "1 h"], ["-1d", "1 day"], ["-7d", "7 days"]] as const;

function Ranges({ chosen }: { chosen: Selection }) {
  return <span class="ranges" role="group" aria-label="Time ranges">{RANGES.map(([ago, text]) =>
    <button type="button" aria-pressed={(chosen.from || "-1h") === ago && !chosen.to}
            onClick={() => go({ ...chosen, from: ago, to: "" })}>{text}</button>)}</span>;
}

// A drag over a timeline or a run's link puts Unix seconds into the fields; this shows them as
// dates.
function rangeText({ from, to }: Selection): string {
  const texts = [from, to].map((time) => (isUnix(time) ? moment(1000 * Number(time), true) : time));
  return texts.join() === [from, to].join() ? "" : `${texts[0] || "-1h"} to ${texts[1] || "now"}`;
}

// From and To as typed, and as dates.
function Times({ from, to, onFrom, onTo, chosen }: { from: string; to: string; chosen: Selection;
                                                     onFrom: (text: string) => void; onTo: (text: string) => void }) {
  const said = rangeText(chosen);
  return <>
    <label>From <input id="from" value={from} autocomplete="off" placeholder="-1h"
                       onInput={(event) => onFrom(event.currentTarget.value)} /></label>
    <label>To <input id="to" value={to} autocomplete="off" placeholder="now"
                     onInput={(event) => onTo(event.currentTarget.value)} /></label>
    <button type="submit">Show</button>
    <Ranges chosen={chosen} />
    {said && <span class="said" id="range-said">{said}</span>}
  </>;
}

function useDraft(value: string) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return [draft, setDraft] as const;
}

// The time range alone, for views without a selector.
export function RangeForm() {
  const chosen = useAtom(selection);
  const [from, setFrom] = useDraft(chosen.from);
  const [to, setTo] = useDraft(chosen.to);
  return <form id="range" onSubmit={(event) => { event.preventDefault(); go({ ...chosen, from: from.trim(), to: to.trim() }); }}>
    <Times from={from} to={to} onFrom={setFrom} onTo={setTo} chosen={chosen} />
  </form>;
}

export function SelectorBar() {
  const chosen = useAtom(selection);
  const [match, setMatch] = useDraft(chosen.match);
  const [from, setFrom] = useDraft(chosen.from);
  const [to, setTo] = useDraft(chosen.to);
  const submit = (event: Event): void => {
    event.preventDefault();
    go({ ...chosen, match: match.trim(), from: from.trim(), to: to.trim() });
  };
  return <form id="selection" onSubmit={submit}>
    <SelectorInput id="match" label="Selector" value={match} onInput={setMatch} />
    <Times from={from} to={to} onFrom={setFrom} onTo={setTo} chosen={chosen} />
  </form>;
}
