// SPDX-License-Identifier: MIT
/**
 * Inflating, beside the thread of the page where the browser has workers for a page from a file: what is inflated
 * already is read meanwhile.
 */

const MOST_WORKERS = 2;

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function inflate(bytes) {
	const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
	const buffer = new Response(stream.readable).arrayBuffer();
	await Promise.all([buffer, writer.write(/** @type {any} */ (bytes)), writer.close()]);
	return new Uint8Array(await buffer);
}

/** What a worker does: it has no other code but this and inflate(). */
function work() {
	self.onmessage = async ({ data: { at, bytes } }) => {
		const buffer = await inflate(bytes).then((inflated) => inflated.buffer, () => null);
		/** @type {any} */ (self).postMessage({ at, buffer }, buffer ? [buffer] : []);
	};
}

/** @returns {Worker[]} none, if there cannot be any */
function startWorkers() {
	try {
		const code = new Blob([`"use strict";\n${inflate}\n(${work})();`], { type: "text/javascript" });
		const url = URL.createObjectURL(code);
		const count = Math.min(MOST_WORKERS, (navigator.hardwareConcurrency || 1) - 1);
		return Array.from({ length: count }, () => new Worker(url));
	} catch {
		return [];
	}
}

/**
 * @param {Worker} worker
 * @param {number} at which block it is
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>} what the worker cannot inflate is inflated here, or says why it cannot be
 */
function inflateIn(worker, at, bytes) {
	return new Promise((resolve, reject) => {
		const inflateHere = () => inflate(bytes).then(resolve, reject);
		worker.addEventListener("error", inflateHere);
		worker.addEventListener("message", ({ data }) => {
			if (data.at !== at)
				return;
			if (data.buffer)
				resolve(new Uint8Array(data.buffer));
			else
				inflateHere();
		});
		worker.postMessage({ at, bytes });
	});
}

/**
 * @param {Uint8Array[]} blocks
 * @returns {Promise<Uint8Array>[]} of each, as soon as it is there
 */
export function inflateAll(blocks) {
	const workers = blocks.length > 1 ? startWorkers() : [];
	if (!workers.length)
		return blocks.map(inflate);
	const all = blocks.map((bytes, at) => inflateIn(workers[at % workers.length], at, bytes));
	Promise.allSettled(all).then(() => workers.forEach((worker) => worker.terminate()));
	return all;
}
