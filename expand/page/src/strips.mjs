// SPDX-License-Identifier: MIT
/** The two strips above the lanes: the overview of the whole trace, and the ruler. */
import { fitCanvas } from "./dom.mjs";
import { addActivity } from "./raster.mjs";
import { View, formatDuration, formatTick, ticks } from "./scale.mjs";

/** @typedef {import("./painter.mjs").Scene} Scene */

export class Minimap {
	/** @param {HTMLCanvasElement} canvas */
	constructor(canvas) {
		this.canvas = canvas;
		this.activity = new Float32Array(0);
	}

	/** The whole trace, on the width of the strip. @param {Scene} scene */
	whole({ trace }) {
		return new View(trace.start, trace.end, this.canvas.clientWidth);
	}

	/** @param {Scene} scene */
	paint(scene) {
		const { width, height, ratio } = fitCanvas(this.canvas), { theme, trace, view } = scene;
		const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
		const whole = new View(trace.start, trace.end, width);
		if (this.activity.length !== width) {
			this.activity = new Float32Array(width);
			for (const lane of trace.lanes)
				addActivity(lane, whole, this.activity);
		}
		context.clearRect(0, 0, width, height);
		const most = this.activity.reduce((a, b) => Math.max(a, b), 0.01), room = height - 8 * ratio;
		context.fillStyle = theme.css.accent;
		context.globalAlpha = 0.55;
		this.activity.forEach((busy, x) => context.fillRect(x, height - busy / most * room - 2, 1,
			busy / most * room));
		context.globalAlpha = 1;
		this.paintMarks(context, scene, whole, ratio, height);
		const from = whole.x(view.start), to = Math.max(from + 2 * ratio, whole.x(view.end));
		context.fillStyle = theme.css.muted;
		context.globalAlpha = 0.25;
		context.fillRect(0, 0, from, height);
		context.fillRect(to, 0, width - to, height);
		context.globalAlpha = 1;
		context.strokeStyle = theme.css.accent;
		context.lineWidth = 1.5 * ratio;
		context.strokeRect(Math.max(1, from), 1, Math.min(width - 1, to) - Math.max(1, from), height - 3);
	}

	/**
	 * Where events were dropped, and what was found.
	 * @param {CanvasRenderingContext2D} context
	 * @param {Scene} scene
	 * @param {View} whole
	 * @param {number} ratio
	 * @param {number} height
	 */
	paintMarks(context, { trace, theme, search }, whole, ratio, height) {
		context.fillStyle = theme.css.lost;
		for (const { gaps } of trace.lanes)
			for (const { from, to } of gaps)
				context.fillRect(whole.x(from), 0, Math.max(2 * ratio, whole.x(to) - whole.x(from)),
					4 * ratio);
		context.fillStyle = theme.css.hit;
		for (const { start, at } of search.hits)
			for (let i = 0, step = Math.max(1, at.length / 3000 | 0); i < at.length; i += step)
				context.fillRect(whole.x(start[at[i]]), height - 5 * ratio, Math.max(1, ratio),
					4 * ratio);
	}
}

export class Ruler {
	/** @param {HTMLCanvasElement} canvas */
	constructor(canvas) {
		this.canvas = canvas;
	}

	/** @param {Scene} scene */
	paint({ view, theme, trace, range }) {
		const { width, height, ratio } = fitCanvas(this.canvas);
		const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
		const own = new View(view.start, view.end, width);
		const { step, times } = ticks(own, 110 * ratio, trace.start);
		context.clearRect(0, 0, width, height);
		context.font = `${11 * ratio}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		context.fillStyle = theme.css.muted;
		for (const minor of ticks(own, 22 * ratio, trace.start).times)
			context.fillRect(Math.round(own.x(minor)), height - 4 * ratio, 1, 4 * ratio);
		for (const time of times) {
			const x = Math.round(own.x(time));
			context.fillRect(x, height - 9 * ratio, 1, 9 * ratio);
			const text = formatTick(time - trace.start, step), from = x + 4 * ratio;
			if (from + context.measureText(text).width <= width)
				context.fillText(text, from, height / 2 - ratio);
		}
		if (range)
			paintRange(context, own, range, theme, ratio, height);
	}
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 * @param {{ start: number, end: number }} range
 * @param {import("./dom.mjs").Theme} theme
 * @param {number} ratio
 * @param {number} height
 */
function paintRange(context, view, range, theme, ratio, height) {
	const from = view.x(range.start), to = view.x(range.end), text = formatDuration(range.end - range.start);
	context.fillStyle = theme.css.accent;
	context.globalAlpha = 0.18;
	context.fillRect(from, 0, to - from, height);
	context.globalAlpha = 1;
	const wide = context.measureText(text).width + 12 * ratio, x = (from + to - wide) / 2;
	context.fillRect(x, 3 * ratio, wide, height - 7 * ratio);
	context.fillStyle = theme.css.back;
	context.fillText(text, x + 6 * ratio, height / 2);
}
