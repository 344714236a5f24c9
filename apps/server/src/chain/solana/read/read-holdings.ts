import {
	accountRentLamports,
	programAccountSizes,
	type SolanaAddress,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { type Account, readAccounts } from "./read-accounts.ts";

/**
 * The vault's balance of each asset, by its 32 bytes, and the lamports of the given accounts together. An account that
 * does not exist holds nothing.
 */
export type SlotHoldings = { slot: number; vault: Map<Hex, bigint>; lamports: bigint };

/** Reads the vault's balance of each asset, and the lamports of other accounts, all at one slot. */
export async function readHoldings(
	chain: SolanaChain,
	{ commitment, others }: { commitment: SolanaCommitment; others: readonly SolanaAddress[] },
): Promise<SlotHoldings> {
	const { program, assets } = chain.deployment;
	const owner = program.vault;
	const addresses = [...(await addressesOf(chain.deployment)), ...others];
	const { slot, accounts } = await readAccounts(chain, addresses, { commitment });
	const vault = new Map(
		assets.map(({ address: token }, i) => [toSolanaWord(token), heldIn(accounts[i], { owner, token })]),
	);
	const native = toSolanaWord(solanaNativeToken);
	// The rent of the vault's account is not inventory.
	vault.set(native, (vault.get(native) ?? 0n) - accountRentLamports(programAccountSizes.vault));
	const lamports = accounts.slice(assets.length).reduce((sum, one) => sum + (one?.lamports ?? 0n), 0n);
	return { slot, vault, lamports };
}

const knownAddresses = new WeakMap<SolanaChain["deployment"], Promise<SolanaAddress[]>>();

/**
 * Returns the accounts in which the vault holds each asset. They are derived once, because they are read each second.
 */
function addressesOf(deployment: SolanaChain["deployment"]): Promise<SolanaAddress[]> {
	const known = knownAddresses.get(deployment);
	if (known) return known;
	const { program, assets } = deployment;
	const addresses = Promise.all(
		assets.map(({ address: token }) => holdingAddress({ owner: program.vault, token })),
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

/** Returns the owner's balance in an account, which is zero if the owner gave the account away. */
export function heldIn(
	account: Account | undefined,
	{ owner, token }: { owner: SolanaAddress; token: SolanaAddress },
): bigint {
	if (token === solanaNativeToken) return account?.lamports ?? 0n;
	return account?.token?.owner === owner && account.token.mint === token ? account.token.amount : 0n;
}
