// SPDX-License-Identifier: MIT
/**
 * The data of the page: blocks in script elements, base64 of deflated bytes, which are removed as they are read.  The
 * blocks with events, the chunks, are inflated from when the browser has parsed them: it is not at the page's end yet.
 */
import { Inflater, inflate } from "./inflate.mjs";
import { makeTrace, readChunk } from "./reader.mjs";

/** Those that are parsed and not taken yet. @param {string} kind @returns {HTMLElement[]} */
const findBlocks = (kind) => [...document.querySelectorAll(/** @type {"script"} */ (`script[type="t2/${kind}"]`))];

/** @param {HTMLElement} element @returns {Uint8Array} of it, which is not in the page any more */
function takeBlock(element) {
	const bytes = fromBase64(element.textContent ?? "");
	element.remove();
	return bytes;
}

/**
 * @param {string} kind
 * @returns {Uint8Array[]} the blocks of a kind, in their order, deflated
 */
export function takeBlocks(kind) {
	return findBlocks(kind).map(takeBlock);
}

/** @param {string} text @returns {Uint8Array} */
function fromBase64(text) {
	const native = /** @type {any} */ (Uint8Array).fromBase64;
	return native ? native.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** The chunks of a page that is still being parsed. */
export class Chunks {
	inflater = new Inflater();
	count = 0;
	observer = new MutationObserver(() => this.takeParsed());

	constructor() {
		this.observer.observe(document.body, { childList: true });
	}

	/** Of the last one nobody knows whether all of it is there. */
	takeParsed() {
		for (const element of findBlocks("chunk").filter(({ nextSibling }) => nextSibling))
			this.add(takeBlock(element));
	}

	/** @param {Uint8Array} bytes */
	add(bytes) {
		this.count++;
		this.inflater.add(bytes);
	}

	/** All of the page is parsed. */
	takeRest() {
		this.observer.disconnect();
		takeBlocks("chunk").forEach((bytes) => this.add(bytes));
	}
}

/**
 * @param {Chunks} chunks
 * @param {(part: number) => void} progress 0 to 1
 * @returns {Promise<import("./trace.mjs").Trace>}
 */
export async function loadTrace(chunks, progress) {
	chunks.takeRest();
	const [facts] = takeBlocks("facts");
	if (!facts)
		throw new Error("there are no data in this page: was it written to its end?");
	const trace = makeTrace(JSON.parse(new TextDecoder().decode(await inflate(facts))));
	for (let at = 0; at < chunks.count; at++) {
		readChunk(trace, await chunks.inflater.take());
		progress((at + 1) / chunks.count);
	}
	chunks.inflater.stop();
	trace.finish();
	return trace;
}
