// SPDX-License-Identifier: Apache-2.0
// Load over time, to drag over.  uPlot draws; what a drag selects becomes the selection's from and to.
import uPlot from "uplot";
import type { Series } from "../api";

const HEIGHT_PX = 110;

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// CPUs that were busy, step by step; a step without a point had none.
export function pointsOf(series: Series): [number[], number[]] {
  const from = Math.floor(Date.parse(series.from) / 1000 / series.step) * series.step;
  const to = Date.parse(series.to) / 1000;
  const weights = new Map<number, number>();
  for (const row of [...series.series, series.rest])
    for (const [time, weight] of row.points) weights.set(time, (weights.get(time) ?? 0) + weight);
  const times: number[] = [], values: number[] = [];
  for (let time = from; time < to; time += series.step) {
    times.push(time);
    values.push((weights.get(time) ?? 0) / 1e9 / series.step);
  }
  return [times, values];
}

export function drawTimeline(parent: HTMLElement, series: Series, onRange: (from: number, to: number) => void): () => void {
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  const plot = new uPlot({
    width: Math.max(200, parent.clientWidth), height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, Math.max(high, 0.001)] } },
    axes: [axis, { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => String(+tick.toPrecision(3))) }],
    series: [{}, { stroke: colour("--accent"), fill: colour("--bar"), width: 1, points: { show: false } }],
    hooks: {
      setSelect: [(chart) => {
        const { left, width } = chart.select;
        if (width < 4) return;
        onRange(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
      }],
    },
  }, pointsOf(series), parent);
  const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(200, parent.clientWidth), height: HEIGHT_PX }));
  observer.observe(parent);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}
