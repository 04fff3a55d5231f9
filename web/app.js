// SPDX-License-Identifier: Apache-2.0
// One page, no library.  The URL holds the selection, so every view is a link.  Names come from
// strangers' programs: they enter the page as text, never as markup.
"use strict";

const REFRESH_MS = 10000;
const ROWS = 100;
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const byId = (id) => document.getElementById(id);
let timer = 0;
let asked = 0; // answers to an older question are thrown away

function selectionOf(url) {
  const given = new URL(url).searchParams;
  const selection = {};
  for (const name of ["match", "from", "to"]) {
    if (given.get(name)) selection[name] = given.get(name);
  }
  return selection;
}

class Problem extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path, parameters) {
  const query = new URLSearchParams(parameters).toString();
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = "Bearer " + token;
  const answer = await fetch(path + (query ? "?" + query : ""), { headers });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, body.detail || answer.statusText);
  return body;
}

// Characters that reorder text around them are shown, not obeyed.
function shown(text) {
  return String(text ?? "").replace(BIDI_CONTROLS, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = shown(text);
  return made;
}

const percent = (share) => (100 * share).toFixed(1) + " %";
const interval = ([low, high]) => (100 * low).toFixed(1) + " – " + (100 * high).toFixed(1) + " %";

function seconds(nanoseconds) {
  const value = nanoseconds / 1e9;
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 3 : 1 }) + " CPU s";
}

function lossText(loss) {
  const reasons = Object.entries(loss || {}).filter(([, count]) => count > 0);
  if (reasons.length === 0) return "none";
  return reasons.map(([reason, count]) => reason.replaceAll("_", " ") + " " + count.toLocaleString("en")).join(", ");
}

function ago(time) {
  if (!time) return "never";
  const passed = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (passed < 90) return Math.round(passed) + " s ago";
  if (passed < 5400) return Math.round(passed / 60) + " min ago";
  if (passed < 129600) return Math.round(passed / 3600) + " h ago";
  return Math.round(passed / 86400) + " days ago";
}

const ENDS = ["complete", "truncated", "no_table", "bad", "not_told"];

const endsOf = (shares) => ENDS.filter((end) => shares[end] > 0);
const endText = (end, share) => percent(share) + " " + end.replaceAll("_", " ");

// A share of an end, with its colour before it.
function endItem(end, share) {
  const item = element("span", "end " + end, endText(end, share));
  item.prepend(element("i"));
  return item;
}

// What an end means, and the modules in which such stacks end.
function endMeaning(end, stacks) {
  const meaning = element("dd", "", (stacks.meanings || {})[end]);
  const rows = (stacks.ends_in || []).filter((row) => row.end === end).map((row) => {
    const line = element("li", "", percent(row.share) + " in ");
    line.append(element("span", "name", row.module), ", which " + shown(row.why));
    return line;
  });
  if (rows.length > 0) {
    const list = element("ul");
    list.append(...rows);
    meaning.append(list);
  }
  const term = element("dt");
  term.append(endItem(end, stacks[end]));
  return [term, meaning];
}

function showStacks(stacks) {
  const ends = stacks && stacks.weight > 0 ? endsOf(stacks) : [];
  const short = ends.filter((end) => end !== "complete");
  byId("stacks").hidden = ends.length === 0;
  byId("stacks-why").hidden = short.length === 0;
  byId("stacks-line").replaceChildren("Stacks: ", ...ends.map((end) => endItem(end, stacks[end])));
  byId("stacks-ends").replaceChildren(...short.flatMap((end) => endMeaning(end, stacks)));
}

function functionRow(entry) {
  const row = element("tr");
  const self = element("td", "number", percent(entry.self_share));
  const bar = element("progress");
  bar.max = 1;
  bar.value = entry.self_share;
  bar.setAttribute("aria-hidden", "true");
  self.append(bar);
  const name = element("td", "name", entry.name);
  if (entry.file) name.title = shown(entry.line ? `${entry.file}:${entry.line}` : entry.file);
  row.append(self, element("td", "number quiet optional", interval(entry.self_ci)),
             element("td", "number", percent(entry.total_share)), name,
             element("td", "name quiet optional", entry.module));
  return row;
}

function stacksText(stacks) {
  const ends = stacks ? endsOf(stacks) : [];
  return ends.map((end) => endText(end, stacks[end])).join(", ") || "–";
}

function boardRow(board) {
  const row = element("tr");
  const seen = element("td", "", ago(board.last_seen));
  seen.title = board.last_seen || "";
  const rate = element("td", "number", board.achieved_hz ? board.achieved_hz.toFixed(0) + " Hz" : "–");
  if (board.cost)
    rate.title = `asked ${board.asked_hz} Hz (${board.rate_reason}); adds ${percent(board.cost.added_cpu)} of a CPU`;
  row.append(element("td", "name", board.name), element("td", "", board.sampler || "–"),
             rate, element("td", "optional", stacksText(board.stacks)),
             element("td", "optional", board.arch), element("td", "optional", board.kernel), seen,
             element("td", "optional", lossText(board.loss)));
  return row;
}

function showSummary(profile) {
  const rows = [
    ["Total", seconds(profile.total)],
    ["Samples", profile.samples.toLocaleString("en")],
    ["Lost", lossText(profile.loss)],
  ];
  byId("summary").replaceChildren(...rows.map(([term, text]) => {
    const pair = element("div");
    pair.append(element("dt", "", term), element("dd", "", text));
    return pair;
  }));
}

function showMarks(marks) {
  byId("marks").replaceChildren(...marks.map((entry) => element(
    "p", "notice", entry.service + ": " + entry.mark.replaceAll("_", " ") + " " + entry.certainty + ": " + entry.meaning)));
}

function showProfile(profile, selection) {
  const isEmpty = profile.total === 0;
  byId("empty").hidden = !isEmpty;
  byId("profile").hidden = isEmpty;
  if (isEmpty) return;
  showSummary(profile);
  showMarks(profile.marks || []);
  showStacks(profile.stacks);
  byId("functions").replaceChildren(...profile.functions.map(functionRow));
  document.title = selection.match ? "fleetprof " + shown(selection.match) : "fleetprof";
}

// What to type next depends on how far the fleet has come.
function showNextStep(boards, selection) {
  const hasBoards = boards.length > 0;
  byId("empty-hint").textContent = hasBoards
    ? (selection.match ? "Nothing matches the selector in this time range. To profile a program on a board, type:"
                       : "On one of the boards below, type:")
    : "No board is enrolled yet. Make a token beside this collector, then enroll a board with it:";
  byId("empty-command").textContent = hasBoards
    ? "fleetprof run -- PROGRAM"
    : "fleetprof-collector token --data DIR --board NAME\n" +
      "fleetprof enroll --collector " + (location.hostname || "HOST") + ":7443 --token TOKEN\n" +
      "fleetprof run -- PROGRAM";
}

function showBoards(boards) {
  byId("fleet").hidden = boards.length === 0;
  byId("boards").replaceChildren(...boards.map(boardRow));
}

function say(text, isWrong) {
  const status = byId("status");
  status.textContent = text;
  status.classList.toggle("wrong", Boolean(isWrong));
}

async function refresh() {
  const question = ++asked;
  clearTimeout(timer);
  const selection = selectionOf(location.href);
  try {
    const [profile, fleet] = await Promise.all([
      ask("/api/v1/profile", { ...selection, limit: ROWS }), ask("/api/v1/boards", {})]);
    if (question !== asked) return;
    showBoards(fleet.boards);
    showNextStep(fleet.boards, selection);
    showProfile(profile, selection);
    byId("sign-in").hidden = true;
    say((selection.from || selection.to ? "" : "The last hour. ") + "Updated " + new Date().toLocaleTimeString() + ".");
  } catch (error) {
    if (question !== asked) return;
    byId("sign-in").hidden = error.status !== 401 && error.status !== 403;
    say(error instanceof Problem ? shown(error.message) : "The collector does not answer.", true);
  }
  timer = setTimeout(() => { if (!document.hidden) refresh(); }, REFRESH_MS);
}

function fillForm() {
  const selection = selectionOf(location.href);
  for (const name of ["match", "from", "to"]) byId(name).value = selection[name] || "";
}

byId("selection").addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = new URLSearchParams();
  for (const name of ["match", "from", "to"]) {
    const value = byId(name).value.trim();
    if (value) chosen.set(name, value);
  }
  const query = chosen.toString();
  history.pushState(null, "", query ? "?" + query : "/");
  say("Loading…");
  refresh();
});

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token").value.trim());
  byId("token").value = "";
  refresh();
});

window.addEventListener("popstate", () => { fillForm(); refresh(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
fillForm();
refresh();
