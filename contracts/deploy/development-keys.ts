import { type Address, type Hex, isAddressEqual, toHex } from "viem";
import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";

/** The chains that exist on one machine only. On any other chain, publicly known keys are refused. */
export const developmentChainIds: readonly number[] = [31337, 31338, 31339];

/** The mnemonic of the devnet's keys. It is public, so anyone can take what is sent to them on a real network. */
export const devnetMnemonic = "public test key never use this swap only inside laptop develop machine";

/** The default accounts of anvil and hardhat. */
const toolMnemonic = "test test test test test test test test test test test junk";

const checkedKeysPerMnemonic = 50;

/** Returns the private keys at these indexes of the devnet's mnemonic. */
export function devnetKeys(indexes: readonly number[]): Hex[] {
	return keysOf(devnetMnemonic, indexes);
}

/** Returns those of the addresses whose private key is publicly known. */
export function developmentAddressesAmong(addresses: readonly Address[]): Address[] {
	const indexes = Array.from({ length: checkedKeysPerMnemonic }, (_, i) => i);
	const known = [toolMnemonic, devnetMnemonic].flatMap((mnemonic) =>
		keysOf(mnemonic, indexes).map((key) => privateKeyToAddress(key)),
	);
	return addresses.filter((address) => known.some((other) => isAddressEqual(address, other)));
}

function keysOf(mnemonic: string, indexes: readonly number[]): Hex[] {
	// The parent is derived once, because stretching the mnemonic is the slow part.
	const parent = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey();
	return indexes.map((index) => {
		const { privateKey } = parent.deriveChild(index);
		if (!privateKey) throw new Error(`the mnemonic has no key ${index}`);
		return toHex(privateKey);
	});
}
