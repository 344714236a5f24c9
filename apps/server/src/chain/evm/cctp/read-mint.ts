import { type Amount, readLogs } from "@geoswap/protocol";
import {
	type Address,
	encodeEventTopics,
	formatLog,
	type Hash,
	type Hex,
	isAddressEqual,
	type Log,
	numberToHex,
	parseEventLogs,
	type RpcLog,
} from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { revertOf } from "../revert-of.ts";
import { cctpAbi } from "./cctp-abi.ts";
import type { Attested } from "./read-attestation.ts";

/** Circle's contracts on one chain. */
export type CctpContracts = {
	/** TokenMessengerV2. */
	tokenMessenger: Address;
	/** MessageTransmitterV2. */
	messageTransmitter: Address;
};

/** The mint of one message. */
export type CctpMint = {
	transactionHash: Hash;
	blockNumber: number;
	recipient: Address;
	token: Address;
	/** The amount that the recipient got, without the fee. */
	amount: Amount;
	fee: Amount;
};

/** The reason why a mint would revert now. */
export type MintRefusal =
	/** The message was received before. */
	| { kind: "used" }
	/** The message has expired, and needs a new attestation. */
	| { kind: "expired" }
	| { kind: "other"; reason: string };

/** An address without a key. Anyone may have our messages minted. */
const anySender: Address = "0x000000000000000000000000000000000000dEaD";

/** Returns whether a message with this nonce was received. */
export async function readIsNonceUsed(
	{ chainId, client }: EvmChain,
	{ messageTransmitter }: CctpContracts,
	nonce: Hex,
): Promise<boolean> {
	const used = await requestChain(
		chainId,
		client.readContract({
			address: messageTransmitter,
			abi: cctpAbi,
			functionName: "usedNonces",
			args: [nonce],
		}),
	);
	return used !== 0n;
}

/**
 * Reads the mint of the message with this nonce, regardless of who sent it. Returns undefined if these blocks have none.
 * They must begin at a block before the burn, because an older message with this nonce is not the move's.
 */
export async function readMint(
	{ chainId, client }: EvmChain,
	{ tokenMessenger, messageTransmitter }: CctpContracts,
	{ nonce, fromBlock, toBlock }: { nonce: Hex; fromBlock: number; toBlock: number },
): Promise<CctpMint | undefined> {
	const topics = encodeEventTopics({ abi: cctpAbi, eventName: "MessageReceived", args: { nonce } });
	const read = async (part: { fromBlock: number; toBlock: number }) =>
		(await client.request({
			method: "eth_getLogs",
			params: [
				{
					address: messageTransmitter,
					topics,
					fromBlock: numberToHex(part.fromBlock),
					toBlock: numberToHex(part.toBlock),
				},
			],
		})) as RpcLog[];
	const { logs } = await requestChain(chainId, readLogs({ fromBlock, toBlock, topics: [] }, { read }));
	const [received] = logs.map((log) => formatLog(log)) as Log<bigint, number, false>[];
	if (!received) return undefined;
	const receipt = await requestChain(
		chainId,
		client.request({ method: "eth_getTransactionReceipt", params: [received.transactionHash] }),
	);
	// The transaction may have moved to another block since the logs were read. The next look finds it there.
	if (receipt?.blockHash !== received.blockHash) return undefined;
	const minted = parseEventLogs({
		abi: cctpAbi,
		eventName: "MintAndWithdraw",
		logs: receipt.logs.map((log) => formatLog(log)) as Log<bigint, number, false>[],
	})
		// A transaction may have many messages minted. Each mint comes right before its MessageReceived.
		.filter((log) => isAddressEqual(log.address, tokenMessenger) && log.logIndex < received.logIndex)
		.at(-1);
	if (!minted) return undefined;
	const { mintRecipient, mintToken, amount, feeCollected } = minted.args;
	return {
		transactionHash: received.transactionHash,
		blockNumber: Number(received.blockNumber),
		recipient: mintRecipient,
		token: mintToken,
		amount,
		fee: feeCollected,
	};
}

/** Simulates the mint. Returns why it would revert; undefined if it would not. */
export async function readMintRefusal(
	{ chainId, client }: EvmChain,
	contracts: CctpContracts,
	attested: Attested,
): Promise<MintRefusal | undefined> {
	const call = client.simulateContract({ account: anySender, ...mintCall(contracts, attested) });
	return requestChain(
		chainId,
		call.then(
			() => undefined,
			(error: unknown) => refusalOf(error),
		),
	);
}

/** Returns the call that has a message minted. */
export function mintCall(
	{ messageTransmitter }: Pick<CctpContracts, "messageTransmitter">,
	{ message, attestation }: Attested,
) {
	const args = [message, attestation] as const;
	return { address: messageTransmitter, abi: cctpAbi, functionName: "receiveMessage", args } as const;
}

/** Reads the reason from a revert. Throws an error that is none. */
function refusalOf(error: unknown): MintRefusal {
	const reverted = revertOf(error);
	if (!reverted) throw error;
	const reason = reverted.reason ?? reverted.shortMessage;
	if (reason === "Nonce already used") return { kind: "used" };
	if (reason === "Message expired and must be re-signed") return { kind: "expired" };
	return { kind: "other", reason };
}
