// SPDX-License-Identifier: MIT
/**
 * A colour for each name, the same in every trace: category and label choose the hue, the category how strong it is.
 * Colours are CSS text, or words of four bytes as an ImageData has them (on machines with the low byte first).
 */

/** Hues that stay apart from each other beside each other. */
const HUES = [212, 152, 28, 268, 188, 340, 96, 48, 234, 12, 172, 300];

/**
 * By site, and functions by their numbers.
 * @typedef {{ names: Uint32Array, css: string[], faded: Uint32Array, functions: Uint32Array,
 *    functionsCss: string[], background: number }} Palette
 */
/** @typedef {[number, number, number]} Rgb */

/** @param {string} text */
function hash(text) {
	let value = 2166136261;
	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	return (value ^ value >>> 15) >>> 0;
}

/**
 * @param {number} hue degrees
 * @param {number} saturation 0 to 1
 * @param {number} lightness 0 to 1
 * @returns {Rgb}
 */
function fromHsl(hue, saturation, lightness) {
	const reach = saturation * Math.min(lightness, 1 - lightness);
	const channel = (/** @type {number} */ n) => {
		const k = (n + hue / 30) % 12;
		return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return [channel(0), channel(8), channel(4)];
}

/** @param {Rgb} rgb */
export function toWord([red, green, blue]) {
	return (0xff000000 | blue << 16 | green << 8 | red) >>> 0;
}

/**
 * @param {number} one
 * @param {number} other
 * @param {number} part of the other, 0 to 1
 */
export function mix(one, other, part) {
	const of = 256 * part | 0, rest = 256 - of;
	const redBlue = ((one & 0xff00ff) * rest + (other & 0xff00ff) * of) / 256 & 0xff00ff;
	const green = ((one & 0xff00) * rest + (other & 0xff00) * of) / 256 & 0xff00;
	return (0xff000000 | redBlue | green) >>> 0;
}

/** @param {string} css "#rrggbb" */
export function parseColor(css) {
	const value = parseInt(css.trim().slice(1), 16);
	return toWord([value >> 16, value >> 8 & 255, value & 255]);
}

/**
 * @param {import("./trace.mjs").Name} name
 * @param {boolean} isDark
 * @returns {Rgb}
 */
export function colorOf({ category, label }, isDark) {
	const value = hash(`${category}/${label}`), hue = HUES[value % HUES.length], strong = hash(category) % 5 / 40;
	const turn = (value >>> 8) % 25 - 12, light = (value >>> 16) % 7 / 100;
	return isDark ? fromHsl((hue + turn + 360) % 360, 0.38 + strong, 0.40 + light)
		: fromHsl((hue + turn + 360) % 360, 0.56 + strong, 0.70 + light);
}

/**
 * Functions are warm, to tell them from regions; code that nobody has a name for is grey.
 * @param {string} name
 * @param {boolean} isDark
 * @returns {Rgb}
 */
export function colorOfFunction(name, isDark) {
	const value = hash(name), hue = (345 + value % 76) % 360, light = (value >>> 8) % 9 / 100;
	if (/^\(|^(.*\+)?0x[0-9a-f]+$/.test(name))
		return isDark ? fromHsl(220, 0.06, 0.34 + light / 2) : fromHsl(220, 0.10, 0.80 + light / 2);
	return isDark ? fromHsl(hue, 0.46, 0.38 + light) : fromHsl(hue, 0.82, 0.70 + light);
}

/** @param {Rgb} rgb */
const toCss = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

/**
 * @param {import("./trace.mjs").Trace} trace
 * @param {boolean} isDark
 * @param {number} background
 * @returns {Palette}
 */
export function makePalette(trace, isDark, background) {
	const colors = trace.sites.map((site) => colorOf(site, isDark));
	const names = Uint32Array.from(colors, toWord);
	const functions = trace.stacks.functions.map((name) => colorOfFunction(name, isDark));
	return {
		names, background,
		css: colors.map(toCss),
		functions: Uint32Array.from(functions, toWord), functionsCss: functions.map(toCss),
		faded: names.map((word) => mix(background, word, 0.22)),
	};
}
