// SPDX-License-Identifier: MIT
/**
 * The stacks of samples: each is a function called in another stack, which has a lower number; 0 is the empty one.
 * Functions have numbers, too; 0 stands for a stack that nobody knows.
 */

const UNKNOWN = "(stack not known)";

export class Stacks {
	/**
	 * @param {string[]} functions of the numbers from 1 up
	 * @param {number[]} pairs parent and function of each stack from 1 up
	 */
	constructor(functions, pairs) {
		/** Names of functions, by their numbers. */
		this.functions = [UNKNOWN, ...functions];
		this.length = 1 + pairs.length / 2;
		this.parent = new Uint32Array(this.length);
		this.function = new Uint32Array(this.length);
		for (let stack = 1; stack < this.length; stack++) {
			const parent = pairs[2 * stack - 2], own = pairs[2 * stack - 1];
			if (!(parent >= 0 && parent < stack && own > 0 && own < this.functions.length))
				throw new Error(`stack ${stack} is of nothing that is known`);
			this.parent[stack] = parent;
			this.function[stack] = own;
		}
		/** @type {Uint8Array | null} */
		this.repeats = null;
	}

	/** The functions of a stack, the innermost first. @param {number} stack @returns {number[]} */
	list(stack) {
		const functions = [];
		for (let at = stack; at; at = this.parent[at])
			functions.push(this.function[at]);
		return functions.length ? functions : [0];
	}

	/** The same as names. @param {number} stack */
	names(stack) {
		return this.list(stack).map((at) => this.functions[at]);
	}

	/** Of each stack, whether its function is also further out in it: that has its time already. */
	get isRepeated() {
		if (this.repeats)
			return this.repeats;
		const repeats = this.repeats = new Uint8Array(this.length);
		for (let stack = 1; stack < this.length; stack++)
			for (let at = this.parent[stack]; at && !repeats[stack]; at = this.parent[at])
				repeats[stack] = Number(this.function[at] === this.function[stack]);
		return repeats;
	}
}
