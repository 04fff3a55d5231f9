// SPDX-License-Identifier: Apache-2.0
// Load over time: one area or stacked areas. uPlot draws; a drag sets the selection's from and to.
import uPlot from "uplot";
import type { Series } from "../api";
import { moment } from "../model/text";

const HEIGHT_PX = 110;

type OnRange = (from: number, to: number) => void;
type Row = Series["rest"];

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function timesOf(series: Series): number[] {
  const times: number[] = [];
  const from = Math.floor(Date.parse(series.from) / 1000 / series.step) * series.step;
  for (let time = from; time < Date.parse(series.to) / 1000; time += series.step) times.push(time);
  return times;
}

// CPUs busy at each step; a step without a point counts as 0.
function valuesOf(rows: readonly Pick<Row, "points">[], times: readonly number[], step: number): number[] {
  const weights = new Map<number, number>();
  for (const row of rows)
    for (const [time, weight] of row.points) weights.set(time, (weights.get(time) ?? 0) + weight);
  return times.map((time) => (weights.get(time) ?? 0) / 1e9 / step);
}

// One line: the time of day, or the date where a day begins. The whole span is shown above the
// chart.
function tickText(tick: number, stepSeconds: number): string {
  const text = moment(1000 * tick, true);
  return stepSeconds >= 86400 || text.endsWith("00:00:00") ? text.slice(5, 10) : text.slice(11, stepSeconds < 60 ? 19 : 16);
}

// Areas are drawn over each other, the total first, so the visible part of each is its own share.
function plot(parent: HTMLElement, height: number, data: number[][], fills: readonly string[], stroke: string, onRange: OnRange): () => void {
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  const width = (): number => Math.max(200, parent.clientWidth);
  const chart = new uPlot({
    width: width(), height, legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, Math.max(high, 0.001)] } },
    axes: [{ ...axis, size: 30, values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => tickText(tick, step)) }, { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => String(+tick.toPrecision(3))) }],
    series: [{}, ...fills.map((fill) => ({ stroke: stroke || fill, fill, width: 1, points: { show: false } }))],
    hooks: {
      setSelect: [({ select: { left, width: wide }, posToVal }) => {
        if (wide >= 4) onRange(posToVal(left, "x"), posToVal(left + wide, "x"));
      }],
    },
  }, data as unknown as uPlot.AlignedData, parent);
  const observer = new ResizeObserver(() => chart.setSize({ width: width(), height }));
  observer.observe(parent);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

export function drawTimeline(parent: HTMLElement, series: Series, onRange: OnRange): () => void {
  const times = timesOf(series);
  const values = valuesOf([...series.series, series.rest], times, series.step);
  return plot(parent, HEIGHT_PX, [times, values], [colour("--bar")], colour("--accent"), onRange);
}

// COLOURS has one entry more than SERIES: the last is for the rest, on top of the stack.
export function drawStack(parent: HTMLElement, series: Series, colours: readonly string[], onRange: OnRange): () => void {
  const times = timesOf(series);
  const sum = times.map(() => 0);
  const sums = [...series.series, series.rest].map((row) => {
    valuesOf([row], times, series.step).forEach((value, i) => { sum[i]! += value; });
    return sum.slice();
  });
  return plot(parent, 2 * HEIGHT_PX, [times, ...sums.reverse()], [...colours].reverse(), "", onRange);
}
