import {
	fromSolanaWord,
	type Order,
	type SolanaAddress,
	solanaNativeToken,
	tokenAccountOf,
} from "@geoswap/protocol";
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from "@solana-program/compute-budget";
import {
	ALLOCATE_WITH_SEED_DISCRIMINATOR,
	getTransferSolInstructionDataDecoder,
	SYSTEM_PROGRAM_ADDRESS,
	TRANSFER_SOL_DISCRIMINATOR,
} from "@solana-program/system";
import {
	ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
	getTransferCheckedInstructionDataDecoder,
	INITIALIZE_ACCOUNT3_DISCRIMINATOR,
	TOKEN_PROGRAM_ADDRESS,
	TRANSFER_CHECKED_DISCRIMINATOR,
} from "@solana-program/token";
import type { Landed, LandedInstruction } from "../chain/solana/read-landed.ts";

/**
 * Whether a transaction is the vault's one payment to an order's recipient, its marker and nothing more. A payment can
 * settle two debts: two orders with two markers, or an order and what the recipient sells in the same transaction, or
 * what another owes the recipient. So nothing is let pass that could make it be about something else: no second
 * payment, no second account with a seed, no other program, no memo, no account that a transfer does not need, and no
 * signature of the recipient's.
 */
export async function isPlainPayout(
	{ message }: Landed,
	{ from, to, order }: { from: SolanaAddress; to: SolanaAddress; order: Order },
): Promise<boolean> {
	if (message.signers.includes(to)) return false;
	const payment = await paymentOf(order, { from, to });
	const kinds = message.instructions.map((instruction) => kindOf(instruction, payment));
	const count = (kind: Kind) => kinds.filter((candidate) => candidate === kind).length;
	return (
		count("other") === 0 &&
		count("payment") === 1 &&
		count("allocation") === 1 &&
		count("initialization") === 1
	);
}

type Kind = "computing" | "account" | "rent" | "payment" | "allocation" | "initialization" | "other";
type Payment = { program: SolanaAddress; accounts: SolanaAddress[]; minimum: bigint; to: SolanaAddress };

async function paymentOf(
	order: Order,
	{ from, to }: { from: SolanaAddress; to: SolanaAddress },
): Promise<Payment> {
	const mint = fromSolanaWord(order.outputToken);
	const minimum = order.minOutput;
	if (mint === solanaNativeToken)
		return { program: SYSTEM_PROGRAM_ADDRESS, accounts: [from, to], minimum, to };
	const [source, destination] = await Promise.all([
		tokenAccountOf({ owner: from, token: mint }),
		tokenAccountOf({ owner: to, token: mint }),
	]);
	return { program: TOKEN_PROGRAM_ADDRESS, accounts: [source, mint, destination, from], minimum, to };
}

function kindOf(instruction: LandedInstruction, payment: Payment): Kind {
	const { program, accounts, data } = instruction;
	if (program === COMPUTE_BUDGET_PROGRAM_ADDRESS) return "computing";
	if (program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) return "account";
	if (program === TOKEN_PROGRAM_ADDRESS) {
		if (data[0] === INITIALIZE_ACCOUNT3_DISCRIMINATOR) return "initialization";
		const isPayment =
			data[0] === TRANSFER_CHECKED_DISCRIMINATOR &&
			isSame(instruction, payment) &&
			getTransferCheckedInstructionDataDecoder().decode(data).amount >= payment.minimum;
		return isPayment ? "payment" : "other";
	}
	if (program !== SYSTEM_PROGRAM_ADDRESS) return "other";
	const [number, ...rest] = data.subarray(0, 4);
	if (rest.some((byte) => byte !== 0)) return "other";
	if (number === ALLOCATE_WITH_SEED_DISCRIMINATOR) return "allocation";
	if (number !== TRANSFER_SOL_DISCRIMINATOR) return "other";
	if (isSame(instruction, payment)) {
		const { amount } = getTransferSolInstructionDataDecoder().decode(data);
		return amount >= payment.minimum ? "payment" : "other";
	}
	// The marker's rent. Nobody else is to pay the recipient here.
	return accounts.length === 2 && accounts[1] !== payment.to ? "rent" : "other";
}

function isSame({ program, accounts }: LandedInstruction, payment: Payment): boolean {
	return (
		program === payment.program &&
		accounts.length === payment.accounts.length &&
		accounts.every((address, i) => address === payment.accounts[i])
	);
}
