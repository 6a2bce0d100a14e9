#!/bin/bash
# SPDX-License-Identifier: MIT
# What t2expand lets through to a terminal.  A trace whose every text is hostile is shown in every format on a
# pseudo-terminal, into a pipe, and with --raw-text; a file whose name is hostile is complained of.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C NO_COLOR=1 T2_PAGER=

. "$(dirname "$0")/../common.sh"
need python3 command -v python3
cd "$tmp" || exit 1

# ESC, BEL, CSI as a C1 character, right-to-left override, a byte that is no UTF-8, DEL, tab; then what may stay
evil='\x1b[2J\x07\xc2\x9b31m\xe2\x80\xae\xff\x7f\t\xe2\x82\xac.'
cat >calls.api <<END
start $evil.c 1 $evil $evil
cmd_path $evil.c 1 $evil
cmd_ancestry $evil.c 1 $evil
cmd_name $evil.c 2 $evil
cmd_mode $evil.c 1 $evil
alias $evil.c 1 $evil $evil
def_param $evil.c 3 0 $evil $evil
thread
thread_start $evil.c 4 $evil
region_enter $evil.c 4 $evil $evil NULL %s $evil
data $evil.c 5 $evil NULL $evil $evil
data_json $evil.c 5 c NULL k 0 {"a":\t"\x7f\xc2\x9b"\n\s}
data_json $evil.c 5 c NULL k 0 "}\n{"event":"forged"}\x1b[2J
region_leave $evil.c 6 $evil $evil NULL %s $evil
join
printf $evil.c 7 %s $evil
error $evil.c 8 %s $evil
exit m.c 40 3
END
GIT_TRACE2_RAW=$tmp/evil.tlg GIT_TRACE2_PARENT_SID=$(printf '%b' "$evil") "$out/tests/replay" calls.api || exit 1
cp evil.tlg "$(printf 'a\e[2J\nt2expand: b.tlg')"
printf 'not a trace' >"$(printf 'no\e[2J\nt2expand: b.tlg')"

cat >check.py <<'END'
import json, os, pty, subprocess, sys, termios, threading
import xml.etree.ElementTree as xml

t2expand, passed, failed = sys.argv[1], 0, 0
LIST = subprocess.run([t2expand, "--list-formats"], capture_output=True, check=True, encoding="ascii").stdout
TRAITS = {line.split()[0]: line.split()[2].split(",") for line in LIST.splitlines()}


def verdict(name, good, text=b""):
    global passed, failed
    good = bool(good)
    passed += good
    failed += not good
    if not good:
        print("FAIL", name, len(text), "bytes:", text[:500], "...", text[-500:])


def pipe(*args):
    return subprocess.run([t2expand, *args], capture_output=True, check=False)


def terminal(*args, stderr=False):
    """What reaches a terminal that changes nothing, on stdout or stderr, and the exit status.

    The terminal stays open here until a mark behind the last output has come through: what a terminal still holds when
    its last writer closes it may be lost.
    """
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] = 0                     # no newlines turned into CR LF
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    where = {"stdout": subprocess.DEVNULL, "stderr": slave} if stderr else {"stdout": slave}
    child = subprocess.Popen([t2expand, *args], **where)
    mark = b"\0end of the output\0"
    status = []

    def wait():
        status.append(child.wait())
        os.write(slave, mark)

    waiter = threading.Thread(target=wait)
    waiter.start()
    text = b""
    while not text.endswith(mark):
        text += os.read(master, 65536)
    waiter.join()
    os.close(slave)
    os.close(master)
    return text[:-len(mark)], status[0]


def is_harmless(text):
    try:
        text = text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    bad = [*range(0, 10), *range(11, 32), *range(127, 160), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
           *range(0x2066, 0x206a)]
    return not any(ord(c) in bad for c in text)


def parses(lines):
    try:
        return [json.loads(line) for line in lines.decode("utf-8", "surrogateescape").splitlines()]
    except ValueError:
        return None


for form, traits in TRAITS.items():
    if "binary" in traits or form == "report":         # of samples, which are not in it
        continue
    option = "--format=" + form
    piped = pipe(option, "evil.tlg").stdout
    shown, status = terminal(option, "evil.tlg")
    raw, _ = terminal(option, "--raw-text", "evil.tlg")
    verdict(form + ": on a terminal it is harmless", status == 0 and is_harmless(shown) and shown, shown)
    verdict(form + ": --raw-text is as in a pipe", raw == piped and piped, raw)
    if "raw" not in traits:
        euro = "\u20ac".encode()
        verdict(form + ": what is harmless stays", (euro in shown) == (euro in piped), shown)
        verdict(form + ": as many lines", shown.count(b"\n") == piped.count(b"\n"), shown)
    if "live" in traits:
        verdict(form + ": into a pipe bytes are kept", b"\x1b[2J" in piped or form == "event", piped)
        verdict(form + ": into a pipe bytes are kept, not UTF-8 either", b"\xff\x7f" in piped, piped)
        mark = b"\\\\xff\\\\x7f" if form == "event" else b"\\xff\\x7f"
        verdict(form + ": on a terminal they are shown", mark in shown, shown)

lines = parses(pipe("--format=event", "--nesting=0", "evil.tlg").stdout)
verdict("event: JSON in a pipe", lines is not None)
lines = parses(terminal("--format=event", "--nesting=0", "evil.tlg")[0])
verdict("event: JSON on a terminal", lines is not None)
values = [line["value"] for line in lines or [] if line["event"] == "data_json"]
verdict("event: JSON of the program stays, what is none is a string",
        len(values) == 2 and list(values[0]) == ["a"] and values[1].startswith('"}\n{"event"'), str(values).encode())
verdict("event: nothing is forged", all(line["event"] != "forged" for line in lines or []))

try:
    xml.fromstring(b"<root>" + pipe("--format=xml", "evil.tlg").stdout + b"</root>")
    verdict("xml: parses", True)
except xml.ParseError as error:
    verdict("xml: parses", False, str(error).encode())

shown, status = terminal("--format=raw", "evil.tlg")
verdict("raw: not to a terminal", status == 1 and not shown)
shown, status = terminal("--format=raw", "--raw-text", "evil.tlg")
verdict("raw: to a terminal if asked for", status == 0 and shown == pipe("--format=raw", "evil.tlg").stdout)
result = subprocess.run(["script", "-qec", t2expand + " -o /dev/tty evil.tlg", "/dev/null"], capture_output=True,
                        check=False)
verdict("a terminal that is named is one", is_harmless(result.stdout.replace(b"\r\n", b"\n")) and result.stdout,
        result.stdout)

for name in [name for name in os.listdir(".") if "\n" in name]:
    with open(name, "ab") as file:
        file.write(b"cut off")
    for how, text in ("terminal", terminal(name, stderr=True)[0]), ("pipe", pipe(name).stderr):
        verdict("stderr: the name of a file is harmless: " + how,
                is_harmless(text) and text.count(b"\n") == 1 and b"\\x1b[2J\\x0at2expand" in text, text)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
END
python3 check.py "$out/t2expand"
