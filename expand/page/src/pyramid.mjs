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
	const busy = new Float64Array(blocks), longest = new Uint32Array(blocks);
	const { start, end } = row;
	for (let at = 0; at < count; at++) {
		const block = at >> SHIFT, region = below ? below.longest[at] : at, best = longest[block];
		busy[block] += below ? below.busy[at] : end[at] - start[at];
		if (at % BRANCH === 0 || end[region] - start[region] > end[best] - start[best])
			longest[block] = region;
	}
	return { busy, longest };
}
