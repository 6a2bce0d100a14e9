#!/bin/bash
# SPDX-License-Identifier: MIT
# Completion of t2expand and t2 in bash, zsh and fish, as these shells do it themselves: options, formats, words, commands,
# files.  What is offered is what the tables have: each format, option and command of --help=all, and no other.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
export PATH=$out:$PATH
cd "$tmp" || exit 1
touch run.tlg other.txt trace2-1.ring

formats=$(t2expand --list-formats | cut -d' ' -f1)
options=$(t2expand --help=all | grep -oE '^  --[a-z_-]+' | tr -d ' ')
commands=$(t2 help | grep -oE '^  [a-z]+' | tr -d ' ')
none "--list-options has the options of --help=all" \
	"$(diff <(sort <<<"$options") <(t2expand --list-options | grep -oE '^--[a-z_-]+' | sort))"
none "t2 --list-options has the commands of t2 help, too" \
	"$(diff <(sort <<<"$commands") <(t2 --list-options | grep -oE '^[a-z]+' | sort))"

# ---- bash ---------------------------------------------------------------------------------------
# in_bash WORDS...: what is offered for the last word, sorted; bash makes the words of a line at COMP_WORDBREAKS
in_bash()
{
	(
		. "$top/expand/completion/t2expand.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		word=${COMP_WORDS[COMP_CWORD]}
		[ "$word" != = ] || word=
		"$(complete -p "$1" | sed 's/.* -F \([^ ]*\).*/\1/')" "$1" "$word" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf '%s\n' "${COMPREPLY[@]}" | sort
	)
}
# offers SHELL NAME WORDS EXPECTED: those words
offers()
{
	none "$1: $2" "$(diff <("in_$1" "${@:3:$(($# - 3))}") <(tr ' ' '\n' <<<"${*: -1}" | sort))"
}
one_line()
{
	tr '\n' ' ' <<<"$1" | sed 's/ $//'
}
offers bash "all formats" t2expand --format = "$(one_line "$formats")"
offers bash "formats that begin so" t2expand --format = pe perf
offers bash "the same where = is no end of a word" t2expand --format=pe --format=perf
offers bash "words of an option" t2expand --color = "auto always never"
offers bash "words of an option, one with a value of its own" t2expand --by = "process program thread region label: message data:"
offers bash "an option with a value" t2expand --form --format=
offers bash "one without" t2expand --br --brief
offers bash "traces" t2expand ru run.tlg
offers bash "no other files" t2expand "" run.tlg
offers bash "commands" t2 "" "$(one_line "$commands")"
offers bash "one command" t2 tr tree
offers bash "help of a command" t2 help tr tree
offers bash "ring files to recover" t2 recover "" trace2-1.ring
offers bash "traces of a command" t2 show "" run.tlg
offers bash "words of a command" t2 format "" "xml md"
offers bash "formats of a command" t2 export --format = pe perf
offers bash "options of a command" t2 summary --so --sort=
offers bash "options of another command" t2 tree --so ""
offers bash "options of record" t2 record --thread "--threadcreate --threads"
none "bash: all options of a command" \
	"$(diff <(t2 tree --help | grep -oE '^  --[a-z_-]+' | tr -d ' ' | sort) <(in_bash t2 tree -- | sed 's/=$//' | sort))"
none "bash: all options" "$(diff <(sort <<<"$options") <(in_bash t2expand -- | sed 's/=$//' | sort))"

# and by its TAB key
if command -v python3 >/dev/null; then
	printf 'PS1="> "; . "%s"; bind "set bell-style none"\n' "$top/expand/completion/t2expand.bash" >rc
	KEYS=$'t2expand --format=tre\t run.t\t; exit\n' \
		python3 "$top/tests/cli/terminal.py" 012 bash --noprofile --rcfile rc -i >typed 2>&1
	check "bash: the TAB key" grep -qE 'format=tree +run.tlg ' typed
fi

# ---- fish ---------------------------------------------------------------------------------------
# in_fish LINE: what is offered at its end, without help
in_fish()
{
	timeout 60 fish --no-config -c 'source $argv[1]; complete -C$argv[2]' "$top/expand/completion/t2expand.fish" "$1" |
		cut -f1 | sort
}
if command -v fish >/dev/null; then
	offers fish "all formats" "t2expand --format=" "$(sed 's/^/--format=/' <<<"$formats" | xargs)"
	offers fish "formats that begin so" "t2expand --format=pe" --format=perf
	offers fish "words of an option" "t2expand --color=" "--color=auto --color=always --color=never"
	offers fish "words of an option, one with a value of its own" "t2expand --by=" \
		"--by=process --by=program --by=thread --by=region --by=label: --by=message --by=data:"
	offers fish "files of an option" "t2expand --layout=ot" --layout=other.txt
	offers fish "an option with a value" "t2expand --form" --format=
	offers fish "one without" "t2expand --br" --brief
	offers fish "traces" "t2expand ru" run.tlg
	offers fish "no other files" "t2expand " run.tlg
	offers fish "any file behind -o" "t2 show -o ot" other.txt
	offers fish "commands" "t2 " "$(one_line "$commands")"
	offers fish "one command" "t2 tr" tree
	offers fish "help of a command" "t2 help tr" tree
	offers fish "ring files to recover" "t2 recover " trace2-1.ring
	offers fish "traces of a command" "t2 show " run.tlg
	offers fish "words of a command" "t2 format " "xml md"
	offers fish "options of a command" "t2 summary --so" --sort=
	check "fish: options of another command" [ -z "$(in_fish "t2 tree --so" | grep -- --sort)" ]
	offers fish "options of record" "t2 record --thread" "--threadcreate --threads"
	check "fish: programs to record" grep -qx true <(in_fish "t2 record tru")
	none "fish: all options" "$(diff <(sort <<<"$options") <(in_fish "t2expand --" | sed 's/=$//' | sort))"
	check "fish: options have help" grep -q "^--brief	leave out" \
		<(fish --no-config -c 'source $argv[1]; complete -C"t2 tree --br"' "$top/expand/completion/t2expand.fish")
else
	echo "no fish: its completion is not tried"
fi

# ---- zsh ----------------------------------------------------------------------------------------
if ! command -v zsh >/dev/null; then
	echo "no zsh: its completion is not tried"
	total
	exit
fi
# zsh completes in a terminal only: another zsh types there, and each thing offered is printed between marks
cat >complete.zsh <<'END'
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; cd $2
zstyle ':completion:*' verbose no; LISTMAX=10000; COLUMNS=200
compadd() {
	local -a found
	builtin compadd -O found \"\$@\"
	print -l -- \"<\"\${^found}\">\"
	builtin compadd \"\$@\"
}
PS1=RE%{%}ADY"
zpty -r shell line '*READY*'    # the prompt behind all that: from now on keys are the line editor's, not the terminal's
zpty -n -w shell "$3"$'\t\t'
zpty -n -w shell $'\C-u\nprint EN\'\'D\n'
while zpty -r shell line; do print -r -- "$line"; [[ $line != *END* ]] || break; done
END
in_zsh()
{
	timeout 200 zsh -f complete.zsh "$top/expand/completion" "$tmp" "$1" </dev/null 2>&1 |
		grep -oE '<[A-Za-z0-9._:-]+>' | tr -d '<>' | sort -u
}
offers zsh "all formats" "t2expand --format=" "$(one_line "$formats")"
offers zsh "words of an option" "t2expand --color=" "auto always never"
offers zsh "words of an option, one with a value of its own" "t2expand --by=" "process program thread region label: message data:"
offers zsh "commands" "t2 " "$(one_line "$commands")"
offers zsh "words of a command" "t2 format " "xml md"
check "zsh: options of a command" grep -qxE -- '--sort=?' <(in_zsh "t2 summary --so")
check "zsh: options of another command" [ -z "$(in_zsh "t2 tree --so" | grep -- --sort)" ]
check "zsh: traces" grep -qx run.tlg <(in_zsh "t2expand ")
check "zsh: ring files to recover" grep -qx trace2-1.ring <(in_zsh "t2 recover ")
none "zsh: all options" "$(diff <({ echo -o; echo "$options"; } | sort) <(in_zsh "t2expand -" | sed 's/=$//' | sort))"

total
