// SPDX-License-Identifier: MIT
/** Numbers about regions by name: counts, times, percentiles, histograms; of the whole trace, or of a part of it. */
import { firstAbove, firstThat } from "./columns.mjs";

/**
 * @typedef {object} Total
 * @property {number} name
 * @property {string} category
 * @property {string} label
 * @property {number} count
 * @property {number} total nanoseconds, as all below
 * @property {number} self without the regions within
 * @property {number} mean
 * @property {number} min
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 * @property {number} max
 */
/** @typedef {import("./trace.mjs").Trace} Trace */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {{ start: number, end: number }} Range */

/** @type {Range} */
const WHOLE = { start: -Infinity, end: Infinity };
/** Nanoseconds: most regions of a large trace are shorter. */
const SHORT = 4096;
/** So many durations are counted by their length, as far as they are short, and not sorted. */
const MANY = 16384;

/**
 * Calls visit for each row with the indices of its regions that are at least partly in the range.
 * @param {Trace} trace
 * @param {Range} range
 * @param {(row: import("./columns.mjs").Row, from: number, to: number, lane: Lane, depth: number) => void} visit
 */
function eachRow(trace, range, visit) {
	for (const lane of trace.lanes)
		lane.rows.forEach((row, depth) => {
			const from = firstAbove(row.end, row.length, range.start);
			visit(row, from, firstThat(row.length, (at) => row.start[at] >= range.end), lane, depth);
		});
}

/**
 * @param {Trace} trace
 * @param {Range} [range] times are cut to it
 * @returns {Total[]} one for each name that occurs
 */
export function summarize(trace, range = WHOLE) {
	const names = trace.names.length, nameOf = Uint32Array.from(trace.sites, (site) => site.name);
	const counts = new Uint32Array(names), total = new Float64Array(names), self = new Float64Array(names);
	const begin = Math.floor(range.start), limit = Math.ceil(range.end);
	eachRow(trace, range, ({ start, end, site, parent }, from, to, lane, depth) => {
		const above = depth ? lane.rows[depth - 1].site : site;
		for (let at = from; at < to; at++) {
			const name = nameOf[site[at]], length = Math.min(end[at], limit) - Math.max(start[at], begin);
			counts[name]++;
			total[name] += length;
			self[name] += length;
			if (depth)
				self[nameOf[above[parent[at]]]] -= length;
		}
	});
	const durations = gather(trace, { start: begin, end: limit }, counts, nameOf);
	return trace.names.flatMap((names, name) => counts[name] ? [{
		name, category: names.category, label: names.label, count: counts[name], total: total[name],
		self: Math.max(0, self[name]), mean: total[name] / counts[name], ...spread(durations[name]),
	}] : []);
}

/**
 * The durations of each name, in the order of lanes and rows.
 * @param {Trace} trace
 * @param {Range} range
 * @param {Uint32Array} counts
 * @param {Uint32Array} nameOf
 */
function gather(trace, range, counts, nameOf) {
	const durations = trace.names.map((_, name) => new Float64Array(counts[name]));
	const filled = new Uint32Array(durations.length);
	eachRow(trace, range, ({ start, end, site }, from, to) => {
		for (let at = from; at < to; at++) {
			const name = nameOf[site[at]];
			durations[name][filled[name]++] =
				Math.min(end[at], range.end) - Math.max(start[at], range.start);
		}
	});
	return durations;
}

/**
 * Finds the value that would be at a place if they were sorted, which is not done to those that are short.
 * @param {Float64Array} values whole nanoseconds; not as they were any more
 * @returns {(rank: number) => number}
 */
export function order(values) {
	if (values.length < MANY) {
		values.sort();
		return (rank) => values[rank];
	}
	const counts = new Uint32Array(SHORT), { length } = values;
	let long = 0;
	for (let at = 0; at < length; at++)
		if (values[at] < SHORT)
			counts[values[at]]++;
		else
			values[long++] = values[at];
	const rest = values.subarray(0, long).sort(), shortOnes = length - long;
	return (rank) => {
		let value = 0;
		for (let left = rank; rank < shortOnes && left >= counts[value]; value++)
			left -= counts[value];
		return rank < shortOnes ? value : rest[rank - shortOnes];
	};
}

/**
 * Where the value below which that part of sorted ones is has its place: the nearest rank, as --summary takes it.
 * @param {number} count
 * @param {number} part
 */
export const rankOf = (count, part) => Math.max(0, Math.ceil(part * count) - 1);

/** @param {Float64Array} values one at least; not as they were any more */
function spread(values) {
	const { length } = values, at = order(values);
	const [p50, p90, p99] = [0.5, 0.9, 0.99].map((part) => at(rankOf(length, part)));
	return { min: at(0), max: at(length - 1), p50, p90, p99 };
}

/**
 * All regions of a name, the longest first.
 * @param {Trace} trace
 * @param {number} name
 * @param {number} most
 * @returns {import("./trace.mjs").Region[]}
 */
export function slowest(trace, name, most) {
	/** @type {{ lane: Lane, depth: number, index: number, length: number }[]} */
	let best = [];
	let least = -1;
	const isIt = trace.sites.map((site) => site.name === name);
	const keep = () => {
		best = best.sort((a, b) => b.length - a.length).slice(0, most);
		least = best.length === most ? best[most - 1].length : -1;
	};
	eachRow(trace, WHOLE, ({ start, end, site }, from, to, lane, depth) => {
		for (let index = from; index < to; index++) {
			const length = end[index] - start[index];
			if (length <= least || !isIt[site[index]])
				continue;
			best.push({ lane, depth, index, length });
			if (best.length >= 4 * most)
				keep();
		}
	});
	keep();
	return best.map(({ lane, depth, index }) => ({ lane, depth, index }));
}

/** @typedef {{ from: number, to: number, count: number }} Bin */
/**
 * The durations of a name, with 1 for 0: how many there are of each that is short, and the others.
 * @param {Trace} trace
 * @param {number} name
 */
function findLengths(trace, name) {
	const isIt = Uint8Array.from(trace.sites, (site) => Number(site.name === name));
	const counts = new Uint32Array(SHORT);
	/** @type {number[]} */
	const long = [];
	eachRow(trace, WHOLE, ({ start, end, site }, from, to) => {
		for (let at = from; at < to; at++) {
			const length = isIt[site[at]] && Math.max(1, end[at] - start[at]);
			if (length >= SHORT)
				long.push(length);
			else
				counts[length]++;   // 0: another name's
		}
	});
	counts[0] = 0;
	return { counts, long };
}

/**
 * How many regions of a name are how long, in bins that are equally wide on a scale of powers.
 * @param {Trace} trace
 * @param {number} name
 * @param {number} bins
 * @returns {Bin[]}
 */
export function histogram(trace, name, bins) {
	const { counts, long } = findLengths(trace, name), first = counts.findIndex(Boolean);
	if (first < 0 && !long.length)
		return [];
	const least = first < 0 ? long.reduce((a, b) => Math.min(a, b)) : first;
	const most = long.reduce((a, b) => Math.max(a, b), counts.findLastIndex(Boolean));
	const low = Math.log(least), step = Math.max((Math.log(most) - low) / bins, 1e-9), sums = new Uint32Array(bins);
	const add = (/** @type {number} */ length, /** @type {number} */ count) =>
		sums[Math.min(bins - 1, (Math.log(length) - low) / step | 0)] += count;
	long.forEach((length) => add(length, 1));
	counts.forEach((count, length) => count && add(length, count));
	return Array.from(sums, (count, bin) => ({
		from: Math.exp(low + bin * step), to: Math.exp(low + (bin + 1) * step), count,
	}));
}

/**
 * Data of each series: count, least, mean, most, last; counters and timers as they were told at the end.
 * @param {Trace} trace
 */
export function summarizeValues(trace) {
	return trace.processes.flatMap((process) => process.series.map((series) => ({
		process: process.title, pid: process.pid, name: series.title, count: series.value.length,
		min: series.value.reduce((a, b) => Math.min(a, b), Infinity),
		mean: series.value.reduce((a, b) => a + b, 0) / series.value.length,
		max: series.high, last: series.value[series.value.length - 1],
	})));
}
