// SPDX-License-Identifier: MIT
/**
 * A row of regions as one line of pixels.  What is wide is filled; what is narrower than a pixel adds up
 * there, and the pixel has the colour of the longest, the stronger the more of it is covered.
 */
import { BRANCH } from "./pyramid.mjs";
import { firstAbove } from "./columns.mjs";
import { mix } from "./colors.mjs";

/** Fainter is not seen. */
const LEAST_COVER = 0.45;

/** A region with room for its name. @typedef {{ index: number, from: number, to: number }} Wide */

/**
 * Calls region(index, from, to) for each region wider than a pixel, pixel(x, longest, busy) for each pixel
 * with narrower ones; busy is nanoseconds.
 * @param {Spans} row
 * @param {import("./scale.mjs").View} view
 * @param {(index: number, from: number, to: number) => void} region
 * @param {(x: number, longest: number, busy: number) => void} pixel
 */
export function walkRow(row, view, region, pixel) {
	const { start, end } = row, pyramid = /** @type {import("./pyramid.mjs").Pyramid} */ (row.pyramid);
	const scale = view.width / view.span, nsPerPixel = view.nsPerPixel;
	let at = firstAbove(end, row.length, view.start);
	let x = -1, longest = 0, best = -1, busy = 0;
	while (at < row.length && start[at] < view.end) {
		const from = start[at], to = end[at];
		if (to - from >= nsPerPixel) {
			region(at, (from - view.start) * scale, (to - view.start) * scale);
			at++;
			continue;
		}
		const height = pyramid.climb(row, at, from + nsPerPixel);
		const level = height ? pyramid.levels[height - 1] : null, size = height ? BRANCH ** height : 1;
		const candidate = level ? level.longest[at / size] : at, length = end[candidate] - start[candidate];
		const column = Math.max(0, (from - view.start) * scale | 0);
		if (column !== x) {
			if (x >= 0)
				pixel(x, longest, busy);
			x = column, best = -1, busy = 0;
		}
		busy += level ? level.busy[at / size] : to - from;
		if (length > best)
			best = length, longest = candidate;
		at += size;
	}
	if (x >= 0)
		pixel(x, longest, busy);
}

/** A row, or samples. @typedef {import("./columns.mjs").Row | import("./columns.mjs").Samples} Spans */

/**
 * @param {Spans} row
 * @param {import("./scale.mjs").View} view in pixels of the screen
 * @param {Uint32Array} line
 * @param {Uint32Array} colors by site
 * @param {number} background
 * @param {number} leastWidth of what is returned
 * @param {number} [tick] how wide what is narrower than a pixel is, in full
 * @returns {Wide[]}
 */
export function paintRow(row, view, line, colors, background, leastWidth, tick = 0) {
	/** @type {Wide[]} */
	const wide = [];
	const { site } = row, last = line.length;
	line.fill(background);
	walkRow(row, view, (index, from, to) => {
		const left = Math.max(0, Math.round(from)), right = Math.min(last, Math.max(left + 1, Math.round(to)));
		const color = colors[site[index]];
		line.fill(color, left, right);
		if (right - left > 3 && to < last)
			line[right - 1] = mix(color, background, 0.6);
		if (right - left >= leastWidth)
			wide.push({ index, from: left, to: right });
	}, (x, longest, busy) => {
		if (tick && !busy) {
			line.fill(colors[site[longest]], x, x + Math.max(1, Math.round(tick)));
			return;
		}
		const cover = Math.min(1, LEAST_COVER + busy / view.nsPerPixel);
		line[x] = mix(line[x], colors[site[longest]], cover);
	});
	return wide;
}

/**
 * How busy the top regions of a lane are, in so many parts of the whole trace.
 * @param {import("./trace.mjs").Lane} lane
 * @param {import("./scale.mjs").View} view
 * @param {Float32Array} busy what is added to, 1 a lane at most
 */
export function addActivity(lane, view, busy) {
	const row = lane.rows[0] ?? lane.samples.find(Boolean), part = 1 / view.nsPerPixel;
	if (!row)
		return;
	walkRow(row, view, (_, from, to) => {
		for (let x = Math.max(0, from | 0); x < Math.min(busy.length, to); x++)
			busy[x] += Math.min(to, x + 1) - Math.max(from, x);
	}, (x, _, ns) => {
		if (x < busy.length)
			busy[x] += Math.min(1, ns * part);
	});
}
