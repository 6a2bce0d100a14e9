// SPDX-License-Identifier: MIT
/** The page's data as expand/export/t2x_html.c writes them, from events that a test makes up. */
import { deflateSync } from "node:zlib";
import { CLOCK, DEPTH, FIRST_SITE, FORMAT_VERSION, LEAVE, SCALE, makeTrace,
	readChunk } from "../../expand/page/src/reader.mjs";

/** Some kinds of profiles, in another order than that in which they are shown. */
const KINDS = [
	["cpu", "cpu", "CPU", "CPU", "time", "", true, true],
	["allocs", "heap", "", "Allocated", "bytes", "object", false, false],
	["heap", "heap", "Heap", "In use", "bytes", "object", false, true],
	["block", "block", "Blocked", "Blocked", "time", "wait", true, true],
	["", "", "", "", "count", "", false, true],
].map(([id, recorded, title, choice, unit, each, lasts, isAll]) =>
	({ id, recorded, title, choice, unit, each, lasts, isAll }));

/** @param {number} value */
export const coded = (value) => value < 0 ? -2 * value - 1 : 2 * value;

/** Bytes that grow. */
class Bytes {
	data = new Uint8Array(1024);
	length = 0;

	/** @param {number} byte */
	push(byte) {
		if (this.length === this.data.length) {
			const grown = new Uint8Array(2 * this.length);
			grown.set(this.data);
			this.data = grown;
		}
		this.data[this.length++] = byte;
	}

	/** @param {number} value */
	varint(value) {
		for (; value >= 0x80; value = Math.floor(value / 0x80))
			this.push(value % 0x80 | 0x80);
		this.push(value);
	}

	/** @param {Uint8Array} bytes */
	append(bytes) {
		for (const byte of bytes)
			this.push(byte);
	}

	get bytes() {
		return this.data.subarray(0, this.length);
	}
}

class Thread {
	/** @param {Encoder} encoder @param {number} index */
	constructor(encoder, index) {
		this.encoder = encoder;
		this.index = index;
		this.clock = 0;
		this.clear();
	}

	clear() {
		this.base = this.clock;
		this.events = 0;
		this.columns = [new Bytes(), new Bytes(), new Bytes(), new Bytes()];
	}

	/** @param {number} time @param {number} code @param {number | null} value @param {string} text */
	event(time, code, value, text) {
		const [operations, times, values, texts] = this.columns;
		if (time < this.clock) {
			operations.varint(2 * CLOCK);
			values.varint(coded(time - this.clock));
			this.clock = time;
		}
		operations.varint(2 * code + (text ? 1 : 0));
		times.varint(time - this.clock);
		this.clock = time;
		if (value !== null)
			values.varint(coded(value));
		if (text) {
			const bytes = new TextEncoder().encode(text);
			texts.varint(bytes.length);
			texts.append(bytes);
		}
		this.events++;
	}

	/** @param {number} time @param {string} category @param {string} label @param {string} [text] */
	enter(time, category, label, text = "") {
		this.event(time, FIRST_SITE + this.encoder.site("region_enter", category, label), null, text);
		return this;
	}

	/** @param {number} time @param {string} [text] */
	leave(time, text = "") {
		this.event(time, LEAVE, null, text);
		return this;
	}

	/** @param {number} depth */
	depth(depth) {
		this.columns[0].varint(2 * DEPTH);
		this.columns[2].varint(depth);
		return this;
	}

	/** @param {number} time @param {number} events @param {number} length since the last event; 0: there is none */
	lost(time, events, length) {
		this.point(time, "mark", "trace2", "lost-events", events);
		this.columns[2].varint(length);
		return this;
	}

	/**
	 * @param {number} time
	 * @param {string} profile
	 * @param {string[]} functions the outermost first; none: the stack is not known
	 * @param {[number, number, number]} numbers count, value, scale
	 * @param {string} [labels]
	 */
	sample(time, profile, functions, [count, value, scale], labels = "") {
		this.point(time, "sample", profile, "", this.encoder.stack(functions), labels);
		this.columns[2].varint(coded(count));
		this.columns[2].varint(coded(value));
		this.columns[2].varint((scale - 1) * SCALE);
		return this;
	}

	/**
	 * @param {number} time
	 * @param {string} kind
	 * @param {string} category
	 * @param {string} label
	 * @param {number | null} value
	 * @param {string} [text]
	 */
	point(time, kind, category, label, value, text = "") {
		this.event(time, FIRST_SITE + this.encoder.site(kind, category, label), value, text);
		return this;
	}
}

export class Encoder {
	constructor() {
		this.facts = {
			version: FORMAT_VERSION, epoch: "1790000000000000000", utcoff: 0, source: "test.tlg",
			processes: [], threads: [], sites: [], kinds: KINDS, functions: [], stacks: [],
		};
		/** @type {Uint8Array[]} */
		this.chunks = [];
		/** @type {Thread[]} */
		this.threads = [];
		this.siteNumbers = new Map();
		this.stackNumbers = new Map();
	}

	/** @param {number} pid @param {string} sid @param {string} [startTicks] */
	process(pid, sid, startTicks = "0") {
		return this.facts.processes.push([pid, sid, startTicks]) - 1;
	}

	/** @param {number} process @param {number} tid @param {string} name */
	thread(process, tid, name) {
		const thread = new Thread(this, this.threads.length);
		this.threads.push(thread);
		this.facts.threads.push([process, tid, name, 0]);
		return thread;
	}

	/** @param {string} kind @param {string} category @param {string} label */
	site(kind, category, label) {
		const key = `${kind}\0${category}\0${label}`;
		let number = this.siteNumbers.get(key);
		if (number === undefined) {
			number = this.facts.sites.push([kind, category, label, `${category || "main"}.c`,
				10 + label.length]) - 1;
			this.siteNumbers.set(key, number);
		}
		return number;
	}

	/** @param {string[]} functions */
	stack(functions) {
		const { functions: names, stacks } = this.facts;
		return functions.reduce((parent, name) => {
			const key = `${parent} ${name}`;
			if (!this.stackNumbers.has(key)) {
				const own = names.indexOf(name) + 1 || names.push(name);
				this.stackNumbers.set(key, stacks.push(parent, own) / 2);
			}
			return this.stackNumbers.get(key);
		}, 0);
	}

	/** End a chunk. */
	flush() {
		const chunk = new Bytes();
		for (const thread of this.threads) {
			if (!thread.columns[0].length)
				continue;
			chunk.varint(thread.index);
			chunk.varint(coded(thread.base));
			chunk.varint(thread.events);
			for (const column of thread.columns)
				chunk.varint(column.length);
			for (const column of thread.columns)
				chunk.append(column.bytes);
			this.facts.threads[thread.index][3] += thread.events;
			thread.clear();
		}
		if (chunk.length)
			this.chunks.push(chunk.bytes.slice());
		return this;
	}

	/** The trace as the page reads it. */
	trace() {
		this.flush();
		const trace = makeTrace(/** @type {any} */ (this.facts));
		for (const chunk of this.chunks)
			readChunk(trace, chunk);
		trace.finish();
		return trace;
	}

	/** The page with these data in it. @param {string} template */
	html(template) {
		this.flush();
		const block = (/** @type {string} */ kind, /** @type {Uint8Array} */ bytes) =>
			`<script type="t2/${kind}">${deflateSync(bytes).toString("base64")}</script>\n`;
		const [head, tail] = template.split("<!--T2-DATA-->");
		const facts = new TextEncoder().encode(JSON.stringify(this.facts));
		return head + this.chunks.map((chunk) => block("chunk", chunk)).join("") + block("facts", facts) + tail;
	}
}
