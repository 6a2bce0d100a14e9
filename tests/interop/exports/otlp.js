// SPDX-License-Identifier: MIT
// usage: node otlp.js FILE.json FILE.pb
//
// Decode both forms of an OTLP request by OpenTelemetry's own generated code, and print of each its regions: a line with
// category, name, how many and nanoseconds for each, one of gaps, one of processes that failed.  Both must be the same; exit status 1 if not.
"use strict";
const fs = require("fs");
const path = require("path");
const root = require(path.join(process.cwd(), "node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js"));
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// OTLP/JSON has ids in hexadecimal, which protobuf.js does not know of
function fromJson(line) {
	const request = JSON.parse(line);
	for (const resource of request.resourceSpans)
		for (const scope of resource.scopeSpans)
			for (const span of scope.spans)
				for (const key of ["traceId", "spanId", "parentSpanId"])
					if (span[key])
						span[key] = Buffer.from(span[key], "hex");
	return Request.fromObject(request);
}

function summarize(requests) {
	const sums = new Map();
	const failures = [];
	let lost = 0n, gaps = 0;

	for (const request of requests)
		for (const resource of request.resourceSpans)
			for (const scope of resource.scopeSpans)
				for (const span of scope.spans) {
					const attributes = new Map(span.attributes.map(a => [a.key, a.value]));
					const category = attributes.get("trace2.category").stringValue;
					if (span.traceId.length !== 16 || span.spanId.length !== 8)
						throw new Error("an id of " + span.name);
					if (span.status?.code)
						failures.push(`${span.status.code} ${attributes.get("process.exit.code").intValue}`);
					if (attributes.has("trace2.lost")) {
						lost += BigInt(attributes.get("trace2.lost").intValue.toString());
						gaps++;
					} else if (!["process", "thread"].includes(category) && !attributes.has("trace2.end")) {
						const key = category + " " + span.name;
						const sum = sums.get(key) || [0, 0n];
						sum[0]++;
						sum[1] += BigInt(span.endTimeUnixNano.toString()) - BigInt(span.startTimeUnixNano.toString());
						sums.set(key, sum);
					}
				}
	const lines = [...sums].map(([key, sum]) => `${key} ${sum[0]} ${sum[1]}`).sort();
	return [...lines, `lost ${lost} ${gaps}`, ...failures.sort().map(failure => `status ${failure}`)].join("\n");
}

const lines = fs.readFileSync(process.argv[2], "utf8").split("\n").filter(line => line);
const json = summarize(lines.map(fromJson));
const protobuf = summarize([Request.decode(fs.readFileSync(process.argv[3]))]);
console.log(json);
process.exitCode = json === protobuf ? 0 : 1;
