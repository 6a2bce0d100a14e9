// SPDX-License-Identifier: MIT
/** The perf text of a trace, to compare a page with. */
import { readFileSync } from "node:fs";

/** @typedef {{ thread: string, kind: string, seconds: number, name: string, says: string }} Line */

/**
 * @param {string} file
 * @returns {Line[]} name: category and label, seconds: in the region, child or thread
 */
export function readPerf(file) {
	return readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => {
		const columns = line.split("|").map((column) => column.trim());
		const [, , thread, kind, , , relative, category, ...rest] = columns;
		const text = rest.join("|").replace(/^\.*/, "");
		return {
			thread, kind, seconds: Number(relative), says: text,
			name: `${category}/${text.match(/^(?:label:)?([^\s:]+)/)?.[1] ?? ""}`,
		};
	});
}
