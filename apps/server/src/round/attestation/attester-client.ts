import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import {
	type AttestationKind,
	type Heartbeat,
	heartbeatTypedData,
	type Milliseconds,
	type Order,
	orderToJson,
} from "@geoswap/protocol";
import { type Address, type Hex, hashTypedData, isHex } from "viem";
import * as z from "zod";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";
import { storeHeartbeats } from "../../job/heartbeats.ts";
import type { Log } from "../../telemetry/log.ts";

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

/** Seconds that an attester's clock may be ahead of the local one. */
const skewSeconds = 60;

/** Requests heartbeats from every attester, and stores those that are signed by an attester of a known set. */
export async function pollHeartbeats({
	config,
	attesters,
	db,
	nowMs,
	log,
}: {
	config: Pick<Config, "deployment" | "earlierAttesterSets">;
	attesters: readonly AttesterClient[];
	db: Database;
	nowMs: Milliseconds;
	log: Log;
}): Promise<void> {
	const current = config.deployment.chains.map((chain) => chain.attesterSet);
	const known = new Set<Address>([...current, ...config.earlierAttesterSets].flatMap((set) => set.attesters));
	const heard = await Promise.all(
		attesters.map(async ({ url, heartbeats }) => {
			try {
				return (await heartbeats()).flatMap(({ signature, ...heartbeat }) => {
					const attester = recoverAddress({ hash: hashTypedData(heartbeatTypedData(heartbeat)), signature });
					// A heartbeat from the future would count long after its attester died.
					const isEarly = heartbeat.signedAtUnixSeconds > nowMs / 1_000 + skewSeconds;
					if (!isEarly && attester && known.has(attester)) return [{ ...heartbeat, attester }];
					log.error({ attester: url, heartbeat }, "heartbeat ignored");
					return [];
				});
			} catch (error) {
				log.warn({ attester: url, problem: (error as Error).message }, "attester did not answer");
				return [];
			}
		}),
	);
	await storeHeartbeats(db, heard.flat());
}
