// SPDX-License-Identifier: MIT
/** Elements of the page, and what its style says about colours. */
import { parseColor } from "./colors.mjs";

/**
 * @param {string} id
 * @returns {any} the element, which is in page.html
 */
export function byId(id) {
	return document.getElementById(id);
}

/**
 * @param {string} tag with classes: "div.head.lane"
 * @param {object} [properties] of the element; those with a - are attributes
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
	const [name, ...classes] = tag.split("."), element = /** @type {any} */ (document.createElement(name));
	if (classes.length)
		element.className = classes.join(" ");
	for (const [key, value] of Object.entries(properties))
		if (key.includes("-") || key === "role")
			element.setAttribute(key, value);
		else
			element[key] = value;
	element.append(...children);
	return element;
}

/** @typedef {{ css: Record<string, string>, words: Record<string, number>, isDark: boolean }} Theme */

const NAMES = ["back", "panel", "line", "text", "muted", "accent", "accent-soft", "lost", "warn", "grid", "ink", "flow",
	"series", "hit"];

/** @returns {Theme} */
export function readTheme() {
	const style = getComputedStyle(document.documentElement);
	/** @type {Record<string, string>} */
	const css = {};
	/** @type {Record<string, number>} */
	const words = {};
	for (const name of NAMES) {
		css[name] = style.getPropertyValue(`--${name}`).trim();
		words[name] = parseColor(css[name]);
	}
	return { css, words, isDark: document.documentElement.classList.contains("dark") };
}

/**
 * Makes the pixels of a canvas those of the screen.
 * @param {HTMLCanvasElement} canvas
 * @returns {{ width: number, height: number, ratio: number }} in pixels of the screen
 */
export function fitCanvas(canvas) {
	const ratio = window.devicePixelRatio || 1;
	const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
	const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
	if (canvas.width !== width || canvas.height !== height) {
		canvas.width = width;
		canvas.height = height;
	}
	return { width, height, ratio };
}
