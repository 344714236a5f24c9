import type { Address } from "viem";
import { bytesToHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { ConfigError } from "../config/config-error.ts";
import { addressOfKey } from "../signature/recover-address.ts";
import { isDevelopmentChain } from "./is-development-chain.ts";

/** The mnemonics of the devnet and of anvil and hardhat. On a real network, anyone can take what their keys hold. */
const publicMnemonics = [
	"public test key never use this swap only inside laptop develop machine",
	"test test test test test test test test test test test junk",
];
const checkedKeysPerMnemonic = 50;

/**
 * Throws if an address whose key is publicly known would be used on a chain that does not exist on this machine only.
 */
export function refuseDevelopmentKeys(addresses: readonly Address[], chainIds: readonly number[]): void {
	const realChainId = chainIds.find((chainId) => !isDevelopmentChain(chainId));
	if (realChainId === undefined) return;
	const known = new Set(publicMnemonics.flatMap(addressesOf));
	const used = addresses.find((address) => known.has(address));
	if (used) {
		throw new ConfigError(
			`the key of ${used}`,
			`is a development key, which is public; use a secret key on chain ${realChainId}`,
		);
	}
}

function addressesOf(mnemonic: string): Address[] {
	// All keys share one parent, because stretching the mnemonic is the slow part.
	const parent = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey();
	return Array.from({ length: checkedKeysPerMnemonic }, (_, index) =>
		addressOfKey(bytesToHex(parent.deriveChild(index).privateKey ?? new Uint8Array())),
	);
}
