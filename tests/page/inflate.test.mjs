// SPDX-License-Identifier: MIT
/** Who inflates which block: workers, or the page itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import { Inflater } from "../../expand/page/src/inflate.mjs";

const BLOCKS = 8;
const textOf = (at) => `the ${at}th block `.repeat(100);

/** A worker in the page's thread, which does what a test tells it to. */
class Helper extends EventTarget {
	jobs = [];
	isTerminated = false;

	postMessage(job) {
		this.jobs.push(job);
	}

	terminate() {
		this.isTerminated = true;
	}

	say(data) {
		this.dispatchEvent(Object.assign(new Event("message"), { data }));
	}

	listens() {
		this.say({ at: -1, buffer: null });
	}

	/** What it has been given first. @param {boolean} canIt */
	doOne(canIt = true) {
		const { at, bytes } = this.jobs.shift();
		this.say({ at, buffer: canIt ? new Uint8Array(inflateSync(bytes)).buffer : null });
	}
}

/** All blocks, added, and helpers for them. @param {number} helpers @param {number} blocks */
function begin(helpers, blocks = BLOCKS) {
	const all = Array.from({ length: helpers }, () => new Helper()), inflater = new Inflater(() => all);
	for (let at = 0; at < blocks; at++)
		inflater.add(new Uint8Array(deflateSync(textOf(at))));
	return { inflater, helpers: all };
}

/** Takes those that are left, and looks whether they are right. */
async function takeAll(inflater, from = 0) {
	for (let at = from; at < BLOCKS; at++)
		assert.equal(new TextDecoder().decode(await inflater.take()), textOf(at));
	inflater.stop();
}

test("test_inflate_workers_that_do_not_start_are_not_waited_for", async () => {
	const { inflater, helpers } = begin(2);
	await takeAll(inflater);
	assert.deepEqual(helpers.map(({ jobs, isTerminated }) => [jobs.length, isTerminated]), [[0, true], [0, true]]);
});

test("test_inflate_without_workers_is_done_here", async () => takeAll(begin(0).inflater));

test("test_inflate_late_worker_gets_blocks_behind_those_that_are_taken", async () => {
	const { inflater, helpers: [helper] } = begin(1);
	await inflater.take();
	await inflater.take();
	helper.listens();
	assert.deepEqual(helper.jobs.map(({ at }) => at), [2, 3]);
	helper.doOne();
	assert.deepEqual(helper.jobs.map(({ at }) => at), [3, 4]);
	while (helper.jobs.length)
		helper.doOne();
	await takeAll(inflater, 2);
});

test("test_inflate_blocks_of_a_worker_that_breaks_are_inflated_here", async () => {
	const { inflater, helpers: [helper] } = begin(1);
	helper.listens();
	helper.doOne(false);
	helper.dispatchEvent(new Event("error"));
	await takeAll(inflater);
	assert.equal(helper.jobs.length, 2);
});

test("test_inflate_of_one_block_starts_no_worker", () => {
	let starts = 0;
	const inflater = new Inflater(() => (starts++, []));
	inflater.add(new Uint8Array(deflateSync("one")));
	assert.equal(starts, 0);
	inflater.add(new Uint8Array(deflateSync("two")));
	inflater.add(new Uint8Array(deflateSync("three")));
	assert.equal(starts, 1);
});

test("test_inflate_damaged_block_says_so_when_it_is_taken", async () => {
	const inflater = new Inflater(() => []);
	inflater.add(new Uint8Array([1, 2, 3]));
	await assert.rejects(inflater.take());
});
