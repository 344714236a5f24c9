import type { TestChain } from "@geoswap/devnet";
import { type Address, concat, type Hex, toFunctionSelector } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";

/** Makes a token refuse every transfer to a holder, as its issuer can. Returns a function that ends it. */
export async function freezeInToken(
	{ publicClient, testClient }: TestChain,
	{ token, holder }: { token: Address; holder: Address },
): Promise<() => Promise<void>> {
	const code = await publicClient.getCode({ address: token });
	if (!code) throw new Error(`${token} is no contract`);
	const original = privateKeyToAddress(generatePrivateKey());
	await testClient.setCode({ address: original, bytecode: code });
	await testClient.setCode({ address: token, bytecode: refusingCode({ original, holder }) });
	return () => testClient.setCode({ address: token, bytecode: code });
}

/** Reverts on `transfer(holder, …)`, and runs the original's code on the token's own storage for all else. */
function refusingCode({ original, holder }: { original: Address; holder: Address }): Hex {
	const transfer = toFunctionSelector("transfer(address,uint256)");
	const refuse = "0x6055";
	const succeed = "0x6051";
	return concat([
		// calldataload(0) >> 224 == transfer && calldataload(4) == holder
		"0x5f3560e01c63",
		transfer,
		"0x1460043573",
		holder,
		"0x1416",
		refuse,
		"0x57",
		// delegatecall(gas, original, calldata)
		"0x365f5f375f5f365f73",
		original,
		"0x5af43d5f5f3e",
		succeed,
		"0x573d5ffd",
		"0x5b3d5ff3",
		"0x5b5f5ffd",
	]);
}
