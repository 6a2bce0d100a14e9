// SPDX-License-Identifier: MIT
/** Finding regions and points whose names, files or texts contain what is looked for; going from one to the next. */
import { mix } from "./colors.mjs";
import { firstThat } from "./columns.mjs";

/** @typedef {import("./trace.mjs").Region} Region */
/**
 * What is found in a row. @typedef {{ lane: import("./trace.mjs").Lane, depth: number, start: Float64Array, at:
 *    Uint32Array }} Hits
 */

export class Search {
	/** @type {Hits[]} */
	hits = [];
	count = 0;

	/**
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {string} query any case; "": finds nothing
	 */
	constructor(trace, query) {
		this.query = query.trim().toLowerCase();
		this.functions = trace.stacks.functions
			.map((name) => this.query !== "" && name.toLowerCase().includes(this.query));
		this.sites = trace.sites.map((site) => this.query !== "" && siteMatches(site, this.query));
		if (this.query)
			for (const lane of trace.lanes)
				lane.rows.forEach((row, depth) => this.addRow(trace, lane, row, depth));
	}

	get isActive() {
		return this.query !== "";
	}

	/** Colours of functions while something is looked for. @param {import("./colors.mjs").Palette} palette */
	colorFunctions({ functions, background }) {
		return functions.map((word, own) => this.functions[own] ? word : mix(background, word, 0.22));
	}

	/**
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {import("./trace.mjs").Lane} lane
	 * @param {import("./columns.mjs").Row} row
	 * @param {number} depth
	 */
	addRow(trace, lane, row, depth) {
		const found = [];
		for (let at = 0; at < row.length; at++)
			if (this.sites[row.site[at]] || row.text[at] && this.inText(trace, row.text[at]))
				found.push(at);
		if (!found.length)
			return;
		this.hits.push({ lane, depth, start: row.start, at: Uint32Array.from(found) });
		this.count += found.length;
	}

	/**
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {number} text
	 */
	inText(trace, text) {
		return trace.texts.get(text).toLowerCase().includes(this.query);
	}

	/**
	 * The next region behind one in the order of (time, lane, depth), or the first one of all.
	 * @param {Region | null} region null: the first
	 * @param {number} [step] -1: the one before
	 * @returns {Region | null}
	 */
	next(region, step = 1) {
		const from = region && key(region);
		/** @type {Region | null} */
		let best = null;
		for (const hits of this.hits)
			for (const candidate of neighbours(hits, from, step))
				if (isBetter(candidate, best, from, step))
					best = candidate;
		return best;
	}

	/**
	 * How many are not behind the region: its own number, if it was found.
	 * @param {Region | null} region
	 */
	position(region) {
		if (!region)
			return 0;
		const own = key(region);
		return this.hits.reduce((sum, { lane, depth, start, at }) => {
			const isBehind = (/** @type {number} */ place) =>
				compare([start[at[place]], lane.index, depth], own) > 0;
			return sum + firstThat(at.length, isBehind);
		}, 0);
	}
}

/**
 * @param {import("./trace.mjs").Site} site
 * @param {string} query
 */
function siteMatches({ category, label, file }, query) {
	return `${category}/${label}`.toLowerCase().includes(query) || file.toLowerCase().includes(query);
}

/** @typedef {[number, number, number]} Key time, lane, depth */

/**
 * @param {Region} region
 * @returns {Key}
 */
function key({ lane, depth, index }) {
	return [lane.rows[depth].start[index], lane.index, depth];
}

/**
 * @param {Key} a
 * @param {Key} b
 */
function compare(a, b) {
	return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/**
 * The first and last of a row, and those around a place: the next one of all is among these.
 * @param {Hits} hits
 * @param {Key | null} from
 * @param {number} step
 * @returns {Region[]}
 */
function neighbours({ lane, depth, start, at }, from, step) {
	const ends = step > 0 ? 0 : at.length - 1;
	const places = new Set([ends]);
	if (from) {
		const above = firstThat(at.length, (place) => start[at[place]] > from[0]);
		for (let place = above - 2; place <= above + 1; place++)
			if (place >= 0 && place < at.length)
				places.add(place);
	}
	return [...places].map((place) => ({ lane, depth, index: at[place] }));
}

/**
 * Behind from comes before in front of it; of two on the same side the nearer one to the beginning is better.
 * @param {Region} candidate
 * @param {Region | null} best
 * @param {Key | null} from
 * @param {number} step
 */
function isBetter(candidate, best, from, step) {
	const own = key(candidate), isBehind = !from || compare(own, from) * step > 0;
	if (!best)
		return true;
	const other = key(best), isOtherBehind = !from || compare(other, from) * step > 0;
	return isBehind === isOtherBehind ? compare(own, other) * step < 0 : isBehind;
}
