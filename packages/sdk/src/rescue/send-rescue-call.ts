import type { Account, Hash, PublicClient, WalletClient } from "viem";
import { estimateGas, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import type { RescueCall } from "./rescue-call.ts";

/** Sends the call from a wallet that pays its gas, and waits until it is in a block. Throws if it was reverted. */
export async function sendRescueCall(
	client: PublicClient,
	{ payer, call }: { payer: WalletClient & { account: Account }; call: RescueCall },
): Promise<Hash> {
	const { account } = payer;
	const estimate = await estimateGas(client, { account, ...call });
	// The escrow requires some gas to be left at its payment. A margin above the estimate ensures that.
	const gas = (estimate * 13n) / 10n;
	const hash = await sendTransaction(payer, { account, chain: null, gas, ...call });
	// A check for a replacement would read whole blocks, which anyone can make too large to be read.
	const { status } = await waitForTransactionReceipt(client, { hash, checkReplacement: false });
	if (status !== "success") throw new Error(`transaction ${hash} was reverted; look at the order again`);
	return hash;
}
