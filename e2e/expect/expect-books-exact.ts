import { expect } from "vitest";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { solanaHoldings } from "../solana/solana-holdings.ts";
import { expectAllEnded } from "./expect-all-ended.ts";
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
	await expectAllEnded(environment, { withinMs });
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
