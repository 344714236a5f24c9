import { type SolanaAddress, solanaNativeToken, tokenAccountOf, toSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { type Account, readAccounts } from "./read-accounts.ts";

/** Balances per asset, by its 32 bytes. An account that does not exist holds nothing. */
export type Holdings = { slot: number; vault: Map<Hex, bigint>; escrow: Map<Hex, bigint> };

/** Reads the balances of the vault and the escrow of each asset, at one slot. */
export async function readHoldings(
	chain: SolanaChain,
	{ commitment }: { commitment: SolanaCommitment },
): Promise<Holdings> {
	const { vault, escrow, assets } = chain.deployment;
	const tokens = assets.map((asset) => asset.address);
	const addresses = await addressesOf(chain.deployment);
	const { slot, accounts } = await readAccounts(chain, addresses, { commitment });
	const held = (owner: SolanaAddress, from: number) =>
		new Map(
			tokens.map((token, i) => [toSolanaWord(token), heldIn(accounts[from + i], { owner, token })] as const),
		);
	return { slot, vault: held(vault, 0), escrow: held(escrow, tokens.length) };
}

const knownAddresses = new WeakMap<SolanaChain["deployment"], Promise<SolanaAddress[]>>();

/** Returns the accounts in which the vault, then the escrow, holds each asset: derived once, and read each second. */
function addressesOf(deployment: SolanaChain["deployment"]): Promise<SolanaAddress[]> {
	const known = knownAddresses.get(deployment);
	if (known) return known;
	const { vault, escrow, assets } = deployment;
	const addresses = Promise.all(
		[vault, escrow].flatMap((owner) =>
			assets.map(({ address }) => holdingAddress({ owner, token: address })),
		),
	);
	knownAddresses.set(deployment, addresses);
	return addresses;
}

/** Returns where an owner holds a token: in lamports at its own address, or in its one account for the token. */
export async function holdingAddress(held: {
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<SolanaAddress> {
	return held.token === solanaNativeToken ? held.owner : tokenAccountOf(held);
}

/** Returns the owner's balance in an account: nothing if the owner gave the account away. */
export function heldIn(
	account: Account | undefined,
	{ owner, token }: { owner: SolanaAddress; token: SolanaAddress },
): bigint {
	if (token === solanaNativeToken) return account?.lamports ?? 0n;
	return account?.token?.owner === owner && account.token.mint === token ? account.token.amount : 0n;
}
