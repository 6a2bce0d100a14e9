#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the events of a .tlg file as t2expand --format=xml does.  Written from FORMAT.md alone.

usage: decode.py FILE          (- is standard input)

The event table is read from FORMAT.md, section 9; nothing is shared with the C code.  Exit status 1: the file is
damaged; what is good was printed up to there.
"""
import os
import re
import subprocess
import sys

EVENT, BLOCK, CYCLE, INFO, HIT = 24, 8, 9, 255, 0
# Members that are not decimal numbers, by type and name
HEX = {"HIT.tid", "SLOC.names", "PROLOGUE.layout", "PROCINFO.pid", "TIMETYPE.timetype", "BLOCK.magic", "BLOCK.crc",
       "BLOCK.tid", "CYCLE.stream", "THREAD.tid", "LOSS.tid", "MORE.tid", "OPEN.tid"}
TIMES = {"HIT.when", "PROCINFO.start", "TIMEINFO.start_hires", "CYCLE.when", "THREAD.start", "MORE.when", "OPEN.when", "GAP.when",
         "MARK.when"}


def read_table():
    """Return {type id: (name, [(member, offset, size, is signed)])} from FORMAT.md."""
    types = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "FORMAT.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for line in re.search(r"<!-- types -->\n(.*)<!-- /types -->", text, re.S).group(1).splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0]:
            members = []
            types[int(cells[0])] = (cells[1].strip("*"), members)
        else:
            size = 16 if cells[3] == "text" else int(cells[3][1:]) // 8
            members.append((cells[1], int(cells[2]), size, cells[3][0] == "i"))
    return types


def make_crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = make_crc_table()


def crc32c(seed, data):
    crc = seed ^ 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Unpacker:
    """The events of one packed block: FORMAT.md, section 11."""

    SIZES, SCOPE_SIZES = (0, 1, 2, 3, 4, 5, 6, 8), (0, 1, 2, 4)
    FLAGS = (0x0000, 0x0100, 0x0900, 0x000A, 0x020A, 0x00FF, 0x02FF)
    MORE, VALUE = 14, 10

    def __init__(self, data, order, pid, tid):
        self.data, self.at, self.order, self.pid, self.tid = data, 0, order, pid, tid
        self.cycle = self.sequence = self.next = self.scope = self.when = 0
        self.counted = False

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def low(self, size):
        return int.from_bytes(self.take(size), "little")

    def put(self, *numbers):
        return b"".join((number % (1 << 8 * size)).to_bytes(size, self.order) for number, size in numbers)

    @staticmethod
    def difference(number):
        return number >> 1 ^ -(number & 1)

    def hit(self, bits):
        size = self.SIZES[bits & 7]
        when = (self.when + self.difference(self.low(size))) % (1 << 64) if size else 0
        size = self.SCOPE_SIZES[bits >> 3]
        scope = self.low(size) if size else self.scope
        return self.put((when, 8), (scope, 4), (self.tid, 4))

    def value(self, bits):
        code, argtype = self.take(self.SIZES[bits & 7]), (bits >> 3) + 1
        if argtype == 3:
            value = int.from_bytes(code.ljust(8, b"\0"), "big")
        else:
            value = int.from_bytes(code, "little")
            if argtype == 1:
                value = self.difference(value)
        return self.put((value, 8), (argtype, 4), (0, 4))

    def expected(self, flags):
        return self.sequence if flags & 255 in (self.VALUE, INFO) else self.next

    def other(self, bits):
        """Flags, pid, sequence, payload."""
        flags, mask = self.low(2), self.low(2)
        sequence = self.low(4) if bits & 1 else self.expected(flags)
        pid = self.low(2) if bits & 2 else self.pid
        return flags, pid, sequence, b"".join(self.take(1) if mask >> i & 1 else b"\0" for i in range(16))

    def event(self):
        tag = self.low(1)
        kind, bits = tag & 7, tag >> 3
        if kind == 7:
            flags, pid, sequence, payload = self.other(bits)
        else:
            flags, pid = self.FLAGS[kind] | self.cycle, self.pid
            sequence = self.expected(flags)
            payload = (self.hit(bits) if kind < 3 else self.value(bits) if kind < 5 else
                       self.take(bits).ljust(16, b"\0"))
        self.follow(flags, sequence, payload)
        return self.put((flags, 2), (pid, 2), (sequence, 4)) + payload

    def follow(self, flags, sequence, payload):
        self.cycle, self.sequence = flags & 0xF000, sequence
        if flags & 255 in (self.VALUE, INFO):
            self.next += self.counted
        else:
            self.counted = flags & 255 in (HIT, self.MORE)
            self.next = sequence + self.counted
        self.next %= 1 << 32
        if flags & 255 in (HIT, self.MORE):
            self.when = int.from_bytes(payload[:8], self.order) or self.when
            self.scope = int.from_bytes(payload[8:12], self.order)

    def events(self, count):
        """All of them; None if the bytes are not those of so many."""
        events = b"".join(self.event() for _ in range(count))
        rest = self.data[self.at:]
        return events if self.at <= len(self.data) and len(rest) < EVENT and not any(rest) else None


class Decoder:
    def __init__(self, data):
        self.data = data
        self.types = read_table()
        self.order = "little"
        self.streams = {}             # pid: ids of its streams, the latest first
        self.clocks = {}              # stream: [ticks per second, zero]
        self.out = []

    def number(self, at, size, signed=False):
        return int.from_bytes(self.data[at:at + size], self.order, signed=signed)

    def members(self, at):
        """The numbers of the event at this offset, by name."""
        _, members = self.types.get(self.number(at, 2) & 255, ("", []))
        return {name: self.number(at + 8 + offset, size, signed)
                for name, offset, size, signed in members if name != "text"}

    # ---- printing

    def seconds(self, raw, clock):
        rate, zero = clock
        if raw == 0 or zero is None or (not rate and raw != zero):
            return str(raw)
        ticks = (raw - zero + (1 << 63)) % (1 << 64) - (1 << 63)
        rate = rate or 1
        nano = (abs(ticks) * 2 * 10**9 + rate) // (2 * rate)
        sign = "-" if ticks < 0 and nano else ""
        return "%s%d.%09d" % (sign, nano // 10**9, nano % 10**9)

    @staticmethod
    def text(data):
        escapes = {0x26: "&amp;", 0x3C: "&lt;", 0x3E: "&gt;", 0x22: "&quot;"}
        return "".join(escapes.get(c) or (chr(c) if 0x20 <= c < 0x7F else "\\x%02x" % c)
                       for c in data.rstrip(b"\0"))

    def value(self, uname, name, at, size, signed, clock):
        if name == "text":
            return self.text(self.data[at:at + size])
        number = self.number(at, size, signed)
        key = uname + "." + name
        if key in HEX:
            return "0x%0*x" % (2 * size, number)
        return self.seconds(number, clock) if key in TIMES else str(number)

    def show(self, at, clock):
        flags, pid, sequence = self.number(at, 2), self.number(at + 2, 2), self.number(at + 4, 4)
        uname, members = self.types.get(flags & 255, ("UNKNOWN", None))
        words = [uname, 'flags="0x%04x"' % flags, 'pid="0x%04x"' % pid, 'seq="%d"' % sequence]
        for name, offset, size, signed in members or []:
            value = self.value(uname, name, at + 8 + offset, size, signed, clock)
            if name == "pid":
                words[2] = 'pid="%s"' % value
            else:
                words.append('%s="%s"' % (name, value))
        if members is None:
            words.append('payload="%s"' % self.data[at + 8:at + EVENT].hex())
        self.out.append("<%s/>" % " ".join(words))

    def follow(self, at, clock):
        uname = self.types.get(self.number(at, 2) & 255, ("", []))[0]
        if uname == "TIMETYPE":
            clock[0] = self.members(at)["tdiv"]
        elif uname == "PROCINFO":
            clock[1] = self.members(at)["start"]

    # ---- blocks

    def stream_of(self, at, end):
        """The id for which the block's checksum is right, or None."""
        crc = self.members(at)["crc"]
        pid = self.number(at + 2, 2)
        block = self.data[at:at + 12] + bytes(4) + self.data[at + 16:end]
        cycles = []
        if self.members(at)["tid"] == 0xFFFFFFFF:
            cycles = [self.members(e)["stream"] for e in range(at + EVENT, end, EVENT)
                      if self.number(e, 2) & 255 == CYCLE]
        for stream in self.streams.get(pid, []) + cycles:
            if crc32c(stream, block) == crc:
                self.streams[pid] = [stream] + [s for s in self.streams.get(pid, []) if s != stream]
                return stream
        return None

    def find_order(self):
        for self.order in ("little", "big"):
            if self.data[8:10] == (0x544C).to_bytes(2, self.order) and self.number(0, 2) & 255 == BLOCK:
                return True
        return False

    def run(self):
        at = 0
        if not self.find_order():
            return False
        while at < len(self.data):
            if len(self.data) - at < EVENT or self.members(at).get("magic") != 0x544C:
                return False
            end = at + EVENT * (self.members(at)["size"] + 1)
            stream = self.stream_of(at, end) if end <= len(self.data) else None
            if stream is None:
                return False
            if not self.show_block(at, end, self.clocks.setdefault(stream, [0, None])):
                return False
            at = end
        return True

    def show_block(self, at, end, clock):
        whole, head = self.data, self.members(at)
        self.data = whole[at:end]
        if head["encoding"] == 1:
            unpacker = Unpacker(self.data[EVENT:], self.order, self.number(2, 2), head["tid"])
            events = unpacker.events(head["count"])
            self.data = self.data[:EVENT] + (events or b"")
        if head["encoding"] < 2:
            for event in range(0, len(self.data), EVENT):
                self.follow(event, clock)
                self.show(event, clock)
        self.data = whole
        return head["encoding"] != 1 or events is not None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(0 if sys.argv[1] == "-" else sys.argv[1], "rb") as file:
        data = file.read()
    # An LZ4 frame, or the skippable one in front of it
    if data[:4] in (b"\x04\x22\x4d\x18", b"\x54\x2a\x4d\x18"):
        data = subprocess.run(["lz4", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    decoder = Decoder(data)
    good = decoder.run()
    sys.stdout.write("".join(line + "\n" for line in decoder.out))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
