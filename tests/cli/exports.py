#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: exports.py FORMAT T2EXPAND TRACE

Compare what an export says of a trace with what git's event format says of it.  Prints what differs; exit status 1 if
anything does.  Each format is read with what Python has for it: json, gzip.
"""
import ast
import collections
import csv
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

NS = 1000000000


def expand(t2expand, trace, *options):
    """What t2expand prints, as bytes."""
    return subprocess.run([t2expand, *options, trace], capture_output=True, check=True).stdout


def nanoseconds(text):
    """Decimal text of seconds (nine decimals) or microseconds (three; five are rounded) to whole nanoseconds."""
    whole, _, part = text.partition(".")
    return int(whole + part) if len(part) != 5 else (int(whole + part) + 50) // 100


def utf8(data):
    """Text, in which each byte that is not UTF-8 is U+FFFD."""
    return re.sub("[\udc80-\udcff]", "\ufffd", data.decode("utf-8", "surrogateescape"))


class Oracle:
    """What git's event format says: durations by names, numbers of events, losses."""

    def __init__(self, t2expand, trace):
        self.t2expand, self.trace = t2expand, trace
        text = expand(t2expand, trace, "--format=event", "--nesting=0", "--ns")
        self.events = [json.loads(line, parse_float=str) for line in utf8(text).split("\n")[:-1]]
        self.counts, self.totals = collections.Counter(), collections.Counter()
        self.unknown = collections.Counter()
        self.data, self.threads, self.lost, self.gaps = [], set(), 0, 0
        for event in self.events:
            self.take(event)

    def take(self, event):
        names = event.get("category"), event.get("label")
        if event["event"] == "region_leave" and "t_rel" in event:
            self.counts[names] += 1
            self.totals[names] += nanoseconds(event["t_rel"])
        elif event["event"] == "region_leave":
            self.unknown[names] += 1
        elif event.get("key") == "lost-events" and event["category"] == "trace2":
            self.lost += int(event["value"])
            self.gaps += 1
        elif event["event"] == "data" and event["category"] != "trace2":
            self.data.append((event["category"], event["key"], str(event["value"])))
        self.threads.add((event["sid"], event["thread"]))


class Verdict:
    """Comparisons that failed."""

    def __init__(self):
        self.failed = 0

    def same(self, what, got, want):
        if got != want:
            self.failed += 1
            print(f"{what}: {str(got)[:300]}, not {str(want)[:300]}")


def check_chrome(verdict, oracle, text):
    events = json.loads(text, parse_float=str)["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e["cat"] != "trace2.thread"]
    lost = [e for e in slices if e["name"] == "events lost"]
    regions = [e for e in slices if e["name"] != "events lost"]
    exact = [e for e in regions if "end" not in e.get("args", {})]
    counts, totals = collections.Counter(), collections.Counter()
    for e in exact:
        counts[e["cat"], e["name"]] += 1
        totals[e["cat"], e["name"]] += nanoseconds(e["dur"])
    verdict.same("slices", counts, oracle.counts)
    verdict.same("nanoseconds of slices", totals, oracle.totals)
    unknown = collections.Counter((e["cat"], e["name"]) for e in events
                                  if e.get("args", {}).get("end", "").startswith(("not sure", "left here")))
    verdict.same("leaves of unknown duration", unknown, oracle.unknown)
    verdict.same("events lost", sum(e["args"]["count"] for e in lost), oracle.lost)
    verdict.same("gaps", len(lost), oracle.gaps)
    named = [e for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    verdict.same("threads", len({(e["pid"], e["tid"]) for e in named}), len(oracle.threads))
    data = [(e["cat"], e["name"], str(e["args"].get("value", "")))
            for e in events if e["ph"] in "Ci" and e["cat"] not in ("trace2", "__metadata")]
    missing = collections.Counter(oracle.data) - collections.Counter(data)
    verdict.same("data that are missing", missing, collections.Counter())
    places = collections.Counter((e["cat"], e["name"], e["args"]["file"], e["args"]["line"]) for e in exact)
    missing = places - collections.Counter((e["category"], e["label"], e["file"], e["line"]) for e in oracle.events
                                           if e["event"] == "region_enter")
    verdict.same("slices whose place is not that of an enter", missing, collections.Counter())
    verdict.same("exit codes", sorted(e["args"]["code"] for e in events if e["name"] == "atexit"),
                 sorted(e["code"] for e in oracle.events if e["event"] == "atexit"))
    check_chrome_nesting(verdict, regions)
    check_chrome_flows(verdict, oracle, events)


def check_chrome_nesting(verdict, regions):
    """Slices of a thread are within each other or apart."""
    threads = collections.defaultdict(list)
    for e in regions:
        start = nanoseconds(e["ts"])
        threads[e["pid"], e["tid"]].append((start, -nanoseconds(e["dur"])))
    overlaps = 0
    for spans in threads.values():
        ends = []
        for start, minus in sorted(spans):
            while ends and ends[-1] <= start:
                ends.pop()
            overlaps += bool(ends) and ends[-1] < start - minus
            ends.append(start - minus)
    verdict.same("slices that overlap", overlaps, 0)


def check_chrome_flows(verdict, oracle, events):
    """An arrow for each process of the trace whose parent is there, too; it begins with child_start."""
    sids = {e["sid"] for e in oracle.events}
    children = {sid for sid in sids if "/" in sid and sid.rpartition("/")[0] in sids}
    starts = [e for e in events if e["ph"] == "s"]
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    verdict.same("arrows", (len(starts), len(ends)), (len(children), len(children)))
    for e in starts:
        if nanoseconds(e["ts"]) > nanoseconds(ends[e["id"]]["ts"]):
            verdict.same("an arrow", e, ends[e["id"]])


def check_table(verdict, name, table):
    """All columns of a table of the firefox format are of its length."""
    for column, values in table.items():
        if isinstance(values, list) and len(values) != table["length"]:
            verdict.same(f"rows of {name}.{column}", len(values), table["length"])


class FirefoxProfile:
    """The markers and samples of a processed profile, with names instead of numbers."""

    def __init__(self, verdict, text):
        self.profile = json.loads(text, parse_float=str)
        shared = self.profile["shared"]
        self.strings, self.threads = shared["stringArray"], self.profile["threads"]
        for name, table in shared.items():
            if name != "stringArray":
                check_table(verdict, name, table)
        for thread in self.threads:
            check_table(verdict, "samples", thread["samples"])
            check_table(verdict, "markers", thread["markers"])
        for counter in self.profile["counters"]:
            check_table(verdict, "counter", counter["samples"])
        self.markers = [marker for thread in self.threads for marker in self.markers_of(thread["markers"])]
        self.stacks = []
        for prefix, frame in zip(shared["stackTable"]["prefix"], shared["stackTable"]["frame"]):
            name = self.strings[shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
            self.stacks.append((self.stacks[prefix] if prefix is not None else ()) + (name,))

    def markers_of(self, table):
        """(category, name, nanoseconds or None, data) of each."""
        categories = [category["name"] for category in self.profile["meta"]["categories"]]
        columns = zip(table["category"], table["name"], table["startTime"], table["endTime"], table["phase"], table["data"])
        for category, name, start, end, phase, data in columns:
            length = nanoseconds(end) - nanoseconds(start) if phase == 1 else None
            yield categories[category], self.strings[name], length, data

    def times_of(self, samples):
        """Nanoseconds by stack; each sample lasts until the next one."""
        sums, times = collections.Counter(), [nanoseconds(time) for time in samples["time"]]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            if stack is not None:
                sums[self.stacks[stack]] += nanoseconds(weight)
        return +sums, times


def check_firefox(verdict, oracle, text):
    firefox = FirefoxProfile(verdict, text)
    counts, totals, unknown = collections.Counter(), collections.Counter(), collections.Counter()
    data, lost, other = [], [], 0
    for category, name, length, fields in firefox.markers:
        if fields["type"] == "region" and "end" not in fields:
            counts[category, name] += 1
            totals[category, name] += length
        elif fields["type"] == "region":
            unknown[category, name] += fields["end"].startswith(("not sure", "left here"))
            other += 1
        elif fields["type"] == "lost" and length is not None:
            lost.append((fields["value"], length))
        elif fields["type"] == "data":
            data.append((category, name, str(fields.get("value", fields.get("text")))))
    verdict.same("regions", counts, oracle.counts)
    verdict.same("nanoseconds of regions", totals, oracle.totals)
    verdict.same("leaves of unknown duration", +unknown, oracle.unknown)
    verdict.same("events lost", sum(count for count, _ in lost), oracle.lost)
    verdict.same("those of the whole", firefox.profile["meta"]["extra"][0]["entries"][0]["value"], oracle.lost)
    verdict.same("gaps", len(lost), oracle.gaps)
    verdict.same("threads", len(firefox.threads), len(oracle.threads))
    verdict.same("data", collections.Counter(data), collections.Counter(oracle.data))
    stacks = collections.Counter()
    for thread in firefox.threads:
        sums, times = firefox.times_of(thread["samples"])
        verdict.same("times that go back", [b - a for a, b in zip(times, times[1:]) if b < a], [])
        stacks.update(sums)
    gaps = sum(ns for stack, ns in stacks.items() if stack[-1] == "events lost")
    verdict.same("nanoseconds of gaps", gaps, sum(length for _, length in lost))
    if not lost and not other:
        check_firefox_stacks(verdict, oracle, stacks)


def check_firefox_stacks(verdict, oracle, stacks):
    """If all is known, samples have what the folded format has, in which threads are added up, too."""
    folded = collections.Counter()
    for line in expand(oracle.t2expand, oracle.trace, "--format=folded").decode().splitlines():
        stack, _, ns = line.rpartition(" ")
        folded[tuple(stack.split(";"))] += int(ns)
    verdict.same("nanoseconds of stacks", stacks, folded)


class Profile:
    """What the slices of the chrome format add up to: by stack, thread and category."""

    def __init__(self, t2expand, trace):
        events = json.loads(expand(t2expand, trace, "--format=chrome"), parse_float=str)["traceEvents"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.self_ns, self.folded, self.leaves = collections.Counter(), collections.Counter(), 0
        threads = collections.defaultdict(list)
        for e in events:
            end = e.get("args", {}).get("end", "")
            self.leaves += end.startswith("left here")
            if e["ph"] == "X" and e["cat"] != "trace2.thread" and e["name"] != "events lost":
                start, length = nanoseconds(e["ts"]), nanoseconds(e["dur"])
                threads[e["pid"], e["tid"]].append((start, -length, e["name"], e["cat"], not end))
                self.leaves += not end or end.startswith("not sure")
        for thread, spans in threads.items():
            self.take(names[thread], thread[0], sorted(spans))

    def take(self, thread, pid, spans):
        """Spans that are exact, and what is left of them without the exact ones directly in them."""
        stack = []
        for start, minus, name, category, exact in spans + [(1 << 63, 0, "", "", False)]:
            while stack and stack[-1][0] <= start:
                _, length, inner, names, kind, good = stack.pop()
                if good:
                    self.self_ns[thread, pid, kind, names] += length - inner
                    self.folded[names] += length - inner
                if stack:
                    stack[-1][2] += length if good else inner
            around = stack[-1][3] if stack else ()
            stack.append([start - minus, -minus, 0, (*around, name), category, exact])


def check_folded(verdict, profile, text):
    got = collections.Counter()
    for line in text.decode().splitlines():
        stack, _, ns = line.rpartition(" ")
        got[tuple(stack.split(";"))] += int(ns)
    verdict.same("stacks", got, +profile.folded)


def parse_text(lines):
    """A message as `protoc --decode` prints it: fields with the list of their values."""
    fields = collections.defaultdict(list)
    for line in lines:
        if line.strip() == "}":
            break
        name, _, value = line.strip().partition(" ")
        if value == "{":
            fields[name].append(parse_text(lines))
        else:
            value = value.strip()
            fields[name[:-1]].append(ast.literal_eval("b" + value) if value[0] == '"' else int(value))
    return fields


def decode(message, schema, data):
    """What protoc makes of it with a schema of our own, of the fields that we use."""
    command = ["protoc", "--decode=" + message, "-I", os.path.dirname(__file__), schema]
    text = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    return parse_text(iter(text.splitlines()))


def check_pprof(verdict, profile, data):
    message = decode("Profile", "profile.proto", gzip.decompress(data))
    strings = [text.decode() for text in message["string_table"]]
    verdict.same("types", [(strings[t["type"][0]], strings[t["unit"][0]]) for t in message["sample_type"]],
                 [("regions", "count"), ("time", "nanoseconds")])
    functions = {f["id"][0]: strings[f["name"][0]] for f in message["function"]}
    locations = {place["id"][0]: functions[place["line"][0]["function_id"][0]] for place in message["location"]}
    got, count = collections.Counter(), 0
    for sample in message["sample"]:
        labels = {strings[label["key"][0]]: label for label in sample["label"]}
        names = tuple(locations[number] for number in reversed(sample["location_id"]))
        key = (strings[labels["thread"]["str"][0]], labels["pid"]["num"][0],
               strings[labels["category"]["str"][0]], names)
        count += sample["value"][0]
        got[key] += sample["value"][1]
    verdict.same("samples", +got, +profile.self_ns)
    verdict.same("regions left", count, profile.leaves)


def spans_of_json(text):
    """Spans of OTLP/JSON: dictionaries with attributes, ids as bytes, and the process's name and id."""
    for line in text.decode().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for span in resource["scopeSpans"][0]["spans"]:
                span["attributes"] = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
                span["resource"] = {a["key"]: next(iter(a["value"].values()))
                                    for a in resource["resource"]["attributes"]}
                for key in "traceId", "spanId", "parentSpanId":
                    span[key] = bytes.fromhex(span.get(key, ""))
                for key in "startTimeUnixNano", "endTimeUnixNano":
                    span[key] = int(span[key])
                span.setdefault("status", {})
                yield span


def attributes_of(message):
    """Those of a message that protoc has decoded, as JSON has them."""
    return {a["key"][0].decode(): (a["value"][0]["string_value"] or [str(a["value"][0]["int_value"]).strip("[]")
                                                                    .encode()])[0].decode()
            for a in message["attributes"]}


def spans_of_protobuf(data):
    for resource in decode("Request", "trace.proto", data)["resource_spans"]:
        for span in resource["scope_spans"][0]["spans"]:
            status = span["status"][0] if span["status"] else None
            yield {
                "name": span["name"][0].decode(), "kind": span["kind"][0],
                "traceId": span["trace_id"][0], "spanId": span["span_id"][0],
                "parentSpanId": (span["parent_span_id"] or [b""])[0],
                "startTimeUnixNano": span["start_time_unix_nano"][0],
                "endTimeUnixNano": span["end_time_unix_nano"][0],
                "attributes": attributes_of(span), "resource": attributes_of(resource["resource"][0]),
                "status": {"message": status["message"][0].decode(), "code": status["code"][0]} if status else {},
            }


def hash_sid(part):
    return hashlib.sha256(part.encode()).digest()


def check_spans(verdict, oracle, spans):
    """Regions as git has them; the spans of processes have the ids that trace2receiver gives them."""
    counts, totals = collections.Counter(), collections.Counter()
    ids = {span["spanId"] for span in spans}
    verdict.same("ids", len(ids), len(spans))
    processes = {}
    for span in spans:
        names = span["attributes"]["trace2.category"], span["name"]
        if names[0] == "process":
            processes[span["spanId"]] = span
        elif span["parentSpanId"] not in ids:
            verdict.same("the parent of a span", span, "a span of the trace")
        elif names[0] != "thread" and not {"trace2.end", "trace2.lost"} & set(span["attributes"]):
            counts[names] += 1
            totals[names] += span["endTimeUnixNano"] - span["startTimeUnixNano"]
    verdict.same("spans", counts, oracle.counts)
    verdict.same("nanoseconds of spans", totals, oracle.totals)
    lost = [int(span["attributes"]["trace2.lost"]) for span in spans if "trace2.lost" in span["attributes"]]
    verdict.same("events lost", (sum(lost), len(lost)), (oracle.lost, oracle.gaps))
    codes = {event["sid"]: int(event["code"]) for event in oracle.events if event["event"] == "atexit"}
    want = {hash_sid(sid.split("/")[-1])[16:24]: (str(code), bool(code)) for sid, code in codes.items()}
    got = {key: (span["attributes"]["process.exit.code"], span["status"].get("code") == 2)
           for key, span in processes.items() if "process.exit.code" in span["attributes"]}
    verdict.same("exit codes, and what failed", got, want)
    verdict.same("spans with a status", sum(bool(span["status"]) for span in spans), sum(map(bool, codes.values())))
    want = {}
    for sid in {event["sid"] for event in oracle.events}:
        parts = sid.split("/")
        parent = hash_sid(parts[-2])[16:24] if len(parts) > 1 else b""
        want[hash_sid(parts[-1])[16:24]] = hash_sid(parts[0])[:16], parent
    verdict.same("processes", {key: (span["traceId"], span["parentSpanId"]) for key, span in processes.items()}, want)


def check_otlp(verdict, oracle, text):
    check_spans(verdict, oracle, list(spans_of_json(text)))


def check_otlp_proto(verdict, oracle, data):
    """As good as JSON: the same spans."""
    spans = list(spans_of_protobuf(data))
    check_spans(verdict, oracle, spans)
    text = expand(sys.argv[2], sys.argv[3], "--format=otlp")
    verdict.same("the spans of both forms", spans == list(spans_of_json(text)), True)


ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{1,2})|(.))")


def texts_of(fields):
    """The texts in what babeltrace2 prints of an event, in order; empty ones, too."""
    for text in re.findall(r'"((?:[^"\\]|\\.)*)"', fields):
        yield ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else ESCAPES.get(m[2], m[2]), text)


def texts_of_row(row, event):
    """The texts that an event has in ndjson, but for command lines and directories, which git's event format has."""
    names = ["category", "label", "file"]
    if row["event"] not in ("start", "cmd_ancestry", "alias", "child_start", "exec", "def_param"):
        names.append("message")
    texts = [row.get(name, "") for name in [*names, "value", "text"]] + event.get("argv", []) + event.get("ancestry", [])
    return sorted(text for text in [*texts, event.get("cd", "")] if text and isinstance(text, str))


def check_ctf(verdict, oracle, data):
    """babeltrace2 prints the same events with the same texts, in the order of time, and says how many are missing."""
    with tempfile.TemporaryDirectory() as directory:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(directory)
        result = subprocess.run(["babeltrace2", "--clock-seconds", directory], capture_output=True, check=True)
    pattern = re.compile(r'\[(\d+)\.(\d{9})\] \(\S+\) (\w+): \{ pid = \d+, tid = \d+, thread = "([^"]*)" \}, (.*)')
    got = [pattern.fullmatch(line).groups() for line in utf8(result.stdout).split("\n")[:-1]]
    rows = [json.loads(line) for line in expand(oracle.t2expand, oracle.trace, "--format=ndjson").splitlines()]
    verdict.same("rows", [row["event"] for row in rows], [event["event"] for event in oracle.events])
    want = collections.Counter()
    for row, event in zip(rows, oracle.events):
        stamp = datetime.datetime.fromisoformat(event["time"][:19] + "+00:00")
        want[int(stamp.timestamp()) * NS + int(event["time"][20:29]), event["event"], event["thread"],
             tuple(texts_of_row(row, event))] += 1
    times = [int(seconds) * NS + int(part) for seconds, part, *_ in got]
    have = collections.Counter((time, name.replace("data_intmax", "data"), thread, tuple(sorted(texts_of(fields))))
                               for time, (_, _, name, thread, fields) in zip(times, got))
    verdict.same("events that are missing", want - have, collections.Counter())
    verdict.same("events that are not there", have - want, collections.Counter())
    verdict.same("the order of time", times, sorted(times))
    lost = re.findall(r"discarded (\d+) event", result.stderr.decode())
    verdict.same("discarded events", sum(map(int, lost)), oracle.lost)
    verdict.same("places of discarded events", len(lost), oracle.gaps)


NUMBERS = ("time", "pid", "tid", "depth", "abs", "rel", "value", "id", "child_pid", "count", "min", "max", "line", "repo",
           "period")


def check_csv(verdict, oracle, data):
    """Numbers are numbers in all rows, no text is a formula of a spreadsheet, and ndjson has the same."""
    lines = expand(oracle.t2expand, oracle.trace, "--format=ndjson").decode("utf-8")
    objects = [json.loads(line) for line in lines.split("\n")[:-1]]
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
    verdict.same("rows", (len(rows), len(objects)), (len(oracle.events), len(oracle.events)))
    for row, item, event in zip(rows, objects, oracle.events):
        texts = {name: text for name, text in row.items() if name not in NUMBERS}
        formulas = [text for text in texts.values() if text.startswith(tuple("=+-@\t\r\n"))]
        verdict.same("texts that are formulas", formulas, [])
        got = {name: int(row[name]) for name in NUMBERS if row[name]}
        got.update((name, text.removeprefix("'")) for name, text in texts.items() if text)
        want = {name: value for name, value in item.items() if value != ""}
        want["time"] = int(want["time"])
        verdict.same("a row", got, want)
        verdict.same("its time", row["time"][-9:], event["time"][20:29])


CHECKS = {
    "csv": (Oracle, check_csv),
    "ctf": (Oracle, check_ctf),
    "otlp": (Oracle, check_otlp),
    "otlp_proto": (Oracle, check_otlp_proto),
    "chrome": (Oracle, check_chrome),
    "firefox": (Oracle, check_firefox),
    "folded": (Profile, check_folded),
    "pprof": (Profile, check_pprof),
}


def main():
    name, t2expand, trace = sys.argv[1:]
    verdict = Verdict()
    source, check = CHECKS[name]
    check(verdict, source(t2expand, trace), expand(t2expand, trace, "--format=" + name))
    sys.exit(verdict.failed != 0)


if __name__ == "__main__":
    main()
