// SPDX-License-Identifier: MIT
/** The page: what is shown, what is selected, and what happens when something is asked for. */
import { restoreAddress, saveAddress } from "./address.mjs";
import { makePalette } from "./colors.mjs";
import { byId, make, readTheme } from "./dom.mjs";
import { showFlame } from "./flame.mjs";
import { listenToLanes, listenToMinimap, listenToRuler, onDrag } from "./gestures.mjs";
import { Heads } from "./heads.mjs";
import { listenToKeys, showHelp } from "./keys.mjs";
import { Arrangement, Layout, SIZES, laneId, rowsTop } from "./layout.mjs";
import { loadTrace } from "./load.mjs";
import { Painter } from "./painter.mjs";
import { makePointPanel, makeRangePanel, makeRegionPanel, makeSamplePanel } from "./panel.mjs";
import { ProfilePanel } from "./profilepanel.mjs";
import { View, formatCount, formatDuration, plural } from "./scale.mjs";
import { Search } from "./search.mjs";
import { showStatistics } from "./statistics.mjs";
import { Minimap, Ruler } from "./strips.mjs";
import { describe, findAt } from "./tooltip.mjs";

const TABS = ["timeline", "statistics", "flame", "profile"];
/** A region that is gone to is this part of the screen. */
const FIT_MARGIN = 1.2, GO_MARGIN = 6;
const HASH_DELAY_MS = 250;

/** @typedef {import("./trace.mjs").Region} Region */
/** @typedef {{ lane: import("./trace.mjs").Lane, at: number }} PointPlace */
/** @typedef {{ lane: import("./trace.mjs").Lane, profile: number, at: number }} SamplePlace */

/** Whether the timeline has more than names. @param {import("./trace.mjs").Trace} trace */
function isAnythingDrawn({ regions, samples, lanes, processes }) {
	return regions > 0 || samples > 0 || lanes.some(({ points, gaps }) => points.length > 0 || gaps.length > 0) ||
		processes.some(({ series }) => series.length > 0);
}

export class App {
	arrangement = new Arrangement();
	tab = "timeline";
	/** @type {Region | null} */
	selected = null;
	/** @type {PointPlace | null} */
	point = null;
	/** @type {SamplePlace | null} */
	sample = null;
	/** @type {{ start: number, end: number } | null} */
	range = null;
	/** Where the pointer is. @type {number | null} */
	pointerTime = null;
	/** Of the whole trace, once they were asked for. @type {import("./stats.mjs").Total[] | undefined} */
	totals;
	themeName = "";
	theme = readTheme();
	palette = /** @type {import("./colors.mjs").Palette} */ (/** @type {any} */ (null));
	/** @type {string | undefined} */
	ownHash;
	isPainting = false;
	/** More is to come: what is below the lanes waits for it. */
	isRestoring = false;
	lastScroll = 0;
	hashTimer = 0;
	/** Range of which the flame graph is; undefined: there is none. @type {object | null | undefined} */
	flameOf = undefined;

	/** @param {import("./trace.mjs").Trace} trace */
	constructor(trace) {
		this.trace = trace;
		this.bounds = trace;
		this.canvas = byId("canvas");
		this.body = byId("body");
		this.painter = new Painter(this.canvas);
		this.minimap = new Minimap(byId("minimap"));
		this.ruler = new Ruler(byId("ruler"));
		this.heads = new Heads(this, byId("heads"), byId("pinned"));
		this.search = new Search(trace, "");
		this.view = new View(trace.start, trace.end, 1);
		this.setTheme("");
		this.profile = new ProfilePanel(this);
		this.layout = new Layout(trace, this.arrangement);
	}

	start() {
		this.describeTrace();
		this.listen();
		restoreAddress(this);
		window.addEventListener("hashchange", () => restoreAddress(this));
	}

	describeTrace() {
		const { trace } = this, facts = byId("facts"), { processes } = trace;
		const title = trace.source.replace(/\/+$/, "").replace(/^.*\//, "") || processes[0]?.title || "trace";
		byId("title").textContent = document.title = title;
		byId("title").title = trace.source;
		const length = formatDuration(trace.end - trace.start);
		byId("whole").textContent = `${length}, ${formatCount(trace.events)} events`;
		const counts = [...trace.regions || !trace.samples ? [plural(trace.regions, "region")] : [],
			...trace.samples ? [plural(trace.samples, "sample")] : [], plural(trace.lanes.length, "thread"),
			plural(processes.length, "process")];
		facts.replaceChildren(counts.join(", "), " ");
		byId("nothing").textContent = trace.events ? "There are no regions and no samples in this trace."
			: "There are no events in this trace.";
		byId("nothing").hidden = isAnythingDrawn(trace);
		if (trace.leftOut)
			facts.append(make("span.lost", {}, `${formatCount(trace.leftOut)} events left out`), " ");
		if (trace.lost)
			facts.append(make("span.lost", { title: "Shaded red in the timeline" },
				`${formatCount(trace.lost)} dropped`));
	}

	listen() {
		listenToLanes(this, this.canvas);
		listenToRuler(this, byId("ruler"));
		listenToMinimap(this, byId("minimap"));
		listenToKeys(this);
		this.body.addEventListener("scroll", () => this.invalidate());
		new ResizeObserver(() => this.resize()).observe(byId("stage"));
		for (const button of byId("tabs").children)
			button.onclick = () => this.setTab(button.dataset.tab);
		byId("tabs").lastElementChild.hidden = !this.profile.isThere;
		byId("tabs").onkeydown = (/** @type {KeyboardEvent} */ event) => this.stepTabs(event);
		byId("theme").onclick = () => this.toggleTheme();
		byId("help").onclick = showHelp;
		byId("fold-all").onclick = () => this.foldAll();
		byId("group").onclick = () => this.group();
		byId("processes").hidden = this.trace.processes.length < 2;
		byId("query").oninput = () => this.setQuery(byId("query").value);
		byId("query").onkeydown = (/** @type {KeyboardEvent} */ event) => {
			if (event.key === "Enter" && event.shiftKey) {
				event.preventDefault();
				this.goFound(-1);
			}
		};
		byId("search").onsubmit = (/** @type {Event} */ event) => {
			event.preventDefault();
			this.goFound(1);
		};
		byId("previous").onclick = () => this.goFound(-1);
		matchMedia("(prefers-color-scheme: dark)")
			.addEventListener("change", () => this.setTheme(this.themeName));
		onDrag(byId("split"), (down) => {
			const panel = byId("panel"), height = panel.offsetHeight;
			return {
				move(event) {
					panel.style.height = `${Math.max(80, height + down.clientY - event.clientY)}px`;
				},
				end: () => {},
			};
		});
	}

	// ---- painting ------------------------------------------------------------------------------

	/** How far the lanes are scrolled; while another tab is shown, how far they were. */
	get scroll() {
		return this.tab === "timeline" ? this.body.scrollTop : this.lastScroll;
	}

	/** Left and right: the tab beside it. @param {KeyboardEvent} event */
	stepTabs(event) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		const tabs = [...byId("tabs").children].filter(({ hidden }) => !hidden);
		const tab = by && tabs[tabs.findIndex((button) => button.dataset.tab === this.tab) + by];

		if (!by)
			return;
		event.preventDefault();
		event.stopPropagation();
		if (tab) {
			this.setTab(tab.dataset.tab);
			tab.focus();
		}
	}

	/** Once for all that changes in a frame. */
	invalidate() {
		if (this.isPainting)
			return;
		this.isPainting = true;
		requestAnimationFrame(() => {
			this.isPainting = false;
			this.paint();
		});
		clearTimeout(this.hashTimer);
		this.hashTimer = window.setTimeout(() => saveAddress(this), HASH_DELAY_MS);
	}

	paint() {
		if (this.tab !== "timeline")
			return;
		this.painter.paint(this);
		this.heads.follow();
		this.minimap.paint(this);
		this.ruler.paint(this);
		byId("span").textContent = `${formatDuration(this.view.span)} shown`;
	}

	resize() {
		const width = this.canvas.clientWidth;
		if (width && width !== this.view.width)
			this.view = new View(this.view.start, this.view.end, width);
		this.invalidate();
	}

	relayout() {
		this.layout = new Layout(this.trace, this.arrangement);
		byId("group").setAttribute("aria-pressed", String(this.arrangement.isGrouped));
		this.heads.show();
		this.invalidate();
	}

	/** @param {string} name "light", "dark", "": as the system has it */
	setTheme(name) {
		const isDark = name ? name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		this.themeName = name;
		document.documentElement.classList.toggle("dark", isDark);
		this.theme = readTheme();
		this.palette = makePalette(this.trace, isDark, this.theme.words.back);
		this.refresh();
	}

	toggleTheme() {
		this.setTheme(this.theme.isDark ? "light" : "dark");
	}

	/** Everything that has colours of its own. */
	refresh() {
		if (!this.layout)
			return;
		if (this.tab === "statistics")
			showStatistics(this, byId("statistics"));
		this.showPanel();
		this.invalidate();
	}

	/** @param {string} tab */
	setTab(tab) {
		this.lastScroll = this.scroll;
		this.tab = tab;
		for (const button of byId("tabs").children) {
			button.setAttribute("aria-selected", String(button.dataset.tab === tab));
			button.tabIndex = button.dataset.tab === tab ? 0 : -1;
		}
		for (const id of TABS)
			byId(id).hidden = id !== tab;
		byId("tip").hidden = true;
		if (tab === "timeline")
			this.body.scrollTop = this.lastScroll;
		if (tab === "statistics")
			showStatistics(this, byId("statistics"));
		if (tab === "flame" && this.flameOf !== this.range) {
			this.flameOf = this.range;
			showFlame(this, byId("flame"));
		}
		if (tab === "profile")
			byId("profile").replaceChildren(this.profile.element);
		if (tab === "profile" || tab === "timeline")
			this.showPanel();
		this.invalidate();
	}

	// ---- what is shown -------------------------------------------------------------------------

	/** @param {View} view */
	setView(view) {
		this.view = view;
		this.invalidate();
	}

	/** @param {number} start @param {number} end */
	show(start, end) {
		this.setView(new View(start, Math.max(end, start + 10), this.view.width).within(this.bounds));
	}

	/** @param {number} scroll */
	scrollTo(scroll) {
		this.lastScroll = this.body.scrollTop = scroll;
		this.invalidate();
	}

	/** @param {number} pixels */
	scrollBy(pixels) {
		this.scrollTo(this.scroll + pixels);
	}

	/** @param {{ start: number, end: number } | null} range @param {boolean} isDone */
	setRange(range, isDone) {
		this.range = range;
		if (isDone) {
			if (range)
				this.selected = this.point = this.sample = null;
			this.showPanel();
		} else {
			this.profile.follow();
		}
		this.invalidate();
	}

	/** @param {Region | null} region @param {PointPlace | null} [point] @param {SamplePlace | null} [sample] */
	select(region, point = null, sample = null) {
		this.selected = region;
		this.point = point;
		this.sample = sample;
		this.showPanel();
		this.showFound();
		this.invalidate();
	}

	clear() {
		this.range = null;
		this.select(null);
		byId("query").value = "";
		this.setQuery("");
	}

	showPanel() {
		if (this.isRestoring)
			return;
		const panel = byId("panel"), { selected, point, sample, range, profile } = this;
		if (this.tab === "profile") {
			profile.show();
			return;
		}
		const content = selected ? makeRegionPanel(this, selected) : point ? makePointPanel(this, point)
			: sample ? makeSamplePanel(this, sample) : range ? makeRangePanel(this, range)
				: profile.isThere ? profile.element : null;
		panel.hidden = byId("split").hidden = !content;
		panel.replaceChildren(...content ? [content] : []);
		if (!content)
			return;
		panel.scrollTop = 0;
		panel.classList.toggle("fixed", content.contains(profile.element));
		if (content.contains(profile.element))
			profile.show();
	}

	// ---- pointing ------------------------------------------------------------------------------

	/** @param {PointerEvent | null} event null: the pointer has left */
	hover(event) {
		const cursor = byId("cursor"), tip = byId("tip");
		cursor.hidden = !event;
		this.pointerTime = event && this.view.time(event.offsetX);
		const found = event && !event.buttons && findAt(this, event.offsetX, event.offsetY);
		tip.hidden = !found;
		if (event)
			cursor.style.left = `${event.offsetX}px`;
		if (!event || !found)
			return;
		tip.replaceChildren(...describe(this, found));
		const x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
		const below = event.clientY + 18, fits = below + tip.offsetHeight < window.innerHeight;
		tip.style.left = `${x}px`;
		tip.style.top = `${fits ? below : event.clientY - tip.offsetHeight - 10}px`;
	}

	/** @param {PointerEvent} event */
	click(event) {
		const found = findAt(this, event.offsetX, event.offsetY);
		this.canvas.focus({ preventScroll: true });
		this.select(found?.kind === "region" ? found.region : null,
			found?.kind === "point" ? found.point : null, found?.kind === "sample" ? found.sample : null);
	}

	// ---- going somewhere -----------------------------------------------------------------------

	/**
	 * Select a region and show it.
	 * @param {Region} region
	 * @param {boolean} [isZooming] false: only if it is not on the screen
	 */
	go(region, isZooming = true) {
		const { lane, depth, index } = region, row = lane.rows[depth], start = row.start[index],
			end = row.end[index];
		if (this.tab !== "timeline")
			this.setTab("timeline");
		this.select(region);
		const margin = (end - start) * (GO_MARGIN - 1) / 2, { view } = this;
		const isThere = start < view.end && end > view.start && (end - start) > view.nsPerPixel * 2;
		if (isZooming || !isThere)
			this.show(start - margin - 5, end + margin + 5);
		this.reveal(lane, depth);
	}

	/** Scroll to a row. @param {import("./trace.mjs").Lane} lane @param {number} depth */
	reveal(lane, depth) {
		const id = laneId(lane), { arrangement, trace } = this;
		const wasHidden = arrangement.unfold(trace, lane.process);
		if (depth > 0 && arrangement.folded.delete(id) || wasHidden)
			this.relayout();
		const item = this.layout.find(id);
		if (!item || item.isPinned)
			return;
		const top = item.y + rowsTop(lane) + depth * SIZES.row,
			room = this.canvas.clientHeight - this.layout.pinnedHeight;
		if (top < this.scroll + SIZES.header || top + 2 * SIZES.row > this.scroll + room)
			this.scrollTo(top - room / 2);
	}

	/** The selected region on the whole screen. */
	fit() {
		if (!this.selected)
			return;
		const { lane, depth, index } = this.selected, row = lane.rows[depth];
		const margin = (row.end[index] - row.start[index]) * (FIT_MARGIN - 1) / 2;
		this.show(row.start[index] - margin, row.end[index] + margin);
	}

	rangeFromRegion() {
		if (!this.selected)
			return;
		const { lane, depth, index } = this.selected, row = lane.rows[depth];
		this.setRange({ start: row.start[index], end: row.end[index] }, true);
	}

	// ---- searching -----------------------------------------------------------------------------

	/** @param {string} query */
	setQuery(query) {
		this.search = new Search(this.trace, query);
		if (byId("query").value !== query)
			byId("query").value = query;
		this.showFound();
		this.profile.follow();
		this.invalidate();
	}

	showFound() {
		const { search } = this, at = this.selected ? search.position(this.selected) : 0;
		const functions = search.functions.filter(Boolean).length;
		byId("found").textContent = !search.isActive ? "" : functions && !search.count
			? plural(functions, "function") : `${formatCount(at)} / ${formatCount(search.count)}`;
	}

	/** @param {number} step */
	goFound(step) {
		const next = this.search.next(this.selected, step);
		if (next)
			this.go(next, false);
	}

	// ---- lanes ---------------------------------------------------------------------------------

	/** @param {string} id */
	pin(id) {
		this.arrangement.togglePin(id);
		this.relayout();
	}

	/** @param {string} id */
	fold(id) {
		this.arrangement.toggleFold(id);
		this.relayout();
	}

	/** Every process, or program, or none. */
	foldAll() {
		this.arrangement.toggleAll(this.trace);
		this.relayout();
	}

	group() {
		this.arrangement.isGrouped = !this.arrangement.isGrouped;
		this.relayout();
	}

	/** @param {string} id @param {string} before */
	move(id, before) {
		this.arrangement.move(this.trace, id, before);
		this.relayout();
	}

	/** One place up or down. @param {string} id @param {number} step */
	shift(id, step) {
		const process = this.layout.find(id)?.process;
		if (!process)
			return;
		const ids = this.arrangement.lanesOf(process).map(laneId), at = ids.indexOf(id);
		if (step < 0 ? at > 0 : at < ids.length - 1)
			this.move(id, step < 0 ? ids[at - 1] : ids[at + 2] ?? "");
	}
}

/** Called when the page and its data are there. @param {import("./load.mjs").Chunks} chunks */
export async function startPage(chunks) {
	const progress = byId("progress");
	try {
		await new Promise((shown) => setTimeout(shown));
		const trace = await loadTrace(chunks, (part) => {
			progress.textContent = `Loading the trace … ${Math.round(100 * part)} %`;
		});
		const app = new App(trace);
		app.start();
		byId("loading").remove();
		/** @type {any} */ (window).app = app;
	} catch (error) {
		const { message } = /** @type {Error} */ (error);
		byId("loading").replaceChildren(make("p", {}, `This trace cannot be shown: ${message}`));
		throw error;
	}
}
