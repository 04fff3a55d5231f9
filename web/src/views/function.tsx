// SPDX-License-Identifier: Apache-2.0
// One function in detail: its callers and callees, the time by address and line, and by build,
// board and thread.
import { useState } from "preact/hooks";
import type { Edges, FunctionAnswer, Interval, NamedPart, Rest } from "../api";
import { range, viewOf, type Parameters, type Selection } from "../model/selection";
import { count, interval, percent, seconds, shown } from "../model/text";
import { useAnswer, type Answer } from "../state/answer";
import { follow, go, selection } from "../state/app";
import { useAtom } from "../state/atom";
import { ExportMenu, sampleFiles, type Question } from "./export";
import { Empty, Figures, FunctionLink, RestLine, State, SummaryFigures, useListed } from "./parts";

const NO_EDGES: Edges["edges"] = [];
const LINES = 2000; // of source: any of them may be the hot line
const DEFINITIONS = 10;
const ROWS = 5000; // of each list

// Callers or callees; OF has its own loading state and problem.
function EdgeTable({ title, of }: { title: string; of: Answer<Edges> }) {
  const edges = of.value?.edges ?? NO_EDGES;
  const { listed, more } = useListed(edges);
  return <div>
    <h2>{title}</h2>
    {!of.value ? <State of={of} what={title.toLowerCase()} />
      : edges.length === 0 ? <p class="status">none that was sampled</p> :
      <div class="scroll" tabIndex={0} role="region" aria-label={title}><table>
        <thead><tr><th scope="col" class="number">Share</th><th scope="col" class="number optional">95 % interval</th>
          <th scope="col" class="number">Measured</th><th scope="col" class="number">Extrapolated</th>
          <th scope="col">Function</th><th scope="col" class="optional">Module</th></tr></thead>
        <tbody>{listed.map((edge) => <tr>
          <td class="number">{percent(edge.share)}<progress max={1} value={edge.share} aria-hidden="true" /></td>
          <td class="number quiet optional">{interval(edge.ci)}</td>
          <td class="number">{seconds(edge.measured)}</td>
          <td class="number quiet">{edge.extrapolated ? seconds(edge.extrapolated) : "–"}</td>
          <td class="name">{edge.module ? <FunctionLink name={edge.function} module={edge.module} /> : shown(edge.function)}</td>
          <td class="name quiet optional">{shown(edge.module)}</td></tr>)}</tbody>
      </table></div>}
    {more}
    {of.value && <RestLine rest={of.value.rest} whole={of.value.total} />}
  </div>;
}

function Parts({ title, rows, rest, whole, nameOf }:
               { title: string; rows: readonly NamedPart[]; rest: Rest | undefined; whole: number; nameOf: (row: NamedPart) => string }) {
  const { listed, more } = useListed(rows);
  return <div>
    <h2>{title}</h2>
    <div class="scroll" tabIndex={0} role="region" aria-label={title}><table>
      <thead><tr><th scope="col" class="number">Self</th><th scope="col" class="number">Total</th><th scope="col">{title.slice(3)}</th></tr></thead>
      <tbody>{listed.map((row) => <tr><td class="number">{percent(row.self / whole)}</td>
        <td class="number">{percent(row.total / whole)}</td><td class="name">{nameOf(row)}</td></tr>)}</tbody>
    </table></div>
    {more}
    <RestLine rest={rest} whole={whole} />
  </div>;
}

function Lines({ answer, whole }: { answer: FunctionAnswer; whole: number }) {
  const source = answer.source;
  const byLine = new Map(answer.by_line.filter((row) => !source || row.file === source.file).map((row) => [row.line, row]));
  const rows: readonly { line: number | null; text: string; row: FunctionAnswer["by_line"][number] | undefined }[] = source
    ? source.lines.map((text, i) => ({ line: source.first_line + i, text, row: byLine.get(source.first_line + i) }))
    : answer.by_line.map((row) => ({ line: row.line, text: row.text ?? "", row }));
  const { listed, more } = useListed(rows, source ? LINES : undefined);
  return <div>
    <h2>By line{source && <> of <span class="name">{shown(source.file)}</span></>}</h2>
    {!source && answer.by_line.length > 0 &&
      <p class="status">Its text is shown once the sources are here: <code>fleetprof upload --sources DIR FILE</code></p>}
    {answer.by_line.length === 0 ? <p class="status">No lines: its module has no debug information here. Look at Symbols.</p> :
      <div class="scroll" tabIndex={0} role="region" aria-label="By line"><table class="source">
        <thead><tr><th scope="col" class="number">Self</th><th scope="col" class="number">Total</th>
          <th scope="col" class="number">Line</th><th scope="col">{source ? "Source" : "File"}</th></tr></thead>
        <tbody>{listed.map(({ line, text, row }) => <tr class={row ? "" : "quiet"}>
          <td class="number">{row ? percent(row.self / whole) : ""}</td>
          <td class="number">{row ? percent(row.total / whole) : ""}</td>
          <td class="number">{line ?? "–"}</td>
          <td class="name code">{source || text ? shown(text.replaceAll("\t", "    ")) : shown(row?.file)}</td></tr>)}</tbody>
      </table></div>}
    {more}
    <RestLine rest={answer.rest?.by_line} whole={whole} />
  </div>;
}

function Offsets({ answer, whole }: { answer: FunctionAnswer; whole: number }) {
  const { listed, more } = useListed(answer.by_offset);
  return <div>
    <h2>By offset in its code</h2>
    <div class="scroll" tabIndex={0} role="region" aria-label="By offset"><table>
      <thead><tr><th scope="col" class="number">Self</th><th scope="col" class="number">Samples</th><th scope="col">Place</th>
        <th scope="col" class="optional">Address</th><th scope="col" class="optional">Build</th></tr></thead>
      <tbody>{listed.map((row) => <tr>
        <td class="number">{percent(row.self / whole)}</td><td class="number">{row.samples}</td>
        <td class="name">{shown(row.code)}{row.offset === null ? "" : "+0x" + row.offset.toString(16)}</td>
        <td class="name quiet optional">{shown(row.address)}</td>
        <td class="name quiet optional">{shown(row.build_id).slice(0, 16)}</td></tr>)}</tbody>
    </table></div>
    {more}
    <RestLine rest={answer.rest?.by_offset} whole={whole} />
  </div>;
}

function definitionsText({ definitions }: FunctionAnswer): string {
  const texts = definitions.slice(0, DEFINITIONS).map(({ file, line, module }) => shown(file ? file + (line ? ":" + line : "") : module));
  const left = definitions.length - texts.length;
  return texts.join(", ") + (left > 0 ? ` and ${count(left)} more` : "") || "–";
}

const share = (value: number, ci: Interval) =>
  <>{percent(value)} <span class="quiet small">{interval(ci)}</span></>;

function Details({ answer }: { answer: FunctionAnswer }) {
  const of = answer.function;
  const whole = answer.total || 1;
  return <>
    <Figures rows={[["Self", share(of.self_share, of.self_ci)], ["Total", share(of.total_share, of.total_ci)],
                    ["Declared in", <span class="name">{definitionsText(answer)}</span>]]} />
    {of.too_few_samples && <p class="notice">Too few samples to go by: take a longer range, or more boards.</p>}
    {of.too_few_boards && <p class="notice">Samples enough, but too few boards to say how much boards like these differ: select more boards, or one.</p>}
    <Lines answer={answer} whole={whole} />
    {answer.by_offset.length > 0 && <Offsets answer={answer} whole={whole} />}
    <div class="columns">
      <Parts title="By board" rows={answer.by_board} rest={answer.rest?.by_board} whole={whole} nameOf={(row) => shown(row.name)} />
      <Parts title="By build" rows={answer.by_build} rest={answer.rest?.by_build} whole={whole} nameOf={(row) =>
        `${shown(row.module)} ${shown(row.build_id).slice(0, 16)}`} />
      <Parts title="By thread" rows={answer.by_thread} rest={answer.rest?.by_thread} whole={whole} nameOf={(row) => shown(row.name)} />
    </div>
  </>;
}

function Which({ chosen }: { chosen: Selection }) {
  const [name, setName] = useState(chosen.function);
  return <form onSubmit={(event) => { event.preventDefault(); go({ ...chosen, function: name.trim(), module: "" }); }}>
    <label class="wide">Function <input id="function" value={name} spellcheck={false} placeholder="as the function table has it"
      onInput={(event) => setName(event.currentTarget.value)} /></label>
    <button type="submit">Look</button></form>;
}

// If no function is selected, the view shows a table to choose from.
const questions = (chosen: Selection, asked: Parameters | null): Question[] => (asked
  ? ["function", "callers", "callees"].map((label) => ({ label, path: "/api/v1/" + label, parameters: asked }))
  : [{ label: "functions", path: "/api/v1/profile", parameters: { ...range(chosen), limit: ROWS } }]);

export function FunctionView() {
  const chosen = useAtom(selection);
  const { function: name, module } = chosen;
  const asked = name ? { ...range(chosen), function: name, module, limit: ROWS } : null;
  const detail = useAnswer<FunctionAnswer>("/api/v1/function", asked);
  const callers = useAnswer<Edges>("/api/v1/callers", asked);
  const callees = useAnswer<Edges>("/api/v1/callees", asked);
  return <section id="function-view">
    <Which key={name} chosen={chosen} />
    {asked && <State of={detail} what="the function" />}
    <div class="line"><div>{asked && detail.value && <SummaryFigures of={detail.value} />}</div>
      <ExportMenu asks={questions(chosen, asked)} files={sampleFiles(range(chosen))} /></div>
    {!asked ? <Empty title="Which function?" hint="Choose one in the Profile, type its name above, or in a shell:"
                     command="fleetprof query SERVICE --function NAME" /> : <>
      {detail.value && <>
        <h2><span class="name">{shown(name)}</span>{module && <> in <span class="name">{shown(module)}</span></>}{" "}
          <a class="small" {...follow(viewOf(chosen, "profile", { sandwich: name, module }))}>sandwich</a></h2>
        <Details answer={detail.value} />
      </>}
      {!detail.problem && <><EdgeTable title="Callers" of={callers} /><EdgeTable title="Callees" of={callees} /></>}
    </>}
  </section>;
}
