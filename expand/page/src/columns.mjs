// SPDX-License-Identifier: MIT
/**
 * What a trace consists of by the million lies in columns: typed arrays that grow together.
 * All times are nanoseconds since the epoch of the trace, exact as doubles for a hundred days.
 */
import { Cursor } from "./cursor.mjs";

/** A region's end is not its leave: none was seen. */
export const UNENDED = 1;
/** A region's start is later than it was: what is before it in its row overlaps. */
export const CUT_START = 2;

const FIRST_CAPACITY = 64;
/** Who is to grow for the rest of a trace believes no more than this of its beginning, and adds a little. */
const LEAST_PART = 1 / 64, MARGIN = 1.1;

/**
 * @template {Float64Array | Uint32Array | Uint8Array} T
 * @param {T} array
 * @param {number} capacity
 * @returns {T}
 */
function regrown(array, capacity) {
	const grown = new /** @type {any} */ (array.constructor)(capacity);
	grown.set(array.length > capacity ? array.subarray(0, capacity) : array);
	return grown;
}

/** Columns of one table; a subclass names them. */
class Table {
	length = 0;
	capacity = FIRST_CAPACITY;

	/** @param {string[]} names of the members that are columns */
	constructor(names) {
		this.names = names;
	}

	/** The columns, by their names. @returns {Record<string, any>} */
	get columns() {
		return /** @type {any} */ (this);
	}

	/** @param {number} capacity */
	resize(capacity) {
		for (const name of this.names)
			this.columns[name] = regrown(this.columns[name], capacity);
		this.capacity = capacity;
	}

	/**
	 * There was no place for another one.  What is copied costs; room that nobody has written to is no memory yet.
	 * @param {number} part of all that will be added, as far as anybody knows
	 */
	grow(part) {
		const expected = this.length / Math.max(part, LEAST_PART) * MARGIN;
		this.resize(Math.ceil(Math.max(2 * this.capacity, expected)) | 0);
	}

	/** Nothing is added any more. */
	trim() {
		for (const name of this.names)
			this.columns[name] = this.columns[name].subarray(0, this.length);
	}
}

/**
 * The regions of one thread at one depth, in the order of time: they do not overlap.
 * text is 0 or the number of a text; before the first there are none at all. parent is an index into the row above.
 */
export class Row extends Table {
	start = new Float64Array(FIRST_CAPACITY);
	end = new Float64Array(FIRST_CAPACITY);
	site = new Uint32Array(FIRST_CAPACITY);
	parent = new Uint32Array(FIRST_CAPACITY);
	text = new Uint32Array(0);
	flags = new Uint8Array(FIRST_CAPACITY);
	/** @type {import("./pyramid.mjs").Pyramid | null} */
	pyramid = null;

	constructor() {
		super(["start", "end", "site", "parent", "flags"]);
	}

	/**
	 * @param {number} start
	 * @param {number} site
	 * @param {number} parent
	 * @param {number} text
	 * @param {{ part: number }} lane see grow()
	 * @returns {number} its index
	 */
	add(start, site, parent, text, lane) {
		const at = this.length;
		if (at === this.capacity)
			this.grow(lane.part);
		this.length++;
		const before = at ? this.end[at - 1] : start;
		if (start < before) {
			this.flags[at] = CUT_START;
			start = before;
		}
		this.start[at] = start;
		this.site[at] = site;
		this.parent[at] = parent;
		if (text)
			this.setText(at, text);
		return at;
	}

	/** @param {number} at @param {number} text */
	setText(at, text) {
		if (!this.text.length) {
			this.names.push("text");
			this.text = new Uint32Array(this.capacity);
		}
		this.text[at] = text;
	}
}

/** The events of a thread that take no time: data, messages, children, errors.  value is NaN where there is none. */
export class Points extends Table {
	time = new Float64Array(FIRST_CAPACITY);
	value = new Float64Array(FIRST_CAPACITY);
	site = new Uint32Array(FIRST_CAPACITY);
	text = new Uint32Array(FIRST_CAPACITY);

	constructor() {
		super(["time", "value", "site", "text"]);
	}

	/**
	 * @param {number} time
	 * @param {number} site
	 * @param {number} value
	 * @param {number} text
	 * @param {{ part: number }} lane see grow()
	 */
	add(time, site, value, text, lane) {
		const at = this.length;
		if (at === this.capacity)
			this.grow(lane.part);
		this.length++;
		this.time[at] = time;
		this.site[at] = site;
		this.value[at] = value;
		this.text[at] = text;
	}
}

/**
 * The samples of one profile in one thread, in the order of time.  A sample is at its end; if it lasts, it is a span as
 * a region is, which begins where the one before ended at the earliest.  site is the innermost function; value and
 * count are what it stands for, in all.
 */
export class Samples extends Table {
	start = new Float64Array(FIRST_CAPACITY);
	end = new Float64Array(FIRST_CAPACITY);
	site = new Uint32Array(FIRST_CAPACITY);
	stack = new Uint32Array(FIRST_CAPACITY);
	count = new Float64Array(FIRST_CAPACITY);
	value = new Float64Array(FIRST_CAPACITY);
	text = new Uint32Array(FIRST_CAPACITY);
	/** @type {import("./pyramid.mjs").Pyramid | null} */
	pyramid = null;

	constructor() {
		super(["start", "end", "site", "stack", "count", "value", "text"]);
	}

	/**
	 * @param {number} time
	 * @param {number} length 0: it does not last
	 * @param {{ stack: number, site: number, count: number, value: number, text: number }} sample
	 * @param {{ part: number }} lane see grow()
	 */
	add(time, length, { stack, site, count, value, text }, lane) {
		const at = this.length, before = at ? this.end[at - 1] : -Infinity;
		if (at === this.capacity)
			this.grow(lane.part);
		this.length++;
		this.end[at] = Math.max(time, before);
		this.start[at] = Math.max(before, this.end[at] - length);
		this.site[at] = site;
		this.stack[at] = stack;
		this.count[at] = count;
		this.value[at] = value;
		this.text[at] = text;
	}
}

/**
 * Texts, kept as bytes until somebody reads them.  The number of a text says where it begins, with its length, among
 * the bytes of all blocks.
 */
export class Texts {
	/** As they came. @type {Uint8Array[]} */
	blocks = [];
	/** The number of the first byte of each. @type {number[]} */
	numbers = [];
	next = 1;

	/**
	 * @param {Uint8Array} bytes texts, each behind its length
	 * @returns {number} of the first; of another one, so many bytes behind, as many more
	 */
	addBlock(bytes) {
		const first = this.next;
		this.blocks.push(bytes);
		this.numbers.push(first);
		this.next += bytes.length;
		return first;
	}

	/** @param {number} number 0: no text */
	get(number) {
		if (!number)
			return "";
		const block = firstThat(this.numbers.length, (at) => this.numbers[at] > number) - 1;
		const cursor = new Cursor(this.blocks[block], number - this.numbers[block]);
		return decoder.decode(cursor.take(cursor.varint()));
	}
}
const decoder = new TextDecoder();

/**
 * The first index for which a test holds that holds for all behind it, too; length, if it does for none.
 * @param {number} length
 * @param {(index: number) => boolean} test
 */
export function firstThat(length, test) {
	let low = 0, high = length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (test(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * The first index of a sorted column at which it is above the limit.
 * @param {Float64Array | Uint32Array} column
 * @param {number} length
 * @param {number} limit
 */
export function firstAbove(column, length, limit) {
	let low = 0, high = length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (column[middle] > limit)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
