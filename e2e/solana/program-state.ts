import {
	decodeOrderAccount,
	decodeRecordAccount,
	type OrderAccount,
	orderAddress,
	type RecordAccount,
	readProgramEvents,
	recordAddress,
	type SolanaAddress,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaTestChain } from "./solana-chain.ts";

/** The state of an order in the program, which is its own account if it began on Solana, and otherwise its record. */
export type ProgramState = { order: OrderAccount | undefined; record: RecordAccount | undefined };

export async function programState(
	{ rpc, deployment }: Pick<SolanaTestChain, "rpc" | "deployment">,
	orderId: string,
): Promise<ProgramState> {
	const { program } = deployment;
	const dataAt = async (addressOf: typeof orderAddress) => {
		const address: SolanaAddress = await addressOf(program.address, orderId as Hex);
		const { value } = await rpc
			.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" })
			.send();
		// Anyone can send lamports to the address before the account is made.
		return value?.owner === program.address
			? new Uint8Array(Buffer.from(value.data[0], "base64"))
			: undefined;
	};
	const [order, record] = await Promise.all([dataAt(orderAddress), dataAt(recordAddress)]);
	return { order: order && decodeOrderAccount(order), record: record && decodeRecordAccount(record) };
}

/** Returns whether the vault on Solana has paid the order. Within Solana that releases its input. */
export function isFilled({ order, record }: ProgramState): boolean {
	return record?.state === "filled" || order?.state === "released";
}

/** Returns the same, also after the order's account was closed, which the worker does soon after the open deadline. */
export async function wasFilled(
	{ rpc, deployment }: Pick<SolanaTestChain, "rpc" | "deployment">,
	orderId: string,
): Promise<boolean> {
	const state = await programState({ rpc, deployment }, orderId);
	if (state.order || isFilled(state)) return isFilled(state);
	const { program } = deployment;
	const address = await orderAddress(program.address, orderId as Hex);
	const listed = await rpc.getSignaturesForAddress(address, { commitment: "confirmed" }).send();
	const options = { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 } as const;
	const landed = await Promise.all(
		listed.map(({ signature }) => rpc.getTransaction(signature, options).send()),
	);
	return landed
		.filter((one) => one?.meta?.err === null)
		.flatMap((one) => readProgramEvents(one?.meta?.logMessages ?? [], program.address))
		.some((event) => event.name === "filled" && event.orderId === orderId);
}

/** Returns whether the order's input is in the vault. */
export function isReleased({ order }: ProgramState): boolean {
	return order?.state === "released" && order.isPaid;
}
