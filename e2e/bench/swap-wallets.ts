import type { TestChain } from "@geoswap/devnet";
import { parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction, signDelegation } from "../wallet/send-bundle.ts";

const delegatedAtOnce = 50;

/**
 * Creates wallets with `amount` USDC each, all delegated, because the first op of a new wallet needs its own
 * transaction.
 */
export async function swapWallets(
	chain: TestChain,
	{ count, amount }: { count: number; amount: bigint },
): Promise<PrivateKeyAccount[]> {
	const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
	const token = assetAddress(chain, "USDC");
	await fundWallets(
		chain,
		accounts.map(({ address }) => ({ wallet: address, token, amount })),
	);
	for (let i = 0; i < count; i += delegatedAtOnce)
		await delegateAll(chain, accounts.slice(i, i + delegatedAtOnce));
	return accounts;
}

/** Delegates wallets in one transaction that a stranger pays for. */
async function delegateAll(chain: TestChain, wallets: readonly PrivateKeyAccount[]): Promise<void> {
	const account = privateKeyToAccount(generatePrivateKey());
	await chain.testClient.setBalance({ address: account.address, value: parseEther("1") });
	const authorizationList = await Promise.all(wallets.map((wallet) => signDelegation(chain, wallet)));
	await sendTransaction({ chain, account, to: account.address, authorizationList });
}
