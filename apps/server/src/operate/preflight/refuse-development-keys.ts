import { type Hex, toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { ConfigError } from "../../config/config-error.ts";

/** The chains that exist on one machine only. */
const developmentChainIds: readonly number[] = [31337, 31338, 31339];

/** Returns true if all of these EVM chains exist on one machine only. */
export function areDevelopmentChains(chainIds: readonly number[]): boolean {
	return chainIds.every((chainId) => developmentChainIds.includes(chainId));
}

/** The mnemonics of the devnet and of anvil and hardhat. Anyone can take what their keys hold on a real network. */
const publicMnemonics = [
	"public test key never use this swap only inside laptop develop machine",
	"test test test test test test test test test test test junk",
];
const checkedKeysPerMnemonic = 50;

/** Throws if a publicly known key would be used on a chain that exists not only on this machine. */
export function refuseDevelopmentKeys(keys: readonly Hex[], chainIds: readonly number[]): void {
	const realChainId = chainIds.find((chainId) => !developmentChainIds.includes(chainId));
	if (realChainId === undefined) return;
	const known = new Set(publicMnemonics.flatMap(keysOf));
	if (keys.some((key) => known.has(key.toLowerCase()))) {
		throw new ConfigError(
			"a private key",
			`is a development key, which is public: use a key of your own on chain ${realChainId}`,
		);
	}
}

function keysOf(mnemonic: string): string[] {
	// All keys share one parent: stretching the mnemonic is the slow part.
	const parent = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey();
	return Array.from({ length: checkedKeysPerMnemonic }, (_, index) =>
		toHex(parent.deriveChild(index).privateKey ?? new Uint8Array()),
	);
}
