import { bytesToBigInt, bytesToHex, type Hex, pad } from "viem";
import type { AttesterSet } from "../../attester-set.ts";
import { packDeadlines } from "../../deadlines.ts";
import type { Order } from "../../order.ts";
import { solanaChainId } from "../../solana-chain-id.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken, toSolanaWord } from "../solana-address.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";
import { tokenAccountOf } from "../transfer-instruction.ts";

// The reverse of `escrow-instructions.ts` and `vault-instructions.ts`. A caller that must not miss anything builds the
// instruction again from the decoded values, and compares.

/** An instruction of the program as a message has it: the accounts that it names, and its data. */
export type ProgramInstruction = { addresses: readonly SolanaAddress[]; data: Uint8Array };

/** Decodes the order whose accounts are created. Throws if data is missing. */
export function decodePrepare({ addresses, data }: ProgramInstruction, program: SolanaAddress): Order {
	const read = reading(data);
	// The properties are read in the sequence of the data.
	const terms = {
		destinationChainId: read.number(),
		wallet: read.word(),
		originVault: read.word(),
		destinationVault: read.word(),
		attesterSet: read.word(),
		inputAmount: read.number(),
		outputToken: read.word(),
		minOutput: read.wide(),
		recipient: read.word(),
		topUp: read.wide(),
		swapKey: read.swapKey(),
		deadlines: read.deadlines(),
	};
	const inputToken = toSolanaWord(addresses[4] ?? solanaNativeToken);
	return { ...terms, originChainId: BigInt(solanaChainId), escrow: toSolanaWord(program), inputToken };
}

/**
 * Decodes the order that is paid, and the amount. Throws if data is missing, or if the output is none of these assets,
 * which are needed because a fill names token accounts and no mint.
 */
export async function decodeFill(
	{ addresses, data }: ProgramInstruction,
	{ assets }: Pick<SolanaDeployment, "assets">,
): Promise<{ order: Order; amount: bigint }> {
	const read = reading(data);
	const order = readOrder(read, addresses);
	const amount = read.number();
	const [owner, paying] = [fromSolanaWord(order.destinationVault), addresses[5]];
	if (paying === undefined) return { order, amount };
	for (const { address: token } of assets) {
		if (token !== solanaNativeToken && (await tokenAccountOf({ owner, token })) === paying)
			return { order: { ...order, outputToken: toSolanaWord(token) }, amount };
	}
	throw new RangeError("the output is none of the deployment's assets");
}

/** Decodes the order that a void closes permanently. Throws if data is missing. */
export function decodeVoid({ addresses, data }: ProgramInstruction): Order {
	return { ...readOrder(reading(data), addresses), outputToken: toSolanaWord(at(addresses, 5)) };
}

/** Decodes the attesters and the signatures of a decision about one order. Throws if data is missing. */
export function decodeDecide({ data }: ProgramInstruction): { set: AttesterSet; signatures: Hex[] } {
	const read = reading(data);
	read.byte();
	const [threshold, attesters] = [read.byte(), read.byte()];
	const set = { threshold, attesters: read.list(attesters, 20) };
	return { set, signatures: read.list(read.byte(), 65) };
}

/** Reads an order that ends on Solana, with SOL as its output. */
function readOrder(read: ReturnType<typeof reading>, addresses: readonly SolanaAddress[]): Order {
	const terms = {
		originChainId: read.number(),
		escrow: read.word(),
		originVault: read.word(),
		attesterSet: read.word(),
		wallet: read.word(),
		inputToken: read.word(),
		inputAmount: read.wide(),
		minOutput: read.number(),
		topUp: read.number(),
		swapKey: read.swapKey(),
		deadlines: read.deadlines(),
	};
	return {
		...terms,
		destinationChainId: BigInt(solanaChainId),
		destinationVault: toSolanaWord(at(addresses, 1)),
		recipient: toSolanaWord(at(addresses, 3)),
		outputToken: toSolanaWord(solanaNativeToken),
	};
}

/** Reads data from its second byte on, as the program does. */
function reading(data: Uint8Array) {
	let next = 1;
	const take = (size: number): Uint8Array => {
		next += size;
		if (next > data.length) throw new RangeError("the instruction's data is too short");
		return data.subarray(next - size, next);
	};
	const number = () => bytesToBigInt(take(8).toReversed());
	return {
		number,
		byte: () => Number(bytesToBigInt(take(1))),
		/** A number that is big-endian, as in an order's word. */
		wide: () => bytesToBigInt(take(16)),
		word: () => bytesToHex(take(32)),
		swapKey: () => pad(bytesToHex(take(16)), { size: 32 }),
		deadlines: () => packDeadlines({ openDeadline: number(), fillDeadline: number(), refundAfter: number() }),
		list: (count: number, size: number) => Array.from({ length: count }, () => bytesToHex(take(size))),
	};
}

function at(addresses: readonly SolanaAddress[], index: number): SolanaAddress {
	const address = addresses[index];
	if (!address) throw new RangeError("the instruction names too few accounts");
	return address;
}
