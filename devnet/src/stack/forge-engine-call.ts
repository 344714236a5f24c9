import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import type { ClientHttp2Session } from "node:http2";

/**
 * Calls a worker in Restate's protocol, which only its engine should do. Returns the status of the response, and
 * everything received before the response ends or times out.
 */
export function forgeEngineCall(
	session: ClientHttp2Session,
	{
		path,
		headers = {},
		body = new Uint8Array(),
		timeoutMs = 10_000,
	}: {
		path: string;
		headers?: Record<string, string>;
		body?: Uint8Array;
		timeoutMs?: number;
	},
): Promise<{ status: number | undefined; said: string }> {
	return new Promise((resolve, reject) => {
		const stream = session.request({
			":method": "POST",
			":path": path,
			accept: "application/vnd.restate.endpointmanifest.v3+json",
			"content-type": "application/vnd.restate.invocation.v5",
			...headers,
		});
		let status: number | undefined;
		const said: Buffer[] = [];
		stream.on("response", (answered) => {
			status = answered[":status"];
		});
		stream.on("data", (chunk: Buffer) => said.push(chunk));
		stream.on("error", reject);
		stream.on("close", () => resolve({ status, said: Buffer.concat(said).toString() }));
		stream.setTimeout(timeoutMs, () => stream.close());
		stream.end(body);
	});
}

/** Makes the body that invokes a handler for a key. */
export function forgedInvocation({ key }: { key: string }): Buffer {
	const start = [
		bytesField(1, Buffer.from(randomUUID())),
		bytesField(2, Buffer.from("inv_forged")),
		numberField(3, 1),
		bytesField(6, Buffer.from(key)),
	];
	return Buffer.concat([
		frame(messages.start, start),
		frame(messages.input, [bytesField(14, Buffer.alloc(0))]),
	]);
}

/**
 * Makes the headers that identify an engine, as a third party could that has the public key but not the private one.
 */
export function forgedIdentity({
	path,
	identityKey,
	algorithm = "EdDSA",
	privateKey = generateKeyPairSync("ed25519").privateKey,
}: {
	path: string;
	/** The key that the headers claim. */
	identityKey: string;
	algorithm?: string;
	privateKey?: KeyObject;
}): Record<string, string> {
	const now = Math.floor(Date.now() / 1_000);
	const claims = { aud: path, iat: now, nbf: now - 60, exp: now + 60 };
	const content = [{ typ: "JWT", alg: algorithm, kid: identityKey }, claims]
		.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
		.join(".");
	const signature =
		algorithm === "none" ? "" : sign(null, Buffer.from(content), privateKey).toString("base64url");
	return { "x-restate-signature-scheme": "v1", "x-restate-jwt-v1": `${content}.${signature}` };
}

/** Message types of Restate's service protocol, version 5. */
const messages = { start: 0x0000, input: 0x0400 };

function frame(type: number, fields: readonly Uint8Array[]): Buffer {
	const body = Buffer.concat(fields);
	const head = Buffer.alloc(8);
	head.writeUInt16BE(type, 0);
	head.writeUInt32BE(body.length, 4);
	return Buffer.concat([head, body]);
}

function varint(value: number): number[] {
	return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

function numberField(field: number, value: number): Buffer {
	return Buffer.from([...varint(field << 3), ...varint(value)]);
}

function bytesField(field: number, value: Uint8Array): Buffer {
	return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(value.length)]), value]);
}
