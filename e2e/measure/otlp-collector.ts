import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";

/** A span as the collector stores it. */
export type ExportedSpan = {
	service: string;
	name: string;
	traceId: string;
	spanId: string;
	/** Empty for the first span of a trace. */
	parentSpanId: string;
	startMs: number;
	endMs: number;
	attributes: Record<string, string | number>;
	links: { traceId: string; spanId: string }[];
};

export type OtlpCollector = { tracesUrl: string; stop: () => Promise<void> };

/** Receives spans as OTLP in JSON over HTTP, and appends each unchanged to a file, with the sending service. */
export async function startOtlpCollector(file: string): Promise<OtlpCollector> {
	const server = createServer((request, response) => {
		const answer = (status: number) =>
			response.writeHead(status, { "content-type": "application/json" }).end("{}");
		if (request.method !== "POST" || request.url !== "/v1/traces") return void answer(404);
		text(request)
			.then((body) => {
				mkdirSync(dirname(file), { recursive: true });
				for (const line of linesOf(JSON.parse(body))) appendFileSync(file, `${line}\n`);
				answer(200);
			})
			.catch(() => answer(400));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	// The process that started the collector may end first.
	server.unref();
	return {
		tracesUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
		stop: async () => {
			server.close();
			server.closeAllConnections();
			await once(server, "close");
		},
	};
}

/** Returns the spans that have arrived so far. */
export function readSpans(file: string): ExportedSpan[] {
	let lines: string[];
	try {
		lines = readFileSync(file, "utf8").split("\n");
	} catch {
		return [];
	}
	// The last line may still be being written.
	return lines.slice(0, -1).map((line) => toSpan(JSON.parse(line)));
}

type OtlpValue = { stringValue?: string; intValue?: number | string; doubleValue?: number };
type OtlpAttribute = { key: string; value: OtlpValue };
type OtlpSpan = {
	traceId: string;
	spanId: string;
	parentSpanId?: string;
	name: string;
	startTimeUnixNano: string;
	endTimeUnixNano: string;
	attributes: OtlpAttribute[];
	links?: { traceId: string; spanId: string }[];
};
type OtlpBody = {
	resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
};

function linesOf({ resourceSpans }: OtlpBody): string[] {
	return resourceSpans.flatMap(({ resource, scopeSpans }) =>
		scopeSpans.flatMap(({ spans }) => spans.map((span) => JSON.stringify({ resource, span }))),
	);
}

function toSpan({
	resource,
	span,
}: {
	resource: { attributes: OtlpAttribute[] };
	span: OtlpSpan;
}): ExportedSpan {
	const { traceId, spanId, parentSpanId = "", name, links = [] } = span;
	return {
		service: String(valuesOf(resource.attributes)["service.name"]),
		name,
		traceId,
		spanId,
		parentSpanId,
		links,
		startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
		endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
		attributes: valuesOf(span.attributes),
	};
}

function valuesOf(attributes: OtlpAttribute[]): Record<string, string | number> {
	return Object.fromEntries(
		attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
			key,
			stringValue ?? Number(intValue ?? doubleValue),
		]),
	);
}
