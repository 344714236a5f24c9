import type { EncodedAccount } from "@solana/kit";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "./development-solana-keys.ts";
import { devnetProgram, devnetVault, devnetVaultBump, keyOf } from "./devnet-program.ts";
import { newAccount } from "./new-account.ts";
import { solanaDevnetAssets } from "./solana-devnet-assets.ts";

/** The size of a vault's account, and the lamports that the chain requires for it. */
const vaultBytes = 1_160;
const vaultRentLamports = 8_964_480n;

/** More than any test takes in an hour. The caps of a real vault are a small part of its inventory. */
const wholePerHour = { stable: 1_000_000n, volatile: 10_000n };

/** The earliest time at which the program accepts a cap in an empty place of the vault. */
const capsSetAt = 3_600n;

/**
 * Returns the service's vault as the program would have written it, with caps for all assets. The chain begins with it,
 * because creating it by transactions would take time in each of the many tests that start a chain.
 */
export function vaultAccount(lamports: bigint): EncodedAccount {
	const { vaultOwner, operator } = deriveSolanaDevnetKeys();
	const owner = keyOf(solanaAddressOfKey(vaultOwner));
	const data = new Uint8Array(vaultBytes);
	// The tag of a vault, not paused, its bump, and the index that its address was derived with.
	data.set([2, 0, devnetVaultBump, 0]);
	data.set(owner, 8);
	data.set(owner, 40);
	// The fields in between stay zero, since there is no pending owner and no guardian.
	data.set(keyOf(solanaAddressOfKey(operator)), 136);
	const view = new DataView(data.buffer);
	for (const [i, { address, decimals, kind }] of solanaDevnetAssets.entries()) {
		const at = 264 + i * 56;
		data.set(keyOf(address), at);
		view.setBigUint64(at + 32, wholePerHour[kind] * 10n ** BigInt(decimals), true);
		view.setBigUint64(at + 48, capsSetAt, true);
	}
	const amount = vaultRentLamports + lamports;
	return newAccount({ address: devnetVault, programAddress: devnetProgram, amount, data });
}
