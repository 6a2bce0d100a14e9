// SPDX-License-Identifier: MIT
/** Which time is shown where: the part of the trace that is on the screen, its ticks, and times as text. */

const MIN_SPAN = 10;
/** Names of units, and how many nanoseconds each is. @type {[string, number][]} */
const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

/** The times from start to end on so many pixels. */
export class View {
	/**
	 * @param {number} start
	 * @param {number} end
	 * @param {number} width
	 */
	constructor(start, end, width) {
		this.start = start;
		this.end = end;
		this.width = width;
	}

	get span() {
		return this.end - this.start;
	}

	get nsPerPixel() {
		return this.span / this.width;
	}

	/** @param {number} time */
	x(time) {
		return (time - this.start) / this.span * this.width;
	}

	/** @param {number} x */
	time(x) {
		return this.start + x / this.width * this.span;
	}

	/**
	 * @param {number} factor below 1: closer
	 * @param {number} time that stays where it is
	 * @param {{ start: number, end: number }} bounds
	 */
	zoomed(factor, time, bounds) {
		const span = Math.max(MIN_SPAN, Math.min(this.span * factor, limit(bounds)));
		const start = time - (time - this.start) * (span / this.span);
		return new View(start, start + span, this.width).within(bounds);
	}

	/**
	 * @param {number} ns
	 * @param {{ start: number, end: number }} bounds
	 */
	moved(ns, bounds) {
		return new View(this.start + ns, this.end + ns, this.width).within(bounds);
	}

	/**
	 * The same, with at least a little of the bounds in it.
	 * @param {{ start: number, end: number }} bounds
	 */
	within(bounds) {
		const span = Math.min(this.span, limit(bounds)), edge = Math.min(span, bounds.end - bounds.start) / 2;
		const start = Math.max(bounds.start - edge, Math.min(this.start, bounds.end + edge - span));
		return new View(start, start + span, this.width);
	}
}

/** @param {{ start: number, end: number }} bounds */
function limit(bounds) {
	return Math.max(MIN_SPAN, (bounds.end - bounds.start) * 1.2);
}

/**
 * Round times since an origin, about so many pixels from each other.
 * @param {View} view
 * @param {number} distance
 * @param {number} origin
 * @returns {{ step: number, times: number[] }}
 */
export function ticks(view, distance, origin) {
	const least = view.nsPerPixel * distance, power = 10 ** Math.floor(Math.log10(least));
	const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= least) ?? 10 * power;
	const times = [];
	for (let count = Math.ceil((view.start - origin) / step); origin + count * step <= view.end; count++)
		times.push(origin + count * step);
	return { step, times };
}

/**
 * A duration with three or more digits that count: "1.25 ms".
 * @param {number} ns
 */
export function formatDuration(ns) {
	if (!Number.isFinite(ns))
		return "–";
	const size = Math.abs(ns);
	const [unit, factor] = UNITS.find(([, least]) => size >= least) ?? UNITS[3];
	const value = ns / factor, whole = Math.abs(value);
	const digits = unit === "ns" ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
	return `${value.toFixed(digits)} ${unit}`;
}

/**
 * A time of the ruler, as exact as its step asks for.
 * @param {number} ns
 * @param {number} step
 */
export function formatTick(ns, step) {
	const [unit, factor] = UNITS.find(([, least]) => Math.max(Math.abs(ns), step) >= least) ?? UNITS[3];
	const digits = Math.max(0, Math.ceil(Math.log10(factor / step) - 1e-9));
	return `${(ns / factor).toFixed(digits)} ${unit}`;
}

/**
 * The time of the day at a time of the trace, with nanoseconds.
 * @param {bigint} epoch
 * @param {number} ns
 * @param {number} utcoff seconds
 */
export function formatClock(epoch, ns, utcoff) {
	const at = epoch + BigInt(Math.round(ns)) + BigInt(utcoff) * 1000000000n;
	const date = new Date(Number(at / 1000000n));
	const fraction = (at % 1000000000n).toString().padStart(9, "0");
	return `${date.toISOString().slice(0, 19).replace("T", " ")}.${fraction}`;
}

/** Made once: that takes longer than all numbers of a page. */
const NUMBERS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/** @param {number} count */
export function formatCount(count) {
	return NUMBERS.format(count);
}

/** @type {[string, number][]} */
const LARGE = [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]];

/** In at most five characters: "56.2k". @param {number} count */
export function formatShort(count) {
	const [unit, factor] = LARGE.find(([, least]) => count >= least) ?? LARGE[3], value = count / factor;
	return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** "1.50 MiB". @param {number} bytes */
export function formatBytes(bytes) {
	const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
	const value = bytes / 1024 ** power;
	return power ? `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${"KMGT"[power - 1]}iB`
		: `${Math.round(value)} B`;
}

/** "1 thread", "3 processes". @param {number} count @param {string} what */
export function plural(count, what) {
	return `${formatCount(count)} ${what}${count === 1 ? "" : what.endsWith("s") ? "es" : "s"}`;
}
