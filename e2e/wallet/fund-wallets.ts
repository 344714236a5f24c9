import { callMany, devTokenAbi, type TestChain } from "@geoswap/devnet";
import { type Address, encodeFunctionData, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";

const walletsAtOnce = 100;

/** Creates `amount` of a token in each of many wallets, in as few transactions as possible. */
export async function fundWallets(
	chain: TestChain,
	wallets: readonly { wallet: Address; token: Address; amount: bigint }[],
): Promise<void> {
	const native = wallets.filter(({ token }) => token === zeroAddress);
	await Promise.all(
		native.map(({ wallet, amount }) => chain.testClient.setBalance({ address: wallet, value: amount })),
	);
	const minted = wallets.filter(({ token }) => token !== zeroAddress);
	const sender = privateKeyToAddress(generatePrivateKey());
	await chain.testClient.setBalance({ address: sender, value: 10n ** 20n });
	for (let i = 0; i < minted.length; i += walletsAtOnce) {
		await callMany(
			chain,
			sender,
			minted.slice(i, i + walletsAtOnce).map(({ wallet, token, amount }) => ({
				to: token,
				data: encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [wallet, amount] }),
			})),
		);
	}
}
