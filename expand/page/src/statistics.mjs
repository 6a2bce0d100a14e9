// SPDX-License-Identifier: MIT
/** The tab with the numbers of the whole trace. */
import { make } from "./dom.mjs";
import { makeHistogram, makeSlowest, titleOf } from "./names.mjs";
import { formatCount, formatDuration } from "./scale.mjs";
import { slowest, summarize, summarizeValues } from "./stats.mjs";
import { SortedTable } from "./table.mjs";

/** @typedef {import("./app.mjs").App} App */
/** @typedef {import("./stats.mjs").Total} Total */

const TIMES = /** @type {const} */ (["self", "mean", "p50", "p90", "p99"]);

/**
 * @param {App} app
 * @param {Total[]} totals
 * @param {(total: Total) => void} choose
 * @returns {SortedTable<Total>}
 */
export function makeTotals(app, totals, choose) {
	const most = Math.max(1, ...totals.map(({ total }) => total));
	const colors = new Map(app.trace.sites.map((site, at) => [site.name, app.palette.css[at]]));
	const columns = [
		{
			title: "Region", key: titleOf,
			show: (/** @type {Total} */ row) => make("span", {},
				make("span.swatch", { style: `background:${colors.get(row.name)}` }), titleOf(row)),
		},
		{
			title: "Count", key: (/** @type {Total} */ row) => row.count,
			show: (/** @type {Total} */ row) => formatCount(row.count),
		},
		{
			title: "Total", key: (/** @type {Total} */ row) => row.total,
			show: (/** @type {Total} */ row) => make("span", {}, formatDuration(row.total),
				make("span.bar", {}, make("i", { style: `width:${100 * row.total / most}%` }))),
		},
		...TIMES.map((member) => ({
			title: member[0].toUpperCase() + member.slice(1),
			key: (/** @type {Total} */ row) => row[member],
			show: (/** @type {Total} */ row) => formatDuration(row[member]),
		})),
		{
			title: "Max", key: (/** @type {Total} */ row) => row.max,
			show: (/** @type {Total} */ row) => makeMax(app, row),
		},
	];
	const table = new SortedTable(columns, 2, choose);
	table.show(totals);
	return table;
}

/** The longest one is a click away. @param {App} app @param {Total} row */
function makeMax(app, row) {
	return make("button.link", {
		title: "Go to it",
		onclick: (/** @type {Event} */ event) => {
			event.stopPropagation();
			app.go(slowest(app.trace, row.name, 1)[0]);
		},
	}, formatDuration(row.max));
}

/** @param {App} app @param {HTMLElement} section */
export function showStatistics(app, section) {
	const side = make("aside"), totals = app.totals ??= summarize(app.trace);
	const choose = (/** @type {Total} */ row) => side.replaceChildren(
		make("h2", {}, titleOf(row)), makeFigures(row),
		make("h3", {}, "Durations (both scales are logarithmic)"), makeHistogram(app, row.name),
		make("h3", {}, "The slowest"), makeSlowest(app, row.name));
	const table = makeTotals(app, totals, choose), parts = [table.element];
	const values = summarizeValues(app.trace);
	if (values.length)
		parts.push(make("h2.part", {}, "Data"), makeValues(values));
	const told = endTotals(app);
	if (told.length)
		parts.push(make("h2.part", {}, "Timers and counters"), makeTold(told));
	section.replaceChildren(make("div.scroll", {},
		...totals.length ? parts : [makeNothing(app), ...parts.slice(1)]), ...totals.length ? [side] : []);
	const first = table.element.querySelector("tbody tr");
	if (first)
		/** @type {HTMLElement} */ (first).click();
}

/**
 * There are no regions, as in what t2 record makes of a program that knows nothing of this.
 * @param {App} app
 */
export function makeNothing(app) {
	const link = make("button.link", { onclick: () => app.setTab("profile") }, "Profile");
	return make("p.empty", {}, "There are no regions in this trace.",
		...app.profile.isThere ? [" Where its time went, its samples say: see ", link, "."] : []);
}

/** @param {Total} row */
function makeFigures(row) {
	const members = /** @type {const} */ (["max", "total", "p99", "self", "p90", "mean", "p50", "min"]);
	const facts = [["count", formatCount(row.count)],
		...members.map((member) => [member, formatDuration(row[member])])];
	return make("div.details", { style: "display:block;padding:0" },
		make("dl", { style: "grid-template-columns:repeat(2, max-content 1fr)" },
			...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
}

/** @typedef {ReturnType<typeof summarizeValues>[0]} Value */

/** @param {Value[]} values */
function makeValues(values) {
	const numbers = /** @type {const} */ (["count", "min", "mean", "max", "last"]).map((member) => ({
		title: member[0].toUpperCase() + member.slice(1), key: (/** @type {Value} */ row) => row[member],
		show: (/** @type {Value} */ row) => formatCount(row[member]),
	}));
	const table = new SortedTable([
		{ title: "Name", key: (/** @type {Value} */ row) => row.name,
			show: (/** @type {Value} */ row) => row.name },
		{ title: "Process", key: (/** @type {Value} */ row) => row.process,
			show: (/** @type {Value} */ row) => `${row.process} ${row.pid}` },
		...numbers,
	], 2);
	table.show(values);
	return table.element;
}

/** @typedef {{ name: string, kind: string, thread: string, says: string }} Told */

/** What timers and counters came to. @param {App} app @returns {Told[]} */
function endTotals({ trace }) {
	const kinds = new Set(["timer", "th_timer", "counter", "th_counter"]);
	return trace.lanes.flatMap((lane) => [...lane.points.site].flatMap((number, at) => {
		const site = trace.sites[number], value = lane.points.value[at];
		if (!kinds.has(site.kind))
			return [];
		const says = Number.isNaN(value) ? trace.textOf(lane, at) : formatCount(value);
		return [{ name: titleOf(site), kind: site.kind, thread: `${lane.process.title} ${lane.name}`, says }];
	}));
}

/** @param {Told[]} told */
function makeTold(told) {
	const columns = (/** @type {const} */ (["name", "kind", "thread", "says"])).map((member) => ({
		title: member[0].toUpperCase() + member.slice(1), key: (/** @type {Told} */ row) => row[member],
		show: (/** @type {Told} */ row) => row[member],
	}));
	const table = new SortedTable(columns, 0);
	table.element.classList.add("told");
	table.isDown = false;
	table.show(told);
	return table.element;
}
