import { emptyAccountRentLamports, type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import type { SolanaChain } from "../connect-solana.ts";
import { readAccounts } from "./read-accounts.ts";
import { holdingAddress } from "./read-holdings.ts";

/**
 * Returns a sentence for each thing that escrow and vault lack. Without accounts for every token nothing can be
 * released or paid; and the chain refuses any transaction that would leave an address with less than its rent.
 */
export async function checkOwnAccounts(chain: SolanaChain): Promise<string[]> {
	const { escrow, vault, assets } = chain.deployment;
	// Each owner's own address is where it holds the native token.
	const tokens = new Map([
		[solanaNativeToken, "SOL"],
		...assets.map(({ address, symbol }) => [address, symbol] as const),
	]);
	const held = Object.entries({ escrow, vault }).flatMap(([name, owner]) =>
		[...tokens].map(([token, symbol]) => ({ name, owner, token, symbol })),
	);
	const addresses: SolanaAddress[] = await Promise.all(held.map(holdingAddress));
	const { accounts } = await readAccounts(chain, addresses, { commitment: "confirmed" });
	return held.flatMap(({ name, owner, token, symbol }, i) => {
		const { lamports = 0n, token: said } = accounts[i] ?? {};
		if (token !== solanaNativeToken) {
			return said?.owner === owner
				? []
				: `the ${name} ${owner} has no account for ${symbol}: make it with spl-token create-account ${token} --owner ${owner}`;
		}
		return lamports >= emptyAccountRentLamports
			? []
			: `the ${name} ${owner} holds ${lamports} lamports: send it ${emptyAccountRentLamports - lamports} more`;
	});
}
