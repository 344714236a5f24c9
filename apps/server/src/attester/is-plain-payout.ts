import { type Amount, fromSolanaWord, type Order, orderId, type SolanaDeployment } from "@geoswap/protocol";
import { createNoopSigner, type Instruction } from "@solana/kit";
import {
	COMPUTE_BUDGET_PROGRAM_ADDRESS,
	SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
	SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
} from "@solana-program/compute-budget";
import { markerInstructions } from "../chain/solana/marker/marker-instructions.ts";
import type { Landed, LandedInstruction } from "../chain/solana/read/read-landed.ts";
import { transferInstructions } from "../chain/solana/send/transfer-instructions.ts";

/**
 * Returns whether a transaction is the vault's one payment of this amount to an order's recipient, its marker and
 * nothing more. One payment could settle two debts: two orders with two markers, or an order and a sale by the
 * recipient in the same transaction, or another party's debt to the recipient. To rule this out, it must consist of
 * exactly the instructions of a payout, to the byte, and name no other account and no other signer.
 */
export async function isPlainPayout(
	{ message, lamports }: Landed,
	{ deployment, order, amount }: { deployment: SolanaDeployment; order: Order; amount: Amount },
): Promise<boolean> {
	const to = fromSolanaWord(order.recipient);
	if (amount <= 0n || message.signers.includes(to)) return false;
	const feePayer = createNoopSigner(message.feePayer);
	const vault = createNoopSigner(deployment.vault);
	const payment = { deployment, from: vault, to, token: order.outputToken, amount };
	const [transfer, withAccount, marker] = await Promise.all([
		transferInstructions(payment),
		transferInstructions({ ...payment, accountPaidBy: feePayer }),
		markerInstructions({ feePayer, base: vault, orderId: orderId(order), owner: vault.address }),
	]);
	const instructions = message.instructions.filter((instruction) => !isComputing(instruction));
	const expected = [transfer, withAccount]
		.map((paying) => [...paying, ...marker])
		.find((list) => areSame(instructions, list));
	if (!expected) return false;
	const needed = new Set([
		message.feePayer,
		COMPUTE_BUDGET_PROGRAM_ADDRESS,
		...expected.flatMap(({ programAddress, accounts = [] }) => [
			programAddress,
			...accounts.map(({ address }) => address),
		]),
	]);
	return (
		message.signers.every((signer) => signer === message.feePayer || signer === deployment.vault) &&
		[...lamports.keys()].every((address) => needed.has(address))
	);
}

/** Returns whether an instruction only sets the compute limit or its price, in the shortest form. */
function isComputing({ program, accounts, data }: LandedInstruction): boolean {
	if (program !== COMPUTE_BUDGET_PROGRAM_ADDRESS || accounts.length > 0) return false;
	return (
		(data[0] === SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR && data.length === 5) ||
		(data[0] === SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR && data.length === 9)
	);
}

function areSame(landed: readonly LandedInstruction[], expected: readonly Instruction[]): boolean {
	return (
		landed.length === expected.length &&
		landed.every(({ program, accounts, data }, i) => {
			const one = expected[i];
			const addresses = (one?.accounts ?? []).map(({ address }) => address);
			return (
				program === one?.programAddress &&
				accounts.length === addresses.length &&
				accounts.every((address, n) => address === addresses[n]) &&
				Buffer.from(data).equals(Buffer.from(one.data ?? []))
			);
		})
	);
}
