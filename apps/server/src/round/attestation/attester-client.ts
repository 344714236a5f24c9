import {
	type AttestationKind,
	type Heartbeat,
	type Milliseconds,
	type Order,
	orderToJson,
} from "@geoswap/protocol";
import { type Hex, isHex } from "viem";
import * as z from "zod";

const hexSchema = z
	.string()
	.refine((text) => isHex(text))
	.transform((text) => text as Hex);
const signedSchema = z.object({ signature: hexSchema });
const refusedSchema = z.object({ refused: z.array(z.object({ orderId: hexSchema, reason: z.string() })) });
const heartbeatsSchema = z
	.array(
		z.object({
			chainId: z.int().positive(),
			finalizedNumber: z.int().nonnegative(),
			signedAtUnixSeconds: z.int().nonnegative(),
			signature: hexSchema,
		}),
	)
	.max(100);

type AttestAnswer = { signature: Hex } | { refused: { orderId: Hex; reason: string }[] };

/** An attester, reached over the network. Its answers must be checked. */
export type AttesterClient = {
	url: string;
	attest: (kind: AttestationKind, orders: readonly Order[]) => Promise<AttestAnswer>;
	heartbeats: () => Promise<(Heartbeat & { signature: Hex })[]>;
};

export function connectAttester({
	url,
	timeoutMs,
}: {
	url: string;
	timeoutMs: Milliseconds;
}): AttesterClient {
	const ask = (path: string, init: RequestInit = {}) =>
		fetch(`${url.replace(/\/$/, "")}${path}`, { ...init, signal: AbortSignal.timeout(timeoutMs) });
	return {
		url,
		attest: async (kind, orders) => {
			const response = await ask("/attest", {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ kind, orders: orders.map(orderToJson) }),
			});
			if (response.status === 409) return refusedSchema.parse(await response.json());
			if (!response.ok) throw new Error(`${url} answered ${response.status}`);
			return signedSchema.parse(await response.json());
		},
		heartbeats: async () => {
			const response = await ask("/heartbeat");
			if (!response.ok) throw new Error(`${url} answered ${response.status}`);
			return heartbeatsSchema.parse(await response.json());
		},
	};
}
