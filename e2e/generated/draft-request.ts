import type { DocumentedOperation } from "./interface-document.ts";

type DraftClass = "valid" | "nearly valid" | "hostile";

/** A request before it is encoded. */
export type Draft = {
	operation: DocumentedOperation;
	class: DraftClass;
	/** The mistake in it, for the report of a failure. */
	twist: string;
	/**
	 * True if it reaches the operation, as far as the path, the method and HTTP itself go. Then its answer is one that the
	 * operation documents, not the default.
	 */
	isReaching: boolean;
	method: string;
	path: string;
	/** Query parameters as they appear in the URL. */
	query: string[];
	version: string;
	/** Headers without those that frame the body. */
	headers: [name: string, value: string][];
	/** The bytes of the body, or the value to encode as JSON. */
	body: Buffer | { json: unknown } | undefined;
	framing: "length" | "chunked";
	/** If set, these bytes replace everything else. */
	bytes?: Buffer;
	/** Bytes sent after the request, without waiting for the answer. */
	followedBy?: Buffer;
	/** True if the sending side is closed after the last byte. */
	isEnded?: boolean;
};

/** Encodes a draft as the bytes on the wire. */
export function bytesOf(draft: Draft, { apiKey, host }: { apiKey: string; host: string }): Buffer {
	return Buffer.concat([
		draft.bytes ? withKey(draft.bytes, apiKey) : ownBytes(draft, { apiKey, host }),
		...(draft.followedBy ? [draft.followedBy] : []),
	]);
}

/** Placeholder of the key, so that a draft can be shown. */
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
		// latin1 sends each character of a header as one byte.
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
