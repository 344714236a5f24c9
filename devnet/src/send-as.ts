import { type Address, type Hex, numberToHex, type RpcTransactionReceipt } from "viem";
import type { DevnetChain } from "./devnet-chain.ts";

export type Call = { to?: Address; data?: Hex; value?: bigint };

/** More than any call here uses. With a limit, the node does not search for one by running the call many times. */
const gasOfOne = 20_000_000;

/** Low enough that several calls fit into one block. */
const gasOfMany = 4_000_000;

/** Sends a call from any address, without its key, and waits until it is mined. Throws if it reverts. */
export async function sendAs(chain: DevnetChain, from: Address, call: Call): Promise<RpcTransactionReceipt> {
	await chain.testClient.impersonateAccount({ address: from });
	return send(chain, { from, gas: gasOfOne, ...call });
}

/** Sends all calls together, in this order, into as few blocks as possible. */
export async function sendAllAs(
	chain: DevnetChain,
	from: Address,
	calls: readonly Call[],
): Promise<RpcTransactionReceipt[]> {
	const { testClient, publicClient } = chain;
	await testClient.impersonateAccount({ address: from });
	const nonce = await publicClient.getTransactionCount({ address: from, blockTag: "pending" });
	return Promise.all(
		calls.map((call, i) => send(chain, { from, gas: gasOfMany, nonce: nonce + i, ...call })),
	);
}

async function send(
	{ testClient }: DevnetChain,
	{ from, gas, nonce, to, data, value = 0n }: Call & { from: Address; gas: number; nonce?: number },
): Promise<RpcTransactionReceipt> {
	const receipt = await testClient.request<{
		Method: "eth_sendTransactionSync";
		Parameters: [Record<string, Hex | undefined>];
		ReturnType: RpcTransactionReceipt;
	}>({
		method: "eth_sendTransactionSync",
		params: [
			{
				from,
				to,
				data,
				value: numberToHex(value),
				gas: numberToHex(gas),
				nonce: nonce === undefined ? undefined : numberToHex(nonce),
			},
		],
	});
	if (receipt.status !== "0x1") {
		throw new Error(`a call of ${from} to ${to} reverted in ${receipt.transactionHash}`);
	}
	return receipt;
}
