// SPDX-License-Identifier: MIT
/**
 * Pages in Chromium.  T2_PAGES: where they are, with what other formats say of the same traces; T2_MODULES: where
 * playwright-core is; T2_TEMPLATE: a page without data.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { T2_PAGES, T2_MODULES: modules, T2_TEMPLATE: template, T2_CHROMIUM: executable } = process.env;
const { chromium } = createRequire(join(modules, "index.js"))("playwright-core");
export const pages = T2_PAGES;

/** @type {import("playwright-core").Browser} */
let browser;
/** What a page asked for, or complained of. @type {string[]} */
export const troubles = [];

/** @param {Record<string, import("../../page/encode.mjs").Encoder>} traces by the names of the pages with them */
export async function start(traces) {
	browser = await chromium.launch({
		executablePath: executable ?? "/usr/bin/chromium", args: ["--no-sandbox"], timeout: 180000,
	});
	const text = readFileSync(template, "utf8");
	for (const [name, trace] of Object.entries(traces))
		writeFileSync(join(pages, `${name}.html`), trace.html(text));
}

export const stop = () => browser.close();

/** A page that is loaded, without network; script: what runs in front of it. */
export async function open(name, hash = "", options = {}, script = () => {}) {
	const context = await browser.newContext({ viewport: { width: 1400, height: 820 }, offline: true, ...options });
	context.setDefaultTimeout(120000);   // what it waits for comes, however busy the machine is
	await context.addInitScript(script);
	const page = await context.newPage(), file = `file://${join(pages, name)}.html`;
	troubles.length = 0;
	page.on("request", (request) => {
		if (!/^(data|blob|about):/.test(request.url()) && !request.url().startsWith(file))
			troubles.push(request.url());
	});
	page.on("pageerror", (error) => troubles.push(error.message));
	page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
	await page.goto(`${file}${hash}`);
	await page.waitForFunction(() => !document.getElementById("loading"));
	return page;
}

/** The page has been painted after what was done last. */
export const painted = (page) => page.evaluate(() =>
	new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function close(page) {
	await page.context().close();
	assert.deepEqual(troubles, []);
}

export const colorAt = (page, x, y) => page.evaluate(([left, top]) => {
	const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
	return [...canvas.getContext("2d").getImageData(left - box.x, top - box.y, 1, 1).data].slice(0, 3);
}, [x, y]);
