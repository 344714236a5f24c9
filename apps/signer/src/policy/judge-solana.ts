import {
	accountRentLamports,
	fromSolanaWord,
	isWithinSolana,
	type Order,
	orderId,
	programAccountSizes,
	type SolanaAddress,
	type SolanaDeployment,
	solanaChainId,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { keccak256 } from "viem";
import { expectAttested } from "./expect-attested.ts";
import { expectOurOrder, type OrderRules } from "./expect-our-order.ts";
import type { Charge, Judgement } from "./judgement.ts";
import { feeMeter, outflowMeter } from "./meters.ts";
import { deliveryOf, payoutsOfFill } from "./payouts-of-fill.ts";
import { type ProgramCall, readSolanaMessage, type SolanaMessage } from "./read-solana-message.ts";
import { refuse } from "./refusal.ts";

/** The two uses of a key on Solana. */
export type SolanaUse = "fee-payer" | "operator";

/** The rules for a key on Solana. */
export type SolanaRules = {
	key: string;
	use: SolanaUse;
	address: SolanaAddress;
	deployment: SolanaDeployment;
	/** The maximum compute units that a transaction may request, and the maximum price of each. */
	maxUnits: number;
	maxMicroLamportsPerUnit: bigint;
	orders: OrderRules;
};

/** The fee of each signature, in lamports. */
const lamportsPerSignature = 5_000n;
const recordRentLamports = accountRentLamports(programAccountSizes.record);

/**
 * Returns what a Solana message does. Refuses all transactions but those that the service's lanes make, which are calls
 * of its program by its operator, and openings that a wallet signs. Throws a `Refusal`.
 */
export async function judgeSolana(
	{
		message: bytes,
		order,
	}: {
		message: Uint8Array;
		/** The order that a release or a refund ends, as the caller claims. */
		order?: Order | undefined;
	},
	rules: SolanaRules,
): Promise<Judgement> {
	const { deployment, use, address } = rules;
	const message = await readSolanaMessage(bytes, { deployment, order });
	const { feePayer, signers, unitLimit, microLamportsPerUnit, call } = message;
	if (!deployment.feePayers.includes(feePayer)) refuse("not-ours", `${feePayer} is not a fee payer of ours`);
	if (!signers.includes(address)) refuse("wrong-kind", "the message does not need this key's signature");
	if (use === "fee-payer" && feePayer !== address)
		refuse("wrong-kind", "another fee payer pays for the message");
	if (unitLimit > rules.maxUnits)
		refuse("too-dear", `${unitLimit} compute units are more than maxUnits, ${rules.maxUnits}`);
	if (microLamportsPerUnit > rules.maxMicroLamportsPerUnit)
		refuse(
			"too-dear",
			`${microLamportsPerUnit} micro-lamports per unit are more than ${rules.maxMicroLamportsPerUnit}`,
		);
	expectAllowed(call, rules);
	const about = { kind: call.kind, about: describe(call) };
	// Both keys sign a payment. Its amount is counted once, with the operator's signature, which the program requires.
	if (use === "operator") return { ...about, ...outflowsOf(call) };
	return { ...about, charges: [feesOf(message, bytes, rules)], payouts: [] };
}

/** Refuses calls that the builders of the lanes would not refuse. */
function expectAllowed(call: ProgramCall, { deployment, orders }: SolanaRules): void {
	const { feePayers, program } = deployment;
	switch (call.kind) {
		case "open": {
			expectOurOrder(call.order, orders);
			const wallet = fromSolanaWord(call.order.wallet);
			if ([...feePayers, program.operator, program.vault, program.address].includes(wallet))
				refuse("not-ours", "an order is opened by one of our own keys");
			return;
		}
		case "fill":
			expectOurOrder(call.order, orders);
			return;
		case "release":
		case "refund": {
			const { kind, order, decision } = call;
			if (decision.by !== "attesters") return;
			const { set, signatures } = decision;
			const attestation = { ...set, threshold: BigInt(set.threshold), signatures };
			expectAttested({ kind, orders: [order], attestation }, orders);
			return;
		}
		case "close":
			if (call.accounts.length > maxClosedAccounts)
				refuse("malformed", "too many accounts are closed at once");
			if (call.accounts.some(({ does, to }) => does === "closeRecord" && to !== program.vault))
				refuse("not-ours", "the rent of a record does not go to our vault");
	}
}

/** The number of accounts that a lane closes in one transaction, which has room for as many instructions. */
const maxClosedAccounts = 16;

/** Returns the outflows of a call: the payment, and the rent of the record that the vault pays. */
function outflowsOf(call: ProgramCall): Pick<Judgement, "charges" | "payouts" | "decisions"> {
	if (call.kind !== "fill" && call.kind !== "void") return { charges: [], payouts: [] };
	const { order } = call;
	const native = {
		meter: outflowMeter(solanaChainId, solanaNativeToken),
		token: toSolanaWord(solanaNativeToken),
	};
	// A fill within Solana makes no record, because the fill and a refund change the same account.
	const isRecorded = !isWithinSolana(order);
	const item = `record/${orderId(order)}`;
	const charges: Charge[] = isRecorded ? [{ meter: native.meter, item, amount: recordRentLamports }] : [];
	if (call.kind === "void") return { charges, payouts: [] };
	const meter = outflowMeter(solanaChainId, fromSolanaWord(order.outputToken));
	const output = { meter, token: order.outputToken, amount: call.amount };
	return {
		charges,
		payouts: payoutsOfFill(order, { output, native }),
		decisions: isRecorded ? [deliveryOf(order)] : [],
	};
}

/** Returns what a message costs its fee payer: the fees, and the rents of the accounts that it creates. */
function feesOf(
	{ signers, unitLimit, microLamportsPerUnit, call }: SolanaMessage,
	bytes: Uint8Array,
	{ key }: SolanaRules,
): Charge {
	const priority = (BigInt(unitLimit) * microLamportsPerUnit + 999_999n) / 1_000_000n;
	const amount = lamportsPerSignature * BigInt(signers.length) + priority + rentsOf(call);
	// A message that expires unsent costs nothing, but the signer is not notified of that, so every message counts.
	return { meter: feeMeter(key), item: keccak256(bytes), amount };
}

function rentsOf(call: ProgramCall): bigint {
	if (call.kind === "open") {
		const isToken = fromSolanaWord(call.order.inputToken) !== solanaNativeToken;
		return accountRentLamports(programAccountSizes.order) + (isToken ? tokenAccountRentLamports : 0n);
	}
	return "createsAccount" in call && call.createsAccount ? tokenAccountRentLamports : 0n;
}

function describe(call: ProgramCall): Record<string, unknown> {
	if (call.kind === "close") return { accounts: call.accounts.map(({ account }) => account) };
	const { order } = call;
	const orderIds = [orderId(order)];
	switch (call.kind) {
		case "open":
			return { orderIds, wallet: order.wallet, token: order.inputToken, amount: order.inputAmount };
		case "fill":
			return { orderIds, recipient: order.recipient, token: order.outputToken, amount: call.amount };
		case "void":
			return { orderIds };
		default:
			return { orderIds, by: call.decision.by };
	}
}
