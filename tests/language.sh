#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the language of comments and pages: house words, the length of sentences, the width of pages.
#
#   tests/language.sh            the figures beside their limits; non-zero when one is above its limit
#   tests/language.sh --worst N  the N longest sentences and the files with the most house words, too
#
# A limit is the best value reached so far, and only falls.
cd "$(dirname "$0")/.." || exit 2
exec /usr/bin/python3 - "$@" <<'PYTHON'
import os, re, subprocess, sys

SENTENCE_WORDS_MAX = 25
PAGE_COLUMNS_MAX = 100
PARAGRAPH_LINES_MAX = 5
LIMITS = {  # figure: limit
    "'what' per 1000 words of comment": 0.8,
    "who, nobody, somebody, told, stranger per 1000 words of comment": 1.0,
    "'what' per 1000 words of the pages": 0.9,
    "who, nobody, somebody, told, stranger per 1000 words of the pages": 1.2,
    "% of sentences in comments with more than 25 words": 1.0,
    "% of sentences on the pages with more than 25 words": 1.2,
    "% of lines on the pages with more than 100 columns": 1.0,
    "% of paragraphs on the pages with more than 5 lines": 1.5,
}
HOUSE = r"\b(who|whom|whose|whoever|nobody|somebody|anybody|told|tells|strangers?)\b"

worst = int(sys.argv[2]) if sys.argv[1:2] == ["--worst"] else 0
def all_files():
    """The files of the repository; without git, of the tree but for what is built."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [path for path in listed.stdout.split("\n") if os.path.isfile(path)]
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(("build", ".git", "node_modules"))]
        found += [os.path.relpath(os.path.join(folder, name)) for name in names]
    return found

files = all_files()

def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()

def c_comments(text):
    for comment in re.findall(r"/\*.*?\*/|//[^\n]*(?:\n\s*//[^\n]*)*", text, re.S):
        yield re.sub(r"^\s*(/\*+|\*/|\*|//)\s?|\*/$", "", comment, flags=re.M)

def hash_comments(text):
    for comment in re.findall(r"(?:^\s*#(?!!)[^\n]*\n)+", text, re.M):
        yield re.sub(r"^\s*#\s?", "", comment, flags=re.M)

def paragraphs(page):
    """The prose of a Markdown page: (text, lines).  Code, tables and headings are none; an item of a list is one."""
    page = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    page = re.sub(r"^(?: {4}|\t).*$", "", page, flags=re.M)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)", page):
        lines = [line for line in block.split("\n") if line.strip() and not re.match(r"\s*[|#]", line)]
        if lines:
            yield " ".join(lines), len(lines)

def sentences(text):
    text = re.sub(r"`[^`]*`", "CODE", text)
    for sentence in re.split(r"(?<=[.!?:;])\s+|\n\s*\n", text):
        words = re.findall(r"[A-Za-z][A-Za-z'_-]*", sentence)
        if len(words) > 2:
            yield " ".join(sentence.split()), len(words)

def measure(texts):  # (path, text) -> words, whats, house words by path, sentences
    words, whats, house, said = 0, 0, {}, []
    for path, text in texts:
        words += len(re.findall(r"[A-Za-z][A-Za-z'-]*", text))
        whats += len(re.findall(r"\bwhat(?:ever)?\b", text, re.I))
        house[path] = house.get(path, 0) + len(re.findall(HOUSE, text, re.I))
        said += [(count, path, sentence) for sentence, count in sentences(text)]
    return words, whats, house, said

comments, pages, lines = [], [], []
for path in files:
    if path.endswith((".c", ".h", ".ts", ".tsx", ".mjs", ".js", ".proto", ".css")):
        comments += [(path, comment) for comment in c_comments(text_of(path))]
    elif path.endswith((".sh", ".py", ".cmake", "CMakeLists.txt")):
        comments += [(path, comment) for comment in hash_comments(text_of(path))]
    elif path.endswith(".md"):
        text = text_of(path)
        pages += [(path, paragraph, count) for paragraph, count in paragraphs(text)]
        lines += [(path, line) for line in text.split("\n") if not line.startswith(("|", "    "))]

def share(part, whole):
    return 100 * len(part) / max(1, len(whole))

figures = []
reports = []
for name, texts in (("comment", comments), ("the pages", [(path, text) for path, text, _ in pages])):
    words, whats, house, said = measure(texts)
    long = sorted((s for s in said if s[0] > SENTENCE_WORDS_MAX), reverse=True)
    figures += [1000 * whats / words, 1000 * sum(house.values()) / words, share(long, said)]
    reports.append((name, words, house, long))
(what_c, house_c, long_c), (what_p, house_p, long_p) = figures[:3], figures[3:]
got = [what_c, house_c, what_p, house_p, long_c, long_p,
       share([1 for _, line in lines if len(line) > PAGE_COLUMNS_MAX], lines),
       share([1 for *_, count in pages if count > PARAGRAPH_LINES_MAX], pages)]
failed = 0
for (figure, limit), value in zip(LIMITS.items(), got):
    failed |= value > limit
    print(f"{value:6.1f}  {'of at most' if value <= limit else 'ABOVE'} {limit:5.1f}  {figure}")
for name, words, house, long in reports:
    if worst:
        print(f"\n{name}: {words} words")
        for count, path, sentence in long[:worst]:
            print(f"  {count} words, {path}: {sentence[:300]}")
        for path, count in sorted(house.items(), key=lambda item: -item[1])[:worst]:
            print(f"  {count} house words: {path}")
sys.exit(failed)
PYTHON
