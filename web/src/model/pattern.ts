// SPDX-License-Identifier: Apache-2.0
// Estimates in how many ways a regular expression can match a text: the worst-case cost of finding
// no match. Sequences multiply, alternatives add, and a repetition can end anywhere. A repetition
// of something that itself matches in several ways is unbounded. The browser has already accepted
// the pattern, so nothing is rejected here.

interface Reader { readonly text: string; at: number }

const QUANTIFIER = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y;

function taken(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found) reader.at = pattern.lastIndex;
  return found;
}

function skipClass(reader: Reader): void {
  while (reader.at < reader.text.length && reader.text[reader.at] !== "]") reader.at += reader.text[reader.at] === "\\" ? 2 : 1;
  reader.at++;
}

function waysOfAtom(reader: Reader, chars: number): number {
  if (taken(reader, GROUP)) {
    const ways = waysOfAlternatives(reader, chars);
    reader.at++; // the closing bracket
    return ways;
  }
  const c = reader.text[reader.at++];
  if (c === "\\") reader.at++;
  if (c === "[") skipClass(reader);
  return 1;
}

// WAYS of a single item, repeated according to FOUND.
function repeated(ways: number, found: RegExpExecArray, chars: number): number {
  const [mark, least, range, most] = found;
  if (mark === "?") return ways + 1;
  if (range === undefined && least !== undefined) return ways ** Math.min(+least, chars);
  if (ways > 1) return Infinity;
  return most ? Math.min(chars, +most - +least! + 1) : chars;
}

function waysOfAlternative(reader: Reader, chars: number): number {
  let product = 1;
  while (reader.at < reader.text.length && !"|)".includes(reader.text[reader.at]!)) {
    const ways = waysOfAtom(reader, chars);
    const found = taken(reader, QUANTIFIER);
    if (found && reader.text[reader.at] === "?") reader.at++; // lazy: the same number of ways
    product *= found ? repeated(ways, found, chars) : ways;
  }
  return product;
}

function waysOfAlternatives(reader: Reader, chars: number): number {
  let sum = waysOfAlternative(reader, chars);
  for (; reader.text[reader.at] === "|"; sum += waysOfAlternative(reader, chars)) reader.at++;
  return sum;
}

// An upper bound for the ways in which PATTERN matches a text of CHARS characters from each start.
export const waysOf = (pattern: string, chars: number): number => waysOfAlternatives({ text: pattern, at: 0 }, chars);
