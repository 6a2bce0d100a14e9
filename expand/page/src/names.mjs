// SPDX-License-Identifier: MIT
/**
 * What is shown about all regions of a name, in both the panel and the statistics: their histogram, the slowest ones.
 */
import { fitCanvas, make } from "./dom.mjs";
import { formatCount, formatDuration } from "./scale.mjs";
import { histogram, slowest } from "./stats.mjs";
import { goWithDuration } from "./walk.mjs";

const BINS = 48, SLOWEST = 10;

/** @typedef {import("./app.mjs").App} App */
/** @typedef {import("./stats.mjs").Bin} Bin */

/**
 * What was computed about each name: it takes a look at every region, and is asked for at every step.
 * @template T
 * @param {(trace: import("./trace.mjs").Trace, name: number) => T} compute
 * @returns {(trace: import("./trace.mjs").Trace, name: number) => T}
 */
function remembered(compute) {
	const known = new Map();
	return (trace, name) => {
		if (!known.has(name))
			known.set(name, compute(trace, name));
		return known.get(name);
	};
}
const histogramOf = remembered((trace, name) => histogram(trace, name, BINS));
const slowestOf = remembered((trace, name) => slowest(trace, name, SLOWEST));

/**
 * Durations on a scale of powers; a click on a bar goes to the next region that is as long.
 * @param {App} app
 * @param {number} name
 * @param {number} [marked] a duration
 */
export function makeHistogram(app, name, marked) {
	const bins = histogramOf(app.trace, name), canvas = make("canvas.histogram", { role: "img" });
	canvas.setAttribute("aria-label", "How many regions are how long");
	const binAt = (/** @type {MouseEvent} */ { offsetX }) =>
		bins[Math.floor(offsetX / canvas.clientWidth * bins.length)];
	canvas.onclick = (/** @type {MouseEvent} */ event) => {
		const bin = binAt(event);
		if (bin?.count)
			goWithDuration(app, name, bin.from, bin.to);
	};
	canvas.onmousemove = (/** @type {MouseEvent} */ event) => {
		const bin = binAt(event);
		canvas.style.cursor = bin?.count ? "pointer" : "default";
		const span = bin && `${formatDuration(bin.from)} to ${formatDuration(bin.to)}`;
		canvas.title = bin ? `${span}: ${formatCount(bin.count)}` : "";
	};
	requestAnimationFrame(() => drawHistogram(canvas, bins, app.theme.css, marked));
	return canvas;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Bin[]} bins
 * @param {Record<string, string>} css
 * @param {number} [marked]
 */
function drawHistogram(canvas, bins, css, marked) {
	const { width, height, ratio } = fitCanvas(canvas), base = height - 16 * ratio, each = width / bins.length;
	const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
	const most = Math.log1p(Math.max(1, ...bins.map(({ count }) => count)));
	const own = marked === undefined ? -1 : Math.max(1, marked);
	context.clearRect(0, 0, width, height);
	bins.forEach(({ from, to, count }, at) => {
		const tall = count ? Math.max(2 * ratio, Math.log1p(count) / most * (base - 4 * ratio)) : 0;
		const isMarked = own >= from * 0.999999 && own <= to * 1.000001;
		context.fillStyle = isMarked ? css.warn : css.accent;
		context.globalAlpha = isMarked ? 1 : 0.75;
		context.fillRect(at * each + 0.5, base - tall, Math.max(1, each - ratio), tall);
	});
	context.globalAlpha = 1;
	context.fillStyle = css.line;
	context.fillRect(0, base, width, ratio);
	context.fillStyle = css.muted;
	context.font = `${10.5 * ratio}px system-ui, sans-serif`;
	context.textBaseline = "bottom";
	const places = /** @type {const} */ ([["left", 0, bins[0]?.from], ["center", width / 2, bins[BINS / 2]?.from],
		["right", width, bins[BINS - 1]?.to]]);
	for (const [align, x, ns] of places) {
		context.textAlign = align;
		context.fillText(formatDuration(ns ?? NaN), x, height);
	}
}

/** @param {App} app @param {number} name */
export function makeSlowest(app, name) {
	return make("ol.count-list", {}, ...slowestOf(app.trace, name).map((region) => {
		const { lane, depth, index } = region, row = lane.rows[depth];
		const text = app.trace.texts.get(row.text[index]);
		const length = formatDuration(row.end[index] - row.start[index]);
		const link = make("button.link", { onclick: () => app.go(region) }, length);
		const time = formatDuration(row.start[index] - app.trace.start);
		const where = `${lane.name} at ${time}${text ? ` · ${text}` : ""}`;
		return make("li", {}, link, make("span", { title: where }, where));
	}));
}

/** @param {import("./trace.mjs").Name} name */
export function titleOf({ category, label }) {
	return category ? `${category}/${label}` : label;
}
