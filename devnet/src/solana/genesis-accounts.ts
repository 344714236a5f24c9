import type { EncodedAccount } from "@solana/kit";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "./development-solana-keys.ts";
import { devnetVault } from "./devnet-program.ts";
import { mintAccount, systemAccount, systemProgram, tokenAccount } from "./new-account.ts";
import { solanaDevnetAssets } from "./solana-devnet-assets.ts";
import { vaultAccount } from "./vault-account.ts";

const solLamports = 1_000_000_000n;

let made: Promise<readonly EncodedAccount[]> | undefined;

/** Returns the accounts that every chain begins with, besides its programs and the mint of wrapped SOL. */
export function genesisAccounts(): Promise<readonly EncodedAccount[]> {
	made ??= makeGenesisAccounts();
	return made;
}

async function makeGenesisAccounts(): Promise<EncodedAccount[]> {
	const { feePayers, wallets, strangers, actors } = deriveSolanaDevnetKeys();
	const holders = [
		{ owner: devnetVault, whole: 5_000_000n },
		...wallets.map((key) => ({ owner: solanaAddressOfKey(key), whole: 10_000n })),
	];
	const authority = solanaAddressOfKey(actors.mintAuthority);
	const tokens = solanaDevnetAssets.filter(({ address }) => address !== systemProgram);
	const held = tokens.flatMap(({ address: token, decimals }) =>
		holders.map(({ owner, whole }) =>
			tokenAccount({ token, owner, amount: whole * 10n ** BigInt(decimals) }),
		),
	);
	const wholeSupply = holders.reduce((sum, { whole }) => sum + whole, 0n);
	return [
		vaultAccount(20_000n * solLamports),
		...[...feePayers, ...strangers].map((key) =>
			systemAccount(solanaAddressOfKey(key), 1_000n * solLamports),
		),
		systemAccount(solanaAddressOfKey(actors.faucet), 1_000_000_000n * solLamports),
		...tokens.map(({ address, decimals }) =>
			mintAccount({ address, authority, decimals, supply: wholeSupply * 10n ** BigInt(decimals) }),
		),
		...(await Promise.all(held)),
	];
}
