// SPDX-License-Identifier: MIT
/** What is shown below the lanes: the selected region or point, or the sum of the selected range. */
import { CUT_START, UNENDED, firstAbove, firstThat } from "./columns.mjs";
import { make } from "./dom.mjs";
import { makeHistogram, makeSlowest, titleOf } from "./names.mjs";
import { formatSample, profileTitle } from "./profiles.mjs";
import { formatClock, formatCount, formatDuration } from "./scale.mjs";
import { makeTotals } from "./statistics.mjs";
import { summarize } from "./stats.mjs";

/** @typedef {import("./app.mjs").App} App */
/** @typedef {import("./trace.mjs").Region} Region */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {import("./trace.mjs").Trace} Trace */

/** @param {(string | Node)[][]} facts */
function makeFacts(facts) {
	return make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** @param {string} text @param {() => void} onclick */
function makeLink(text, onclick) {
	return make("button.link", { onclick }, text);
}

/** @param {App} app @param {Region} region */
export function makeRegionPanel(app, region) {
	const { trace } = app, { lane, depth, index } = region, row = lane.rows[depth];
	const site = trace.siteOf(region), length = row.end[index] - row.start[index], { name } = site;
	const swatch = make("span.swatch", { style: `background:${app.palette.css[row.site[index]]}` });
	const facts = [
		["duration", formatDuration(length) + endNote(row.flags[index])],
		["self", formatDuration(length - childTime(region))],
		["starts", formatDuration(row.start[index] - trace.start) + startNote(row.flags[index])],
		["time", make("span.mono", {}, formatClock(trace.epoch, row.start[index], trace.utcoff))],
		["thread", `${lane.name} of ${lane.process.title} ${lane.process.pid}`],
		...site.file ? [["source", make("span.mono", {}, `${site.file}:${site.line}`)]] : [],
		...row.text[index] ? [["message", make("span.mono", {}, trace.texts.get(row.text[index]))]] : [],
	];
	return make("div.details", {},
		make("div", {}, make("h2", {}, swatch, titleOf(trace.names[name])), makePath(app, region),
			makeFacts(facts), ...lane.sampleCount ? [makeLink("The samples in it",
				() => showSamples(app, lane))] : []),
		make("div", {}, make("h3", {}, `All ${titleOf(trace.names[name])} by duration`),
			makeHistogram(app, name, length)),
		make("div", {}, make("h3", {}, "The slowest"), makeSlowest(app, name)));
}

/** Those of the selected region's thread. @param {App} app @param {Lane} lane */
function showSamples(app, lane) {
	app.profile.setLane(lane);
	app.rangeFromRegion();
}

/** @param {number} flags */
function startNote(flags) {
	return flags & CUT_START ? ", or earlier" : "";
}

/** @param {number} flags */
function endNote(flags) {
	return flags & UNENDED ? ", still open when last seen" : "";
}

/** Time in the regions right below one. @param {Region} region */
function childTime({ lane, depth, index }) {
	const row = lane.rows[depth + 1], above = lane.rows[depth];
	let sum = 0;
	if (!row)
		return 0;
	const first = firstThat(row.length, (at) => row.start[at] >= above.start[index]);
	for (let at = first; at < row.length && row.start[at] < above.end[index]; at++)
		if (row.parent[at] === index)
			sum += row.end[at] - row.start[at];
	return sum;
}

/** The regions around one, as links. @param {App} app @param {Region} region */
function makePath(app, { lane, depth, index }) {
	const links = [];
	for (let level = depth - 1, parent = lane.rows[depth].parent[index]; level >= 0; level--) {
		const outer = { lane, depth: level, index: parent };
		links.unshift(make("button.link", { onclick: () => app.go(outer, false) },
			app.trace.siteOf(outer).label), " › ");
		parent = lane.rows[level].parent[parent];
	}
	return make("div.path", {}, ...links.slice(0, -1), ...links.length ? [" ›"] : []);
}

/** @param {App} app @param {import("./app.mjs").PointPlace} place */
export function makePointPanel(app, { lane, at }) {
	const { trace } = app, { points } = lane, site = trace.sites[points.site[at]], value = points.value[at];
	const text = trace.textOf(lane, at), title = titleOf(site);
	const facts = [
		["kind", site.kind === "mark" ? "what is missing" : site.kind],
		...Number.isNaN(value) ? [] : [["value", formatCount(value)]],
		...text ? [["text", make("span.mono", {}, text)]] : [],
		["at", formatDuration(points.time[at] - trace.start)],
		["time", make("span.mono", {}, formatClock(trace.epoch, points.time[at], trace.utcoff))],
		["thread", `${lane.name} of ${lane.process.title} ${lane.process.pid}`],
		...site.file ? [["source", make("span.mono", {}, `${site.file}:${site.line}`)]] : [],
	];
	return make("div.details", {}, make("div", {}, make("h2", {}, title || site.kind), makeFacts(facts)));
}

/** What a sample stands for, and its whole stack. @param {App} app @param {import("./app.mjs").SamplePlace} place */
export function makeSamplePanel(app, { lane, profile, at }) {
	const { trace, palette } = app;
	const samples = /** @type {import("./columns.mjs").Samples} */ (lane.samples[profile]);
	const labels = trace.texts.get(samples.text[at]), time = samples.end[at];
	const around = regionsAt(trace, lane, time).join(" › ");
	const facts = [
		["stands for", formatSample(trace.kinds[profile], samples.count[at], samples.value[at])],
		["at", formatDuration(time - trace.start)],
		["time", make("span.mono", {}, formatClock(trace.epoch, time, trace.utcoff))],
		["thread", `${lane.name} of ${lane.process.title} ${lane.process.pid}`],
		...around ? [["in", around]] : [], ...labels ? [["labels", make("span.mono", {}, labels)]] : [],
	];
	const lines = trace.stacks.list(samples.stack[at]).map((own) => make("li", {},
		make("span.swatch", { style: `background:${palette.functionsCss[own]}` }),
		trace.stacks.functions[own]));
	return make("div.details.of-sample", {},
		make("div", {}, make("h2", {}, `Sample: ${profileTitle(trace, profile)}`), makeFacts(facts),
			makeLink("All samples", () => app.clear())),
		make("div", {}, make("h3", {}, "Stack, the innermost function first"),
			make("ol.stack-list", {}, ...lines)));
}

/** The regions around a time, the outermost first. @param {Trace} trace @param {Lane} lane @param {number} time */
function regionsAt(trace, lane, time) {
	return lane.rows.flatMap((row) => {
		const at = firstAbove(row.end, row.length, time);
		return at < row.length && row.start[at] <= time ? [titleOf(trace.nameOf(row.site[at]))] : [];
	});
}

/** @param {App} app @param {{ start: number, end: number }} range */
export function makeRangePanel(app, range) {
	const totals = summarize(app.trace, range), length = range.end - range.start;
	const lost = app.trace.lanes.flatMap(({ gaps }) => gaps)
		.filter(({ from, to }) => from < range.end && to > range.start);
	const note = make("div.note", {}, make("b", {}, formatDuration(length)),
		` from ${formatDuration(range.start - app.trace.start)}: `,
		`${formatCount(totals.reduce((sum, { count }) => sum + count, 0))} regions, times cut to the range. `);
	if (lost.length)
		note.append(make("span.lost-text", {}, "Events were dropped in it. "));
	note.append(make("button.link", { onclick: () => app.show(range.start, range.end) }, "Zoom to it"), " ",
		make("button.link", { onclick: () => app.setTab("flame") }, "Flame graph of it"));
	const table = makeTotals(app, totals, (total) => app.setQuery(titleOf(total))).element;
	const regions = make("div.scroll", {}, note, ...totals.length ? [table] : []);
	return app.profile.isThere ? make("div.beside", {}, regions, app.profile.element) : regions;
}
