// SPDX-License-Identifier: MIT
/** The page's address: it says what is on the screen, so that a link or a reload shows the same again. */
import { byId } from "./dom.mjs";
import { View } from "./scale.mjs";
import { readHash, writeHash } from "./state.mjs";

/** @typedef {import("./app.mjs").App} App */

/** @param {App} app */
export function saveAddress(app) {
	const { view, trace, range, selected, arrangement, profile, search } = app;
	const isWhole = view.start === trace.start && view.end === trace.end;
	const hash = writeHash({
		tab: app.tab, profile: profile.isChosen ? profile.choice.id : "",
		thread: profile.lane?.index ?? -1,
		query: search.isActive ? byId("query").value : "", theme: app.themeName,
		/* a region without a view is gone to */
		view: isWhole && !selected ? null : [view.start, view.end], range: range && [range.start, range.end],
		region: selected && [selected.lane.index, selected.depth, selected.index],
		pinned: arrangement.pinned, folded: [...arrangement.folded], order: arrangement.order,
		isGrouped: arrangement.isGrouped, top: app.scroll,
	});
	app.ownHash = hash ? `#${hash}` : "";
	if (location.hash !== app.ownHash)
		history.replaceState(null, "", app.ownHash || location.pathname + location.search);
}

/** Show what the address says. @param {App} app */
export function restoreAddress(app) {
	if (app.ownHash !== undefined && location.hash === app.ownHash)
		return;
	const state = readHash(location.hash), { arrangement, trace } = app;
	app.isRestoring = true;
	arrangement.pinned = state.pinned;
	arrangement.folded = new Set(state.folded);
	arrangement.order = state.order;
	arrangement.isGrouped = state.isGrouped;
	app.setTheme(state.theme);
	app.profile.restore(state.profile, trace.lanes[state.thread] ?? null);
	app.relayout();
	app.range = state.range && { start: state.range[0], end: state.range[1] };
	app.setTab(state.tab);
	app.view = new View(trace.start, trace.end, Math.max(1, app.canvas.clientWidth));
	if (state.view)
		app.show(state.view[0], state.view[1]);
	app.setQuery(state.query);
	const [lane, depth, index] = state.region ?? [-1, -1, -1], row = trace.lanes[lane]?.rows[depth];
	const region = row && index < row.length ? { lane: trace.lanes[lane], depth, index } : null;
	app.isRestoring = false;
	app.select(region);
	if (region && !state.view)
		app.go(region);
	else
		app.scrollTo(state.top);
}
