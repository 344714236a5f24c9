import { solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { SolanaChain } from "../connect-solana.ts";
import { readVault } from "../program/read-vault.ts";
import { readAccounts } from "./read-accounts.ts";

/** Returns a sentence for each thing that keeps the vault from paying or being paid. */
export async function checkOwnAccounts(chain: SolanaChain): Promise<string[]> {
	const { assets, program } = chain.deployment;
	const { vault } = await readVault(chain, { commitment: "confirmed" });
	const tokens = assets.filter(({ address }) => address !== solanaNativeToken);
	const addresses = await Promise.all(
		tokens.map(({ address: token }) => tokenAccountOf({ owner: program.vault, token })),
	);
	const { accounts } = await readAccounts(chain, addresses, { commitment: "confirmed" });
	const at = `the vault ${program.vault}`;
	return [
		...(vault.operators.includes(program.operator)
			? []
			: [`${at} does not have ${program.operator} as an operator; its owner must add it`]),
		...(vault.isPaused ? [`${at} is paused; its owner must unpause it`] : []),
		...assets
			.filter(({ address }) => !vault.caps.some(({ token }) => token === address))
			.map(
				({ symbol }) => `${at} has no cap for ${symbol}, so that none may leave it; its owner must set one`,
			),
		...tokens
			.filter((_, i) => accounts[i]?.token?.owner !== program.vault)
			.map(
				({ symbol, address }) =>
					`${at} has no account for ${symbol}; create it with spl-token create-account ${address} --owner ${program.vault}`,
			),
	];
}
