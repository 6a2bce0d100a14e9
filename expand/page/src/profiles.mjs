// SPDX-License-Identifier: MIT
/** What the samples of profiles add up to: by stack, by function, of some threads, in a range of time. */
import { firstAbove } from "./columns.mjs";
import { formatBytes, formatCount, formatDuration, plural } from "./scale.mjs";

/**
 * A kind of profiles, as t2expand has it from format/prof_kinds.def.  The last one is that of all other profiles.
 * @typedef {object} Kind
 * @property {string} id name of the profile; of the last one ""
 * @property {string} recorded the profile that its samples are recorded as, which may be another one
 * @property {string} title "": the name of the profile
 * @property {string} choice what it is called among those that can be looked at; "": as above
 * @property {"time" | "bytes" | "count"} unit of the values
 * @property {string} each what is counted beside the values, as one of it; "": nothing
 * @property {boolean} lasts a sample is a span of its thread's time
 * @property {boolean} isAll what was freed is taken off
 */
/**
 * @typedef {object} Choice a profile as it is shown
 * @property {string} id
 * @property {string} title
 * @property {number} profile number in trace.profiles
 * @property {Kind["unit"]} unit
 * @property {string} each
 * @property {boolean} isAll
 */
/** @typedef {{ start: number, end: number }} Range */
/** @typedef {import("./trace.mjs").Trace} Trace */
/** @typedef {import("./trace.mjs").Lane} Lane */

/** Profiles are shown by what their values are. */
const UNITS = ["time", "bytes", "count"];

/**
 * The names of the profiles that some sites have, in the order in which they are shown: first those of the table.
 * @param {Kind[]} kinds
 * @param {{ kind: string, category: string }[]} sites
 */
export function listProfiles(kinds, sites) {
	const found = new Set(sites.filter(({ kind }) => kind === "sample").map(({ category }) => category));
	const known = UNITS.flatMap((unit) => kinds.filter((kind) => kind.unit === unit));
	return [...known.map(({ id }) => id).filter((name) => found.delete(name)), ...found];
}

/** @param {Kind[]} kinds @param {string} name of a profile */
export function kindOf(kinds, name) {
	return kinds.find(({ id }) => id === name) ?? kinds[kinds.length - 1];
}

/**
 * One for each profile, or several if its values can be looked at in several ways.
 * @param {Kind[]} kinds
 * @param {string[]} profiles
 * @returns {Choice[]}
 */
export function listChoices(kinds, profiles) {
	return profiles.flatMap((name, profile) => {
		const views = kinds.filter(({ recorded }) => recorded === name);
		return (views.length ? views : [kindOf(kinds, name)]).map(({ id, choice, unit, each, isAll }) =>
			({ id: id || name, title: choice || name, profile, unit, each, isAll }));
	});
}

/** @param {Trace} trace @param {number} profile */
export function profileTitle({ kinds, profiles }, profile) {
	return kinds[profile].title || profiles[profile];
}

/** @param {Choice["unit"]} unit @param {number} value */
export function formatWeight(unit, value) {
	return unit === "time" ? formatDuration(value) : unit === "bytes" ? formatBytes(value)
		: formatCount(Math.round(value));
}

/**
 * What a sample stands for.
 * @param {Kind} kind
 * @param {number} count
 * @param {number} value
 */
export function formatSample({ unit, each }, count, value) {
	const weight = formatWeight(unit, Math.abs(unit === "count" ? count : value));
	return each ? `${weight}${count < 0 ? " freed" : ""}, ${plural(Math.round(Math.abs(count)), each)}` : weight;
}

/**
 * What was added up: by node, which is a function called in another one, its parent; 0 is all of them.  self is without
 * the nodes below.
 */
export class Tree {
	/**
	 * @param {Uint32Array} parent of each node, in front of it
	 * @param {Uint32Array} functions of each node
	 */
	constructor(parent, functions) {
		this.parent = parent;
		this.function = functions;
		this.self = new Float64Array(parent.length);
		this.total = this.self;
		this.count = new Float64Array(parent.length);
		/** Samples that are in it. */
		this.samples = 0;
	}

	/** From self times to totals. */
	finish() {
		const { parent, count } = this, total = this.total = this.self.slice();
		for (let node = parent.length - 1; node > 0; node--) {
			total[parent[node]] += total[node];
			count[parent[node]] += count[node];
		}
		return this;
	}

	/** The nodes below each that have any share, the largest first. @returns {Map<number, number[]>} */
	get children() {
		if (!this.below) {
			this.below = new Map();
			for (let node = 1; node < this.parent.length; node++) {
				if (!(this.total[node] > 0))
					continue;
				const list = this.below.get(this.parent[node]);
				if (list)
					list.push(node);
				else
					this.below.set(this.parent[node], [node]);
			}
			for (const list of this.below.values())
				list.sort((/** @type {number} */ a, /** @type {number} */ b) =>
					this.total[b] - this.total[a] || a - b);
		}
		return this.below;
	}
}

/**
 * @param {Trace} trace
 * @param {Choice} choice
 * @param {Lane[]} lanes
 * @param {Range} range
 * @returns {Tree} by the numbers of stacks
 */
export function sumUp({ stacks }, { profile, unit, isAll }, lanes, range) {
	const tree = new Tree(stacks.parent, stacks.function), { self, count } = tree;
	for (const { samples: { [profile]: samples } } of lanes) {
		if (!samples)
			continue;
		const weights = unit === "count" ? samples.count : samples.value, { end, stack } = samples;
		for (let at = firstNotBefore(end, samples.length, range.start); at < samples.length; at++) {
			if (end[at] > range.end)
				break;
			if (weights[at] < 0 && !isAll)
				continue;
			self[stack[at]] += weights[at];
			count[stack[at]] += samples.count[at];
			tree.samples++;
		}
	}
	for (let node = 0; isAll && node < self.length; node++)
		self[node] = Math.max(0, self[node]);
	return tree.finish();
}

/** @param {Float64Array} column @param {number} length @param {number} time */
function firstNotBefore(column, length, time) {
	let at = firstAbove(column, length, time);
	while (at > 0 && column[at - 1] === time)
		at--;
	return at;
}

/**
 * The same from the other end: below each function those that have called it.
 * @param {Tree} tree
 * @returns {Tree}
 */
export function invert(tree) {
	const parents = [0], functions = [0], count = [tree.count[0]], self = [0];
	/** Of each node, those below by their functions. @type {Map<number, number>[]} */
	const below = [new Map()];
	const find = (/** @type {number} */ parent, /** @type {number} */ own) => {
		let node = below[parent].get(own);
		if (node === undefined) {
			node = parents.push(parent) - 1;
			functions.push(own);
			self.push(0);
			count.push(0);
			below.push(new Map());
			below[parent].set(own, node);
		}
		return node;
	};
	for (let stack = 0; stack < tree.parent.length; stack++) {
		if (!(tree.self[stack] > 0))
			continue;
		let node = find(0, tree.function[stack]);
		for (let outer = tree.parent[stack]; outer; outer = tree.parent[outer])
			node = find(node, tree.function[outer]);
		self[node] += tree.self[stack];
	}
	const inverted = new Tree(Uint32Array.from(parents), Uint32Array.from(functions));
	inverted.self.set(self);
	inverted.samples = tree.samples;
	return inverted.finish();
}

/** @typedef {{ function: number, self: number, total: number }} FunctionTotal */

/**
 * What each function took: itself, and with all that it calls, once for each stack that it is in.
 * @param {Trace} trace
 * @param {Tree} tree not inverted
 * @returns {FunctionTotal[]}
 */
export function totalFunctions({ stacks }, tree) {
	const self = new Float64Array(stacks.functions.length), total = new Float64Array(self.length);
	const { isRepeated } = stacks;
	for (let node = 0; node < tree.parent.length; node++) {
		const own = tree.function[node];
		self[own] += tree.self[node];
		if (!isRepeated[node])
			total[own] += node ? tree.total[node] : tree.self[0];
	}
	return stacks.functions.flatMap((_, own) =>
		total[own] > 0 ? [{ function: own, self: self[own], total: total[own] }] : []);
}

/**
 * How much of a tree is in stacks with one of some functions in them.
 * @param {Tree} tree
 * @param {boolean[]} isIt by function
 */
export function shareOf(tree, isIt) {
	const { parent, self } = tree, isIn = new Uint8Array(parent.length);
	let sum = isIt[tree.function[0]] ? self[0] : 0;
	for (let node = 1; node < parent.length; node++) {
		isIn[node] = Number(isIn[parent[node]] || isIt[tree.function[node]]);
		sum += isIn[node] ? self[node] : 0;
	}
	return tree.total[0] ? sum / tree.total[0] : 0;
}

/** A node of a flame graph: a part of the width, 0 to 1. @typedef {{ node: number, from: number, to: number }} Frame */

/**
 * The frames of a flame graph by their depths: all is at depth 0, then the nodes around the one that is looked at, on
 * the whole width, then all within it.
 * @param {Tree} tree
 * @param {number} focus what is looked at
 * @param {number} least part of the width: what is narrower is left out
 * @returns {Frame[][]}
 */
export function layOut(tree, focus, least) {
	const { children, total, parent } = tree, path = [focus];
	while (path[0])
		path.unshift(parent[path[0]]);
	/** @type {Frame[][]} */
	const frames = path.map((node) => [{ node, from: 0, to: 1 }]);
	const scale = 1 / (total[focus] || 1);
	for (let depth = path.length - 1; depth < frames.length; depth++) {
		/** @type {Frame[]} */
		const inner = [];
		for (const { node, from } of frames[depth]) {
			let at = from;
			for (const child of children.get(node) ?? []) {
				const to = at + total[child] * scale;
				if (to - at >= least)
					inner.push({ node: child, from: at, to });
				at = to;
			}
		}
		if (inner.length)
			frames.push(inner);
	}
	return frames;
}
