import { accountSlot, geoAccountAbi, orderProof, revocationTypedData } from "@geoswap/protocol";
import {
	type Account,
	type Address,
	encodeFunctionData,
	type Hash,
	type Hex,
	hexToBigInt,
	type PublicClient,
	slice,
	type WalletClient,
} from "viem";
import { getStorageAt, readContract, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import { signTyped } from "../create-mandate.ts";
import type { EvmAccount } from "../evm-account.ts";

/**
 * Returns the epoch that a mandate of this wallet must name, which counts how often its mandates were revoked on this
 * chain. It is read from the wallet's storage, where it stays even without a delegation.
 */
export async function readMandateEpoch(client: PublicClient, wallet: Address): Promise<number> {
	const word = await getStorageAt(client, { address: wallet, slot: accountSlot });
	return word === undefined ? 0 : Number(hexToBigInt(slice(word, -8)));
}

/**
 * Ends all mandates of a wallet on a chain, known and unknown, by a transaction that the payer sends and pays for. The
 * payer may be the wallet itself. Returns once the chain shows the next epoch.
 */
export async function revokeMandates(
	client: PublicClient,
	{
		wallet,
		payer,
		chainId,
	}: {
		/** The wallet's account. It signs typed data, unless it is the payer itself. */
		wallet: Pick<EvmAccount, "address" | "signTypedData" | "sign">;
		payer: WalletClient & { account: Account };
		chainId: number;
	},
): Promise<{ hash: Hash; epoch: number }> {
	const before = await readMandateEpoch(client, wallet.address);
	const call = { address: wallet.address, abi: geoAccountAbi, functionName: "mandateEpoch" } as const;
	const known = await readContract(client, call).catch(() => undefined);
	// A transaction to other code, or to none, would cost gas and revoke nothing.
	if (known !== BigInt(before)) {
		throw new Error(
			`${wallet.address} is not delegated to the service's account on chain ${chainId}, so its mandates cannot be revoked there now`,
		);
	}
	const isOwn = payer.account.address.toLowerCase() === wallet.address.toLowerCase();
	const proof = isOwn ? "0x" : await signRevocation(client, { wallet, chainId, epoch: before });
	const hash = await sendTransaction(payer, {
		account: payer.account,
		chain: null,
		to: wallet.address,
		data: encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: [proof] }),
	});
	const { status } = await waitForTransactionReceipt(client, { hash, checkReplacement: false });
	const epoch = await readMandateEpoch(client, wallet.address);
	// A wallet without code takes any call and does nothing.
	if (status !== "success" || epoch <= before) {
		throw new Error(`transaction ${hash} did not revoke the mandates of ${wallet.address}`);
	}
	return { hash, epoch };
}

async function signRevocation(
	client: PublicClient,
	{ wallet, chainId, epoch }: { wallet: Parameters<typeof signTyped>[0]; chainId: number; epoch: number },
): Promise<Hex> {
	const { address } = wallet;
	const escrow = await readContract(client, { address, abi: geoAccountAbi, functionName: "ESCROW" });
	const typedData = revocationTypedData({ chainId, escrow, wallet: address, epoch: BigInt(epoch) });
	return orderProof({ kind: "typed", signature: await signTyped(wallet, typedData, {}) });
}
