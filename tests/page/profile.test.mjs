// SPDX-License-Identifier: MIT
/** Samples of profiles: what is read of them, what they add up to, how a flame graph is laid out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Encoder } from "./encode.mjs";
import { profiledTrace } from "./samples.mjs";
import { makeTrace } from "../../expand/page/src/reader.mjs";
import { formatSample, invert, layOut, profileTitle, shareOf, sumUp,
	totalFunctions } from "../../expand/page/src/profiles.mjs";

const trace = profiledTrace().trace(), [main, worker] = trace.lanes;
const choices = new Map(trace.choices.map((choice) => [choice.id, choice]));
const whole = { start: -Infinity, end: Infinity };
const sum = (id, lanes = trace.lanes, range = whole) => sumUp(trace, choices.get(id), lanes, range);

/** The stacks of a tree with something of their own, the outermost first. */
const folded = (tree) => Object.fromEntries([...tree.self].flatMap((self, node) =>
	self ? [[trace.stacks.names(node).reverse().join(";"), self]] : []));

test("test_profile_known_profiles_come_first_in_one_order", () => {
	assert.deepEqual(trace.profiles, ["cpu", "block", "heap", "files"]);
	assert.deepEqual([...choices.keys()], ["cpu", "block", "allocs", "heap", "files"]);
	const [cpu, , heap] = main.samples;
	assert.equal(cpu.length, 4);
	assert.equal(heap.length, 3);
});

test("test_profile_sum_is_of_each_stack", () => {
	assert.deepEqual(folded(sum("cpu")),
		{ "main;work": 30, "main;work;hash": 20, "(stack not known)": 10, "run;hash": 10 });
	assert.equal(sum("cpu").total[0], 70);
	assert.equal(sum("cpu").samples, 5);
});

test("test_profile_sum_is_of_the_thread_and_the_range", () => {
	assert.deepEqual(folded(sum("cpu", [worker])), { "run;hash": 10 });
	const part = { start: 111, end: 140 };
	assert.deepEqual(folded(sum("cpu", [main], part)), { "main;work": 20, "main;work;hash": 20 });
	assert.deepEqual(folded(sum("cpu", [main], { start: 141, end: 149 })), {});
});

test("test_profile_heap_in_use_is_without_what_was_freed", () => {
	assert.deepEqual(folded(sum("allocs")), { "main;grow": 4096, "main;work;grow": 1000 });
	assert.deepEqual(folded(sum("heap")), { "main;work;grow": 1000 });
	assert.equal(sum("heap").total[0], 1000);
});

test("test_profile_others_are_counted", () => {
	assert.deepEqual(folded(sum("files")), { "main;open": 3 });
});

test("test_profile_sample_lasts_until_its_time_and_not_into_the_one_before", () => {
	const [cpu] = main.samples;
	assert.deepEqual([...cpu.end], [110, 120, 140, 150]);
	assert.deepEqual([...cpu.start], [100, 110, 120, 140]);
	assert.deepEqual([...main.samples[2].start], [...main.samples[2].end]);
});

test("test_profile_each_choice_has_a_title", () => {
	assert.deepEqual([...choices.values()].map(({ title }) => title),
		["CPU", "Blocked", "Allocated", "In use", "files"]);
	assert.deepEqual(trace.profiles.map((_, profile) => profileTitle(trace, profile)),
		["CPU", "Blocked", "Heap", "files"]);
});

test("test_profile_samples_are_scaled", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "s"), 0, "main");
	thread.sample(10, "heap", ["f"], [2, 1024, 1.5]).sample(20, "heap", ["f"], [-2, -1024, 1.5]);
	const { lanes: [{ samples: [heap] }] } = encoder.trace();
	assert.deepEqual([...heap.count], [3, -3]);
	assert.deepEqual([...heap.value], [1536, -1536]);
});

test("test_profile_removed_objects_are_taken_off", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "s"), 0, "main");
	thread.sample(10, "files", ["f"], [3, 0, 1]).sample(20, "files", ["f"], [-1, 0, 1]);
	const own = encoder.trace();
	assert.equal(sumUp(own, own.choices[0], own.lanes, whole).total[0], 2);
});

test("test_profile_sample_says_what_it_stands_for", () => {
	const [, block, heap, files] = trace.kinds;
	assert.equal(formatSample(heap, -2, -2048), "2.00 KiB freed, 2 objects");
	assert.equal(formatSample(block, 1, 1500), "1.500 µs, 1 wait");
	assert.equal(formatSample(files, 3, 0), "3");
});

test("test_profile_function_that_calls_itself_is_counted_once", () => {
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "s"), 0, "main");
	thread.sample(10, "cpu", ["f", "g", "f"], [1, 10, 1]).sample(20, "cpu", ["f"], [1, 10, 1]);
	const own = encoder.trace(), tree = sumUp(own, own.choices[0], own.lanes, whole);
	const rows = totalFunctions(own, tree)
		.map(({ function: at, self, total }) => [own.stacks.functions[at], self, total]);
	assert.deepEqual(rows, [["f", 20, 20], ["g", 0, 10]]);
});

test("test_profile_inverted_has_the_callers_below", () => {
	const tree = invert(sum("cpu")), top = tree.children.get(0).map((node) => [node, tree.total[node]]);
	const names = top.map(([node, total]) => `${trace.stacks.functions[tree.function[node]]} ${total}`);
	assert.deepEqual(names, ["work 30", "hash 30", "(stack not known) 10"]);
	const below = tree.children.get(top[1][0]).map((node) => trace.stacks.functions[tree.function[node]]);
	assert.deepEqual(below, ["work", "run"]);
	assert.equal(tree.total[0], 70);
});

test("test_profile_flame_graph_has_the_largest_first_and_each_in_its_parent", () => {
	const tree = sum("cpu"), rows = layOut(tree, 0, 0);
	const said = rows.map((row) => row.map(({ node, from, to }) =>
		`${trace.stacks.names(node)[0]} ${Math.round(70 * from)}-${Math.round(70 * to)}`));
	assert.deepEqual(said.slice(1), [["main 0-50", "run 50-60"], ["work 0-50", "hash 50-60"], ["hash 0-20"]]);
	assert.ok(layOut(tree, 0, 0.2).every((row) => row.every(({ from, to }) => to - from >= 0.2)));
});

test("test_profile_flame_graph_of_one_function_is_as_wide_as_all", () => {
	const tree = sum("cpu"), [, [{ node: outer }], [{ node }]] = layOut(tree, 0, 0), rows = layOut(tree, node, 0);
	assert.deepEqual(rows.slice(0, 3).map(([frame]) => [frame.node, frame.from, frame.to]),
		[[0, 0, 1], [outer, 0, 1], [node, 0, 1]]);
	assert.equal(rows[3][0].to, 0.4);
});

test("test_profile_share_is_of_stacks_with_one_of_the_functions", () => {
	const isIt = trace.stacks.functions.map((name) => name === "hash" || name === "work");
	assert.equal(shareOf(sum("cpu"), isIt), 60 / 70);
});

test("test_profile_stack_of_nothing_is_refused", () => {
	const facts = { ...new Encoder().facts, functions: ["f"], stacks: [0, 1, 2, 1] };
	assert.throws(() => makeTrace(facts), /stack 2/);
	assert.throws(() => makeTrace({ ...facts, stacks: [0, 2] }), /stack 1/);
	const encoder = new Encoder(), thread = encoder.thread(encoder.process(1, "s"), 0, "main");
	thread.sample(10, "cpu", ["f"], [1, 1, 1]);
	encoder.facts.stacks = [];
	assert.throws(() => encoder.trace(), /stack 1/);
});
