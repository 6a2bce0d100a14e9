// SPDX-License-Identifier: MIT
/**
 * A flame graph on a canvas of its own: the outermost function at the top, each as wide as its share.  A click looks at
 * one of them, on the whole width; a click on what is around it goes back.
 */
import { byId, fitCanvas, make } from "./dom.mjs";
import { drawLabel } from "./overlay.mjs";
import { layOut } from "./profiles.mjs";

const ROW = 19;
/** Narrower frames are not drawn, in pixels; narrower ones have no name. */
const LEAST = 0.4, LEAST_NAMED = 24;

/** @typedef {import("./profiles.mjs").Tree} Tree */
/** @typedef {import("./profiles.mjs").Frame} Frame */
/**
 * @typedef {object} Shown what is drawn, and how
 * @property {Tree} tree
 * @property {number} focus the node that is looked at
 * @property {string} title of all
 * @property {import("./trace.mjs").Trace} trace
 * @property {string[]} colors of functions
 * @property {boolean[] | null} marked by function; null: all are
 * @property {import("./dom.mjs").Theme} theme
 */

export class FlameGraph {
	/** @type {Frame[][]} */
	frames = [];
	/** @type {Frame | null} */
	hovered = null;
	/** @type {Shown | null} */
	shown = null;

	/**
	 * @param {(node: number) => void} choose when a frame is clicked
	 * @param {(node: number) => (Node | string)[]} describe what the box beside the pointer says
	 */
	constructor(choose, describe) {
		this.describe = describe;
		this.canvas = make("canvas", { role: "img", "aria-label": "Flame graph" });
		this.element = make("div.graph", {}, this.canvas);
		this.canvas.onclick = (/** @type {MouseEvent} */ event) => {
			const found = this.find(event);
			if (found)
				choose(found.node);
		};
		this.canvas.onpointermove = (/** @type {PointerEvent} */ event) => this.hover(event);
		this.canvas.onpointerleave = () => this.hover(null);
		new ResizeObserver(() => this.show()).observe(this.element);
	}

	/** @param {Shown | null} [shown] what is shown from now on */
	show(shown = this.shown) {
		this.shown = shown;
		const width = this.element.clientWidth;
		if (!shown || !width)
			return;
		this.frames = layOut(shown.tree, shown.focus, LEAST / width);
		this.canvas.style.height = `${this.frames.length * ROW + 1}px`;
		this.draw();
	}

	draw() {
		const { shown } = this;
		if (!shown)
			return;
		const { width, height, ratio } = fitCanvas(this.canvas);
		const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
		context.clearRect(0, 0, width, height);
		context.font = `${11.5 * ratio}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		this.frames.forEach((row, depth) => row.forEach((frame) =>
			this.drawFrame(context, frame, depth * ROW * ratio, width, ratio, shown)));
	}

	/**
	 * @param {CanvasRenderingContext2D} context
	 * @param {Frame} frame
	 * @param {number} y
	 * @param {number} width
	 * @param {number} ratio
	 * @param {Shown} shown
	 */
	drawFrame(context, frame, y, width, ratio, { tree, focus, title, trace, colors, marked, theme }) {
		const { node, from, to } = frame, own = tree.function[node], tall = (ROW - 1) * ratio;
		const left = Math.round(from * width), right = Math.max(left + 1, Math.round(to * width) - ratio);
		const isFaded = node > 0 && marked !== null && !marked[own];
		const isAround = node < focus && from === 0 && to === 1;
		context.fillStyle = node ? colors[own] : theme.css.line;
		context.globalAlpha = isFaded ? 0.22 : isAround && node ? 0.5 : 1;
		context.fillRect(left, y, right - left, tall);
		if (frame === this.hovered) {
			context.strokeStyle = theme.css.text;
			context.lineWidth = 1.5 * ratio;
			context.globalAlpha = 1;
			context.strokeRect(left + ratio / 2, y + ratio / 2, right - left - ratio, tall - ratio);
		}
		context.globalAlpha = isFaded ? 0.6 : 1;
		if (right - left >= LEAST_NAMED * ratio) {
			context.fillStyle = theme.css.ink;
			drawLabel(context, trace, { name: node ? trace.stacks.functions[own] : title,
				x: left + 4 * ratio, y: y + tall / 2 + 0.5, room: right - left - 8 * ratio });
		}
		context.globalAlpha = 1;
	}

	/** @param {MouseEvent} event @returns {Frame | null} */
	find({ offsetX, offsetY }) {
		const at = offsetX / this.canvas.clientWidth;
		return this.frames[Math.floor(offsetY / ROW)]?.find(({ from, to }) => from <= at && at < to) ?? null;
	}

	/** @param {PointerEvent | null} event */
	hover(event) {
		const found = event && this.find(event), tip = byId("tip");
		tip.hidden = !found;
		if (found !== this.hovered) {
			this.hovered = found;
			this.canvas.style.cursor = found ? "pointer" : "default";
			this.draw();
		}
		if (!event || !found)
			return;
		tip.replaceChildren(...this.describe(found.node));
		const below = event.clientY + 18, above = event.clientY - tip.offsetHeight - 10;
		tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : above}px`;
	}
}
