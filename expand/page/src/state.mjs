// SPDX-License-Identifier: MIT
/** What is on the screen as the part of an address behind the #, so that a link or a reload shows the same again. */

/**
 * @typedef {object} State
 * @property {string} tab "timeline", "statistics", "flame", "profile"
 * @property {[number, number] | null} view
 * @property {[number, number] | null} range
 * @property {[number, number, number] | null} region lane, depth, index
 * @property {string} profile "cpu", ...; "": the first one
 * @property {number} thread lane whose samples are shown; -1: all
 * @property {string} query
 * @property {string} theme "light", "dark", "": as the system has it
 * @property {string[]} pinned
 * @property {string[]} folded
 * @property {string[]} order
 * @property {boolean} isGrouped
 * @property {number} top how far the lanes are scrolled
 */

/** @returns {State} */
export function emptyState() {
	return {
		tab: "timeline", view: null, range: null, region: null, profile: "", thread: -1, query: "", theme: "",
		pinned: [], folded: [], order: [], isGrouped: false, top: 0,
	};
}

/** @param {State} state */
export function writeHash(state) {
	const words = new URLSearchParams();
	const put = (/** @type {string} */ key, /** @type {string} */ value) => value && words.set(key, value);
	put("tab", state.tab === "timeline" ? "" : state.tab);
	put("view", state.view ? state.view.map(Math.round).join("-") : "");
	put("range", state.range ? state.range.map(Math.round).join("-") : "");
	put("region", state.region ? state.region.join("-") : "");
	put("profile", state.profile);
	put("thread", state.thread < 0 ? "" : String(state.thread));
	put("q", state.query);
	put("theme", state.theme);
	put("pin", state.pinned.join(" "));
	put("fold", state.folded.join(" "));
	put("order", state.order.join(" "));
	put("group", state.isGrouped ? "program" : "");
	put("top", state.top > 0 ? String(Math.round(state.top)) : "");
	return words.toString();
}

/**
 * @param {string} hash with or without #; what is wrong in it is left out
 * @returns {State}
 */
export function readHash(hash) {
	const words = new URLSearchParams(hash.replace(/^#/, ""));
	const get = (/** @type {string} */ key) => words.get(key) ?? "";
	const list = (/** @type {string} */ key) => get(key).split(" ").filter((id) => /^[gpst][\d.]+$/.test(id));
	const pair = (/** @type {string} */ key) => {
		const numbers = readNumbers(get(key), 2);
		return numbers && numbers[0] < numbers[1] ? numbers : null;
	};
	return {
		tab: ["statistics", "flame", "profile"].includes(get("tab")) ? get("tab") : "timeline",
		view: /** @type {any} */ (pair("view")), range: /** @type {any} */ (pair("range")),
		region: /** @type {any} */ (readNumbers(get("region"), 3)),
		profile: get("profile"), thread: /^\d+$/.test(get("thread")) ? Number(get("thread")) : -1,
		query: get("q"), theme: ["light", "dark"].includes(get("theme")) ? get("theme") : "",
		pinned: list("pin"), folded: list("fold"), order: list("order"),
		isGrouped: get("group") === "program", top: /^\d+$/.test(get("top")) ? Number(get("top")) : 0,
	};
}

/**
 * Numbers with - between them; each may have a - of its own.
 * @param {string} text
 * @param {number} count
 */
function readNumbers(text, count) {
	const numbers = text.match(/^(-?\d+)-(-?\d+)(?:-(-?\d+))?$/)?.slice(1, count + 1).map(Number);
	return numbers?.length === count && numbers.every(Number.isFinite) ? numbers : null;
}
