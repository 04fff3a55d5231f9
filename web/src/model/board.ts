// SPDX-License-Identifier: Apache-2.0
// An idle board pings once a minute. It is late after a few missed pings and silent after an hour.
// A board without access is revoked, whenever it was last seen.
export const STATES = ["live", "late", "silent", "revoked"] as const;
export type BoardState = (typeof STATES)[number];

const LIVE_MS = 3 * 60 * 1000;
const LATE_MS = 60 * 60 * 1000;

export function stateOf({ last_seen: lastSeen, revoked }: { last_seen: string | null; revoked?: string | null }, now: number): BoardState {
  if (revoked) return "revoked";
  const passed = lastSeen === null ? Infinity : now - Date.parse(lastSeen);
  return passed <= LIVE_MS ? "live" : passed <= LATE_MS ? "late" : "silent";
}
