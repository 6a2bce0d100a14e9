// SPDX-License-Identifier: MIT
/**
 * From the bytes that expand/export/t2x_html.c writes to a Trace.
 *
 * A chunk is a row of sections, each the events of one thread that follow those of its last section:
 *
 *   varint thread, signed clock, varint events, four times varint length, then the four columns:
 *   operations, times, values, texts
 *
 * An operation is a varint.  Its lowest bit says that a text belongs to it; the rest is LEAVE, CLOCK (values: a signed
 * step of the clock, no event), DEPTH (values: how many regions are open, whatever was; no event), or FIRST_SITE plus
 * the number of the site where the event was raised.  Each event has one varint in times, the nanoseconds since the
 * thread's last one.  What it has in values its site's kind says: a signed number, and of what is missing then how many
 * nanoseconds the thread's last event was before, 0 if there was none; of a sample, signed, the number of its stack,
 * count and value, then how many more than itself it stands for, in parts of SCALE.  A text is a varint length and
 * bytes.
 */
import { Cursor } from "./cursor.mjs";
import { UNENDED } from "./columns.mjs";
import { kindOf, listChoices, listProfiles } from "./profiles.mjs";
import { Stacks } from "./stacks.mjs";
import { Process, Trace } from "./trace.mjs";

export const FORMAT_VERSION = 3;
export const SCALE = 2 ** 20;
export const LEAVE = 0, CLOCK = 1, DEPTH = 2, FIRST_SITE = 3;

/** The site of regions of which nobody has seen the enter. @type {Facts["sites"][0]} */
const UNKNOWN = ["region_enter", "", "(enter not seen)", "", 0];
/** Kinds of events that have a number in values, signed. */
const WITH_VALUE = new Set(["data_intmax", "counter", "th_counter"]);
const PLAIN = 0, VALUE = 1, REGION = 2, MARK = 3, LOST = 4, DATA = 5, SAMPLE = 6;

const decoder = new TextDecoder();

/**
 * @typedef {object} Facts what is said about all chunks, as JSON
 * @property {number} version
 * @property {string} epoch
 * @property {number} utcoff
 * @property {number} [left_out] events of threads beyond what a page holds
 * @property {string} [source]
 * @property {[number, string, string][]} processes pid, session id, when it began by the raw clock
 * @property {[number, number, string, number][]} threads process, thread id, name, how many events
 * @property {[string, string, string, string, number][]} sites kind, category, label, file, line
 * @property {import("./profiles.mjs").Kind[]} kinds
 * @property {string[]} functions see stacks.mjs
 * @property {number[]} stacks parent and function of each
 */

/**
 * @param {Facts} facts
 * @returns {Trace} without events
 */
export function makeTrace(facts) {
	if (facts.version !== FORMAT_VERSION)
		throw new Error(`the data are of version ${facts.version}, this page reads ${FORMAT_VERSION}`);
	const trace = new Trace();
	trace.epoch = BigInt(facts.epoch);
	trace.utcoff = facts.utcoff;
	trace.leftOut = facts.left_out ?? 0;
	trace.source = facts.source ?? "";
	trace.processes = facts.processes.map(([pid, sid, startTicks], index) =>
		new Process(index, { pid, sid, startTicks }));
	facts.threads.forEach(([process, tid, name, events], index) => {
		const lane = trace.lane(index);
		lane.process = trace.processes[process];
		lane.tid = tid;
		lane.name = name;
		lane.events = events;
		lane.process.lanes.push(lane);
	});
	/** @type {Map<string, number>} */
	const numbers = new Map();
	trace.unknownSite = facts.sites.length;
	trace.sites = [...facts.sites, UNKNOWN].map(([kind, category, label, file, line]) => {
		const key = `${category}\0${label}`;
		let name = numbers.get(key);
		if (name === undefined) {
			name = trace.names.push({ category, label }) - 1;
			numbers.set(key, name);
		}
		return { kind, category, label, file, line, name };
	});
	trace.profiles = listProfiles(facts.kinds, trace.sites);
	trace.kinds = trace.profiles.map((name) => kindOf(facts.kinds, name));
	trace.choices = listChoices(facts.kinds, trace.profiles);
	trace.stacks = new Stacks(facts.functions, facts.stacks);
	return trace;
}

/** @param {import("./trace.mjs").Site} site */
function shapeOf({ kind, label }) {
	if (kind === "region_enter")
		return REGION;
	if (kind === "mark")
		return label === "lost-events" ? LOST : MARK;
	if (kind === "data")
		return DATA;
	if (kind === "sample")
		return SAMPLE;
	return WITH_VALUE.has(kind) ? VALUE : PLAIN;
}

/**
 * @param {Trace} trace
 * @param {Uint8Array} bytes of one chunk; the chunks come in their order
 */
export function readChunk(trace, bytes) {
	const shapes = Uint8Array.from(trace.sites, shapeOf);
	for (const cursor = new Cursor(bytes); !cursor.isAtEnd;)
		new Section(trace, shapes, cursor).read();
}

class Section {
	/**
	 * @param {Trace} trace
	 * @param {Uint8Array} shapes of the sites
	 * @param {Cursor} cursor at its beginning; then behind it
	 */
	constructor(trace, shapes, cursor) {
		this.trace = trace;
		this.shapes = shapes;
		const thread = cursor.varint();
		if (thread >= trace.lanes.length)
			throw new Error(`nothing is known of thread ${thread}`);
		this.lane = trace.lane(thread);
		this.lane.clock = cursor.signed();
		this.events = cursor.varint();
		const lengths = [0, 0, 0, 0].map(() => cursor.varint());
		const [operations, times, values, texts] = lengths.map((length) => new Cursor(cursor.take(length)));
		this.operations = operations;
		this.times = times;
		this.values = values;
		this.texts = texts;
		/** Where the bytes of the last text begin. */
		this.textAt = 0;
	}

	/** All its events.  Nearly all numbers are of one byte, or times of two: of those this makes no call. */
	read() {
		const { lane, operations, times, shapes } = this, codes = operations.bytes, steps = times.bytes;
		const firstText = this.addTexts();
		let clock = lane.clock, { first, last } = lane, at = 0, stepAt = 0;
		for (let left = this.events; left > 0;) {
			let operation = codes[at++];
			if (!(operation < 0x80)) {
				operation = operations.varintAt(at - 1);
				at = operations.at;
			}
			const code = operation >>> 1;
			if (code === CLOCK || code === DEPTH) {
				clock = this.readStep(code, clock);
				continue;
			}
			left--;
			lane.seen++;
			const low = steps[stepAt++];
			if (low < 0x80) {
				clock += low;
			} else if (steps[stepAt] < 0x80) {
				clock += (low & 0x7f) + (steps[stepAt++] << 7);
			} else {
				clock += times.varintAt(stepAt - 1);
				stepAt = times.at;
			}
			const text = operation & 1 ? firstText + this.passText() : 0;
			if (code === LEAVE)
				lane.leave(clock, 0, text);
			else if (shapes[code - FIRST_SITE] === REGION)
				lane.enter(clock, code - FIRST_SITE, text);
			else if (shapes[code - FIRST_SITE] === SAMPLE)
				this.addSample(clock, code - FIRST_SITE, text);
			else
				this.addPoint(clock, code - FIRST_SITE, text);
			if (clock < first)
				first = clock;
			if (clock > last)
				last = clock;
		}
		Object.assign(lane, { clock, first, last });
		this.trace.events += this.events;
	}

	/** What is no event. @param {number} code @param {number} clock */
	readStep(code, clock) {
		if (code === CLOCK)
			return clock + this.values.signed();
		this.setDepth(this.values.varint(), clock);
		return clock;
	}

	/** The number of the first text. */
	addTexts() {
		const { bytes } = this.texts;
		return bytes.length ? this.trace.texts.addBlock(bytes.slice()) : 0;
	}

	/** Where the next text begins. */
	passText() {
		const { texts } = this, from = texts.at, length = texts.varint();
		this.textAt = texts.at;
		texts.at += length;
		return from;
	}

	/**
	 * @param {number} time
	 * @param {number} site
	 * @param {number} text
	 */
	addPoint(time, site, text) {
		const { lane } = this, shape = this.shapes[site];
		let value = NaN;
		if (shape === DATA && text)
			value = this.numberIn();
		else if (shape !== PLAIN && shape !== DATA)
			value = this.values.signed();
		const length = shape === MARK || shape === LOST ? this.values.varint() : 0;
		if (shape === LOST)
			lane.gaps.push({ from: length ? time - length : -Infinity, to: time, events: value });
		lane.points.add(time, site, value, text, lane);
	}

	/**
	 * @param {number} time
	 * @param {number} site
	 * @param {number} text
	 */
	addSample(time, site, text) {
		const { values, trace } = this, profile = trace.profiles.indexOf(trace.sites[site].category);
		const stack = values.signed(), count = values.signed(), value = values.signed();
		const scale = 1 + values.varint() / SCALE;
		if (!(stack >= 0 && stack < trace.stacks.length))
			throw new Error(`nothing is known of stack ${stack}`);
		const length = trace.kinds[profile].lasts ? Math.max(0, value) : 0;
		this.lane.sample(profile, time, length, {
			stack, site: trace.stacks.function[stack], count: count * scale, value: value * scale, text,
		});
	}

	/** The last text as a number; NaN if it is none.  Most begin like none, and are not looked at as texts. */
	numberIn() {
		const { bytes, at } = this.texts, from = this.textAt;
		const first = bytes[from];
		if (from === at || first > 0x39 || first < 0x30 && first !== 0x2d)
			return NaN;
		const said = decoder.decode(bytes.subarray(from, at));
		return /^-?\d+(\.\d+)?$/.test(said) ? Number(said) : NaN;
	}

	/**
	 * What is open beyond that was never seen to be left; what is missing was never seen to be entered.
	 * @param {number} depth
	 * @param {number} clock
	 */
	setDepth(depth, clock) {
		const { lane } = this;
		while (lane.depth > depth)
			lane.leave(clock, UNENDED, 0);
		while (lane.depth < depth)
			lane.enter(clock, this.trace.unknownSite, 0);
	}
}
