// SPDX-License-Identifier: MIT
/**
 * usage: T2_MODULES=DIRECTORY node picture.mjs PAGE HASH OUTPUT.png
 *
 * What a page shows at an address behind #, as a picture of 1280 x 760.  In HASH, what is in braces is a time in parts
 * of the whole: "view={0.4}-{0.5}".  DIRECTORY: where playwright-core is.
 */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [, , file, hash, output] = process.argv, { T2_MODULES: modules, T2_CHROMIUM: executable } = process.env;
const { chromium } = createRequire(join(resolve(modules), "index.js"))("playwright-core");

const browser = await chromium.launch({
	executablePath: executable ?? "/usr/bin/chromium", args: ["--no-sandbox"], timeout: 180000,
});
const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, offline: true });
page.setDefaultTimeout(120000);   // what it waits for comes, however busy the machine is
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => window.app);
await page.evaluate((template) => {
	const { start, end } = window.app.trace;
	const place = (_, part) => Math.round(start + (end - start) * Number(part));
	location.hash = template.replace(/\{([\d.]+)\}/g, place);
}, hash);
await page.waitForFunction(() => window.app.isPainting === false);
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path: output });
await browser.close();
