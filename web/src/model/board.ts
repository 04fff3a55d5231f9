// SPDX-License-Identifier: Apache-2.0
// A board at rest pings once a minute: after a few of these it is late, after an hour it is silent.
// One that may not come in is revoked, whenever it was last seen.
export const STATES = ["live", "late", "silent", "revoked"] as const;
export type BoardState = (typeof STATES)[number];

const LIVE_MS = 3 * 60 * 1000;
const LATE_MS = 60 * 60 * 1000;

export function stateOf({ last_seen: lastSeen, revoked }: { last_seen: string | null; revoked?: string | null }, now: number): BoardState {
  if (revoked) return "revoked";
  const passed = lastSeen === null ? Infinity : now - Date.parse(lastSeen);
  return passed <= LIVE_MS ? "live" : passed <= LATE_MS ? "late" : "silent";
}
