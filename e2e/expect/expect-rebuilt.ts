import { serverCommand } from "@geoswap/devnet";
import { type Client, type GeoswapError, getChains, getStatus } from "@geoswap/sdk";
import { expect } from "vitest";
import type { Submitted } from "../caller/submitted-swaps.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";

/** Expects each order that is open on its chain to have a row again, without an account. */
export async function expectRebuilt(
	{ databaseUrl }: Environment,
	client: Client,
	swaps: readonly Submitted[],
	{ withinMs }: { withinMs: number },
): Promise<void> {
	const database = await connectDatabase(databaseUrl);
	try {
		const read = () =>
			database.query<{
				chain_id: string;
				outcome: string | null;
				account_id: string | null;
				has_op: boolean;
			}>(
				`select chain_id, outcome, account_id, op is not null as has_op from unknown_orders u
				left join swaps s on s.order_id = u.order_id`,
			);
		const origins = swaps.map(({ from }) => from.chain.chainId);
		await expect
			.poll(async () => new Set((await read()).map(({ chain_id }) => Number(chain_id))), {
				timeout: 60_000,
				interval: 1_000,
			})
			.toEqual(new Set(origins));
		const openedCount = (await read()).length;
		await expect
			.poll(async () => (await read()).filter(({ outcome }) => outcome === null), {
				timeout: withinMs,
				interval: 1_000,
			})
			.toEqual([]);
		const rebuilt = await read();
		expect(rebuilt.length).toBeGreaterThanOrEqual(openedCount);
		expect(rebuilt.filter(({ outcome }) => outcome !== "rebuilt")).toEqual([]);
		expect(rebuilt.filter(({ has_op }) => has_op)).toEqual([]);
	} finally {
		await database.end();
	}
	const answers = await Promise.all(
		swaps.map(({ swapId }) =>
			getStatus(client, swapId).then(
				({ status }) => status,
				(error: unknown) => (error as GeoswapError).code,
			),
		),
	);
	expect(new Set(answers)).toEqual(new Set(["SWAP_NOT_FOUND"]));
}

/**
 * Lifts the pauses. To an audit, the service's transactions on Solana for orders that a restore erased look like a
 * stolen key, so an audit that runs before the orders are rebuilt or submitted again pauses the chain. Once the books
 * agree, an operator lifts that pause.
 */
export async function liftPauses(
	{ databaseUrl, serverEnvironment, solana }: Environment,
	client: Client,
): Promise<void> {
	const database = await connectDatabase(databaseUrl);
	try {
		const paused = await database.query<{ chain_id: string; cause: string }>(
			"select chain_id, cause from pauses where lifted_at is null",
		);
		expect(paused.filter(({ chain_id }) => Number(chain_id) !== solana.chainId)).toEqual([]);
		expect(paused.filter(({ cause }) => cause !== "breach")).toEqual([]);
		if (paused.length === 0) return;
	} finally {
		await database.end();
	}
	const reason = "restored from a backup, and the books agree";
	const lift = ["pauses", "lift", String(solana.chainId), "--by", "an operator", "--reason", reason];
	await serverCommand(serverEnvironment, lift);
	await expect
		.poll(() => getChains(client).then(({ chains }) => chains.every(({ paused }) => !paused)), {
			timeout: 30_000,
		})
		.toBe(true);
}
