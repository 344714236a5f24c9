import { hexToBytes } from "viem";
import type { ConsoleConfig } from "../../src/config/config-problems.ts";
import { configuredAssets } from "../../src/config/configured-assets.ts";
import type { DatabasePool } from "../../src/database/database.ts";

/** Seconds that a block takes, by kind of chain. */
const blockSeconds = { evm: 2, solana: 0.4 };
/** Blocks from the newest to the final one. */
const unfinalBlocks = { evm: 400, solana: 32 };

export function blockAt(kind: "evm" | "solana", atMs: number): number {
	return Math.floor(atMs / 1_000 / blockSeconds[kind]) - 800_000_000;
}

/**
 * Writes heads and heartbeats as followers and attesters would have at this time. `isFinal` means that all blocks are
 * final.
 */
export async function moveChains(
	owner: DatabasePool,
	{ config, nowMs, isFinal = false }: { config: ConsoleConfig; nowMs: number; isFinal?: boolean },
): Promise<void> {
	const seconds = Math.floor(nowMs / 1_000);
	for (const chain of config.chains) {
		const number = blockAt(chain.kind, nowMs);
		const unfinal = isFinal ? 0 : unfinalBlocks[chain.kind];
		await owner.query(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				finalized_height, booked_number, updated_at, compared_number, compared_timestamp, compared_at)
			values ($1, $2, '\\x', $3::bigint, 1, $4, $5, $4, $6, now(), $4, $5, to_timestamp($3::bigint))
			on conflict (chain_id) do update set number = excluded.number, timestamp = excluded.timestamp,
				finalized_number = excluded.finalized_number, finalized_timestamp = excluded.finalized_timestamp,
				finalized_height = excluded.finalized_height, updated_at = excluded.updated_at,
				compared_number = excluded.compared_number, compared_timestamp = excluded.compared_timestamp,
				compared_at = excluded.compared_at`,
			[
				chain.chainId,
				number,
				seconds,
				number - unfinal,
				Math.floor(seconds - unfinal * blockSeconds[chain.kind]),
				0,
			],
		);
		const attesters = config.chains.flatMap((one) =>
			one.kind === "evm" ? one.deployment.attesterSet.attesters : [],
		);
		for (const attester of new Set(attesters)) {
			await owner.query(
				`insert into heartbeats values ($1, $2, $3, to_timestamp($4))
				on conflict (attester, chain_id) do update
				set signed_at = excluded.signed_at, finalized_number = excluded.finalized_number`,
				[hexToBytes(attester), chain.chainId, number - unfinal, seconds],
			);
		}
	}
}

/** Writes the vaults' inventory, which is enough for every swap of a day, and partly free under the hourly cap. */
export async function fillVaults(owner: DatabasePool, config: ConsoleConfig): Promise<void> {
	for (const { chainId, token, decimals, kind } of configuredAssets(config)) {
		const whole = kind === "stable" ? 412_500n : 118n;
		const unit = 10n ** BigInt(decimals);
		await owner.query("insert into inventory values ($1, $2, $3, $4, 0, 1) on conflict do nothing", [
			chainId,
			hexToBytes(token),
			whole * unit,
			(whole * unit * 2n) / 5n,
		]);
		for (const direction of ["sell", "buy"]) {
			await owner.query("insert into pair_volume values ($1, $2, $3, 0) on conflict do nothing", [
				chainId,
				hexToBytes(token),
				direction,
			]);
		}
	}
}
