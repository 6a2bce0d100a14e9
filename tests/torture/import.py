# SPDX-License-Identifier: MIT
"""One round of harness_import.sh: programs that write git's event JSON to the socket of `t2 import'.

usage: import.py T2 FORM FAULT SEED     FORM: stream or dgram

FAULT   none       all that was sent comes back, line by line
        stuck      nobody reads the trace before all programs have ended, and they send more than the import holds
        killed     some programs are killed in the middle of a line: what they had sent before it comes back
        stopped    the import gets SIGTERM while they send
In each of them every program ends, no line comes back that nobody sent, and none comes back twice.  Prints what was
sent and what came back; the exit status is 1 if something is wrong.
"""
import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time

PROGRAMS, WAIT_S = 6, 60
HELD = 64 << 20   # bytes, of the import


def lines_of(sid, events, rng, width):
    """What a git process writes that records so many data events."""
    def line(event, at, rest, place=None):
        place = place or ("git.c", rng.randrange(1, 999))
        stamp = "2026-11-23T10:%02d:%02d.%06dZ" % (at // 60000000 % 60, at // 1000000 % 60, at % 1000000)
        return ('{"event":"%s","sid":"%s","thread":"main","time":"%s","file":"%s","line":%d%s}\n'
                % (event, sid, stamp, *place, rest)).encode()
    at = rng.randrange(1000000)
    begun = at
    yield line("version", at, ',"evt":"3","exe":"2.39.5"')
    yield line("start", at, ',"t_abs":0.000000,"argv":["git","status"]')
    for i in range(events):
        at += rng.randrange(1, 3000)
        since = (at - begun) / 1e6
        text = "%x" % rng.getrandbits(4 * width)
        yield line("data", at, ',"t_abs":%.6f,"t_rel":%.6f,"nesting":1,"category":"test","key":"k%d","value":"%s"'
                   % (since, since, i % 50, text))
    at += 1
    yield line("exit", at, ',"t_abs":%.6f,"code":0' % ((at - begun) / 1e6))
    yield line("atexit", at, ',"t_abs":%.6f,"code":0' % ((at - begun) / 1e6), ("trace2/tr2_tgt_event.c", 207))


# A program of its own, so that it can be killed: git connects, writes each line by itself, and ends.
SENDER = """
import os, socket, sys
kind = socket.SOCK_STREAM if sys.argv[1] == "stream" else socket.SOCK_DGRAM
s = socket.socket(socket.AF_UNIX, kind)
try:
    s.connect(sys.argv[2])
    for line in sys.stdin.buffer:
        if line == b"KILL\\n":
            s.send(b'{"event":"data","sid":"cut')
            os.kill(os.getpid(), 9)
        s.sendall(line)
except OSError:
    sys.exit(3)
"""


def send(form, path, lines):
    """A sender that is fed these lines.  Returns its process and the thread that feeds it."""
    process = subprocess.Popen([sys.executable, "-c", SENDER, form, path], stdin=subprocess.PIPE)

    def feed():
        try:
            process.stdin.write(b"".join(lines))
            process.stdin.close()
        except BrokenPipeError:
            pass
    thread = threading.Thread(target=feed)
    thread.start()
    return process, thread


def read_all(fd, into):
    """All of the trace, to the end."""
    while True:
        part = os.read(fd, 1 << 20)
        if not part:
            return
        into.append(part)


def main():
    t2, form, fault, seed = sys.argv[1:]
    rng = random.Random(int(seed))
    path, wrong = os.path.abspath("socket"), []
    reader, writer = os.pipe()
    importer = subprocess.Popen([t2, "import", "-o", "/dev/stdout", "af_unix:%s:%s" % (form, path)], stdout=writer,
                                stderr=subprocess.PIPE)
    os.close(writer)
    while not os.path.exists(path):
        time.sleep(0.01)
    parts = []
    trace = threading.Thread(target=read_all, args=(reader, parts))
    if fault != "stuck":
        trace.start()
    events, width = (20000, 1000) if fault == "stuck" else (rng.randrange(50, 2000), 40)
    due = collections.Counter()
    senders = []
    for number in range(PROGRAMS):
        lines = list(lines_of("20261123T100000.%06dZ-H%08x-P%08x" % (number, int(seed), number), events, rng, width))
        if fault == "killed" and number % 2:
            lines = lines[:rng.randrange(2, len(lines))] + [b"KILL\n"]
        due.update(line for line in lines if line != b"KILL\n")
        senders.append(send(form, path, lines))
    if fault == "stopped":
        time.sleep(rng.random())
        importer.terminate()
    end = time.monotonic() + WAIT_S
    for process, thread in senders:
        try:
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            wrong.append("a program waits")
            process.kill()
        thread.join()
    if fault == "stuck":
        trace.start()
    time.sleep(0.2)
    importer.send_signal(signal.SIGTERM)
    trace.join(WAIT_S)
    said = importer.stderr.read().decode()
    importer.wait()
    with open("trace.tlg", "wb") as out:
        out.write(b"".join(parts))
    shown = subprocess.run([t2, "show", "--format=event", "--nesting=0", "trace.tlg"], capture_output=True, check=False)
    back = collections.Counter(shown.stdout.splitlines(keepends=True))
    missing, more = due - back, back - due
    wrong += ["came back, and was not sent: %r" % line[:200] for line in list(more)[:3]]
    if fault in ("none", "killed") and missing:
        wrong += ["did not come back: %r" % line[:200] for line in list(missing)[:3]]
    if fault == "stuck" and not (sum(map(len, due.elements())) > HELD and missing and "dropped" in said):
        wrong.append("nothing was dropped, or nobody said so: %r" % said)
    print("%s %s %s: %d lines sent, %d came back" % (form, fault, seed, due.total(), back.total()))
    for what in wrong:
        print("FAIL " + what)
    sys.exit(1 if wrong else 0)


main()
