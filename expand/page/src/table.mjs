// SPDX-License-Identifier: MIT
/** A table that is sorted by what is clicked. */
import { make } from "./dom.mjs";

const MOST_ROWS = 2000;

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
	}

	/** @param {T[]} rows */
	show(rows) {
		this.rows = rows;
		const { key } = this.columns[this.sorted], sign = this.isDown ? -1 : 1;
		const sorted = [...rows].sort((a, b) => {
			const [one, other] = [key(a), key(b)];
			return sign * (typeof one === "string" ? one.localeCompare(String(other))
				: one - Number(other));
		});
		this.element.replaceChildren(make("thead", {},
			make("tr", {}, ...this.columns.map((_, at) => this.makeTitle(at)))),
			make("tbody", {}, ...sorted.slice(0, MOST_ROWS).map((row) => this.makeRow(row))));
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
		element.tabIndex = 0;
		element.classList.toggle("on", row === this.chosen);
		const choose = () => {
			this.chosen = row;
			this.element.querySelector("tr.on")?.classList.remove("on");
			element.classList.add("on");
			this.choose?.(row);
		};
		element.onclick = choose;
		element.onkeydown = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && choose();
		return element;
	}
}
