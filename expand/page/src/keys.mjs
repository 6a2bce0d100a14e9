// SPDX-License-Identifier: MIT
/** The keyboard: what is held moves smoothly, what is pressed acts once. */
import { byId, make } from "./dom.mjs";
import { goInner, goNeighbour, goOuter, goSameName } from "./walk.mjs";

/** @typedef {import("./app.mjs").App} App */

/** A whole zoom by e, or a pan by the width of the screen, in so many ms. */
const ZOOM_MS = 420, PAN_MS = 900;
const HELD = new Set(["w", "a", "s", "d"]);

const HELP = [
	["W S", "zoom in, out; so does the wheel"],
	["A D", "move left, right; so do dragging and Shift+wheel"],
	["Alt+wheel", "scroll the lanes; so do the column on the left, Page Up, Page Down"],
	["Shift+drag", "select a range and sum it up; so does dragging on the ruler"],
	["click", "details of a region; double click or F: fit it to the screen"],
	["← → ↑ ↓", "previous, next, outer, inner region"],
	["[ ]", "previous, next region of the same name"],
	["M", "make the selected region the range"],
	["/", "search; Enter and Shift+Enter: next, previous"],
	["0", "the whole trace"],
	["1 2 3 4", "timeline, statistics, flame graph, profile"],
	["I", "profile: callers or callees"],
	["T", "light or dark"],
	["Esc", "select nothing"],
];

/** @param {App} app */
export function listenToKeys(app) {
	const held = new Set();
	let last = 0;
	const step = (/** @type {number} */ now) => {
		const ms = Math.min(50, now - last);
		last = now;
		if (!held.size)
			return;
		moveHeld(app, held, ms);
		requestAnimationFrame(step);
	};
	document.addEventListener("keydown", (event) => {
		const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event))
			return;
		if (HELD.has(key) && app.tab === "timeline") {
			if (!held.size) {
				last = performance.now();
				requestAnimationFrame(step);
			}
			held.add(key);
		} else if (press(app, key)) {
			event.preventDefault();
		}
	});
	document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
	window.addEventListener("blur", () => held.clear());
}

/** @param {KeyboardEvent} event */
function isTyping(event) {
	const target = /** @type {HTMLElement} */ (event.target);
	if (target.matches("input") && event.key === "Escape")
		target.blur();
	return target.matches("input, textarea, dialog *");
}

/** @param {App} app @param {Set<string>} held @param {number} ms */
function moveHeld(app, held, ms) {
	const { view, bounds } = app, middle = app.pointerTime ?? (view.start + view.end) / 2;
	const zoom = Number(held.has("s")) - Number(held.has("w")), pan = Number(held.has("d")) - Number(held.has("a"));
	app.setView(view.zoomed(Math.exp(zoom * ms / ZOOM_MS), middle, bounds)
		.moved(pan * view.span * ms / PAN_MS, bounds));
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
