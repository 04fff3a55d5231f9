// SPDX-License-Identifier: Apache-2.0
// The query that a view's first picture needs. The page sends it before it draws (early.ts). The
// view builds the same URL, so both share one request.
import { range, viewNameOf, type Parameters, type Selection } from "./selection";

export const NODES_MAX = 100000;
export const PROFILE_PATH = "/api/v1/profile";
export const BOARDS_PATH = "/api/v1/boards";
export const BOARDS_ASKED: Parameters = { limit: 100000 };

export const isMergedByThread = ({ merge, sandwich }: Selection): boolean => merge === "thread" && sandwich === "";

export const treeAsked = (chosen: Selection): Parameters =>
  ({ ...range(chosen), format: "columns", by: isMergedByThread(chosen) ? "thread" : "", limit: NODES_MAX });

export function firstQuestion(chosen: Selection): readonly [string, Parameters] | null {
  const view = viewNameOf(chosen);
  return view === "fleet" ? [BOARDS_PATH, BOARDS_ASKED] : view === "profile" ? [PROFILE_PATH, treeAsked(chosen)] : null;
}
