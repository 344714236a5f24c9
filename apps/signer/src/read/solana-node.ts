import {
	clockAddress,
	decodeClock,
	decodeOrderAccount,
	decodeRecordAccount,
	type OrderAccount,
	orderAddress,
	type RecordAccount,
	recordAddress,
	type SolanaAddress,
	type SolanaDeployment,
} from "@geoswap/protocol";
import { createSolanaRpc, getBase64Encoder, type Rpc, type SolanaRpcApi } from "@solana/kit";
import type { Hex } from "viem";
import { nodeTimeoutMs } from "./evm-node.ts";

/** The signer's own node of Solana, and the service's program there. */
export type SolanaNode = { deployment: SolanaDeployment; rpc: Rpc<SolanaRpcApi> };

export function connectSolanaNode({
	rpcUrl,
	deployment,
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
}): SolanaNode {
	return { deployment, rpc: createSolanaRpc(rpcUrl) as Rpc<SolanaRpcApi> };
}

/** Reads the account of an order that began in the program; undefined for one that was not prepared or is closed. */
export async function readOrderAccount(node: SolanaNode, orderId: Hex): Promise<OrderAccount | undefined> {
	const { address } = node.deployment.program;
	const [account] = await readFinalAccounts(node, [await orderAddress(address, orderId)]);
	return account?.owner === address ? decodeOrderAccount(account.data) : undefined;
}

/** Reads the record of an order from another chain, and the chain's time, both at one slot. */
export async function readRecordAccount(
	node: SolanaNode,
	orderId: Hex,
): Promise<{ record: RecordAccount | undefined; unixSeconds: bigint }> {
	const { address } = node.deployment.program;
	const [clock, account] = await readFinalAccounts(node, [
		clockAddress,
		await recordAddress(address, orderId),
	]);
	if (!clock) throw new Error("the chain has no clock");
	// An account that only holds lamports from a third party is no record.
	const data = account?.owner === address ? account.data : undefined;
	const record = data && decodeRecordAccount(data);
	if (data && !record) throw new Error("a record of the program has another form than this version knows");
	return { record, unixSeconds: decodeClock(clock.data) };
}

/** Reads the genesis hash, which identifies the cluster. */
export function readGenesisHash({ rpc }: SolanaNode): Promise<string> {
	return request((abortSignal) => rpc.getGenesisHash().send({ abortSignal }));
}

type Account = { owner: SolanaAddress; data: Uint8Array };

/** Reads accounts of the program at the newest final slot. No caller can choose their sizes. */
async function readFinalAccounts(
	{ rpc }: SolanaNode,
	addresses: readonly SolanaAddress[],
): Promise<(Account | undefined)[]> {
	const options = { commitment: "finalized", encoding: "base64" } as const;
	const { value } = await request((abortSignal) =>
		rpc.getMultipleAccounts([...addresses], options).send({ abortSignal }),
	);
	if (value.length !== addresses.length)
		throw new Error("the chain answered for other accounts than requested");
	return value.map(
		(account) =>
			account?.data && {
				owner: account.owner,
				data: new Uint8Array(getBase64Encoder().encode(account.data[0])),
			},
	);
}

/** Sends a request, and once more if it fails, because a connection may just have been closed. */
async function request<T>(send: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
	const attempt = () => send(AbortSignal.timeout(nodeTimeoutMs));
	return attempt().catch(attempt);
}
