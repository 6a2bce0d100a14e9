# SPDX-License-Identifier: MIT
# Completion of t2expand and t2 in bash.  The program says itself what there is (--list-options, --list-formats), so
# this does not change with it.
# shellcheck shell=bash

# What value the option $2 of the program $1 has: FILE, FORMAT, words with | between them, ...
_t2expand_kind()
{
	"$1" --list-options 2>/dev/null | while read -r words _; do
		[[ $words = "$2"=* || $words = "$2[="* ]] || continue
		words=${words#*=}
		echo "${words%]}"
	done
}

_t2expand_formats()
{
	"$1" --list-formats 2>/dev/null | while read -r name _; do echo "$name"; done
}

# Commands of t2: lines that are no option
_t2expand_commands()
{
	"$1" --list-options 2>/dev/null | while read -r words _; do [[ $words = -* ]] || echo "$words"; done
}

# --name, --name=; those of a command of t2, if $2 is one
_t2expand_options()
{
	"$@" --list-options 2>/dev/null | while read -r words _; do
		[[ $words != -* ]] || echo "${words%%[=[]*}$([[ $words != --*([!=[])=* ]] || echo =)"
	done
}

_t2expand_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -d -- "$2"; compgen -f -X "!*.$1" -- "$2")
}

# Fill COMPREPLY with values of the option $2 of the program $1 that begin with $3
_t2expand_values()
{
	local kind

	kind=$(_t2expand_kind "$1" "$2")
	case $kind in
	FORMAT) kind=$(_t2expand_formats "$1") ;;
	*'|'*) kind=${kind//[[:upper:]\/]/} kind=${kind//|/ } ;;      # data:CATEGORY/KEY: what is not its name
	*) return ;;            # bash completes files
	esac
	mapfile -t COMPREPLY < <(compgen -W "$kind" -- "$3")
}

_t2expand()
{
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=$3 option command='' suffix=tlg

	COMPREPLY=()
	if [[ ${program##*/} = t2 ]]; then
		command=help
		[[ $COMP_CWORD = 1 || ${COMP_WORDS[1]} = -* ]] || command=${COMP_WORDS[1]}
	fi
	# = stands alone, unless the user has taken it out of COMP_WORDBREAKS
	if [[ $word = "=" || $before = "=" ]]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		[[ $option != "=" ]] || option=${COMP_WORDS[COMP_CWORD - 2]}
		_t2expand_values "$program" "$option" "${word#=}"
	elif [[ $word = --*=* ]]; then
		_t2expand_values "$program" "${word%%=*}" "${word#*=}"
		COMPREPLY=("${COMPREPLY[@]/#/${word%%=*}=}")
	elif [[ $command = record && $word = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" record --help | grep -oE -- '--[a-z]+')" -- "$word")
	elif [[ $command = record ]]; then
		return                  # a program, files
	elif [[ $word = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_t2expand_options "$program" ${command:+"$command"})" -- "$word")
		[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
	elif [[ $before = -o ]]; then
		return                  # a file of any name
	elif [[ $command = help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_t2expand_commands "$program")" -- "$word")
	elif [[ $command = format ]]; then
		_t2expand_values "$program" --show_format "$word"
	else
		[[ $command != recover ]] || suffix=ring
		_t2expand_files "$suffix" "$word"
	fi
}

complete -o default -F _t2expand t2expand t2
