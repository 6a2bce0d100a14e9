// SPDX-License-Identifier: MIT
/**
 * Aggregates of a row for painting it from far away.  A block of level 0 sums up BRANCH regions that follow each other,
 * one of level 1 BRANCH of these blocks, and so on: where a block is narrower than a pixel, nobody looks into it.
 */

export const BRANCH = 8;
const SHIFT = 3;

/** @typedef {{ busy: Float64Array, longest: Uint32Array }} Level  time in regions; index of the longest one */

export class Pyramid {
	/** @param {{ length: number, start: Float64Array, end: Float64Array }} row */
	constructor(row) {
		/** @type {Level[]} */
		this.levels = [];
		for (let count = row.length; count > BRANCH; count = this.levels[this.levels.length - 1].busy.length)
			this.levels.push(makeLevel(row, count, this.levels[this.levels.length - 1]));
	}

	/**
	 * The highest block that begins at a region and ends before a time.
	 * @param {{ length: number, end: Float64Array }} row
	 * @param {number} at index of the region
	 * @param {number} limit
	 * @returns {number} its level plus one; 0: only the region itself
	 */
	climb(row, at, limit) {
		let height = 0;
		while (height < this.levels.length) {
			const size = BRANCH ** (height + 1);
			if (at % size || row.end[Math.min(at + size, row.length) - 1] > limit)
				break;
			height++;
		}
		return height;
	}
}

/**
 * @param {{ length: number, start: Float64Array, end: Float64Array }} row
 * @param {number} count of what is summed up
 * @param {Level | undefined} below undefined: regions are
 * @returns {Level}
 */
function makeLevel(row, count, below) {
	const blocks = (count + BRANCH - 1) >> SHIFT;
	const level = { busy: new Float64Array(blocks), longest: new Uint32Array(blocks) };
	for (let block = 0, from = 0; block < blocks; block++, from += BRANCH)
		if (below)
			addBlocks(level, block, row, below, from, Math.min(from + BRANCH, count));
		else
			addRegions(level, block, row, from, Math.min(from + BRANCH, count));
	return level;
}

/**
 * @param {Level} level
 * @param {number} block of it
 * @param {{ start: Float64Array, end: Float64Array }} row
 * @param {number} from
 * @param {number} to
 */
function addRegions({ busy, longest }, block, { start, end }, from, to) {
	let sum = 0, most = -1, best = from;
	for (let at = from; at < to; at++) {
		const length = end[at] - start[at];
		sum += length;
		if (length > most) {
			most = length;
			best = at;
		}
	}
	busy[block] = sum;
	longest[block] = best;
}

/**
 * @param {Level} level
 * @param {number} block of it
 * @param {{ start: Float64Array, end: Float64Array }} row
 * @param {Level} below
 * @param {number} from
 * @param {number} to
 */
function addBlocks({ busy, longest }, block, { start, end }, below, from, to) {
	let sum = 0, most = -1, best = 0;
	for (let at = from; at < to; at++) {
		const region = below.longest[at], length = end[region] - start[region];
		sum += below.busy[at];
		if (length > most) {
			most = length;
			best = region;
		}
	}
	busy[block] = sum;
	longest[block] = best;
}
