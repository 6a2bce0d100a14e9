// SPDX-License-Identifier: MIT
/** What is drawn above the rows: names, series, dropped events, open regions, arrows, what is selected. */
import { UNENDED, firstAbove, firstThat } from "./columns.mjs";
import { SIZES, laneId, rowsTop, samplesTop } from "./layout.mjs";
import { cutLabel, frontWith } from "./labels.mjs";
import { formatCount, ticks } from "./scale.mjs";

const MOST_ARROWS = 300;
const MOST_HITS = 4000;

/**
 * @typedef {object} Drawn how the scene lies on the canvas, in pixels of the screen; edge in pixels of the page
 * @property {import("./scale.mjs").View} view
 * @property {number} ratio
 * @property {number} width
 * @property {number} height
 * @property {number} edge of what is pinned
 * @property {import("./painter.mjs").Placed[]} scrolled
 * @property {import("./painter.mjs").Placed[]} pinned
 * @property {import("./painter.mjs").Names[]} names
 */
/** @typedef {import("./painter.mjs").Scene} Scene */
/** @typedef {CanvasRenderingContext2D} Context */

/**
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 */
export function drawOverlay(context, scene, drawn) {
	const { ratio, width, height, edge } = drawn;
	drawGrid(context, scene, drawn);
	const parts = /** @type {const} */ ([[drawn.scrolled, edge, height / ratio], [drawn.pinned, 0, edge]]);
	for (const [placed, from, to] of parts) {
		context.save();
		context.beginPath();
		context.rect(0, from * ratio, width, (to - from) * ratio);
		context.clip();
		for (const one of placed)
			drawItem(context, scene, drawn, one);
		for (const names of drawn.names)
			if (placed.includes(names.placed) && names.profile === undefined)
				drawNames(context, scene, drawn, names);
			else if (placed.includes(names.placed))
				drawFunctions(context, scene, drawn, names);
		for (const { item, top } of placed)
			for (const gap of item.lane?.gaps ?? [])
				drawGapText(context, scene, drawn, gap, top + item.height / 2);
		context.restore();
	}
	drawSelected(context, scene, drawn);
	drawSelectedSample(context, scene, drawn);
	drawFlows(context, scene, drawn);
	drawRange(context, scene, drawn);
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn */
function drawGrid(context, { theme, trace }, { view, ratio, height }) {
	context.fillStyle = theme.css.muted;
	context.globalAlpha = 0.13;
	for (const time of ticks(view, 110 * ratio, trace.start).times)
		context.fillRect(Math.round(view.x(time)), 0, 1, height);
	context.globalAlpha = 1;
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn @param {import("./painter.mjs").Placed} placed */
function drawItem(context, scene, drawn, { item, top }) {
	if (item.series)
		drawSeries(context, scene, drawn, item.series, top);
	if (!item.lane)
		return;
	for (const gap of item.lane.gaps)
		drawGap(context, scene, drawn, gap, top, item.height);
	if (scene.search.isActive)
		drawHits(context, scene, drawn, item, top);
}

/** Stripes of a colour. @param {Context} context @param {string} color @param {number} ratio */
function makeStripes(context, color, ratio) {
	const size = 8 * ratio, tile = new OffscreenCanvas(size, size), drawing = tile.getContext("2d");
	if (!drawing)
		return color;
	drawing.strokeStyle = color;
	drawing.lineWidth = 2 * ratio;
	drawing.beginPath();
	for (const shift of [-size, 0, size]) {
		drawing.moveTo(shift, size);
		drawing.lineTo(shift + size, 0);
	}
	drawing.stroke();
	return context.createPattern(tile, "repeat") ?? color;
}

/**
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 * @param {import("./trace.mjs").Gap} gap
 * @param {number} top
 * @param {number} height
 */
function drawGap(context, { theme }, { view, ratio, width }, gap, top, height) {
	if (gap.to < view.start || gap.from > view.end)
		return;
	const from = Math.max(-2, view.x(gap.from)),
		to = Math.max(from + 2 * ratio, Math.min(width + 2, view.x(gap.to)));
	const y = top * ratio, tall = (height - 1) * ratio;
	context.fillStyle = theme.css.lost;
	context.globalAlpha = 0.10;
	context.fillRect(from, y, to - from, tall);
	context.globalAlpha = 0.45;
	context.fillStyle = makeStripes(context, theme.css.lost, ratio);
	context.fillRect(from, y, to - from, tall);
	context.globalAlpha = 1;
}

/**
 * How many were dropped, where there is room for it.
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 * @param {import("./trace.mjs").Gap} gap
 * @param {number} y of the middle
 */
function drawGapText(context, { theme }, { view, ratio, width }, gap, y) {
	const from = Math.max(0, view.x(gap.from)), to = Math.min(width, view.x(gap.to));
	const text = gap.events ? `${formatCount(gap.events)} dropped` : "events dropped";
	context.font = `600 ${11 * ratio}px system-ui, sans-serif`;
	const wide = context.measureText(text).width + 10 * ratio;
	if (to - from < wide + 10 * ratio)
		return;
	const x = (from + to - wide) / 2, middle = y * ratio;
	context.fillStyle = theme.css.back;
	context.fillRect(x, middle - 8 * ratio, wide, 16 * ratio);
	context.fillStyle = theme.css.lost;
	context.textBaseline = "middle";
	context.fillText(text, x + 5 * ratio, middle);
}

/**
 * Marks below what is found.
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 * @param {import("./layout.mjs").Item} item
 * @param {number} top
 */
function drawHits(context, { search, theme }, { view, ratio, width }, item, top) {
	context.fillStyle = theme.css.hit;
	for (const { lane, depth, start, at } of search.hits) {
		if (lane !== item.lane || depth >= item.rows)
			continue;
		const y = (top + rowsTop(lane) + depth * SIZES.row + SIZES.row - 4) * ratio, { end } = lane.rows[depth];
		let place = firstThat(at.length, (one) => end[at[one]] > view.start);
		for (let drawn = 0; place < at.length && drawn < MOST_HITS; drawn++) {
			const x = view.x(start[at[place]]);
			if (x > width)
				break;
			const to = Math.max(x + 2 * ratio, view.x(end[at[place]]));
			context.fillRect(Math.max(0, x), y, Math.min(width, to) - Math.max(0, x), 3 * ratio);
			const next = view.time(to);
			place = Math.max(place + 1, firstThat(at.length, (one) => end[at[one]] > next));
		}
	}
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn @param {import("./painter.mjs").Names} names */
function drawNames(context, { trace, theme, search }, { ratio }, { placed, depth, y, wide }) {
	const { lane } = placed.item, row = /** @type {import("./trace.mjs").Lane} */ (lane).rows[depth];
	const middle = (y + (SIZES.row - 1) / 2) * ratio + 0.5;
	context.font = `${11 * ratio}px system-ui, sans-serif`;
	context.textBaseline = "middle";
	for (const { index, from, to } of wide) {
		if (row.flags[index] & UNENDED)
			drawOpenEnd(context, theme, ratio, from, to, y);
		const site = trace.sites[row.site[index]], text = row.text[index];
		context.fillStyle = search.isActive && !search.sites[row.site[index]] ? theme.css.muted : theme.css.ink;
		drawLabel(context, trace, { name: site.label, message: text ? trace.texts.get(text) : "",
			x: from + 4 * ratio, y: middle, room: to - from - 8 * ratio });
	}
}

/**
 * Names of the innermost functions, and of the profile, above its samples.
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 * @param {import("./painter.mjs").Names} names
 */
function drawFunctions(context, { trace, theme, search }, { ratio }, { placed, profile = 0, y, wide }) {
	const samples = placed.item.lane?.samples[profile], middle = (y + (SIZES.sample - 3) / 2) * ratio + 0.5;
	if (!samples)
		return;
	context.font = `${11 * ratio}px system-ui, sans-serif`;
	context.textBaseline = "middle";
	for (const { index, from, to } of wide) {
		const own = samples.site[index], isFaded = search.isActive && !search.functions[own];
		context.fillStyle = isFaded ? theme.css.muted : theme.css.ink;
		drawLabel(context, trace, { name: trace.stacks.functions[own], x: from + 4 * ratio, y: middle,
			room: to - from - 8 * ratio });
	}
}

/**
 * A name at x, or what of it there is room for; trace knows what it shares with others.
 * @param {Context} context
 * @param {import("./trace.mjs").Trace} trace
 * @param {{ name: string, message?: string, x: number, y: number, room: number }} label
 */
export function drawLabel(context, trace, { name, message = "", x, y, room }) {
	const text = message ? `${name} ${message}` : name, front = frontWith(name, message, trace.frontOf(name));
	context.fillText(cutLabel(text, front, room, (part) => widthOf(context, part)), x, y);
}

/** @type {Map<string, number>} */
const widths = new Map();

/** @param {Context} context @param {string} text */
function widthOf(context, text) {
	const key = context.font + text;
	let width = widths.get(key);
	if (width === undefined) {
		if (widths.size > 20000)
			widths.clear();
		width = context.measureText(text).width;
		widths.set(key, width);
	}
	return width;
}

/**
 * A region that nobody has seen to be left fades out in stripes.
 * @param {Context} context
 * @param {import("./dom.mjs").Theme} theme
 * @param {number} ratio
 * @param {number} from
 * @param {number} to
 * @param {number} y
 */
function drawOpenEnd(context, theme, ratio, from, to, y) {
	const length = Math.min(to - from, 160 * ratio), fade = context.createLinearGradient(to - length, 0, to, 0);
	fade.addColorStop(0, `${theme.css.back}00`);
	fade.addColorStop(1, theme.css.back);
	context.fillStyle = fade;
	context.fillRect(to - length, y * ratio, length, (SIZES.row - 1) * ratio);
	context.globalAlpha = 0.4;
	context.fillStyle = makeStripes(context, theme.css.warn, ratio);
	context.fillRect(from, y * ratio, to - from, (SIZES.row - 1) * ratio);
	context.globalAlpha = 1;
}

/**
 * Values as steps, from the least to the largest that is on the screen; where there are several in a pixel, the span
 * that they are in.
 * @param {Context} context
 * @param {Scene} scene
 * @param {Drawn} drawn
 * @param {import("./series.mjs").Series} series
 * @param {number} top
 */
function drawSeries(context, { theme }, { view, ratio, width }, series, top) {
	const first = Math.max(0, firstAbove(series.time, series.time.length, view.start) - 1);
	const behind = firstAbove(series.time, series.time.length, view.end);
	if (behind <= first)
		return;
	const { low, high } = series.spread(first, behind);
	const tall = (SIZES.series - 10) * ratio, base = Math.round((top + SIZES.series - 3) * ratio);
	const level = (/** @type {number} */ of) => base - (of - low) / (high - low || 1) * tall;
	context.fillStyle = theme.css.series;
	series.walk(first, view, (from, to, least, most, last) => {
		const x = Math.max(0, Math.floor(from)), wide = Math.min(width, Math.max(x + 1, Math.floor(to))) - x;
		context.globalAlpha = 0.2;
		context.fillRect(x, level(most), wide, base - level(most));
		context.globalAlpha = 0.85;
		context.fillRect(x, level(last) - ratio, wide, 1.5 * ratio);
		if (least < most) {
			context.globalAlpha = 0.45;
			context.fillRect(x, level(most) - ratio, 1, level(least) - level(most) + ratio);
		}
	});
	context.globalAlpha = 1;
	context.fillStyle = theme.css.muted;
	context.font = `${10 * ratio}px system-ui, sans-serif`;
	context.textBaseline = "top";
	const text = formatCount(high);
	context.fillText(text, width - context.measureText(text).width - 4 * ratio, (top + 3) * ratio);
}

/**
 * Where a region is on the canvas, if its lane is.
 * @param {Drawn} drawn
 * @param {import("./trace.mjs").Lane} lane
 * @param {number} depth
 */
function rowY({ scrolled, pinned }, lane, depth) {
	const id = laneId(lane), placed = [...pinned, ...scrolled].find(({ item }) => item.id === id);
	if (!placed)
		return null;
	return placed.top + rowsTop(lane) + Math.min(depth, Math.max(0, placed.item.rows - 1)) * SIZES.row;
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn */
function drawSelected(context, { selected, theme }, drawn) {
	const { view, ratio, width } = drawn;
	const y = selected && rowY(drawn, selected.lane, selected.depth);
	if (!selected || y === null)
		return;
	const row = selected.lane.rows[selected.depth];
	const from = Math.max(-4, view.x(row.start[selected.index]));
	const to = Math.max(from + 3 * ratio, Math.min(width + 4, view.x(row.end[selected.index])));
	context.lineWidth = 2 * ratio;
	context.strokeStyle = theme.css.text;
	context.strokeRect(from + ratio / 2, y * ratio - ratio / 2, to - from - ratio, (SIZES.row - 1) * ratio + ratio);
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn */
function drawSelectedSample(context, { sample, theme }, { view, ratio, width, pinned, scrolled }) {
	const placed = sample && [...pinned, ...scrolled].find(({ item }) => item.lane === sample.lane);
	const at = sample && placed ? placed.item.profiles.indexOf(sample.profile) : -1;
	const samples = sample?.lane.samples[sample.profile];
	if (!sample || !placed || !samples || at < 0)
		return;
	const y = placed.top + samplesTop(placed.item) + at * SIZES.sample + 1;
	const from = Math.max(-4, view.x(samples.start[sample.at]));
	const to = Math.max(from + 3 * ratio, Math.min(width + 4, view.x(samples.end[sample.at])));
	context.lineWidth = 2 * ratio;
	context.strokeStyle = theme.css.text;
	context.strokeRect(from - ratio / 2, y * ratio, to - from + ratio, (SIZES.sample - 2) * ratio);
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn */
function drawFlows(context, { trace, theme }, drawn) {
	const { view, ratio } = drawn;
	context.strokeStyle = context.fillStyle = theme.css.flow;
	context.lineWidth = 1.5 * ratio;
	let count = 0;
	for (const flow of trace.flows) {
		const fromY = rowY(drawn, flow.from, 0), toY = rowY(drawn, flow.to, 0);
		if (fromY === null || toY === null || flow.toTime < view.start || flow.fromTime > view.end)
			continue;
		if (++count > MOST_ARROWS)
			return;
		const x = view.x(flow.fromTime), y = (fromY - 4) * ratio, toX = view.x(flow.toTime),
			bottom = (toY - 2) * ratio;
		const bend = Math.max(24 * ratio, Math.abs(toX - x) / 2);
		context.beginPath();
		context.moveTo(x, y);
		context.bezierCurveTo(x + bend, y, toX - bend, bottom, toX, bottom);
		context.stroke();
		context.beginPath();
		context.moveTo(toX + 2 * ratio, bottom);
		context.lineTo(toX - 5 * ratio, bottom - 4 * ratio);
		context.lineTo(toX - 5 * ratio, bottom + 4 * ratio);
		context.fill();
	}
}

/** @param {Context} context @param {Scene} scene @param {Drawn} drawn */
function drawRange(context, { range, theme }, { view, width, height, ratio }) {
	if (!range)
		return;
	const from = Math.max(0, view.x(range.start)), to = Math.min(width, view.x(range.end));
	context.fillStyle = theme.css.muted;
	context.globalAlpha = 0.16;
	context.fillRect(0, 0, from, height);
	context.fillRect(to, 0, width - to, height);
	context.globalAlpha = 1;
	context.fillStyle = theme.css.accent;
	for (const x of [from, to])
		context.fillRect(x - ratio / 2, 0, ratio, height);
}
