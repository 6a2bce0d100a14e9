// SPDX-License-Identifier: MIT
/** What is under the pointer: found, and said in a box beside it. */
import { UNENDED, firstAbove, firstThat } from "./columns.mjs";
import { make } from "./dom.mjs";
import { SIZES, rowsTop, samplesTop } from "./layout.mjs";
import { titleOf } from "./names.mjs";
import { formatSample, profileTitle } from "./profiles.mjs";
import { formatCount, formatDuration, plural } from "./scale.mjs";

/** Pixels that a click may be beside what is narrow. */
const NEAR = 3;
/** Of a stack, the innermost. */
const MOST_FUNCTIONS = 14;

/** @typedef {import("./app.mjs").App} App */
/** @typedef {import("./layout.mjs").Item} Item */
/**
 * @typedef {{ kind: "region", region: import("./trace.mjs").Region }
 *	| { kind: "point", point: import("./app.mjs").PointPlace }
 *	| { kind: "sample", sample: import("./app.mjs").SamplePlace }
 *	| { kind: "gap", gap: import("./trace.mjs").Gap }
 *	| { kind: "value", item: Item, at: number }} Found
 */

/**
 * @param {App} app
 * @param {number} x on the canvas
 * @param {number} y
 * @returns {Found | null}
 */
export function findAt(app, x, y) {
	const placed = app.layout.at(y, app.scroll), time = app.view.time(x), near = NEAR * app.view.nsPerPixel;
	if (!placed)
		return null;
	const { item } = placed;
	if (item.series) {
		const at = firstAbove(item.series.time, item.series.time.length, time) - 1;
		return at < 0 ? null : { kind: "value", item, at };
	}
	if (!item.lane)
		return null;
	const depth = Math.floor((placed.y - rowsTop(item.lane)) / SIZES.row);
	const found = depth < 0 ? findPoint(item.lane, time, near) : depth < item.rows
		? findRegion(item.lane, depth, item.rows, time, near) : findSample(item, placed.y, time, near);
	if (found)
		return found;
	const gap = item.lane.gaps.find(({ from, to }) => from <= time + near && to >= time - near);
	return gap ? { kind: "gap", gap } : null;
}

/** @param {import("./trace.mjs").Lane} lane @param {number} time @param {number} near @returns {Found | null} */
function findPoint(lane, time, near) {
	const { points } = lane, after = firstAbove(points.time, points.length, time);
	const distance = (/** @type {number} */ at) => Math.abs((points.time[at] ?? Infinity) - time);
	const at = distance(after) < distance(after - 1) ? after : after - 1;
	return distance(at) <= near ? { kind: "point", point: { lane, at } } : null;
}

/**
 * The region at a time, or the longest one near it.
 * @param {import("./trace.mjs").Lane} lane
 * @param {number} depth
 * @param {number} rows that are shown
 * @param {number} time
 * @param {number} near
 * @returns {Found | null}
 */
function findRegion(lane, depth, rows, time, near) {
	const row = lane.rows[depth];
	if (!row || depth >= rows)
		return null;
	let best = -1, length = -1;
	const first = firstAbove(row.end, row.length, time - near);
	for (let at = first; at < row.length && row.start[at] <= time + near && at < first + 1000; at++) {
		const isInside = row.start[at] <= time && time <= row.end[at], own = row.end[at] - row.start[at];
		if (own + (isInside ? near : 0) > length) {
			length = own + (isInside ? near : 0);
			best = at;
		}
	}
	return best < 0 ? null : { kind: "region", region: { lane, depth, index: best } };
}

/**
 * The sample at a time, or the nearest one.
 * @param {Item} item
 * @param {number} y within it
 * @param {number} time
 * @param {number} near
 * @returns {Found | null}
 */
function findSample(item, y, time, near) {
	const profile = item.profiles[Math.floor((y - samplesTop(item)) / SIZES.sample)], { lane } = item;
	const samples = lane?.samples[profile];
	if (!lane || !samples)
		return null;
	const { start, end, length } = samples, after = firstThat(length, (at) => end[at] >= time);
	const distance = (/** @type {number} */ at) =>
		at < 0 || at >= length ? Infinity : Math.max(0, start[at] - time, time - end[at]);
	const at = distance(after) <= distance(after - 1) ? after : after - 1;
	return distance(at) <= near ? { kind: "sample", sample: { lane, profile, at } } : null;
}

/** @param {App} app @param {Found} found @returns {(string | Node)[]} */
export function describe(app, found) {
	const { trace } = app, muted = (/** @type {string} */ text) => make("div.muted", {}, text);
	switch (found.kind) {
	case "region": {
		const { lane, depth, index } = found.region, row = lane.rows[depth];
		const text = trace.texts.get(row.text[index]);
		const open = row.flags[index] & UNENDED ? " (still open)" : "";
		const length = formatDuration(row.end[index] - row.start[index]);
		return [make("b", {}, titleOf(trace.siteOf(found.region))), ` ${length}${open}`,
			...text ? [make("div", {}, text.slice(0, 300))] : [],
			muted(`${lane.name}, at ${formatDuration(row.start[index] - trace.start)}`)];
	}
	case "point": {
		const { lane, at } = found.point, { points } = lane, site = trace.sites[points.site[at]];
		const value = Number.isNaN(points.value[at]) ? trace.textOf(lane, at)
			: formatCount(points.value[at]);
		return [make("b", {}, site.label ? titleOf(site) : site.kind), ` ${value.slice(0, 300)}`,
			muted(`${site.kind}, at ${formatDuration(points.time[at] - trace.start)}`)];
	}
	case "sample":
		return describeSample(app, found.sample);
	case "gap":
		return [make("b.lost-text", {},
			found.gap.events ? `${formatCount(found.gap.events)} events dropped` : "Events dropped"),
			muted(`in ${formatDuration(found.gap.to - found.gap.from)}, of which nothing is known`)];
	default: {
		const series = /** @type {import("./series.mjs").Series} */ (found.item.series);
		return [make("b", {}, series.title), ` ${formatCount(series.value[found.at])}`,
			muted(`since ${formatDuration(series.time[found.at] - trace.start)}`)];
	}
	}
}

/** @param {App} app @param {import("./app.mjs").SamplePlace} place @returns {(string | Node)[]} */
function describeSample({ trace, palette }, { lane, profile, at }) {
	const samples = /** @type {import("./columns.mjs").Samples} */ (lane.samples[profile]);
	const functions = trace.stacks.list(samples.stack[at]), more = functions.length - MOST_FUNCTIONS;
	const lines = functions.slice(0, MOST_FUNCTIONS).map((own) => make("div.frame", {},
		make("span.swatch", { style: `background:${palette.functionsCss[own]}` }),
		trace.stacks.functions[own].slice(0, 200)));
	const where = `${lane.name}, at ${formatDuration(samples.end[at] - trace.start)}`;
	return [make("b", {}, profileTitle(trace, profile)),
		` ${formatSample(trace.kinds[profile], samples.count[at], samples.value[at])}`,
		make("div.stack", {}, ...lines,
			...more > 0 ? [make("div.muted", {}, `… ${plural(more, "more frame")}`)] : []),
		make("div.muted", {}, where)];
}
