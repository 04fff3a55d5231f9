#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# manual.sh OUT VERSION PROGRAM...: makes in OUT the manual pages (man1/) and the completions for
# bash, zsh and fish of the programs, from the --help of each command. Run by the build, with the
# programs just built.
set -eu
here=$(dirname "$0")
out=$1 version=$2
shift 2
mkdir -p "$out/man1"
rm -f "$out/man1"/* "$out/completions".*
export FLEETPROF_CONFIG= LC_ALL=C
day=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)

# commands PROGRAM: its subcommands, one a line, with their summaries.
commands() {
  case ${1##*/} in
  fleetprof) "$1" --help | sed -n 's/^  \([a-z][a-z]*\)  *\([a-z].*\)/\1 \2/p' | grep -v '^fleetprof ' ;;
  fleetprof-collector)
    "$1" --help | sed -n '1,/^[A-Z].*\.$/s/^       fleetprof-collector \([a-z]*\) .*/\1/p' | while read -r word; do
      echo "$word $("$1" "$word" --help | sed -n '/^Usage:/,/^$/{/^Usage:/d;/^ /d;p;q}')"
    done
    ;;
  esac
}
row() { awk -v KIND="$1" -v NAME="$2" -v DATE="$day" -v VERSION="$version" -v HAS_COMMANDS="${3:-}" -v SHORT="${short:-}" -f "$here/manual.awk"; }

overview() { # of a program that has only commands
  echo ".\\\" Made from the table of commands."
  echo ".TH FLEETPROF 1 $day \"fleetprof $version\" \"fleetprof\""
  printf '.SH NAME\nfleetprof \\- where the time of native programs goes, on one board or a fleet\n'
  printf '.SH SYNOPSIS\n.B fleetprof\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH COMMANDS\n'
  commands "$1" | while read -r word text; do printf '.TP\n.BR fleetprof\\-%s (1)\n%s\n' "$word" "$(echo "$text" | sed 's/-/\\-/g')"; done
}

# verbs PROGRAM COMMAND: the words that may follow the command (ctl pause|resume|rate), as its usage
# lists them.
verbs() { "$1" "$2" --help | sed -n "1s/^Usage: [a-z-]* $2 \([a-z]*|[a-z|]*\).*/\1/p" | tr '|' ' '; }
# Whether COMMAND is followed by a program and its arguments.
starts_program() { "$1" "$2" --help | sed -n 1p | grep -q -- ' -- PROGRAM'; }
# choices ROWS: FORM and the choices for its argument, a line each.
choices() { awk -F'\t' '$2 ~ /\|/ { gsub(/\|/, " ", $2); print $1, $2 }' "$1"; }

# The shells' part: the command on the line, and its options.
for program in "$@"; do
  name=${program##*/}
  id=$(echo "$name" | tr - _)
  commands "$program" >"$out/commands.$name"
  words=$(cut -d' ' -f1 <"$out/commands.$name" | paste -sd' ' -)
  short=
  if [ "$name" = fleetprof ]; then overview "$program" >"$out/man1/$name.1"; else "$program" --help | row man "$name" >"$out/man1/$name.1"; fi
  for word in $words; do
    short=$(sed -n "s/^$word //p" "$out/commands.$name")
    "$program" "$word" --help | row man "$name $word" >"$out/man1/$name-$word.1"
  done

  {
    echo "# bash completion of $name, made from its option tables."
    echo "_$id() {"
    echo '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options= files= values= words= choice= at'
    echo '  case $command in'
    for word in $words ''; do
      [ "$name$word" = fleetprof ] && continue
      "$program" ${word:+"$word"} --help | row words "$name $word" >"$out/rows"
      echo "  ${word:-*}) options='$(cut -f1 "$out/rows" | grep '^--' | paste -sd' ' -)' files='$(awk -F'\t' '$2 ~ /FILE|DIR|PATH/ { printf " %s ", $1 }' "$out/rows")' values='$(awk -F'\t' '$2 != "" && $2 !~ /FILE|DIR|PATH/ { printf " %s ", $1 }' "$out/rows")'"
      [ -z "$word" ] || echo "    words='$(verbs "$program" "$word")'"
      if [ -n "$word" ] && starts_program "$program" "$word"; then
        echo '    for ((at = 2; at < COMP_CWORD; at++)); do [[ ${COMP_WORDS[at]} = -- ]] && break; done'
        echo '    if ((at < COMP_CWORD)); then'
        echo '      if declare -F _command_offset >/dev/null; then _command_offset $((at + 1))'
        echo '      elif ((at + 1 == COMP_CWORD)) && [[ $word != */* ]]; then mapfile -t COMPREPLY < <(compgen -c -- "$word")'
        echo '      else mapfile -t COMPREPLY < <(compgen -f -- "$word"); fi'
        echo '      return'
        echo '    fi'
      fi
      choices "$out/rows" | while read -r form list; do
        # bash takes the text after "=" as a word of its own.
        echo "    [[ \$before = $form || \$before\${COMP_WORDS[COMP_CWORD-2]} = =$form ]] && choice='$list'"
      done
      echo '    ;;'
    done
    echo '  esac'
    echo '  COMPREPLY=()'
    echo '  if [[ $files == *" $before "* ]]; then mapfile -t COMPREPLY < <(compgen -f -- "$word")'
    [ -z "$words" ] || echo "  elif [ \"\$COMP_CWORD\" = 1 ] && [[ \$word != -* ]]; then COMPREPLY=(\$(compgen -W '$words' -- \"\$word\"))"
    echo '  elif [[ -n $choice ]]; then COMPREPLY=($(compgen -W "$choice" -- "${word#=}"))'
    echo '  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))'
    echo '  elif [[ $values == *" $before "* ]]; then return'
    echo '  elif [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word"))'
    echo '  else mapfile -t COMPREPLY < <(compgen -f -- "$word"); fi'
    echo '}'
    echo "complete -o filenames -F _$id $name"
  } >"$out/completions.bash.$name"

  {
    echo "#compdef $name"
    echo "# zsh completion, made from its option tables."
    echo 'local -a options words_behind=("*:file:_files")'
    echo 'case ${words[2]} in'
    for word in $words ''; do
      [ "$name$word" = fleetprof ] && continue
      echo "${word:-*}) options=("
      "$program" ${word:+"$word"} --help | row words "$name $word" |
        awk -F'\t' '{ gsub(/[\[\]:\\]/, "\\\\&", $3); gsub(/\047/, "\047\\\047\047", $3); list = $2; gsub(/\|/, " ", list); gsub(/\|/, " or ", $2)
                      argument = $2 == "" ? "" : ":" $2 ":" (list != $2 ? "(" list ")" : $2 ~ /FILE|DIR|PATH/ ? "_files" : " ")
                      print "  \047*" $1 "[" $3 "]" argument "\047" }'
      echo ')'
      [ -z "$word" ] || [ -z "$(verbs "$program" "$word")" ] || echo "words_behind=('1:what:($(verbs "$program" "$word"))')"
      [ -z "$word" ] || ! starts_program "$program" "$word" ||
        echo "words_behind=('(-)1:program: _command_names -e' '*::argument: _normal')"
      echo ';;'
    done
    echo 'esac'
    if [ -n "$words" ]; then
      echo 'if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then'
      echo '  local -a commands=('
      sed "s/'/'\\\\''/g; s/:/\\\\:/g; s/^\([a-z]*\) \(.*\)/    '\1:\2'/" "$out/commands.$name"
      echo '  )'
      echo '  _describe command commands'
      echo '  return'
      echo 'fi'
      echo '[[ $words[2] = -* ]] || { shift words; (( CURRENT-- )) }'
    fi
    echo '_arguments -s -S $options $words_behind'
  } >"$out/completions.zsh._$name"

  {
    echo "# fish completion of $name, made from its option tables."
    sed "s/\\\\/\\\\\\\\/g; s/'/\\\\'/g; s/^\([a-z]*\) \(.*\)/complete -c $name -n __fish_use_subcommand -f -a \1 -d '\2'/" "$out/commands.$name"
    for word in $words ''; do
      [ "$name$word" = fleetprof ] && continue
      "$program" ${word:+"$word"} --help | row fish "$name${word:+ $word}" "$words"
      [ -n "$word" ] || continue
      [ -z "$(verbs "$program" "$word")" ] || echo "complete -c $name -n '__fish_seen_subcommand_from $word' -f -a '$(verbs "$program" "$word")'"
      ! starts_program "$program" "$word" ||
        echo "complete -c $name -n '__fish_seen_subcommand_from $word; and test (commandline -opc)[-1] = --' -f -a '(__fish_complete_command)'"
    done
  } >"$out/completions.fish.$name.fish"
done
rm -f "$out/rows" "$out"/commands.*
