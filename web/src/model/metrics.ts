// SPDX-License-Identifier: Apache-2.0
// The collector's own counters, from their Prometheus text. Histogram buckets are skipped.
interface Metric { readonly name: string; readonly labels: string; readonly value: number; readonly help: string }

export function parseMetrics(text: string): Metric[] {
  const help = new Map<string, string>();
  const metrics: Metric[] = [];
  for (const line of text.split("\n")) {
    const described = /^# HELP (\S+) (.*)$/.exec(line);
    if (described) help.set(described[1] as string, described[2] as string);
    const sample = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!sample) continue;
    const [, name, labels, value] = sample as unknown as [string, string, string | undefined, string];
    if (name.endsWith("_bucket")) continue;
    const family = help.get(name) ?? help.get(name.replace(/_(sum|count)$/, "")) ?? "";
    metrics.push({ name, labels: labels ?? "", value: Number(value), help: family });
  }
  return metrics;
}
