// SPDX-License-Identifier: MIT
/**
 * What stands above what: pinned lanes first, which do not scroll; then each process with its series and its
 * threads, as the user has ordered and folded them.  Processes can stand below the name of their program.
 */

export const SIZES = { header: 26, row: 17, series: 32, lanePadding: 5, points: 7, sample: 19, folded: 20 };

/** What was said once is no curve. */
const LEAST_VALUES = 2;

/** @typedef {import("./trace.mjs").Process} Process */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {import("./series.mjs").Series} Series */

/**
 * @typedef {object} Item
 * @property {"program" | "process" | "lane" | "series"} kind
 * @property {string} id the same in every run of the page: "g0", "p0", "t3", "s0.2"
 * @property {Process} process of a program the first
 * @property {number} processes of a program
 * @property {Lane | null} lane
 * @property {Series | null} series
 * @property {number} y
 * @property {number} height
 * @property {number} rows of regions that are shown
 * @property {number[]} profiles whose samples are shown, below them
 * @property {boolean} isPinned
 */

export class Arrangement {
	/** Ids. @type {string[]} */
	pinned = [];
	/** @type {Set<string>} */
	folded = new Set();
	/** Ids of lanes, in an order that is not that of the trace. @type {string[]} */
	order = [];
	/** Processes stand below their programs. */
	isGrouped = false;

	/**
	 * All programs, or processes where they are not grouped: fold them, or unfold them if all are folded.
	 * @param {import("./trace.mjs").Trace} trace
	 */
	toggleAll(trace) {
		const ids = this.isGrouped ? programsOf(trace).map(programId) : trace.processes.map(processId);
		const areFolded = ids.every((id) => this.folded.has(id));
		for (const id of ids)
			if (areFolded)
				this.folded.delete(id);
			else
				this.folded.add(id);
	}

	/**
	 * So that the lanes of a process are seen.
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {Process} process
	 * @returns {boolean} whether they were not
	 */
	unfold(trace, process) {
		const program = this.isGrouped ? programsOf(trace).find((all) => all.includes(process)) : undefined;
		const wasFolded = this.folded.delete(processId(process));
		return program && this.folded.delete(programId(program)) || wasFolded;
	}

	/** @param {string} id */
	togglePin(id) {
		this.pinned = this.pinned.includes(id) ? this.pinned
			.filter((other) => other !== id) : [...this.pinned, id];
	}

	/** @param {string} id */
	toggleFold(id) {
		if (!this.folded.delete(id))
			this.folded.add(id);
	}

	/**
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {string} id of a lane
	 * @param {string} before of the lane of the same process that it is put in front of; "": the last place
	 */
	move(trace, id, before) {
		const process = trace.processes.find(({ lanes }) => lanes.some((lane) => laneId(lane) === id));
		if (!process || id === before)
			return;
		const ids = this.lanesOf(process).map(laneId).filter((other) => other !== id);
		const at = before ? ids.indexOf(before) : ids.length;
		if (at < 0)
			return;
		ids.splice(at, 0, id);
		this.order = [...this.order.filter((other) => !ids.includes(other)), ...ids];
	}

	/**
	 * @param {Process} process
	 * @returns {Lane[]} in the user's order
	 */
	lanesOf(process) {
		const rank = new Map(this.order.map((id, at) => [id, at]));
		const of = (/** @type {Lane} */ lane) => rank.get(laneId(lane)) ?? -1;
		return process.lanes.map((lane, at) => ({ lane, at }))
			.sort((a, b) => of(a.lane) - of(b.lane) || a.at - b.at)
			.map(({ lane }) => lane);
	}
}

/** @param {Lane} lane */
export function laneId(lane) {
	return `t${lane.index}`;
}

/** @param {Process} process */
function processId(process) {
	return `p${process.index}`;
}

/** @param {Process[]} program */
function programId([first]) {
	return `g${first.index}`;
}

/**
 * The processes of each program, in the order of the first of each; a forked one is its program's.
 * @param {import("./trace.mjs").Trace} trace
 * @returns {Process[][]}
 */
function programsOf({ processes }) {
	/** @type {Map<string, Process[]>} */
	const programs = new Map();
	for (const process of processes) {
		const of = programs.get(process.name);
		if (of && process.name)
			of.push(process);
		else
			programs.set(process.name || processId(process), [process]);
	}
	return [...programs.values()];
}

/** @param {Process} process @param {number} at */
function seriesId(process, at) {
	return `s${process.index}.${at}`;
}

export class Layout {
	/** @type {Item[]} */
	pinned = [];
	/** @type {Item[]} */
	items = [];
	pinnedHeight = 0;
	height = 0;

	/**
	 * @param {import("./trace.mjs").Trace} trace
	 * @param {Arrangement} arrangement
	 */
	constructor(trace, arrangement) {
		/** @type {Map<string, Item>} */
		const pinned = new Map();
		for (const program of arrangement.isGrouped ? programsOf(trace) : [trace.processes]) {
			const isFolded = arrangement.isGrouped && this.addProgram(program, arrangement);
			for (const process of program)
				this.addProcess(process, arrangement, pinned, isFolded);
		}
		for (const item of arrangement.pinned.flatMap((id) => pinned.get(id) ?? [])) {
			item.isPinned = true;
			item.y = this.pinnedHeight;
			this.pinnedHeight += item.height;
			this.pinned.push(item);
		}
	}

	/** @param {Process[]} program @param {Arrangement} arrangement @returns {boolean} whether it is folded */
	addProgram(program, arrangement) {
		const item = makeItem("program", programId(program), program[0], null, null, SIZES.header);
		item.processes = program.length;
		this.add(item);
		return arrangement.folded.has(item.id);
	}

	/**
	 * @param {Process} process
	 * @param {Arrangement} arrangement
	 * @param {Map<string, Item>} pinned those of its lanes and series that are pinned are added here
	 * @param {boolean} isFolded its program is
	 */
	addProcess(process, arrangement, pinned, isFolded) {
		const header = makeItem("process", processId(process), process, null, null, SIZES.header);
		const isHidden = isFolded || arrangement.folded.has(header.id);
		if (!isFolded)
			this.add(header);
		for (const item of itemsOf(process, arrangement))
			if (arrangement.pinned.includes(item.id))
				pinned.set(item.id, item);
			else if (!isHidden)
				this.add(item);
	}

	/** @param {Item} item */
	add(item) {
		item.y = this.height;
		this.height += item.height;
		this.items.push(item);
	}

	/**
	 * What is seen of the part that scrolls.
	 * @param {number} top
	 * @param {number} bottom
	 */
	visible(top, bottom) {
		return this.items.filter(({ y, height }) => y < bottom && y + height > top);
	}

	/**
	 * @param {number} y on the screen, below the ruler
	 * @param {number} scroll
	 * @returns {{ item: Item, y: number } | null} y: within the item
	 */
	at(y, scroll) {
		const isPinned = y < this.pinnedHeight, inside = isPinned ? y : y - this.pinnedHeight + scroll;
		const item = (isPinned ? this.pinned : this.items)
			.find((one) => one.y <= inside && inside < one.y + one.height);
		return item ? { item, y: inside - item.y } : null;
	}

	/** @param {string} id */
	find(id) {
		return this.pinned.find((item) => item.id === id) ?? this.items.find((item) => item.id === id) ?? null;
	}
}

/** @param {Process} process @param {Arrangement} arrangement */
function itemsOf(process, arrangement) {
	const series = process.series.flatMap((one, at) => one.value.length < LEAST_VALUES ? []
		: [makeItem("series", seriesId(process, at), process, null, one, SIZES.series)]);
	const lanes = arrangement.lanesOf(process).map((lane) => makeLaneItem(process, lane, arrangement));
	return [...series, ...lanes];
}

/** @param {Process} process @param {Lane} lane @param {Arrangement} arrangement */
function makeLaneItem(process, lane, arrangement) {
	const id = laneId(lane), isFolded = arrangement.folded.has(id);
	const rows = isFolded ? Math.min(1, lane.rows.length) : lane.rows.length;
	const points = lane.points.length ? SIZES.points : 0;
	const all = Object.keys(lane.samples).map(Number);
	const profiles = !isFolded ? all : rows ? [] : all.slice(0, 1);
	const item = makeItem("lane", id, process, lane, null, Math.max(SIZES.folded,
		points + rows * SIZES.row + profiles.length * SIZES.sample + 2 * SIZES.lanePadding));
	item.rows = rows;
	item.profiles = profiles;
	return item;
}

/**
 * @param {Item["kind"]} kind
 * @param {string} id
 * @param {Process} process
 * @param {Lane | null} lane
 * @param {Series | null} series
 * @param {number} height
 * @returns {Item}
 */
function makeItem(kind, id, process, lane, series, height) {
	return { kind, id, process, lane, series, y: 0, height, rows: 0, profiles: [], isPinned: false, processes: 0 };
}

/**
 * Where the rows of a lane begin within it.
 * @param {Lane} lane
 */
export function rowsTop(lane) {
	return SIZES.lanePadding + (lane.points.length ? SIZES.points : 0);
}

/**
 * Where the samples of a lane begin within it.
 * @param {Item} item
 */
export function samplesTop({ lane, rows }) {
	return rowsTop(/** @type {Lane} */ (lane)) + rows * SIZES.row;
}
