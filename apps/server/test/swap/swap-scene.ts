import { randomBytes, randomUUID } from "node:crypto";
import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { pino } from "pino";
import { type Address, type Hex, hexToBytes } from "viem";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import type { ChainConfig } from "../../src/config/chain-config.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import type { RoundOptions } from "../../src/round/run-round.ts";
import type { DecisionDesk } from "../../src/round/take-holds.ts";
import type { RoundPoke } from "../../src/round/write-plans.ts";
import { deliveryToJson, signedOpToJson } from "../../src/swap/record/swap-json.ts";

const log = pino({ level: "silent" });
export const token: Address = "0x00000000000000000000000000000000000000aa";
const attesters: Address[] = [
	"0x0000000000000000000000000000000000000a01",
	"0x0000000000000000000000000000000000000a02",
];
const attesterSetHash: Hex = `0x${"5e".repeat(32)}`;
export const [originId, destinationId] = [31337, 31338];

let logs = 0;

/** Creates the chains as a follower would write them, the clock, and one submitted swap. */
export async function createSwapScene(
	pool: DatabasePool,
	{
		isReserved = true,
		valueUsdCents = 4_000,
		isCrossChain = true,
	}: { isReserved?: boolean; valueUsdCents?: number; isCrossChain?: boolean } = {},
) {
	const startMs = Date.now();
	const now = Math.floor(startMs / 1_000);
	const uuid = newSwapUuid({ nowMs: startMs, random: randomBytes(10) });
	const order: Order = {
		...anyOrder(),
		originChainId: BigInt(isCrossChain ? originId : destinationId),
		destinationChainId: BigInt(destinationId),
		attesterSet: attesterSetHash,
		outputToken: toWord(token),
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({
			openDeadline: BigInt(now + 75),
			fillDeadline: BigInt(now + 120),
			refundAfter: BigInt(now + 150),
		}),
	};
	const id = hexToBytes(orderId(order));
	const delivery = { kind: "inventory", amount: 400n } as const;
	const op = {
		delegate: token,
		gas: 1n,
		signatureKind: "personal",
		signature: "0x12",
	} as const;
	await pool.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op, fee_millibps)
		values ($1, $2, $3, $4, 400, $7, $5, $6, 12500)`,
		[uuid, randomUUID(), id, orderToJson(order), deliveryToJson(delivery), signedOpToJson(op), valueUsdCents],
	);
	await pool.query("insert into waits (swap_id, order_id) values ($1, $2)", [uuid, id]);
	if (isReserved) {
		await pool.query("update inventory set reserved = reserved + 400 where token = $1", [hexToBytes(token)]);
		await pool.query("update pair_volume set in_flight = in_flight + 7");
		const volumes = [{ chainId: destinationId, token, direction: "buy", amount: "7" }];
		await pool.query("insert into reservations values ($1, null, $2, $3, 400, 4000, $4, false, now())", [
			uuid,
			destinationId,
			hexToBytes(token),
			JSON.stringify(volumes),
		]);
	}
	const clock = { nowMs: startMs, number: 100 };
	async function moveHeads(seconds: number): Promise<void> {
		clock.nowMs += seconds * 1_000;
		clock.number += seconds;
		await pool.query("update waits set due_at = due_at - $1 * interval '1 second'", [seconds]);
		const time = Math.floor(clock.nowMs / 1_000);
		for (const chainId of [originId, destinationId]) {
			await pool.query(
				`insert into chain_heads values ($1, $2, '\\x', $3, 1, $4, $5, 0, 0)
				on conflict (chain_id) do update set number = $2, timestamp = $3, finalized_number = $4,
					finalized_timestamp = $5`,
				[chainId, clock.number, time, clock.number - 3, time - 3],
			);
			await pool.query(
				`update chain_heads set compared_number = finalized_number, compared_timestamp = finalized_timestamp,
					compared_at = to_timestamp($1)`,
				[time],
			);
		}
		for (const attester of attesters) {
			for (const chainId of [originId, destinationId]) {
				await pool.query(
					`insert into heartbeats values ($1, $2, $4, to_timestamp($3))
					on conflict (attester, chain_id) do update
					set signed_at = excluded.signed_at, finalized_number = excluded.finalized_number`,
					[hexToBytes(attester), chainId, time, clock.number - 3],
				);
			}
		}
	}
	async function emit(name: string, chainId: number, data: object = {}): Promise<void> {
		await pool.query(`insert into chain_events values ($1, $2, $3, '\\x00', $4, '\\x00', $5, $6, $7)`, [
			chainId,
			clock.number,
			++logs,
			randomBytes(32),
			id,
			name,
			data,
		]);
	}
	const jobs = async (): Promise<Record<string, string>> => {
		const { rows } = await pool.query("select kind, state from jobs where swap_id = $1", [uuid]);
		return Object.fromEntries(rows.map((row) => [row.kind, row.state]));
	};
	const setJob = (kind: string, state: string, reason?: string) =>
		pool.query("update jobs set state = $3, reason = $4 where swap_id = $1 and kind = $2", [
			uuid,
			kind,
			state,
			reason ?? null,
		]);
	await moveHeads(0);
	return { uuid, orderId: orderId(order), clock, moveHeads, emit, jobs, setJob };
}

/** A desk that delivers at the earlier price. */
export const sameAsBefore: DecisionDesk = {
	isPriceable: () => true,
	volumes: () => [],
	reprice: ({ delivery }) => {
		const amount = delivery.kind === "router" ? delivery.budget : delivery.amount;
		return { delivery, output: amount, chainId: destinationId, token, amount, volumes: [] };
	},
};

/** Returns options for rounds by this clock, over two chains. Their pokes are kept. */
export function roundOptions(
	pool: DatabasePool,
	clock: { nowMs: number },
	changes: Partial<RoundOptions> = {},
): RoundOptions & { pokes: RoundPoke[] } {
	const pokes: RoundPoke[] = [];
	const chain = (chainId: number) =>
		({
			kind: "evm",
			chainId,
			deadAfterSeconds: 0,
			depths: [{ upToUsd: 1_000, blocks: 1 }],
			finalitySeconds: 5,
			unreleasedCapUsd: 1_000,
			unfinalCapUsd: 1_000,
			deployment: { settlementToken: token },
		}) as unknown as ChainConfig;
	return {
		config: {
			chains: [chain(originId), chain(destinationId)],
			deployment: {
				chains: [{ attesterSet: { threshold: 2, attesters, hash: attesterSetHash } }],
			} as unknown as RoundOptions["config"]["deployment"],
			earlierAttesterSets: [],
			limits: {
				unopenedShareOfInventory: 1,
				accountShareOfCaps: 1,
				unopenedUsdPerAccount: 1,
				unopenedSwaps: { perWallet: 1, perAccount: 1 },
				fillMarginBps: 500,
				reservationSeconds: 60,
				unsettledGasUsdPerDay: 1,
				refusedRecipientsPerDay: 10,
				delegationRemovalsPerDay: { perAccount: 20, perChain: 200 },
				rebuiltRefundsUsdPerDay: 50,
				maxHoldingUsd: { perAsset: 1, bySymbol: {} },
			},
			heartbeatSeconds: 10,
		},
		pool,
		desk: sameAsBefore,
		poke: async (some) => {
			pokes.push(...some);
		},
		nowMs: () => clock.nowMs,
		log,
		...changes,
		pokes,
	};
}

export type SwapScene = Awaited<ReturnType<typeof createSwapScene>>;
