import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { solanaHoldings } from "../solana/solana-holdings.ts";
import { expectBooksAgree } from "./expect-books-agree.ts";

/**
 * Waits until no work is left for any swap, then expects the books to agree with the chains to the unit, with nothing
 * in escrow and nothing reserved.
 */
export async function expectBooksExact(
	environment: Environment,
	{ withinMs }: { withinMs: number },
): Promise<void> {
	const { origin, destination, solana } = environment;
	const deadline = Date.now() + withinMs;
	const database = await connectDatabase(environment.databaseUrl);
	try {
		for (;;) {
			const unended = await database.query(
				`select id, status, stage, giving_up,
					(select jsonb_object_agg(kind, jsonb_build_object('state', state, 'strikes', strikes, 'reason', reason))
						from jobs where swap_id = id) as jobs,
					(select fact from swap_events where swap_id = id order by seq desc limit 1) as fact
				from swaps where ended_at is null`,
			);
			if (unended.length === 0) break;
			if (Date.now() > deadline) expect(unended).toEqual([]);
			await sleep(500);
		}
		expect(await database.query("select * from reservations")).toEqual([]);
		expect(await database.query("select * from stock where reserved <> 0")).toEqual([]);
	} finally {
		await database.end();
	}

	await expectBooksAgree(expect, environment);
	const held = await Promise.all(
		[origin, destination].flatMap((chain) =>
			chain.deployment.assets.map(async ({ symbol, address }) => ({
				chainId: chain.chainId,
				symbol,
				inEscrow: await tokenBalance(chain, address, chain.deployment.contracts.escrow),
			})),
		),
	);
	expect(held.filter(({ inEscrow }) => inEscrow !== 0n)).toEqual([]);
	expect((await solanaHoldings(solana)).escrow).toEqual(solana.heldAtStart.escrow);
}
