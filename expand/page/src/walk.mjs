// SPDX-License-Identifier: MIT
/** From the selected region to another one: beside it, around it, in it, of the same name, or as long as asked for. */
import { firstAbove } from "./columns.mjs";

/** @typedef {import("./app.mjs").App} App */

/** @param {App} app @param {number} step */
export function goNeighbour(app, step) {
	if (!app.selected)
		return;
	const { lane, depth, index } = app.selected, next = index + step;
	if (next >= 0 && next < lane.rows[depth].length)
		app.go({ lane, depth, index: next }, false);
}

/** @param {App} app */
export function goOuter(app) {
	if (!app.selected?.depth)
		return;
	const { lane, depth, index } = app.selected;
	app.go({ lane, depth: depth - 1, index: lane.rows[depth].parent[index] }, false);
}

/** To the first region in the selected one. @param {App} app */
export function goInner(app) {
	if (!app.selected)
		return;
	const { lane, depth, index } = app.selected, row = lane.rows[depth], below = lane.rows[depth + 1];
	if (!below)
		return;
	const at = firstAbove(below.end, below.length, row.start[index]);
	if (at < below.length && below.parent[at] === index)
		app.go({ lane, depth: depth + 1, index: at }, false);
}

/** The next region of the selected one's name in its row. @param {App} app @param {number} step */
export function goSameName(app, step) {
	if (!app.selected)
		return;
	const { lane, depth, index } = app.selected, row = lane.rows[depth], { sites } = app.trace;
	const { name } = app.trace.siteOf(app.selected);
	for (let at = index + step; at >= 0 && at < row.length; at += step)
		if (sites[row.site[at]].name === name) {
			app.go({ lane, depth, index: at }, false);
			return;
		}
}

/**
 * The first region of a name that is at least so long, and no longer than that.
 * @param {App} app
 * @param {number} name
 * @param {number} least
 * @param {number} most
 */
export function goWithDuration(app, name, least, most) {
	const isIt = app.trace.sites.map((site) => site.name === name);
	for (const lane of app.trace.lanes)
		for (const [depth, row] of lane.rows.entries()) {
			const index = findWithDuration(row, isIt, least * 0.999999, most * 1.000001);
			if (index >= 0) {
				app.go({ lane, depth, index });
				return;
			}
		}
}

/**
 * @param {import("./columns.mjs").Row} row
 * @param {boolean[]} isIt by site
 * @param {number} least
 * @param {number} most
 */
function findWithDuration(row, isIt, least, most) {
	for (let at = 0; at < row.length; at++) {
		const length = Math.max(1, row.end[at] - row.start[at]);
		if (isIt[row.site[at]] && length >= least && length <= most)
			return at;
	}
	return -1;
}
