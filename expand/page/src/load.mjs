// SPDX-License-Identifier: MIT
/** The data of the page: blocks in script elements, base64 of deflated bytes, which are removed as they are read. */
import { inflate, inflateAll } from "./inflate.mjs";
import { makeTrace, readChunk } from "./reader.mjs";

/**
 * @param {string} kind
 * @returns {Uint8Array[]} the blocks of a kind, in their order, deflated; they are not in the page any more
 */
export function takeBlocks(kind) {
	return [...document.querySelectorAll(`script[type="t2/${kind}"]`)].map((element) => {
		const bytes = fromBase64(element.textContent ?? "");
		element.remove();
		return bytes;
	});
}

/** @param {string} text @returns {Uint8Array} */
function fromBase64(text) {
	const native = /** @type {any} */ (Uint8Array).fromBase64;
	return native ? native.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/**
 * @param {(part: number) => void} progress 0 to 1
 * @returns {Promise<import("./trace.mjs").Trace>}
 */
export async function loadTrace(progress) {
	const [facts] = takeBlocks("facts");
	if (!facts)
		throw new Error("there are no data in this page: was it written to its end?");
	const trace = makeTrace(JSON.parse(new TextDecoder().decode(await inflate(facts))));
	const chunks = takeBlocks("chunk"), inflated = inflateAll(chunks);
	for (const [at, chunk] of inflated.entries()) {
		readChunk(trace, await chunk);
		inflated[at] = /** @type {any} */ (null);
		progress((at + 1) / chunks.length);
	}
	trace.finish();
	return trace;
}
