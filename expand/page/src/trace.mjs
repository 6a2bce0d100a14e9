// SPDX-License-Identifier: MIT
/**
 * A trace as the page knows it: processes, their threads as lanes of regions and points, series of values.
 * reader.mjs fills it; finish() completes what is only known at the end.
 */
import { Points, Row, Samples, Texts, UNENDED } from "./columns.mjs";
import { Pyramid } from "./pyramid.mjs";
import { findFlows, nameProcesses, orderFamilies } from "./flows.mjs";
import { sharedFronts } from "./labels.mjs";
import { formatDuration } from "./scale.mjs";
import { makeSeries } from "./series.mjs";
import { Stacks } from "./stacks.mjs";

/**
 * @typedef {object} Site a place in the program that raises events
 * @property {string} kind as tlg_styles.def names it; "mark": tells what is missing
 * @property {string} category
 * @property {string} label
 * @property {string} file
 * @property {number} line
 * @property {number} name number of the pair of category and label
 */
/** @typedef {{ lane: Lane, depth: number, index: number }} Region */
/** @typedef {{ from: number, to: number, events: number }} Gap events that a thread lost; 0: nobody knows how many */
/** @typedef {{ category: string, label: string }} Name */

export class Process {
	/**
	 * @param {number} index
	 * @param {{ pid: number, sid: string, startTicks: string }} facts
	 */
	constructor(index, { pid, sid, startTicks }) {
		this.index = index;
		this.pid = pid;
		this.sid = sid;
		/** "0": not known. */
		this.startTicks = startTicks;
		/** What it says it is called. */
		this.name = "";
		this.title = "";
		this.isFork = false;
		/** Of the process that started it plus one. */
		this.depth = 0;
		/** @type {Lane[]} */
		this.lanes = [];
		/** @type {import("./series.mjs").Series[]} */
		this.series = [];
	}
}

/** Who enters more regions without leaving them has forgotten to: they are counted, and not kept. */
export const MOST_DEPTH = 256;

/** A thread. */
export class Lane {
	/** @type {Row[]} */
	rows = [];
	points = new Points();
	/** Of each of trace.profiles. @type {(Samples | undefined)[]} */
	samples = [];
	/** @type {Gap[]} */
	gaps = [];
	/** How many regions are open. */
	depth = 0;
	/** The indices of those that are kept, the outermost first; behind them, of some that were. @type {number[]} */
	open = [];
	tooDeep = 0;
	/** Events: those that were read, and those that there are. */
	seen = 0;
	events = 0;
	clock = 0;
	first = Infinity;
	last = -Infinity;

	/** @param {number} index */
	constructor(index) {
		this.index = index;
		this.name = "";
		this.tid = 0;
		/** @type {Process} */
		this.process = /** @type {any} */ (null);
	}

	/**
	 * @param {number} time
	 * @param {number} site
	 * @param {number} text
	 */
	enter(time, site, text) {
		const depth = this.depth++;
		if (depth >= MOST_DEPTH) {
			this.tooDeep++;
			return;
		}
		if (depth === this.rows.length)
			this.rows.push(new Row());
		this.open[depth] = this.rows[depth].add(time, site, depth ? this.open[depth - 1] : 0, text, this);
	}

	/**
	 * @param {number} time
	 * @param {number} flags
	 * @param {number} text
	 */
	leave(time, flags, text) {
		if (!this.depth || --this.depth >= MOST_DEPTH)
			return;
		const row = this.rows[this.depth], index = this.open[this.depth];
		const start = row.start[index];
		row.end[index] = time > start ? time : start;
		if (flags)
			row.flags[index] |= flags;
		if (text && !row.text[index])
			row.setText(index, text);
	}

	/**
	 * A sample, as Samples.add() takes it.
	 * @param {number} profile
	 * @param {number} time
	 * @param {number} length
	 * @param {{ stack: number, site: number, count: number, value: number, text: number }} sample
	 */
	sample(profile, time, length, sample) {
		(this.samples[profile] ??= new Samples()).add(time, length, sample, this);
	}

	get sampleCount() {
		return this.samples.reduce((sum, samples) => sum + (samples?.length ?? 0), 0);
	}

	/** How much of it was read. */
	get part() {
		return this.events ? this.seen / this.events : 1;
	}

	get regionCount() {
		return this.rows.reduce((sum, row) => sum + row.length, 0);
	}
}

export class Trace {
	/** @type {Process[]} */
	processes = [];
	/** @type {Lane[]} */
	lanes = [];
	/** @type {Site[]} */
	sites = [];
	/** Category and label of each name. @type {Name[]} */
	names = [];
	texts = new Texts();
	/** Names of the profiles that have samples. @type {string[]} */
	profiles = [];
	/** What is known of each of them. @type {import("./profiles.mjs").Kind[]} */
	kinds = [];
	/** What of them can be shown. @type {import("./profiles.mjs").Choice[]} */
	choices = [];
	stacks = new Stacks([], []);
	/** @type {import("./flows.mjs").Flow[]} */
	flows = [];
	/** Nanoseconds since 1970 at time 0. */
	epoch = 0n;
	utcoff = 0;
	source = "";
	start = Infinity;
	end = -Infinity;
	events = 0;
	regions = 0;
	samples = 0;
	lost = 0;
	leftOut = 0;
	unknownSite = 0;
	/** See labels.mjs; made when it is first asked for. @type {Map<string, number> | undefined} */
	fronts;

	/** @param {number} index */
	lane(index) {
		return this.lanes[index] ??= new Lane(index);
	}

	/** @param {number} site */
	nameOf(site) {
		return this.names[this.sites[site].name];
	}

	/** How much of the front of a name others have, too. @param {string} name */
	frontOf(name) {
		this.fronts ??= sharedFronts([...this.names.map(({ label }) => label), ...this.stacks.functions]);
		return this.fronts.get(name) ?? 0;
	}

	/**
	 * What a point says.  The times of timers, seconds in the trace, have units.
	 * @param {Lane} lane
	 * @param {number} at
	 */
	textOf({ points }, at) {
		const text = this.texts.get(points.text[at]), { kind } = this.sites[points.site[at]];
		const withUnit = (/** @type {string} */ _, /** @type {string} */ key, /** @type {string} */ seconds) =>
			`${key}:${formatDuration(Number(seconds) * 1e9)}`;
		return kind !== "timer" && kind !== "th_timer" ? text
			: text.replace(/\b(total|min|max):(\d+\.\d+)/g, withUnit);
	}

	/** @param {Region} region */
	siteOf({ lane, depth, index }) {
		return this.sites[lane.rows[depth].site[index]];
	}

	/** Regions that are open end with the trace. */
	finish() {
		for (const lane of this.lanes) {
			if (lane.first > lane.last)
				continue;
			this.start = Math.min(this.start, lane.first);
			this.end = Math.max(this.end, lane.last);
		}
		if (!(this.start <= this.end))
			this.start = 0, this.end = 1;
		for (const lane of this.lanes)
			this.finishLane(lane);
		for (const process of this.processes)
			this.finishProcess(process);
		this.processes = orderFamilies(this.processes.filter((process) => process.lanes.length));
		nameProcesses(this.processes);
		this.flows = findFlows(this);
	}

	/** @param {Lane} lane */
	finishLane(lane) {
		while (lane.depth)
			lane.leave(this.end, UNENDED, 0);
		for (const row of lane.rows) {
			row.trim();
			row.pyramid = new Pyramid(row);
		}
		lane.points.trim();
		for (const samples of lane.samples) {
			samples?.trim();
			if (samples)
				samples.pyramid = new Pyramid(samples);
		}
		this.samples += lane.sampleCount;
		this.regions += lane.regionCount;
		for (const gap of lane.gaps) {
			gap.from = Math.max(gap.from, this.start);
			this.lost += gap.events;
		}
	}

	/** @param {Process} process */
	finishProcess(process) {
		process.lanes.sort((a, b) => a.tid - b.tid);
		process.name = this.findName(process);
		process.series = makeSeries(this, process);
	}

	/**
	 * The name of its command, or of its program; "": it has not said it.
	 * @param {Process} process
	 */
	findName(process) {
		let name = "";
		for (const { points } of process.lanes)
			for (let i = 0; i < points.length && i < 100; i++) {
				const { kind } = this.sites[points.site[i]];
				if (kind === "cmd_name")
					return this.texts.get(points.text[i]).split(" (")[0];
				if (kind === "start" && !name)
					name = this.texts.get(points.text[i]).split(" ")[0].replace(/^.*\//, "");
			}
		return name;
	}
}
