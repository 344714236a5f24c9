import type { QuoteRequestBody } from "@geoswap/protocol";
import { answerOf, toJson } from "./answer.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { Submission } from "./origin-signer.ts";
import type { SwapStore } from "./swap-store.ts";
import type { EndedSwap } from "./wait-for-swap.ts";

/** The stored progress of an intent. Nothing is sent before it is stored. */
export type SwapRecord = {
	intent: QuoteRequestBody;
	/** The last `minOutput` of the caller. A call that resumes without one uses this one. */
	minOutput?: string;
} & (
	| {
			/** The submission was signed and may have been sent. It may become a swap until the service reports otherwise. */
			state: "signed";
			swapId: string;
			submission: Submission;
	  }
	/**
	 * There is a swap. The submission is kept, because it is sent again to a service that was restored from a backup, and
	 * because until it expires no end but `settled` is trusted.
	 */
	| { state: "submitted"; swapId: string; submission: Submission }
	| { state: "ended"; swap: EndedSwap }
	/** Everything that was signed has expired. Nothing of it was executed, and nothing will be. */
	| { state: "open" }
);

const version = 1;

export async function readRecord(store: Pick<SwapStore, "get">, id: string): Promise<SwapRecord | undefined> {
	const text = await store.get(id);
	if (text === undefined) return undefined;
	const { version: found, ...record } = parse(id, text);
	if (found !== version) {
		throw unreadable(
			`The record of ${id} has version ${found}, but this SDK reads version ${version}. Resume it with the version of @geoswap/sdk that wrote it.`,
		);
	}
	return record.state === "ended" ? { ...record, swap: answerOf(record.swap) as EndedSwap } : record;
}

function parse(id: string, text: string): SwapRecord & { version: number } {
	try {
		return { ...JSON.parse(text) };
	} catch (cause) {
		throw unreadable(
			`The record of ${id} is damaged. What was signed for it may have been sent, and may still execute. Wait 15 minutes, then look for the swap in GET /swaps, before you start it again with another id.`,
			cause,
		);
	}
}

function unreadable(message: string, cause?: unknown): GeoswapError {
	return new GeoswapError(message, {
		code: "RECORD_UNREADABLE",
		next: "contact_operator",
		retryable: false,
		docs: "/docs/sdk.md",
		cause,
	});
}

/** The progress of an intent. `none`: nothing was signed. `open`: nothing that was signed was or will be executed. */
export type SwapState =
	| { state: "none" | "open" }
	| { state: "signed" | "submitted"; swapId: string }
	| { state: "ended"; swapId: string; swap: EndedSwap };

/** Returns the stored progress of an intent, without a call to the service. */
export async function getSwapState(store: Pick<SwapStore, "get">, id: string): Promise<SwapState> {
	const record = await readRecord(store, id);
	if (!record) return { state: "none" };
	if (record.state === "open") return { state: "open" };
	if (record.state === "ended") return { state: "ended", swapId: record.swap.swapId, swap: record.swap };
	return { state: record.state, swapId: record.swapId };
}

export function writeRecord(store: SwapStore, id: string, record: SwapRecord): Promise<void> {
	return store.set(id, toJson({ version, ...record }));
}

/** Throws if the two intents differ. An id names one intent, so a repeated call must request the same. */
export function expectSameIntent(id: string, saved: QuoteRequestBody, asked: QuoteRequestBody): void {
	for (const field of new Set([...Object.keys(saved), ...Object.keys(asked)]) as Set<
		keyof QuoteRequestBody
	>) {
		if (spelled(saved[field]) === spelled(asked[field])) continue;
		throw new GeoswapError(
			`${id} belongs to another intent: its ${field} is ${saved[field]}, not ${asked[field]}. Give a new intent a new id.`,
			{
				code: "INTENT_CHANGED",
				next: "fix_request",
				retryable: false,
				docs: "/docs/sdk.md",
				details: { field, saved: saved[field], asked: asked[field] },
			},
		);
	}
}

/** Normalizes a value for comparison. Hex is the same in any case; base58 is not. */
function spelled(value: unknown): string {
	const text = String(value ?? "");
	return text.startsWith("0x") ? text.toLowerCase() : text;
}
