// SPDX-License-Identifier: MIT
/** The keyboard: a key that is held moves the view smoothly, one that is pressed acts once. */
import { byId, make } from "./dom.mjs";
import { goInner, goNeighbour, goOuter, goSameName } from "./walk.mjs";

/** @typedef {import("./app.mjs").App} App */

/** A whole zoom by e, or a pan by the width of the screen, in so many ms. */
const ZOOM_MS = 420, PAN_MS = 900;
const HELD = new Set(["w", "a", "s", "d"]);
/** A tap moves the view for so long, however short it was; a frame for so long at most. */
const TAP_MS = 70, FRAME_MS = 50;

const HELP = [
	["W S", "zoom in, out; so does the wheel"],
	["A D", "move left, right; so do dragging and Shift+wheel"],
	["Alt+wheel", "scroll the lanes; so do the column on the left, Page Up, Page Down"],
	["Shift+drag", "select a range and sum it up; so does dragging on the ruler"],
	["click", "details of a region; double click or F: fit it to the screen"],
	["← → ↑ ↓", "previous, next, outer, inner region"],
	["[ ]", "previous, next region of the same name"],
	["C", "fold all processes, or unfold them"],
	["G", "processes below their programs"],
	["M", "make the selected region the range"],
	["/", "search; Enter and Shift+Enter: next, previous"],
	["0", "the whole trace"],
	["1 2 3 4", "timeline, statistics, flame graph, profile"],
	["I", "profile: callers or callees"],
	["T", "light or dark"],
	["Esc", "select nothing"],
];

/**
 * For how long each key moves the view in a frame.  The time of a frame may lie before that of the key that began it:
 * no frame moves backwards.
 */
export class Motion {
	/** By key: whether it is down, and for how many ms a tap still has to move. @type {Map<string, Held>} */
	held = new Map();
	last = 0;

	get isOver() {
		return !this.held.size;
	}

	/** @param {string} key @param {number} now */
	press(key, now) {
		if (this.isOver)
			this.last = now;
		if (!this.held.get(key)?.isDown)
			this.held.set(key, { isDown: true, owed: TAP_MS });
	}

	/** @param {string} key */
	release(key) {
		const held = this.held.get(key);
		if (held)
			held.isDown = false;
	}

	/** Another key decides what is shown. */
	clear() {
		this.held.clear();
	}

	/** @param {number} now @returns {Record<string, number>} ms of each key */
	step(now) {
		const ms = Math.max(0, Math.min(FRAME_MS, now - this.last));
		/** @type {Record<string, number>} */
		const moved = {};
		this.last = Math.max(this.last, now);
		for (const [key, held] of this.held) {
			moved[key] = held.isDown ? ms : Math.min(ms, held.owed);
			held.owed = Math.max(0, held.owed - ms);
			if (!held.isDown && !held.owed)
				this.held.delete(key);
		}
		return moved;
	}
}
/** @typedef {{ isDown: boolean, owed: number }} Held */

/** @param {App} app */
export function listenToKeys(app) {
	const motion = new Motion();
	const step = (/** @type {number} */ now) => {
		moveBy(app, motion.step(now));
		if (!motion.isOver)
			requestAnimationFrame(step);
	};
	document.addEventListener("keydown", (event) => {
		const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event))
			return;
		if (HELD.has(key) && app.tab === "timeline") {
			if (motion.isOver)
				requestAnimationFrame(step);
			motion.press(key, performance.now());
		} else if (press(app, key)) {
			motion.clear();
			event.preventDefault();
		}
	});
	document.addEventListener("keyup", (event) => motion.release(event.key.toLowerCase()));
	window.addEventListener("blur", () => HELD.forEach((key) => motion.release(key)));
}

/** @param {KeyboardEvent} event */
function isTyping(event) {
	const target = /** @type {HTMLElement} */ (event.target);
	if (target.matches("input") && event.key === "Escape")
		target.blur();
	return target.matches("input, textarea, dialog *");
}

/** @param {App} app @param {Record<string, number>} ms */
function moveBy(app, { w = 0, a = 0, s = 0, d = 0 }) {
	const { view, bounds } = app, middle = app.pointerTime ?? (view.start + view.end) / 2;
	app.setView(view.zoomed(Math.exp((s - w) / ZOOM_MS), middle, bounds)
		.moved((d - a) * view.span / PAN_MS, bounds));
}

/** @param {App} app @param {string} key @returns {boolean} whether it means anything */
function press(app, key) {
	/** @type {Record<string, () => void>} */
	const actions = {
		"/": () => byId("query").select(), "?": () => showHelp(),
		t: () => app.toggleTheme(), Escape: () => app.clear(),
		1: () => app.setTab("timeline"), 2: () => app.setTab("statistics"), 3: () => app.setTab("flame"),
		...app.profile.isThere ? { 4: () => app.setTab("profile"), i: () => app.profile.turn() } : {},
	};
	/** @type {Record<string, () => void>} */
	const onTimeline = {
		0: () => app.show(app.trace.start, app.trace.end), f: () => app.fit(), m: () => app.rangeFromRegion(),
		c: () => app.foldAll(), g: () => app.group(),
		"[": () => goSameName(app, -1), "]": () => goSameName(app, 1),
		ArrowLeft: () => goNeighbour(app, -1), ArrowRight: () => goNeighbour(app, 1),
		ArrowUp: () => goOuter(app), ArrowDown: () => goInner(app),
		PageUp: () => app.scrollBy(-300), PageDown: () => app.scrollBy(300),
	};
	const action = actions[key] ?? (app.tab === "timeline" ? onTimeline[key] : undefined);
	action?.();
	return Boolean(action);
}

export function showHelp() {
	const dialog = byId("keys"), rows = HELP.flatMap(([keys, what]) => [
		make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, what),
	]);
	const licences = document.querySelector("script[type='t2/licences']");
	const about = licences ? [make("details.licences", {}, make("summary", {}, "Licences"),
		make("pre", {}, licences.textContent ?? ""))] : [];
	dialog.replaceChildren(make("h2", {}, "Keys and mouse"), make("dl", {}, ...rows), ...about,
		make("form", { method: "dialog" }, make("button", { autofocus: true }, "Close")));
	dialog.showModal();
}
