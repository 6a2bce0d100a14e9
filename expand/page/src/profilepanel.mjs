// SPDX-License-Identifier: MIT
/**
 * The samples of a profile as a flame graph and a table of functions: those of the selected range and thread, of
 * everything if nothing is selected.  It is below the lanes, and a tab of its own.
 */
import { make } from "./dom.mjs";
import { FlameGraph } from "./flamegraph.mjs";
import { formatWeight, invert, shareOf, sumUp, totalFunctions } from "./profiles.mjs";
import { formatDuration, plural } from "./scale.mjs";
import { SortedTable } from "./table.mjs";

/** @typedef {import("./app.mjs").App} App */
/** @typedef {import("./trace.mjs").Lane} Lane */
/** @typedef {import("./profiles.mjs").FunctionTotal} FunctionTotal */

/** @param {number} part */
const percent = (part) => `${(100 * part).toFixed(part < 0.0995 ? 2 : 1)} %`;

export class ProfilePanel {
	/** Of which the samples are; null: all. @type {Lane | null} */
	lane = null;
	isInverted = false;
	/** The node that is looked at. */
	focus = 0;
	/** A function that was clicked in the table; -1: none. */
	marked = -1;
	/** The table of functions. @type {SortedTable<FunctionTotal> | null} */
	sorted = null;

	/** @param {App} app */
	constructor(app) {
		this.app = app;
		this.choices = app.trace.choices;
		this.choice = this.choices[0];
		this.lanes = app.trace.processes.flatMap(({ lanes }) => lanes).filter(({ sampleCount }) => sampleCount);
		this.graph = new FlameGraph((node) => this.look(node), (node) => this.describe(node));
		this.bar = make("div.bar-row");
		this.table = make("div.functions");
		this.element = make("div.profile", {}, this.bar, this.graph.element, this.table);
	}

	/** Whether there are samples at all. */
	get isThere() {
		return this.choices.length > 0;
	}

	get range() {
		return this.app.range ?? this.app.trace;
	}

	/** Whether it is not the first one. */
	get isChosen() {
		return this.choice !== this.choices[0];
	}

	/** What an address says. @param {string} id @param {Lane | null} lane */
	restore(id, lane) {
		this.choice = this.choices.find((choice) => choice.id === id) ?? this.choices[0];
		this.lane = lane && this.lanes.includes(lane) ? lane : null;
		this.focus = 0;
	}

	/** @param {string} id */
	choose(id) {
		this.restore(id, this.lane);
		this.refresh();
	}

	/** Only of one thread, or of all. @param {Lane | null} lane */
	setLane(lane) {
		this.restore(this.choice.id, lane);
		this.app.heads.show();
		this.refresh();
	}

	/** @param {number} node what is clicked again is not looked at any more */
	look(node) {
		this.focus = node === this.focus ? 0 : node;
		this.show();
	}

	/** Other samples than before. */
	refresh() {
		this.focus = 0;
		this.marked = -1;
		this.show();
		this.app.invalidate();
	}

	/** After anything has changed. */
	show() {
		if (!this.isThere)
			return;
		this.showGraph();
		this.showBar();
		this.showFunctions();
	}

	/** While a range is dragged the flame graph follows, and the table waits; what is searched changes no table. */
	follow() {
		if (!this.isThere || !this.element.isConnected)
			return;
		this.showGraph();
		this.showBar();
	}

	showGraph() {
		const { trace, palette, theme } = this.app;
		const plain = sumUp(trace, this.choice, this.lane ? [this.lane] : this.lanes, this.range);
		this.plain = plain;
		this.tree = this.isInverted ? invert(plain) : plain;
		if (this.focus >= this.tree.parent.length)
			this.focus = 0;
		this.graph.show({ tree: this.tree, focus: this.focus, title: this.title, trace,
			colors: palette.functionsCss, marked: this.findMarked(), theme });
	}

	get title() {
		const total = formatWeight(this.choice.unit, this.tree?.total[0] ?? 0);
		return `${this.lane ? this.lane.name : "all threads"} · ${total}`;
	}

	/** Which functions stand out: what was clicked, or what is looked for. */
	findMarked() {
		const { search, trace } = this.app;
		if (this.marked >= 0)
			return trace.stacks.functions.map((_, own) => own === this.marked);
		return search.isActive && search.functions.includes(true) ? search.functions : null;
	}

	showBar() {
		const { app } = this, { range } = app, tree = /** @type {import("./profiles.mjs").Tree} */ (this.plain);
		const choices = this.choices.map((choice) => make("button", {
			"aria-pressed": String(choice === this.choice), onclick: () => this.choose(choice.id),
		}, choice.title));
		const threads = make("select", { "aria-label": "Thread",
			onchange: () => this.setLane(this.lanes[threads.value] ?? null) },
		make("option", { value: "-1" }, `All ${plural(this.lanes.length, "thread")}`),
		...this.lanes.map((lane, at) => make("option", { value: String(at), selected: lane === this.lane },
			app.trace.processes.length < 2 ? lane.name : `${lane.process.title} ${lane.name}`)));
		const turn = make("button.turn", { "aria-pressed": String(this.isInverted), onclick: () => this.turn(),
			title: "The innermost functions at the top, below them those that call them (I)" }, "Invert");
		const said = make("span.said", {}, make("b", {}, formatWeight(this.choice.unit, tree.total[0])),
			` in ${plural(tree.samples, "sample")}`,
			range ? ` of ${formatDuration(range.end - range.start)} selected` : "");
		const marked = this.findMarked();
		if (marked)
			said.append(make("span.share", {}, ` ${percent(shareOf(tree, marked))} marked`));
		const reset = make("button.link", { onclick: () => app.setRange(null, true) }, "All of the time");
		this.bar.replaceChildren(make("div.choices", {}, ...choices), threads, turn, said,
			...range ? [reset] : []);
	}

	turn() {
		this.isInverted = !this.isInverted;
		this.focus = 0;
		this.show();
	}

	/** The functions, the one with the largest share first; a click on one marks where it is. */
	showFunctions() {
		const { trace, palette } = this.app, { unit } = this.choice;
		const tree = /** @type {import("./profiles.mjs").Tree} */ (this.plain), all = tree.total[0] || 1;
		const old = this.sorted;
		const name = (/** @type {FunctionTotal} */ row) => trace.stacks.functions[row.function];
		const show = (/** @type {number} */ value) => value ? make("span", { title: formatWeight(unit, value) },
			percent(value / all)) : make("span.none", {}, "–");
		const columns = [
			{ title: "Self", key: (/** @type {FunctionTotal} */ row) => row.self,
				show: (/** @type {FunctionTotal} */ row) => make("span", {}, show(row.self),
					make("span.bar", {}, make("i", { style: `width:${100 * row.self / all}%` }))) },
			{ title: "Total", key: (/** @type {FunctionTotal} */ row) => row.total,
				show: (/** @type {FunctionTotal} */ row) => show(row.total) },
			{ title: "Function", key: name, show: (/** @type {FunctionTotal} */ row) => make("span",
				{ title: name(row) }, make("span.swatch",
					{ style: `background:${palette.functionsCss[row.function]}` }), name(row)) },
		];
		const rows = totalFunctions(trace, tree);
		const table = new SortedTable(columns, old?.sorted ?? 0, (row) => this.mark(row.function));
		table.isDown = old?.isDown ?? true;
		table.shown = old?.shown ?? 0;
		table.chosen = rows.find((row) => row.function === this.marked) ?? null;
		this.sorted = table;
		table.show(rows);
		this.table.replaceChildren(...rows.length ? [table.element]
			: [make("p.empty", {}, "No samples of this profile here.")]);
	}

	/** @param {number} own */
	mark(own) {
		this.marked = own === this.marked ? -1 : own;
		const top = this.table.scrollTop;
		this.show();
		this.table.scrollTop = top;
	}

	/** @param {number} node */
	describe(node) {
		const { tree, choice } = this, { stacks } = this.app.trace;
		if (!tree)
			return [];
		const all = tree.total[0] || 1, total = tree.total[node], self = tree.self[node];
		const line = (/** @type {string} */ what, /** @type {number} */ value) =>
			make("div", {}, `${what} ${formatWeight(choice.unit, value)} `,
				make("span.muted", {}, percent(value / all)));
		const count = Math.round(tree.count[node]);
		return [make("b", {}, node ? stacks.functions[tree.function[node]] : this.title), line("total", total),
			...node ? [line(this.isInverted ? "ends here" : "self", self)] : [],
			...choice.each && !this.isInverted ? [make("div.muted", {}, plural(count, choice.each))] : [],
			...node && node === this.focus ? [make("div.muted", {}, "click: all again")] : []];
	}
}
