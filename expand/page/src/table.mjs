// SPDX-License-Identifier: MIT
/** A table that is sorted by what is clicked.  Of many rows it has those that somebody scrolls to. */
import { make } from "./dom.mjs";

/** So many come at a time: a table of all functions of a large program takes longer than a key press may. */
const MORE_ROWS = 200;

/**
 * @template T
 * @typedef {object} TableColumn
 * @property {string} title
 * @property {(row: T) => number | string} key what it is sorted by
 * @property {(row: T) => Node | string} show
 */

/** @template T */
export class SortedTable {
	/**
	 * @param {TableColumn<T>[]} columns
	 * @param {number} sorted number of the column, from the largest down
	 * @param {(row: T) => void} [choose] when a row is clicked
	 */
	constructor(columns, sorted, choose) {
		this.columns = columns;
		this.sorted = sorted;
		this.isDown = true;
		this.choose = choose;
		/** @type {T[]} */
		this.rows = [];
		/** @type {T | null} */
		this.chosen = null;
		this.element = make("table");
		this.body = make("tbody");
		/** How many rows it has. */
		this.shown = 0;
		this.observer = new IntersectionObserver((seen) => {
			if (seen.some(({ isIntersecting }) => isIntersecting))
				this.addRows(MORE_ROWS);
		});
	}

	/** @param {T[]} rows */
	show(rows) {
		const { key } = this.columns[this.sorted], sign = this.isDown ? -1 : 1;
		this.rows = [...rows].sort((a, b) => {
			const [one, other] = [key(a), key(b)];
			return sign * (typeof one === "string" ? one.localeCompare(String(other))
				: one - Number(other));
		});
		this.element.replaceChildren(make("thead", {},
			make("tr", {}, ...this.columns.map((_, at) => this.makeTitle(at)))),
			this.body);
		this.body.replaceChildren();
		this.addRows(Math.max(this.shown, MORE_ROWS));
	}

	/** Those that follow, and more when the last one comes into sight. @param {number} count */
	addRows(count) {
		const from = this.body.childElementCount;
		this.body.append(...this.rows.slice(from, from + count).map((row) => this.makeRow(row)));
		this.shown = this.body.childElementCount;
		if (!from && this.choose)
			this.setStop(this.body.querySelector("tr.on") ?? this.body.firstElementChild);
		this.observer.disconnect();
		if (this.body.lastElementChild && this.shown < this.rows.length)
			this.observer.observe(this.body.lastElementChild);
	}

	/** Tab stops at one of the rows. @param {Element | null} row */
	setStop(row) {
		this.body.querySelector("tr[tabindex='0']")?.setAttribute("tabindex", "-1");
		row?.setAttribute("tabindex", "0");
	}

	/** Enter chooses a row, up and down go to others. @param {KeyboardEvent} event @param {() => void} choose */
	step(event, choose) {
		const row = /** @type {HTMLElement} */ (event.currentTarget);
		const isUp = event.key === "ArrowUp";
		const other = isUp ? row.previousElementSibling : row.nextElementSibling;

		if (event.key === "Enter")
			choose();
		if (!isUp && event.key !== "ArrowDown")
			return;
		event.preventDefault();
		event.stopPropagation();
		/** @type {HTMLElement | null} */ (other)?.focus();
	}

	/** @param {number} at */
	makeTitle(at) {
		const isSorted = at === this.sorted, mark = isSorted ? this.isDown ? " ▾" : " ▴" : "";
		const cell = make("th", { scope: "col" },
			make("button", { onclick: () => this.sort(at) }, this.columns[at].title + mark));
		if (isSorted)
			cell.setAttribute("aria-sort", this.isDown ? "descending" : "ascending");
		return cell;
	}

	/** @param {number} at */
	sort(at) {
		this.isDown = at === this.sorted ? !this.isDown : true;
		this.sorted = at;
		this.show(this.rows);
		this.element.querySelectorAll("th button")[at]?.focus();
	}

	/** @param {T} row */
	makeRow(row) {
		const element = make("tr", {}, ...this.columns.map(({ show }) => make("td", {}, show(row))));
		if (!this.choose)
			return element;
		element.tabIndex = -1;
		element.classList.toggle("on", row === this.chosen);
		const choose = () => {
			this.chosen = row;
			this.element.querySelector("tr.on")?.classList.remove("on");
			element.classList.add("on");
			this.choose?.(row);
		};
		element.onclick = choose;
		element.onfocus = () => this.setStop(element);
		element.onkeydown = (/** @type {KeyboardEvent} */ event) => this.step(event, choose);
		return element;
	}
}
