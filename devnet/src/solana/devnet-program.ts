import { type Address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "./development-solana-keys.ts";

const { vaultOwner, actors } = deriveSolanaDevnetKeys();

/** The addresses of the service's program on the devnet, and of its vault there, which is the owner's first. */
export const devnetProgram = solanaAddressOfKey(actors.program);
export const [devnetVault, devnetVaultBump] = await getProgramDerivedAddress({
	programAddress: devnetProgram,
	seeds: ["vault", keyOf(solanaAddressOfKey(vaultOwner)), Uint8Array.of(0)],
});

export function keyOf(address: Address): Uint8Array {
	return new Uint8Array(getAddressEncoder().encode(address));
}
