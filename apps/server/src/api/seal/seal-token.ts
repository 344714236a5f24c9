import { createCipheriv, randomFillSync } from "node:crypto";
import type { Authorization, Milliseconds, OrderMessageParts } from "@geoswap/protocol";
import type { Address } from "viem";
import { maxTokenBytes, type SealKeys, type SealPurpose, sealingKey } from "../../config/seal-keys.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";

const ivBytes = 12;
/**
 * Random bytes for many IVs, because requesting one at a time from the system takes a tenth of a seal. Each IV is
 * used once.
 */
const ivs = Buffer.alloc(256 * ivBytes);
let nextIv = ivs.length;

/**
 * Returns a compact JWE (`dir`, A256GCM) that only the same keys open, for the same purpose and account. Bigints in the
 * payload stay bigints.
 */
export function sealToken(
	keys: SealKeys,
	{ purpose, accountId, payload }: { purpose: SealPurpose; accountId: string; payload: unknown },
): string {
	const { header, secret } = sealingKey(keys);
	const iv = newIv();
	const cipher = createCipheriv("aes-256-gcm", secret, iv).setAAD(Buffer.from(header, "latin1"));
	const content = tokenToJson({ purpose, accountId, payload, sealedAtMs: keys.nowMs() });
	const sealed = cipher.update(content, "utf8").toString("base64url");
	// A stream cipher holds no data back, so `final` only ends it.
	cipher.final();
	const tag = cipher.getAuthTag().toString("base64url");
	const token = `${header}..${iv.toString("base64url")}.${sealed}.${tag}`;
	if (token.length > maxTokenBytes)
		throw new RangeError(`a sealed token of ${token.length} bytes is too long`);
	return token;
}

function newIv(): Buffer {
	if (nextIv === ivs.length) {
		randomFillSync(ivs);
		nextIv = 0;
	}
	nextIv += ivBytes;
	return ivs.subarray(nextIv - ivBytes, nextIv);
}

/**
 * Writes JSON in which a bigint is `{"$bigint": "1"}`. Only the service's own values are sealed, and no other value
 * has that form.
 */
function tokenToJson(value: unknown): string {
	return JSON.stringify(withoutBigints(value));
}

export function tokenFromJson(json: string): unknown {
	return JSON.parse(json, (_, item: unknown) =>
		typeof item === "object" && item !== null && "$bigint" in item ? BigInt(String(item.$bigint)) : item,
	);
}

/** Returns a copy without bigints. With a replacer instead, `JSON.stringify` takes several times as long. */
function withoutBigints(value: unknown): unknown {
	if (typeof value === "bigint") return { $bigint: String(value) };
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(withoutBigints);
	const copy: Record<string, unknown> = {};
	for (const name in value) copy[name] = withoutBigints((value as Record<string, unknown>)[name]);
	return copy;
}

/** The content of an op token: the quote, and everything else that is needed to open its order. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	/** The maximum gas for opening the order. */
	gas: bigint;
	/** Absent if the wallet was already delegated when the op was built. */
	authorization?: Authorization;
};

/** The same for a Solana origin: the quote, and all other parts of the transaction. */
export type SealedSolanaOp = OrderMessageParts & {
	quote: SealedQuote;
	/** The last block height at which the transaction can land. */
	lastValidBlockHeight: bigint;
	/** The deadline for a first submit. Until then its blockhash is certainly valid. */
	expiresAtMs: Milliseconds;
};
