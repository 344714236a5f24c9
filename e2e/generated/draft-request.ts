import type { DocumentedOperation } from "./interface-document.ts";

/** How valid a request is. */
type DraftClass = "valid" | "nearly valid" | "hostile";

/** A request before it is bytes. */
export type Draft = {
	operation: DocumentedOperation;
	class: DraftClass;
	/** What is wrong with it, for whoever reads of a failure. */
	twist: string;
	/**
	 * Whether it arrives at the operation, as far as the path, the method and HTTP itself go: then it is answered with what
	 * the operation documents, and not with what anything may be answered with.
	 */
	isReaching: boolean;
	method: string;
	path: string;
	/** As it stands in the address. */
	query: string[];
	version: string;
	/** Without those that frame the body. */
	headers: [name: string, value: string][];
	/** The bytes of the body, or the value that becomes JSON. */
	body: Buffer | { json: unknown } | undefined;
	framing: "length" | "chunked";
	/** Where set, these bytes come instead of everything else. */
	bytes?: Buffer;
	/** Sent behind it, without waiting. */
	followedBy?: Buffer;
	/** Whether the sending side is closed after the last byte. */
	isEnded?: boolean;
};

/** What a caller puts on the wire. */
export function bytesOf(draft: Draft, { apiKey, host }: { apiKey: string; host: string }): Buffer {
	return Buffer.concat([
		draft.bytes ? withKey(draft.bytes, apiKey) : ownBytes(draft, { apiKey, host }),
		...(draft.followedBy ? [draft.followedBy] : []),
	]);
}

/** Stands for the key, so that a draft can be shown. */
export const keyPlace = "{x-api-key}";

function withKey(bytes: Buffer, apiKey: string): Buffer {
	return Buffer.from(bytes.toString("latin1").replaceAll(keyPlace, apiKey), "latin1");
}

function ownBytes(draft: Draft, { apiKey, host }: { apiKey: string; host: string }): Buffer {
	const body = bodyBytes(draft);
	const target = draft.path + (draft.query.length > 0 ? `?${draft.query.join("&")}` : "");
	const lines = [
		`${draft.method} ${target} ${draft.version}`,
		`host: ${host}`,
		...draft.headers.map(([name, value]) => `${name}: ${value.replaceAll(keyPlace, apiKey)}`),
		...(body === undefined
			? []
			: [draft.framing === "chunked" ? "transfer-encoding: chunked" : `content-length: ${body.length}`]),
	];
	return Buffer.concat([
		// Whatever a header holds goes out byte by byte.
		Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"),
		...(body === undefined ? [] : draft.framing === "chunked" ? chunks(body) : [body]),
	]);
}

function bodyBytes({ body }: Draft): Buffer | undefined {
	if (body === undefined || Buffer.isBuffer(body)) return body;
	return Buffer.from(JSON.stringify(body.json));
}

function chunks(body: Buffer): Buffer[] {
	const half = Math.ceil(body.length / 2);
	return [body.subarray(0, half), body.subarray(half)]
		.filter(({ length }) => length > 0)
		.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")])
		.concat(Buffer.from("0\r\n\r\n"));
}
