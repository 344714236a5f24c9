import {
	fromSolanaWord,
	isSolana,
	markerSeed,
	type Order,
	orderId,
	type SolanaAddress,
	type SolanaDeployment,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { createAddressWithSeed } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { type Hex, keccak256 } from "viem";
import { nativeMint } from "../../../chain/solana/marker/marker-instructions.ts";
import { maximumClosedMarkers } from "../../../chain/solana/send/sign-close.ts";
import { expectOurOrder, type OrderRules } from "./expect-our-order.ts";
import type { Charge, Judgement, OrderDecision, Payout } from "./judgement.ts";
import { feeMeter, outflowMeter, refundMeter } from "./meters.ts";
import { readSolanaMessage, type SolanaMessage, type SolanaStep } from "./read-solana-steps.ts";
import { refuse } from "./refusal.ts";

/** The three uses of a key on Solana. */
export type SolanaUse = "fee-payer" | "escrow" | "vault";

/** The rules for a key on Solana. */
export type SolanaRules = {
	key: string;
	use: SolanaUse;
	address: SolanaAddress;
	deployment: SolanaDeployment;
	/** The most compute units that a transaction may ask for, and the most that each may cost. */
	maxUnits: number;
	maxMicroLamportsPerUnit: bigint;
	orders: OrderRules;
};

/** The fee of each signature, in lamports. */
const lamportsPerSignature = 5_000n;

/**
 * Returns what a Solana message does. Refuses all but the transactions that our lanes make, between our own accounts, a
 * swap's wallet and its recipient. Throws a `Refusal`.
 */
export async function judgeSolana(
	{
		message: bytes,
		order,
	}: {
		message: Uint8Array /** The order that a payout or a refund pays, if the caller says so. */;
		order?: Order | undefined;
	},
	rules: SolanaRules,
): Promise<Judgement> {
	const message = await readSolanaMessage(bytes);
	const { feePayer, signers, unitLimit, microLamportsPerUnit } = message;
	const { deployment, use, address } = rules;
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
	const found = await judgeSteps(message, { ...rules, order });
	const strangers = signers.filter((one) => !ownKeys(deployment).includes(one));
	// A wallet signs for its own deposit, and for nothing else.
	if (strangers.some((one) => one !== found.deposit?.wallet))
		refuse("not-ours", "the message needs a stranger's signature");
	return {
		...found,
		charges: use === "fee-payer" ? [feesOf(message, bytes, rules)] : [],
		payouts: found.payouts.filter(({ by }) => by === use).map(({ by: _, ...payout }) => payout),
	};
}

function feesOf(
	{ signers, unitLimit, microLamportsPerUnit, steps }: SolanaMessage,
	bytes: Uint8Array,
	{ key }: SolanaRules,
): Charge {
	const priority = (BigInt(unitLimit) * microLamportsPerUnit + 999_999n) / 1_000_000n;
	const made = steps.filter((step) => step.do === "make-account" || step.do === "make-marker");
	const amount =
		lamportsPerSignature * BigInt(signers.length) + priority + tokenAccountRentLamports * BigInt(made.length);
	// A message that expires unsent costs nothing, but nobody tells the signer: every message counts.
	return { meter: feeMeter(key), item: keccak256(bytes), amount };
}

/** A payout, and the use of the key that pays it. */
type PaidBy = Payout & { by: SolanaUse };
type Found = Pick<
	Judgement,
	"kind" | "marker" | "rivalMarker" | "closedMarkers" | "decisions" | "deposit" | "about"
> & {
	payouts: PaidBy[];
};

type WithOrder = SolanaRules & { order: Order | undefined };

async function judgeSteps(message: SolanaMessage, rules: WithOrder): Promise<Found> {
	const [first, second] = message.steps;
	if (first?.do === "close") return judgeClose(message.steps, rules);
	if (second?.do === "memo") return judgeDeposit(message.steps, rules);
	return judgeDecision(message.steps, rules);
}

async function judgeDeposit(steps: readonly SolanaStep[], { deployment, use }: SolanaRules): Promise<Found> {
	const [transfer, memo, ...more] = steps;
	if (!transfer || memo?.do !== "memo" || more.length > 0)
		return refuse("malformed", "a deposit is a transfer and a memo");
	if (use !== "fee-payer") refuse("wrong-kind", "only a fee payer signs deposits");
	if (!/^0x[0-9a-f]{64}$/.test(memo.text)) refuse("malformed", "the memo is not the id of an order");
	const { from, mint, amount, to } = await expectTransfer(transfer, deployment);
	if (ownKeys(deployment).includes(from)) refuse("not-ours", "a deposit is paid by one of our own keys");
	if (to !== (await accountFor(deployment.escrow, mint)))
		refuse("not-ours", "a deposit does not go to the escrow");
	const orderId = memo.text as Hex;
	return {
		kind: "deposit",
		deposit: { orderId, wallet: from, mint, amount },
		payouts: [],
		about: { orderId, wallet: from, mint, amount },
	};
}

async function judgeClose(
	steps: readonly SolanaStep[],
	{ deployment, use, address }: SolanaRules,
): Promise<Found> {
	if (steps.length > maximumClosedMarkers)
		refuse("malformed", `${steps.length} accounts are too many to close at once`);
	const own = await ownTokenAccounts(deployment);
	const closedMarkers = steps.map((step) => {
		if (step.do !== "close") return refuse("malformed", "markers are closed, and something else is done");
		if (step.owner !== deployment.vault && step.owner !== deployment.escrow)
			refuse("not-ours", "an account of a stranger is closed");
		if (own.has(step.account)) refuse("not-ours", `${step.account} holds our tokens and is not a marker`);
		return step.account;
	});
	if (new Set(closedMarkers).size < closedMarkers.length)
		refuse("malformed", "a marker is closed twice, which no chain does");
	const isOwners = steps.some((step) => step.do === "close" && step.owner === address);
	if (use !== "fee-payer" && !isOwners) refuse("wrong-kind", "none of the markers is this key's");
	return { kind: "close", closedMarkers, payouts: [], about: { markers: closedMarkers } };
}

/** Judges a transaction that decides an order: it makes a marker, after at most two transfers. */
async function judgeDecision(
	steps: readonly SolanaStep[],
	{ deployment, order, orders }: WithOrder,
): Promise<Found> {
	const { vault, escrow } = deployment;
	const marker = steps.at(-1);
	if (marker?.do !== "make-marker")
		return refuse("malformed", "a transaction that pays makes the order's marker last");
	if (!/^[\w-]{32}$/.test(marker.seed)) refuse("malformed", "the marker's seed is not that of an order");
	const [base, owner] = [sideOf(marker.base, deployment), sideOf(marker.owner, deployment)];
	const before = steps.slice(0, -1);
	const account = before[0]?.do === "make-account" ? before[0] : undefined;
	const transfers = await Promise.all(
		(account ? before.slice(1) : before).map((step) => expectTransfer(step, deployment)),
	);
	const [payment, release, ...more] = transfers;
	if (more.length > 0) refuse("malformed", "the transaction pays too often");
	// An order has one marker for its input. With a second one, its deposit could leave the escrow twice.
	const rivalMarker = await createAddressWithSeed({
		baseAddress: base === "vault" ? escrow : vault,
		programAddress: TOKEN_PROGRAM_ADDRESS,
		seed: marker.seed,
	});
	const decided = (kind: DecisionKind, payouts: PaidBy[] = []): Found => ({
		kind,
		marker: marker.marker,
		rivalMarker,
		decisions: [decisionOf(kind, marker)],
		payouts,
		about: {
			marker: marker.marker,
			...(payment && { mint: payment.mint, amount: payment.amount, destination: payment.to }),
		},
	});
	if (!payment) {
		if (account) refuse("malformed", "a token account is made for nobody");
		if (base === "vault" && owner === "escrow") return decided("void");
		return refuse("malformed", "a marker without a payment says that an order is paid");
	}
	if (
		account &&
		(payment.mint === solanaNativeToken || account.mint !== payment.mint || account.account !== payment.to)
	)
		refuse("malformed", "a token account is made for someone who is not paid");
	const toVault = await accountFor(vault, payment.mint);
	if (payment.from === escrow && payment.to === toVault) {
		if (release || account || base !== "escrow" || owner !== "vault")
			refuse("malformed", "a release does something else too");
		return decided("release");
	}
	await expectStranger(payment.to, deployment);
	const paid = {
		item: marker.marker,
		amount: payment.amount,
		token: toSolanaWord(payment.mint),
	};
	if (payment.from === escrow) {
		if (release || owner !== "escrow") refuse("malformed", "a refund does something else too");
		const refund = { seed: marker.seed, destination: payment.to, mint: payment.mint, base };
		const about = { ...paid, meter: refundMeter(payment.mint), refund, ...(order && { order }) };
		return decided("refund", [{ ...about, by: "escrow" }]);
	}
	if (payment.from !== vault) return refuse("not-ours", "the payer is neither the vault nor the escrow");
	if (base !== "vault" || owner !== "vault") refuse("malformed", "a payout makes another marker");
	// The input of an order within Solana comes to the vault in the same transaction.
	if (release && (release.from !== escrow || release.to !== (await accountFor(vault, release.mint))))
		refuse("malformed", "a payout's second transfer is not to the vault");
	if (order) await expectPaid(order, { seed: marker.seed, payment, deployment, orders });
	const about = { ...paid, meter: outflowMeter(solanaChainId, payment.mint), ...(order && { order }) };
	return decided("payout", [{ ...about, by: "vault" }]);
}

type DecisionKind = "payout" | "release" | "refund" | "void";

/** Returns what a transaction that makes a marker decides. A void lets attesters sign the refund. */
function decisionOf(
	kind: DecisionKind,
	{ marker, seed }: { marker: SolanaAddress; seed: string },
): OrderDecision {
	const about = { seed, isLasting: true };
	if (kind === "payout") return { end: "delivery", place: { marker }, ...about };
	return { end: kind === "release" ? "release" : "return", marker, ...about };
}

/** Refuses a payout that is not what the given order says. The marker's seed shows which order it is for. */
async function expectPaid(
	order: Order,
	{
		seed,
		payment,
		deployment,
		orders,
	}: { seed: string; payment: Transfer; deployment: SolanaDeployment; orders: OrderRules },
): Promise<void> {
	expectOurOrder(order, orders);
	const isOurs =
		isSolana(order.destinationChainId) && order.destinationVault === toSolanaWord(deployment.vault);
	if (!isOurs || markerSeed(orderId(order)) !== seed)
		refuse("not-the-deposit", "the payout is for another order");
	const mint = fromSolanaWord(order.outputToken);
	const account = await accountFor(fromSolanaWord(order.recipient), mint);
	if (mint !== payment.mint || account !== payment.to || payment.amount < order.minOutput)
		refuse("not-the-deposit", "the payout is not what its order says");
}

type Transfer = {
	from: SolanaAddress;
	/** The token account, or for lamports the address, that is paid. */
	to: SolanaAddress;
	mint: SolanaAddress;
	amount: bigint;
};

async function expectTransfer(step: SolanaStep, { assets }: SolanaDeployment): Promise<Transfer> {
	if (step.do !== "pay-lamports" && step.do !== "pay-tokens")
		return refuse("malformed", "the steps are in no order of ours");
	if (step.amount === 0n) refuse("malformed", "a transfer pays nothing");
	if (step.do === "pay-lamports") return { ...step, mint: solanaNativeToken };
	const asset = assets.find(({ address }) => address === step.mint);
	if (!asset || asset.decimals !== step.decimals) refuse("not-ours", `${step.mint} is not an asset of ours`);
	return step;
}

function sideOf(address: SolanaAddress, { vault, escrow }: SolanaDeployment): "vault" | "escrow" {
	if (address === vault) return "vault";
	return address === escrow ? "escrow" : refuse("not-ours", `a marker is ${address}'s`);
}

/** Returns where an owner receives a token: its token account, or for lamports its own address. */
async function accountFor(owner: SolanaAddress, mint: SolanaAddress): Promise<SolanaAddress> {
	return mint === solanaNativeToken ? owner : tokenAccountOf({ owner, token: mint });
}

function ownKeys({ feePayers, escrow, vault }: SolanaDeployment): SolanaAddress[] {
	return [...feePayers, escrow, vault];
}

async function ownTokenAccounts(deployment: SolanaDeployment): Promise<Set<SolanaAddress>> {
	const mints = [...deployment.assets.map(({ address }) => address), nativeMint];
	const accounts = ownKeys(deployment).flatMap((owner) =>
		mints.filter((mint) => mint !== solanaNativeToken).map((token) => tokenAccountOf({ owner, token })),
	);
	return new Set(await Promise.all(accounts));
}

async function expectStranger(destination: SolanaAddress, deployment: SolanaDeployment): Promise<void> {
	const own = await ownTokenAccounts(deployment);
	if (own.has(destination) || ownKeys(deployment).includes(destination))
		refuse("not-ours", "a payment goes to one of our own accounts, as no swap's does");
}
