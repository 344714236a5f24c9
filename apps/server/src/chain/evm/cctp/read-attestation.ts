import type { Milliseconds } from "@geoswap/protocol";
import { type Hash, type Hex, isHex, size } from "viem";
import * as z from "zod";

/** Circle's attestation service, Iris. */
export type Iris = {
	/** Without `/v2`, such as `https://iris-api.circle.com`. */
	url: string;
	timeoutMs: Milliseconds;
};

/** What Iris answers about the one message of a transaction. */
export type IrisAnswer =
	/** Iris does not know the transaction, or not yet. */
	| { status: "not seen" }
	/** The message is not attested. With a reason for a delay, a fast burn is attested as a standard one. */
	| { status: "pending"; delayReason?: string; nonce?: Hex }
	| ({ status: "complete" } & Attested)
	| Limited
	/** There was no answer, or none in the documented form. */
	| { status: "unreadable"; reason: string };

/** The bytes that `receiveMessage` takes. */
export type Attested = { message: Hex; attestation: Hex };

/** There were too many requests, and Iris answers none until this time has passed. */
type Limited = { status: "limited"; retryAfterMs: Milliseconds };

/** An answer about one message has about 4,000 bytes. */
const maxAnswerBytes = 64 * 1024;

/** For as long Circle refuses a client that sent too many requests, unless the answer states a time. */
const limitedMs: Milliseconds = 5 * 60_000;

const messageSchema = z.object({
	message: z.string().nullish(),
	eventNonce: z.string().nullish(),
	attestation: z.string().nullish(),
	cctpVersion: z.coerce.number().pipe(z.literal(2)),
	status: z.enum(["pending_confirmations", "complete"]),
	delayReason: z.string().max(100).nullish(),
});
const answerSchema = z.object({ messages: z.array(messageSchema) });

/** Reads the attestation of a transaction that burned once. Returns every kind of failure as an answer. */
export async function readAttestation(
	iris: Iris,
	{ sourceDomain, transactionHash }: { sourceDomain: number; transactionHash: Hash },
): Promise<IrisAnswer> {
	const answer = await request(
		iris,
		`/v2/messages/${sourceDomain}?transactionHash=${transactionHash}`,
		"GET",
	);
	if ("failure" in answer) return answer.failure;
	if (answer.httpStatus === 404) return { status: "not seen" };
	if (answer.httpStatus !== 200) return unreadable(`status ${answer.httpStatus}`);
	const parsed = answerSchema.safeParse(parseJson(answer.text));
	if (!parsed.success) return unreadable(z.prettifyError(parsed.error));
	const { messages } = parsed.data;
	const [only] = messages;
	if (!only) return { status: "not seen" };
	if (messages.length > 1) return unreadable(`${messages.length} messages, where the transaction sent one`);
	return answerOf(only);
}

/**
 * Requests a new attestation of a fast burn, as final and without expiry. Returns `accepted` if Iris will make one; its
 * nonce stays the same.
 */
export async function requestReattestation(
	iris: Iris,
	nonce: Hex,
): Promise<{ status: "accepted" } | Limited | { status: "unreadable"; reason: string }> {
	const answer = await request(iris, `/v2/reattest/${nonce}`, "POST");
	if ("failure" in answer) return answer.failure;
	return answer.httpStatus === 200 ? { status: "accepted" } : unreadable(`status ${answer.httpStatus}`);
}

function answerOf({
	status,
	message,
	attestation,
	eventNonce,
	delayReason,
}: z.infer<typeof messageSchema>): IrisAnswer {
	if (status === "pending_confirmations") {
		return {
			status: "pending",
			...(delayReason ? { delayReason } : {}),
			...(isBytes(eventNonce) && size(eventNonce) === 32 ? { nonce: eventNonce } : {}),
		};
	}
	// Until it is signed, an attestation is the word PENDING, and the message is 0x.
	if (!isBytes(message) || !isBytes(attestation)) return unreadable("complete, but without its bytes");
	return { status: "complete", message, attestation };
}

function isBytes(text: string | null | undefined): text is Hex {
	return isHex(text) && text.length > 2 && text.length % 2 === 0;
}

type Answer = { httpStatus: number; text: string };
type Failure = Limited | { status: "unreadable"; reason: string };

async function request(
	{ url, timeoutMs }: Iris,
	path: string,
	method: "GET" | "POST",
): Promise<Answer | { failure: Failure }> {
	try {
		const response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
			method,
			headers: { accept: "application/json" },
			signal: AbortSignal.timeout(timeoutMs),
			// What another host answers is not Circle's.
			redirect: "error",
		});
		if (response.status === 429) {
			await response.body?.cancel();
			const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
			const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : limitedMs;
			return { failure: { status: "limited", retryAfterMs } };
		}
		const text = await readBounded(response);
		if (text === undefined) return { failure: unreadable(`more than ${maxAnswerBytes} bytes`) };
		return { httpStatus: response.status, text };
	} catch (error) {
		return { failure: unreadable((error as Error).message) };
	}
}

/** Reads the body; undefined if it is too long, which is noticed before all of it is in memory. */
async function readBounded(response: Response): Promise<string | undefined> {
	const parts: Uint8Array[] = [];
	let bytes = 0;
	for await (const part of response.body ?? []) {
		bytes += part.byteLength;
		// Leaving the loop cancels the rest.
		if (bytes > maxAnswerBytes) return undefined;
		parts.push(part);
	}
	return Buffer.concat(parts).toString();
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function unreadable(reason: string): { status: "unreadable"; reason: string } {
	return { status: "unreadable", reason };
}
