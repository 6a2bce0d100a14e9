# SPDX-License-Identifier: MIT
# Completion of t2expand and t2 in fish.  The program says itself what there is (--list-options, --list-formats), so this
# does not change with it.

# Lines "WORD<tab>HELP" of what the program's --list-options lists; arguments: program, command, option
function __t2expand_list
	$argv 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

# What the value of an option is: FILE, FORMAT, words with | between them, ...; arguments: program, option
function __t2expand_kind
	for line in (__t2expand_list $argv[1] --list-options)
		set -l words (string match -r '^(--[^=[]+)\[?=([^]\t]*)' -- $line)
		and test "$words[2]" = "$argv[2]"
		and echo $words[3]
	end
end

# Values of an option, each with the option in front of it; arguments: program, option, what is typed of the value
function __t2expand_values
	set -l kind (__t2expand_kind $argv[1] $argv[2])
	switch "$kind"
		case FORMAT
			$argv[1] --list-formats 2>/dev/null | string replace -r -- '^(\S+)\s+\S+\s+\S+\s+' "$argv[2]="'$1\t'
		case '*|*'
			# data:CATEGORY/KEY: what is not its name
			string replace -r '^' -- "$argv[2]=" (string split '|' -- $kind | string replace -ra -- '[A-Z/]' '')
		case FILE DIR
			string replace -r '^' -- "$argv[2]=" (__fish_complete_path "$argv[3]")
	end
end

# Options, with = where a value follows; arguments: program, command
function __t2expand_options
	if test "$argv[2]" = record
		$argv --help 2>/dev/null | string match -ar -- '--[a-z]+'
		return
	end
	__t2expand_list $argv --list-options | string match -r -- '^--.*' | string replace -r '^(--[^=[\t]+=?)[^\t]*' '$1'
end

# Directories, and files with a suffix; arguments: suffix, what is typed
function __t2expand_files
	set -l typed (string unescape -- $argv[2])
	set -l found $typed*.$argv[1] $typed*/
	printf '%s\n' $found
end

function __t2expand_complete
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	set -l program $words[1]
	set -l command
	set -l suffix tlg

	command -q $program; or return
	if string match -qr '(^|/)t2$' -- $program; and set -q words[2]; and not string match -q -- '-*' $words[2]
		set command $words[2]
	end
	if string match -qr -- '^--[^=]+=' $word
		set -l parts (string split -m 1 = -- $word)
		__t2expand_values $program $parts[1] $parts[2]
	else if test "$command" = record; and not string match -q -- '-*' $word
		__fish_complete_subcommand --fcs-skip=2
	else if string match -q -- '-*' $word
		__t2expand_options $program $command
	else if test "$words[-1]" = -o
		__fish_complete_path $word
	else if string match -qr '(^|/)t2$' -- $program; and test (count $words) -eq 1 -o "$command" = help
		__t2expand_list $program --list-options | string match -rv -- '^-'
	else if test "$command" = format
		string replace -- --show_format= '' (__t2expand_values $program --show_format '')
	else
		test "$command" = recover; and set suffix ring
		__t2expand_files $suffix $word
	end
end

complete -c t2expand -f -a '(__t2expand_complete)'
complete -c t2 -f -a '(__t2expand_complete)'
