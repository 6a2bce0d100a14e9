// SPDX-License-Identifier: MIT
/**
 * Paints the lanes.  Rows are put together as pixels, one line each, which takes the same time whatever the
 * canvas is made with; what there is little of, such as names and arrows, is drawn above them (overlay.mjs).
 */
import { fitCanvas } from "./dom.mjs";
import { SIZES, rowsTop, samplesTop } from "./layout.mjs";
import { drawOverlay } from "./overlay.mjs";
import { paintRow } from "./raster.mjs";
import { View } from "./scale.mjs";
import { firstAbove } from "./columns.mjs";

/** Narrower regions get no name. */
const LEAST_NAMED = 26;
/** What does not last is so wide. */
const TICK = 1.5;

/**
 * @typedef {object} Scene
 * @property {import("./trace.mjs").Trace} trace
 * @property {import("./layout.mjs").Layout} layout
 * @property {View} view in pixels of the page
 * @property {number} scroll
 * @property {import("./colors.mjs").Palette} palette
 * @property {import("./dom.mjs").Theme} theme
 * @property {import("./search.mjs").Search} search
 * @property {import("./trace.mjs").Region | null} selected
 * @property {import("./app.mjs").SamplePlace | null} sample
 * @property {{ start: number, end: number } | null} range
 */
/** An item and its top on the canvas. @typedef {{ item: import("./layout.mjs").Item, top: number }} Placed */
/**
 * Regions with room for a name, in a row at y; or samples of a profile.
 * @typedef {{ placed: Placed, depth: number, profile?: number, y: number, wide: import("./raster.mjs").Wide[] }} Names
 */

export class Painter {
	/** @param {HTMLCanvasElement} canvas */
	constructor(canvas) {
		this.canvas = canvas;
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
		this.image = new ImageData(1, 1);
		this.words = new Uint32Array(this.image.data.buffer);
		this.line = new Uint32Array(1);
		this.view = new View(0, 1, 1);
		this.ratio = 1;
	}

	/** @param {Scene} scene */
	paint(scene) {
		const { width, height, ratio } = fitCanvas(this.canvas);
		if (this.image.width !== width || this.image.height !== height) {
			this.image = new ImageData(width, height);
			this.words = new Uint32Array(this.image.data.buffer);
			this.line = new Uint32Array(width);
		}
		this.words.fill(scene.theme.words.back);
		this.view = new View(scene.view.start, scene.view.end, width);
		this.ratio = ratio;
		const { layout, scroll } = scene, edge = layout.pinnedHeight;
		const scrolled = layout.visible(scroll, scroll + height / ratio - edge)
			.map((item) => ({ item, top: item.y + edge - scroll }));
		const pinned = layout.pinned.map((item) => ({ item, top: item.y }));
		/** @type {Names[]} */
		const names = [];
		for (const placed of scrolled)
			this.paintItem(scene, placed, edge, height / ratio, names);
		for (const placed of pinned)
			this.paintItem(scene, placed, 0, edge, names);
		this.context.putImageData(this.image, 0, 0);
		drawOverlay(this.context, scene,
			{ view: this.view, ratio, width, height, edge, scrolled, pinned, names });
	}

	/**
	 * @param {Scene} scene
	 * @param {Placed} placed
	 * @param {number} from what is above is not painted, nor what is below to
	 * @param {number} to
	 * @param {Names[]} names what is painted that has room for one
	 */
	paintItem(scene, placed, from, to, names) {
		const { item, top } = placed, { words } = scene.theme;
		if (item.kind === "process" || item.kind === "program")
			this.fill(words["accent-soft"], top, top + item.height, from, to);
		const { lane } = item;
		if (lane) {
			this.paintPoints(scene, lane, top + 2, from, to);
			const colors = scene.search.isActive ? this.dimmed(scene) : scene.palette.names;
			for (let depth = 0; depth < item.rows; depth++) {
				const y = top + rowsTop(lane) + depth * SIZES.row;
				if (y + SIZES.row < from || y > to)
					continue;
				const wide = paintRow(lane.rows[depth], this.view, this.line, colors, words.back,
					LEAST_NAMED * this.ratio);
				this.copy(y, y + SIZES.row - 1, from, to);
				if (wide.length)
					names.push({ placed, depth, y, wide });
			}
			this.paintSamples(scene, placed, from, to, names);
		}
		this.fill(words.line, top + item.height - 1, top + item.height, from, to);
	}

	/**
	 * @param {Scene} scene
	 * @param {Placed} placed
	 * @param {number} from
	 * @param {number} to
	 * @param {Names[]} names
	 */
	paintSamples(scene, placed, from, to, names) {
		const { item, top } = placed, lane = /** @type {import("./trace.mjs").Lane} */ (item.lane);
		const { search, palette } = scene;
		const colors = search.isActive ? search.colorFunctions(palette) : palette.functions;
		for (const [at, profile] of item.profiles.entries()) {
			const y = top + samplesTop(item) + at * SIZES.sample + 2, samples = lane.samples[profile];
			if (!samples || y + SIZES.sample < from || y > to)
				continue;
			const wide = paintRow(samples, this.view, this.line, colors, scene.theme.words.panel,
				LEAST_NAMED * this.ratio, TICK * this.ratio);
			this.copy(y, y + SIZES.sample - 3, from, to);
			names.push({ placed, depth: -1, profile, y, wide });
		}
	}

	/** Colours while something is looked for. @param {Scene} scene */
	dimmed({ palette, search }) {
		return palette.names.map((word, site) => search.sites[site] ? word : palette.faded[site]);
	}

	/**
	 * Points as ticks above the rows; errors stand out.
	 * @param {Scene} scene
	 * @param {import("./trace.mjs").Lane} lane
	 * @param {number} y
	 * @param {number} from
	 * @param {number} to
	 */
	paintPoints({ trace, theme, palette }, { points }, y, from, to) {
		const { view } = this, { words } = theme;
		if (!points.length)
			return;
		this.line.fill(words.back);
		for (let at = firstAbove(points.time, points.length, view.start - view.nsPerPixel);
			at < points.length;) {
			const x = view.x(points.time[at]) | 0, next = view.time(x + 1);
			if (x >= this.line.length)
				break;
			const { kind } = trace.sites[points.site[at]], isError = kind === "error" || kind === "signal";
			const color = isError ? words.lost : kind.startsWith("child") ? words.flow
				: palette.names[points.site[at]];
			this.line.fill(color, Math.max(0, x), x + Math.max(1, Math.round(this.ratio * 1.5)));
			at = next > points.time[at] ? firstAbove(points.time, points.length, next) : at + 1;
		}
		this.copy(y, y + SIZES.points - 2, from, to);
	}

	/**
	 * Calls put with the first word of each line of pixels.
	 * @param {number} top
	 * @param {number} bottom
	 * @param {number} from
	 * @param {number} to
	 * @param {(at: number) => void} put
	 */
	eachLine(top, bottom, from, to, put) {
		const { ratio, line, image } = this,
			last = Math.min(image.height, Math.round(Math.min(bottom, to) * ratio));
		for (let y = Math.max(0, Math.round(Math.max(top, from) * ratio)); y < last; y++)
			put(y * line.length);
	}

	/** The line as it is now. @param {number} top @param {number} bottom @param {number} from @param {number} to */
	copy(top, bottom, from, to) {
		this.eachLine(top, bottom, from, to, (at) => this.words.set(this.line, at));
	}

	/** @param {number} word @param {number} top @param {number} bottom @param {number} from @param {number} to */
	fill(word, top, bottom, from, to) {
		this.eachLine(top, bottom, from, to, (at) => this.words.fill(word, at, at + this.line.length));
	}
}
