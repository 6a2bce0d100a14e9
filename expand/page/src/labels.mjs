// SPDX-License-Identifier: MIT
/**
 * What of a name is shown where it does not fit: what tells it from others.  Names of a program often begin alike,
 * ZSTD_compress and ZSTD_decompress: these become "…_compress" and "…_decomp…", and not both "ZST…".
 */

/** Shorter ones are not left out: the dots take their place. */
const LEAST_FRONT = 3;
/** Letters between dots that say something; and in front of them. */
const LEAST_OWN = 2;
/** Longer texts are not measured. */
const MOST_LETTERS = 300;

/** Behind these a name has parameters, or what a compiler adds. */
const ADDED = /\(|\.(?:part|constprop|isra|cold|lto_priv)\b/;
const SEPARATOR = /[_.:/+\s-]/, LEADING = /^[_.:/+\s-]+(?:0x)?/;
/** A message that is one, without blanks: its last part distinguishes it. */
const PATH = /^\S*\/[^\s/]+\/?$/;

/** How many letters two names have in common, from the first. @param {string} a @param {string} b */
function common(a, b) {
	const most = Math.min(a.length, b.length);
	let at = 0;
	while (at < most && a[at] === b[at])
		at++;
	return at;
}

/** Whether a word of a name ends in front of this letter. @param {string} name @param {number} at */
function isBorder(name, at) {
	const before = name[at - 1], letter = name[at];
	if (SEPARATOR.test(letter))
		return !SEPARATOR.test(before);
	return /\p{Lu}/u.test(letter) && /\p{Ll}/u.test(before);
}

/**
 * How long the front of each name is that another one has, too: whole words, and never the last one.
 * @param {string[]} names
 * @returns {Map<string, number>} without those that share nothing
 */
export function sharedFronts(names) {
	const sorted = [...new Set(names)].sort(), fronts = new Map();
	for (const [at, name] of sorted.entries()) {
		const shared = Math.max(common(name, sorted[at - 1] ?? ""), common(name, sorted[at + 1] ?? ""));
		const added = name.search(ADDED), own = added < 0 ? name.length : added;
		let front = Math.min(shared, own - 2);
		while (front >= LEAST_FRONT && !isBorder(name, front))
			front--;
		if (front >= LEAST_FRONT)
			fronts.set(name, front);
	}
	return fronts;
}

/**
 * How much of a name and its message others have, too.
 * @param {string} name
 * @param {string} message
 * @param {number} front of the name
 */
export function frontWith(name, message, front) {
	return PATH.test(message) ? name.length + 1 + message.lastIndexOf("/", message.length - 2) : front;
}

/**
 * As much of a text as there is room for.
 * @param {string} text
 * @param {number} front how many of its letters others share: they are the first to go
 * @param {number} room
 * @param {(text: string) => number} widthOf
 * @returns {string} "": there is no room for anything
 */
export function cutLabel(text, front, room, widthOf) {
	const clean = text.length > MOST_LETTERS ? text.slice(0, MOST_LETTERS) : text, width = widthOf(clean);
	if (width <= room)
		return clean;
	const letters = Math.floor(clean.length * room / width);
	/** How many letters, at most most, have room. @param {number} most @param {(n: number) => string} make */
	const longest = (most, make) => {
		let n = most;
		while (n > 0 && widthOf(make(n)) > room)
			n--;
		return Math.max(0, n);
	};
	if (front >= LEAST_FRONT) {
		const own = clean.slice(front), make = (/** @type {number} */ n) => `${clean.slice(0, n)}…${own}`;
		if (widthOf(make(0)) <= room) {
			const n = longest(Math.min(front - 1, letters - own.length), make);
			return make(n < LEAST_OWN ? 0 : n);
		}
		const word = own.replace(LEADING, "");
		const between = (/** @type {number} */ n) => `…${word.slice(0, n)}…`;
		if (widthOf(`…${word}`) <= room)
			return `…${word}`;
		const n = longest(Math.min(word.length - 1, letters), between);
		if (n >= LEAST_OWN)
			return between(n);
	}
	const head = longest(Math.min(clean.length - 1, letters), (n) => `${clean.slice(0, n)}…`);
	return head ? `${clean.slice(0, head)}…` : "";
}
