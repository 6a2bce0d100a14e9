// SPDX-License-Identifier: MIT
/** Reading the bytes of a chunk: varints, seven bits a byte, the low ones first. */

export class Cursor {
	/**
	 * @param {Uint8Array} bytes
	 * @param {number} [at]
	 */
	constructor(bytes, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}

	/** @returns {number} exact below 2^53 */
	varint() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 0x80)
			return byte;
		let value = byte & 0x7f;
		for (let weight = 0x80; ; weight *= 0x80) {
			if (this.at >= bytes.length)
				throw new Error("a number is cut off");
			byte = bytes[this.at++];
			value += (byte & 0x7f) * weight;
			if (byte < 0x80)
				return value;
		}
	}

	/** One that begins elsewhere. @param {number} at @returns {number} */
	varintAt(at) {
		this.at = at;
		return this.varint();
	}

	/** A number that may be negative: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ... */
	signed() {
		const coded = this.varint();
		return coded % 2 ? -(coded + 1) / 2 : coded / 2;
	}

	/** @param {number} length of the bytes that are returned, and passed */
	take(length) {
		const from = this.at;
		if (from + length > this.bytes.length)
			throw new Error("a chunk ends too early");
		this.at += length;
		return this.bytes.subarray(from, this.at);
	}

	get isAtEnd() {
		return this.at >= this.bytes.length;
	}
}
