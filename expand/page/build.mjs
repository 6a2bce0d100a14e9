// SPDX-License-Identifier: MIT
/**
 * usage: node build.mjs NODE_MODULES OUTPUT
 *
 * Builds the page of t2expand --format=html into one file, without data: page.html with its style, the modules in
 * src/ as one script, and speedscope from its npm package, if that is in NODE_MODULES.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [, , modules, output] = process.argv;
const read = (...path) => readFileSync(join(...path), "utf8");

const IMPORT = /^import \{([^}]*)\} from "\.\/(\w+)\.mjs";$/gm;

/** What would end a script element, or begin one within it. */
const inScript = (text) => text.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");

/**
 * A module as a function of its own, which returns what it exports.  All imports are of names, from modules beside it.
 * @param {string} name
 * @param {string} source
 */
function wrapModule(name, source) {
	const exported = [...source.matchAll(/^export (?:async )?(?:class|const|function|let) (\w+)/gm)]
		.map(([, id]) => id);
	for (const [, more] of source.matchAll(/^export const \w+ = [^;\n]+(, \w+ = [^;]+);/gm))
		exported.push(...[...more.matchAll(/, (\w+) = /g)].map(([, id]) => id));
	const body = source
		.replace(IMPORT, (_, names, from) => `const {${names}} = module_${from};`)
		.replace(/^export /gm, "")
		.replace(/^\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm, "")
		.replace(/ ?\/\*\* @type[^*]*\*\/ ?/g, "")
		.replace(/^\s*\/\/.*\n/gm, "");
	if (/^import /m.test(body))
		throw new Error(`${name}: an import that is not of names from a module beside it`);
	return `const module_${name} = (() => {\n${body}return { ${exported.join(", ")} };\n})();\n`;
}

/** The modules, each behind those that it imports. */
function orderModules() {
	const done = new Map();
	const visit = (name, path) => {
		if (path.includes(name))
			throw new Error(`modules import each other: ${[...path, name].join(" ")}`);
		if (done.has(name))
			return;
		const source = read(here, "src", `${name}.mjs`);
		for (const [, , from] of source.matchAll(IMPORT))
			visit(from, [...path, name]);
		done.set(name, source);
	};
	for (const file of readdirSync(join(here, "src")).sort())
		visit(file.replace(/\.mjs$/, ""), []);
	return done;
}

/** speedscope as a document that needs nothing but itself. */
function makeSpeedscope(dist) {
	const files = readdirSync(dist), find = (pattern) => files.find((file) => pattern.test(file));
	const font = readFileSync(join(dist, find(/\.woff2$/))).toString("base64");
	const style = read(dist, find(/^speedscope-.*\.css$/))
		.replace(/url\("[^"]*woff2"\)/, `url(data:font/woff2;base64,${font})`)
		.replace(/\/\*# sourceMappingURL.*/, "");
	const script = inScript(read(dist, find(/^speedscope-.*\.js$/)));
	// localProfilePath makes it wait for loadFileFromBase64(), after it has asked for a script of that name.
	const prelude = "location.hash = `localProfilePath=none&view=${document.documentElement.dataset.view}`;" +
		"Object.defineProperty(window, 'localStorage', { value: {} });" +
		"const append = document.head.appendChild.bind(document.head);" +
		"document.head.appendChild = (node) => /none$/.test(node.src) ? node : append(node);";
	return `<!DOCTYPE html>
<html>
<head>
<meta charset="UTF-8">
<title>speedscope</title>
<style>${style}</style>
</head>
<body><script>${prelude}</script><script>${script}</script></body>
</html>
`;
}

/** The blocks with speedscope and the licences of what is in the page. */
function makeFlame() {
	const root = join(modules, "speedscope"), dist = join(root, "dist", "release");
	if (!existsSync(dist))
		return "";
	const packed = deflateSync(makeSpeedscope(dist), { level: 9 }).toString("base64");
	const files = { speedscope: join(root, "LICENSE"),
		"Source Code Pro": join(dist, "source-code-pro.LICENSE.md") };
	const licences = Object.entries(files).map(([name, file]) => `${name}\n\n${read(file)}`).join("\n\n");
	const block = (kind, text) => `<script type="t2/${kind}">${text}</script>`;
	return `${block("licences", inScript(licences))}\n${block("speedscope", packed)}`;
}

const script = [...orderModules()].map(([name, source]) => wrapModule(name, source)).join("");
const flame = makeFlame();
const begin = "const { startPage } = module_app, chunks = new module_load.Chunks();";
const put = { "/*PAGE-STYLE*/": read(here, "page.css"), "<!--FLAME-->": flame,
	"/*PAGE-SCRIPT*/": inScript(`"use strict";\n${script}${begin}\n`) };
let page = read(here, "page.html");
for (const [mark, text] of Object.entries(put))
	page = page.replace(mark, () => text);
writeFileSync(output, page);
if (!flame)
	console.error("page: built without the flame graph, as the npm packages are not there");
