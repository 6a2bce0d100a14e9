// SPDX-License-Identifier: MIT
/**
 * The column on the left: what each lane is, to be pinned, folded and put in another order.  The Tab key stops at one
 * of its buttons; from there the arrow keys go to the others.
 */
import { make } from "./dom.mjs";
import { SIZES, samplesTop } from "./layout.mjs";
import { profileTitle } from "./profiles.mjs";
import { formatCount, formatShort, plural } from "./scale.mjs";

/** @typedef {import("./layout.mjs").Item} Item */
/** @typedef {import("./trace.mjs").Lane} Lane */

/** More are made only where they are seen. */
const MOST_HEADS = 400;
/** Of a process for each of those around it, in pixels. */
const INDENT = 10, MOST_INDENTS = 8;

export class Heads {
	/**
	 * @param {import("./app.mjs").App} app
	 * @param {HTMLElement} column
	 * @param {HTMLElement} pinned
	 */
	constructor(app, column, pinned) {
		this.app = app;
		this.column = column;
		this.pinned = pinned;
		/** The heads that are there do for scrolling so far from here. */
		this.shownAt = 0;
		this.enough = Infinity;
		/** Key of the button at which Tab stops. */
		this.stop = "";
		column.addEventListener("focusin", ({ target }) =>
			this.setStop(/** @type {HTMLElement} */ (target).dataset.key ?? ""));
		column.addEventListener("keydown", (event) => this.step(event));
	}

	/** After the layout has changed. */
	show() {
		const { layout } = this.app, focused = /** @type {HTMLElement | null} */ (document.activeElement);
		const key = focused?.dataset?.key;
		this.pinned.style.height = `${layout.pinnedHeight}px`;
		this.pinned.replaceChildren(...layout.pinned.map((item) => this.makeHead(item, 0)));
		this.column.style.height = `${layout.height + layout.pinnedHeight}px`;
		this.column.replaceChildren(this.pinned,
			...this.chosenItems().map((item) => this.makeHead(item, layout.pinnedHeight)));
		this.setStop(this.stop);
		if (key)
			(this.find(key) ?? this.find(this.stop))?.focus();
	}

	/** @param {string} key @returns {HTMLElement | null} */
	find(key) {
		return this.column.querySelector(`[data-key="${key}"]`);
	}

	/** @param {string} key "" or that of no button: the first one */
	setStop(key) {
		const old = this.find(this.stop), stop = this.find(key) ?? this.column.querySelector("[data-key]");
		if (old)
			old.tabIndex = -1;
		if (stop)
			stop.tabIndex = 0;
		this.stop = stop?.dataset.key ?? "";
	}

	/**
	 * Up and down: the same button of another head, or its first; left and right: within it.
	 * @param {KeyboardEvent} event
	 */
	step(event) {
		const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[event.key];
		const button = /** @type {HTMLElement} */ (event.target), head = button.closest(".head");
		if (!by || !head || !button.dataset.key)
			return;
		event.preventDefault();
		event.stopPropagation();
		const isWithin = event.key === "ArrowLeft" || event.key === "ArrowRight";
		const heads = [...this.column.querySelectorAll(".head")], other = heads[heads.indexOf(head) + by];
		const near = [...head.querySelectorAll("button")], [, what] = button.dataset.key.split("-");
		const next = isWithin ? near[near.indexOf(/** @type {any} */ (button)) + by]
			: other?.querySelector(`[data-key$="-${what}"]`) ?? other?.querySelector("button");
		/** @type {HTMLElement | undefined} */ (next)?.focus();
	}

	/** All, or of too many those that are near what is on the screen. */
	chosenItems() {
		const { layout, scroll, body } = this.app, room = body.clientHeight;
		const isLong = layout.items.length > MOST_HEADS;
		this.shownAt = scroll;
		this.enough = isLong ? room : Infinity;
		return isLong ? layout.visible(scroll - 2 * room, scroll + 3 * room) : layout.items;
	}

	/** After the lanes were scrolled. */
	follow() {
		if (Math.abs(this.app.scroll - this.shownAt) > this.enough)
			this.show();
	}

	/** @param {Item} item @param {number} shift */
	makeHead(item, shift) {
		const depth = item.process.depth + Number(this.app.arrangement.isGrouped);
		const indent = item.kind === "process" ? Math.min(depth, MOST_INDENTS) * INDENT : 0;
		const style = `top:${item.y + shift}px;height:${item.height}px;text-indent:${indent}px`;
		const [name, small, title] = describe(item);
		const tag = item.lane?.gaps.length ? "small.lost-text" : "small";
		const label = make("div.name", { title }, name, " ", make(tag, {}, small));
		const head = make(`div.head.${item.kind}`, { style }, ...this.buttons(item, label));
		head.dataset.id = item.id;
		if (item.kind === "process" || item.kind === "program")
			head.onclick = () => this.app.fold(item.id);
		if (item.kind === "lane")
			this.makeMovable(head, item);
		if (item.lane?.sampleCount)
			this.makeChoosable(head, item, item.lane);
		return head;
	}

	/** @param {Item} item @param {HTMLElement} label */
	buttons(item, label) {
		const isFolded = this.app.arrangement.folded.has(item.id);
		const [mark, title] = isFolded ? ["▸", "Unfold"] : ["▾", "Fold"];
		const fold = this.button(item, "fold", mark, title, (event) => {
			event.stopPropagation();
			this.app.fold(item.id);
		});
		if (item.kind === "process" || item.kind === "program")
			return [fold, label];
		const [star, what] = item.isPinned ? ["★", "Unpin"] : ["☆", "Pin to the top"];
		const pin = this.button(item, "pin", star, what, () => this.app.pin(item.id));
		pin.classList.toggle("on", item.isPinned);
		if (item.kind === "series")
			return [label, make("div.tools", {}, pin)];
		const up = this.button(item, "up", "↑", "Move up", () => this.app.shift(item.id, -1));
		const down = this.button(item, "down", "↓", "Move down", () => this.app.shift(item.id, 1));
		const tools = make("div.tools", {}, up, down, pin,
			...item.lane && item.lane.rows.length > 1 ? [fold] : []);
		tools.classList.toggle("on", item.isPinned);
		return [label, tools];
	}

	/**
	 * @param {Item} item
	 * @param {string} what
	 * @param {string} text
	 * @param {string} title
	 * @param {(event: Event) => void} onclick
	 */
	button(item, what, text, title, onclick) {
		const button = make("button", { title, onclick, "aria-label": title, tabIndex: -1 }, text);
		button.dataset.key = `${item.id}-${what}`;
		return button;
	}

	/**
	 * A click shows only this thread's samples, or all again.
	 * @param {HTMLElement} head
	 * @param {Item} item
	 * @param {Lane} lane
	 */
	makeChoosable(head, item, lane) {
		const { profile, trace } = this.app;
		head.classList.toggle("chosen", profile.lane === lane);
		head.onclick = ({ target }) => {
			if (!(/** @type {HTMLElement} */ (target).closest("button")))
				profile.setLane(profile.lane === lane ? null : lane);
		};
		head.append(...item.profiles.map((profile, at) => {
			const top = samplesTop(item) + at * SIZES.sample;
			return make("div.profile-name", { style: `top:${top}px` }, profileTitle(trace, profile));
		}));
	}

	/** @param {HTMLElement} head @param {Item} item */
	makeMovable(head, item) {
		head.draggable = true;
		head.ondragstart = (event) => event.dataTransfer?.setData("text/plain", item.id);
		head.ondragover = (event) => {
			event.preventDefault();
			head.classList.add("target");
		};
		head.ondragleave = () => head.classList.remove("target");
		head.ondrop = (event) => {
			event.preventDefault();
			head.classList.remove("target");
			this.app.move(event.dataTransfer?.getData("text/plain") ?? "", item.id);
		};
	}
}

/** @param {Item} item @returns {[string, string, string]} name, what is said in small letters, title */
function describe({ kind, process, lane, series, processes }) {
	if (kind === "program")
		return [process.name || process.title, plural(processes, "process"), "All processes of this program"];
	if (kind === "process")
		return [process.title, process.title === `process ${process.pid}` ? "" : `${process.pid}`,
			`session ${process.sid}`];
	if (series)
		return [series.title, `max ${formatCount(series.high)}`, `${formatCount(series.value.length)} values`];
	if (!lane)
		return ["", "", ""];
	const lost = lane.gaps.reduce((sum, { events }) => sum + events, 0);
	const { regionCount, sampleCount } = lane;
	const counts = [...regionCount || !sampleCount ? [plural(regionCount, "region")] : [],
		...sampleCount ? [plural(sampleCount, "sample")] : []];
	const deep = lane.tooDeep ? [`${formatCount(lane.tooDeep)} more are too deep to be shown`] : [];
	const title = [`thread ${lane.tid}`, ...counts, ...deep,
		...lost ? [`${formatCount(lost)} events dropped`] : []].join(", ");
	return [lane.name, lane.gaps.length ? `${lost ? formatShort(lost) : ""} dropped`
		: formatShort(regionCount || sampleCount), title];
}
