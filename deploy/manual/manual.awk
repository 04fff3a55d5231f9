# SPDX-License-Identifier: Apache-2.0
# Reads the --help of one command, which is printed from its option table, and writes from the same rows what KIND says:
#   man   its manual page          fish  its completions, a line an option
#   words its options, one a line: FORM ARGUMENT HELP, separated by tabs (FORM: --name or -x)
# An ARGUMENT of words (a|b) is one of them, and so is the first word behind a command whose usage begins with such.
# NAME is the command ("fleetprof run"), SHORT what it does in some words (without it the summary's first line says so),
# DATE and VERSION stand in the page's footer.
function flat(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); sub(/^[.']/, "\\\\\\&&", text); return text }
function spaced(text) { gsub(/\|/, " ", text); return text }
function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/'/, "\\'", text); return "'" text "'" }
function print_words(   i) {
  for (i = 1; i <= forms; i++) print form[i] "\t" argument "\t" help
}
function print_man() {
  print ".TP"
  print ".B " (forms > 1 ? flat(form[1]) "\\fR, \\fB" flat(form[2]) : flat(form[1])) (argument != "" ? " \\fI" flat(argument) : "")
  print flat(help)
}
function print_fish(   i, line, words) {
  split(NAME, words, " ")
  line = "complete -c " words[1]
  if (words[2] != "") line = line " -n '__fish_seen_subcommand_from " words[2] "'"
  else if (HAS_COMMANDS) line = line " -n __fish_use_subcommand"
  for (i = 1; i <= forms; i++) line = line (form[i] ~ /^--/ ? " -l " substr(form[i], 3) : " -s " substr(form[i], 2))
  if (argument ~ /\|/) line = line " -xa " quoted(spaced(argument))
  else if (argument ~ /FILE|DIR|PATH/) line = line " -rF"
  else if (argument != "") line = line " -x"
  print line " -d " quoted(help)
}
function ends() {
  if (forms == 0) return
  if (KIND == "words") print_words()
  else if (KIND == "man") print_man()
  else print_fish()
  forms = 0
}
function heading(text) { if (KIND == "man") print text }
BEGIN { blanks = sprintf("%28s", "") }
NR == 1 {
  usage = substr($0, 8)
  if (KIND == "man") {
    page = NAME
    gsub(/ /, "-", page)
    print ".\\\" Made from the option table of " NAME "."
    print ".TH " toupper(page) " 1 " DATE " \"fleetprof " VERSION "\" \"fleetprof\""
    print ".nh"
    print ".ad l"
  }
  next
}
state == "" && /^       / { usage = usage "\n" substr($0, 8); next }
state == "" { # the first line of the summary
  state = "summary"
  if (KIND == "man") {
    print ".SH NAME"
    print flat(page) " \\- " flat(SHORT != "" ? SHORT : $0)
    print ".SH SYNOPSIS"
    print ".nf"
    count = split(usage, line, "\n")
    for (i = 1; i <= count; i++) print flat(line[i])
    print ".fi"
    print ".SH DESCRIPTION"
    print flat($0)
  }
  next
}
state == "summary" && /^Each option is/ { state = "note" }
(state == "summary" || state == "note") && !/^[A-Z][A-Za-z ]*:$/ { if (NF > 0) heading(flat($0)); next }
/^[A-Z][A-Za-z ]*:$/ && state != "text" {
  ends()
  if (state != "options") heading(".SH OPTIONS")
  state = "options"
  heading(".SS " substr($0, 1, length($0) - 1))
  next
}
state == "options" && /^  (-[A-Za-z],|   ) --/ {
  ends()
  head = substr($0, 1, 28)
  help = substr($0, 29)
  if (length($0) <= 28 || substr($0, 28, 1) != " ") { head = $0; help = "" }
  sub(/^ */, "", head)
  sub(/ *$/, "", head)
  if (head ~ /^-[A-Za-z], /) { form[++forms] = substr(head, 1, 2); head = substr(head, 5) }
  at = index(head, " ")
  form[++forms] = at ? substr(head, 1, at - 1) : head
  argument = at ? substr(head, at + 1) : ""
  next
}
state == "options" && substr($0, 1, 28) == blanks { help = help (help != "" ? " " : "") substr($0, 29); next }
state == "options" && /^[^ ].*[^:]$/ && !/^[A-Z][A-Z ]*$/ { # prose behind the options
  ends()
  heading(".SH NOTES")
  state = "notes"
}
state == "notes" && !/^[A-Z][A-Z ]*$/ { if (NF > 0) heading(flat($0)); next }
/^[A-Z][A-Z ]*$/ {
  ends()
  if (state != "summary" && state != "note") heading((state == "text" ? ".fi\n" : "") ".SH " $0 "\n.nf")
  state = "text"
  next
}
state == "text" { if (NF > 0) heading(flat($0)) }
END {
  ends()
  if (state == "text") heading(".fi")
}
