import type { Amount, Milliseconds, SolanaAddress } from "@geoswap/protocol";
import * as z from "zod";

const amountSchema = z
	.string()
	.regex(/^[1-9]\d{0,19}$/)
	.transform((text) => BigInt(text));

/** The part of the answer that is used. Without a taker it holds a price and no transaction. */
const answerSchema = z.object({ inAmount: amountSchema, outAmount: amountSchema });

/** A quoter that requests a lower rate. */
export class QuoterBusyError extends Error {
	/** The pause that it requests. Undefined if it states none. */
	readonly waitMs: Milliseconds | undefined;

	constructor(waitMs: Milliseconds | undefined) {
		super("the quoter asks for fewer requests");
		this.waitMs = waitMs;
	}
}

/** Requests from an HTTP quoter of Jupiter's shape what an amount of one token buys of another. */
export async function readQuoter({
	url,
	inputMint,
	outputMint,
	amount,
	key,
	timeoutMs,
	signal,
}: {
	/** The address without `/order`. */
	url: string;
	inputMint: SolanaAddress;
	outputMint: SolanaAddress;
	amount: Amount;
	/** The API key. Undefined if the quoter requires none. */
	key: string | undefined;
	timeoutMs: Milliseconds;
	signal: AbortSignal;
}): Promise<Amount> {
	const query = new URLSearchParams({ inputMint, outputMint, amount: String(amount) });
	const response = await fetch(`${url.replace(/\/$/, "")}/order?${query}`, {
		headers: key === undefined ? {} : { "x-api-key": key },
		signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
		// The key must reach no other host.
		redirect: "error",
	});
	if (!response.ok) {
		await response.body?.cancel();
		if (response.status !== 429) throw new Error(`the quoter answers with status ${response.status}`);
		const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
		throw new QuoterBusyError(Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined);
	}
	const { inAmount, outAmount } = answerSchema.parse(await response.json());
	if (inAmount !== amount) throw new Error("the quoter has quoted another amount than it was asked for");
	return outAmount;
}
