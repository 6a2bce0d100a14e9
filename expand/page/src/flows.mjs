// SPDX-License-Identifier: MIT
/**
 * Which process started which, and which child_start it was.  Of the children that a parent has started, the one that
 * exited or became ready with the child's pid is it, or, if none was seen to, the last one before the child began that
 * has no process yet.
 */

/**
 * @typedef {object} Flow
 * @property {import("./trace.mjs").Lane} from
 * @property {number} fromTime
 * @property {import("./trace.mjs").Lane} to
 * @property {number} toTime
 */
/** @typedef {{ lane: import("./trace.mjs").Lane, time: number, id: string, pid: number, isTaken: boolean }} Start */

/**
 * Whose session ids begin with that of another one and a / are its children.
 * @param {import("./trace.mjs").Process} process
 * @param {Map<string, import("./trace.mjs").Process>} bySid
 */
function parentOf({ sid }, bySid) {
	return bySid.get(sid.slice(0, Math.max(0, sid.lastIndexOf("/"))));
}

/**
 * Each process in front of its children, which are in the order of their start; sets how deep they are.
 * @param {import("./trace.mjs").Process[]} processes
 */
export function orderFamilies(processes) {
	const bySid = new Map(processes.map((process) => [process.sid, process]));
	const startOf = (/** @type {import("./trace.mjs").Process} */ { lanes }) =>
		Math.min(...lanes.map((lane) => lane.first));
	/** @type {Map<object | undefined, import("./trace.mjs").Process[]>} */
	const children = new Map();
	for (const process of processes) {
		const parent = parentOf(process, bySid), key = parent === process ? undefined : parent;
		children.set(key, [...children.get(key) ?? [], process]);
	}
	/** @type {import("./trace.mjs").Process[]} */
	const ordered = [];
	/** @type {import("./trace.mjs").Process[]} */
	const pending = [];
	/** @param {import("./trace.mjs").Process | undefined} parent */
	const addChildren = (parent) => {
		const own = (children.get(parent) ?? []).sort((a, b) => startOf(b) - startOf(a));
		own.forEach((child) => child.depth = parent ? parent.depth + 1 : 0);
		pending.push(...own);
	};
	addChildren(undefined);
	for (let next = pending.pop(); next; next = pending.pop()) {
		ordered.push(next);
		addChildren(next);
	}
	return ordered;
}

/**
 * Sets what each is called.  A forked child goes on in the program of its parent until it says otherwise; that it was
 * forked tells its start, which is that of its parent.  A later file of a process has the name of the process.
 * @param {import("./trace.mjs").Process[]} processes parents in front of their children
 */
export function nameProcesses(processes) {
	/** @type {Map<string, import("./trace.mjs").Process>} */
	const bySid = new Map();
	for (const process of processes) {
		const known = bySid.get(process.sid);
		if (!known || !known.name && process.name)
			bySid.set(process.sid, process);
	}
	for (const process of processes) {
		const head = bySid.get(process.sid), parent = parentOf(process, bySid);
		const isForked = parent && parent.startTicks !== "0" && parent.startTicks === process.startTicks;
		const from = process.sid && head !== process ? head : isForked ? parent : undefined;
		process.isFork = Boolean(from && (from.pid !== process.pid || from.isFork));
		process.name ||= from?.name ?? "";
		process.title = process.name ? `${process.name}${process.isFork ? " [fork]" : ""}`
			: `process ${process.pid}`;
	}
}

/**
 * @param {import("./trace.mjs").Trace} trace
 * @returns {Flow[]}
 */
export function findFlows(trace) {
	const bySid = new Map(trace.processes.map((process) => [process.sid, process]));
	/** @type {Map<object, Start[]>} */
	const starts = new Map();
	const flows = [];
	for (const child of trace.processes) {
		const parent = parentOf(child, bySid);
		if (!parent || parent === child)
			continue;
		if (!starts.has(parent))
			starts.set(parent, findStarts(trace, parent));
		const to = child.lanes[0], toTime = Math.min(...child.lanes.map((lane) => lane.first));
		const start = choose(starts.get(parent) ?? [], child.pid, toTime);
		if (!start)
			continue;
		start.isTaken = true;
		flows.push({ from: start.lane, fromTime: start.time, to, toTime });
	}
	return flows;
}

/**
 * @param {import("./trace.mjs").Trace} trace
 * @param {import("./trace.mjs").Process} parent
 */
function findStarts(trace, parent) {
	/** @type {Start[]} */
	const starts = [];
	/** @type {Map<string, number>} */
	const pids = new Map();
	for (const lane of parent.lanes) {
		const { points } = lane;
		for (let at = 0; at < points.length; at++) {
			const { kind } = trace.sites[points.site[at]];
			if (!kind.startsWith("child_"))
				continue;
			const text = trace.texts.get(points.text[at]);
			const id = text.match(/\[ch(-?\d+)\]/)?.[1] ?? "";
			if (kind === "child_start")
				starts.push({ lane, time: points.time[at], id, pid: 0, isTaken: false });
			else
				pids.set(id, Number(text.match(/ pid:(\d+)/)?.[1] ?? 0));
		}
	}
	for (const start of starts)
		start.pid = pids.get(start.id) ?? 0;
	return starts.sort((a, b) => a.time - b.time);
}

/**
 * @param {Start[]} starts
 * @param {number} pid
 * @param {number} time
 */
function choose(starts, pid, time) {
	const before = starts.filter((start) => !start.isTaken && start.time <= time);
	return before.findLast((start) => start.pid === pid) ?? before.findLast((start) => !start.pid) ?? null;
}
