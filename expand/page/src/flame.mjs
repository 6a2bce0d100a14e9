// SPDX-License-Identifier: MIT
/**
 * The tab with speedscope, which is in the page as a document of its own, deflated.  It is given the trace, or the
 * selected range of it, as a file of its own format.
 */
import { make } from "./dom.mjs";
import { inflate } from "./inflate.mjs";
import { takeBlocks } from "./load.mjs";
import { formatCount, formatDuration } from "./scale.mjs";
import { makeNothing } from "./statistics.mjs";
import { MOST_EVENTS, toSpeedscope } from "./speedscope.mjs";

/** @type {Promise<string> | null} */
let speedscope = null;

/** The document; "": the page was built without. */
async function findDocument() {
	const [block] = takeBlocks("speedscope");
	return block ? new TextDecoder().decode(await inflate(block)) : "";
}

/** @param {import("./app.mjs").App} app @param {HTMLElement} section */
export async function showFlame(app, section) {
	if (!app.trace.regions) {
		section.replaceChildren(makeNothing(app));
		return;
	}
	const html = await (speedscope ??= findDocument());
	if (!html) {
		section.replaceChildren(make("p.empty", {},
			"This page was built without speedscope, which shows flame graphs."));
		return;
	}
	const range = app.range ?? app.trace, { file, isExact } = toSpeedscope(app.trace, range);
	const what = app.range ? `The selected range, ${formatDuration(range.end - range.start)}. ` : "";
	const note = make("div.note", {}, what, isExact ? "" :
		`More than ${formatCount(MOST_EVENTS / 2)} regions: they are merged by name, to be looked at as ` +
		"Left Heavy or Sandwich. A shorter range is shown in the order of time.");
	const frame = make("iframe", { title: "speedscope" });
	const name = "trace.speedscope.json";
	frame.onload = () => frame.contentWindow.speedscope?.loadFileFromBase64(name, toBase64(file));
	frame.srcdoc = html.replace("<html>", `<html data-view="${isExact ? "time-ordered" : "left-heavy"}">`);
	section.replaceChildren(...note.textContent ? [note] : [], frame);
}

/** @param {object} file */
function toBase64(file) {
	const bytes = new TextEncoder().encode(JSON.stringify(file)), parts = [];
	for (let at = 0; at < bytes.length; at += 0x8000)
		parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
	return btoa(parts.join(""));
}
