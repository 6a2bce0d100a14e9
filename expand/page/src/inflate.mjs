// SPDX-License-Identifier: MIT
/**
 * Inflating, beside the thread of the page where the browser has workers for a page from a file: what is inflated
 * already is read meanwhile.
 */

const MOST_WORKERS = 2;
/** Blocks that a worker has: it need not wait for the next one. */
const MOST_AT_ONCE = 2;

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function inflate(bytes) {
	const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
	const buffer = new Response(stream.readable).arrayBuffer();
	await Promise.all([buffer, writer.write(/** @type {any} */ (bytes)), writer.close()]);
	return new Uint8Array(await buffer);
}

/** What a worker does: it has no other code but this and inflate().  It says when it has begun to listen. */
function work() {
	self.onmessage = async ({ data: { at, bytes } }) => {
		const buffer = await inflate(bytes).then((inflated) => inflated.buffer, () => null);
		/** @type {any} */ (self).postMessage({ at, buffer }, buffer ? [buffer] : []);
	};
	/** @type {any} */ (self).postMessage({ at: -1, buffer: null });
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

/** @typedef {{ bytes: Uint8Array, done: (inflated: Promise<Uint8Array> | Uint8Array) => void }} Job */

/**
 * Blocks that workers inflate in their order, before they are taken.  What none has begun by then is inflated here: the
 * page does not wait for workers that are slow to start, or that there are none of.
 */
export class Inflater {
	/** Those that nobody has begun; of the others what they become. @type {(Uint8Array | Promise<Uint8Array>)[]} */
	blocks = [];
	/** @type {Worker[]} */
	workers = [];
	/** Of those that listen: their jobs by the numbers of the blocks. @type {Map<Worker, Map<number, Job>>} */
	jobs = new Map();
	/** All before it are begun. */
	begun = 0;
	taken = 0;

	/** @param {() => Worker[]} [start] */
	constructor(start = startWorkers) {
		this.start = start;
	}

	/** @param {Uint8Array} bytes of one more block; one alone is worth no worker */
	add(bytes) {
		if (this.blocks.push(bytes) === 2) {
			this.workers = this.start();
			this.workers.forEach((worker) => this.listen(worker));
		}
		for (const [worker, jobs] of this.jobs)
			this.feed(worker, jobs);
	}

	/** @returns {Promise<Uint8Array>} the next block; or it says why it cannot be inflated */
	take() {
		const at = this.taken++, block = this.blocks[at];
		this.begun = Math.max(this.begun, this.taken);
		this.blocks[at] = new Uint8Array(0);
		return block instanceof Promise ? block : inflate(block);
	}

	/** Nothing is taken any more. */
	stop() {
		this.jobs.clear();
		for (const worker of this.workers)
			worker.terminate();
	}

	/** @param {Worker} worker */
	listen(worker) {
		/** @type {Map<number, Job>} */
		const jobs = new Map();
		worker.addEventListener("error", () => {
			this.jobs.delete(worker);
			for (const { bytes, done } of jobs.values())
				done(inflate(bytes));
		});
		worker.addEventListener("message", ({ data: { at, buffer } }) => {
			const job = jobs.get(at);
			jobs.delete(at);
			job?.done(buffer ? new Uint8Array(buffer) : inflate(job.bytes));
			this.jobs.set(worker, jobs);
			this.feed(worker, jobs);
		});
	}

	/** @param {Worker} worker @param {Map<number, Job>} jobs */
	feed(worker, jobs) {
		for (; jobs.size < MOST_AT_ONCE && this.begun < this.blocks.length; this.begun++) {
			const at = this.begun, bytes = /** @type {Uint8Array} */ (this.blocks[at]);
			this.blocks[at] = new Promise((done) => jobs.set(at, { bytes, done }));
			worker.postMessage({ at, bytes });
		}
	}
}
