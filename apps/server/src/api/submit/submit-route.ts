import {
	type Amount,
	addressOfWord,
	fromSolanaWord,
	greater,
	isSolana,
	type Milliseconds,
	type Order,
	orderId,
	orderSchema,
	parseAddress,
	type SubmitResponse,
	SwapError,
	type SwapUuid,
	toChainId,
	toSwapId,
	usdCents,
} from "@geoswap/protocol";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import { chainOf } from "../../config/chain-config.ts";
import type { SealKeys, SealPurpose } from "../../config/seal-keys.ts";
import type { DatabasePool } from "../../database/database.ts";
import { type DenyList, partiesOf } from "../../deny/deny-list.ts";
import type { Desk, KnownRecipient, Repriced } from "../../desk/desk.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import type { Engine } from "../../durable/engine.ts";
import { roundTarget } from "../../durable/poke-targets.ts";
import { unfinalUpToUsdCents } from "../../swap/decide/deposit-policy.ts";
import {
	attestersWanted,
	type PolicyConfig,
	swapPolicy,
	unopenedLimits,
} from "../../swap/decide/swap-policy.ts";
import type { DemandLog } from "../../swap/facts/demand-log.ts";
import type { NetworkCost, SignedOp, SignedSolanaOp, SwapRecord } from "../../swap/facts/swap-record.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Span } from "../../telemetry/tracer.ts";
import type { Route } from "../http/route.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkContracts } from "../origin/check-origin.ts";
import { expectServed } from "../origin/expect-served.ts";
import { servedSolana } from "../origin/read-origin.ts";
import type { WalletUnopened } from "../origin/wallet-unopened.ts";
import { openTokenWithAge } from "../seal/open-token.ts";
import { createKeyedLimiter } from "../status/keyed-limiter.ts";
import { createAccountLimits } from "./account-limits.ts";
import { adoptSwap } from "./adopt-swap.ts";
import { type BeforeSubmit, isLateOrderOpen, readBeforeSubmit } from "./read-before-submit.ts";
import { expiredError, refusalError } from "./submit-errors.ts";
import { submitSwap } from "./submit-swap.ts";

/** The dependencies of every submit. */
export type SubmitDeps = {
	solana: SolanaChain | undefined;
	pool: DatabasePool;
	sealKeys: SealKeys;
	desk: Pick<
		Desk,
		"reprice" | "volumes" | "isPriceable" | "valueUsdCents" | "gasUsdCents" | "gasWei" | "holdingLimit"
	>;
	/** Requests prices of these chains, and waits a moment if they are old because no request has needed them. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	/** Absent if no address is denied. */
	denyList?: Pick<DenyList, "findDenied"> | undefined;
	engine: Engine;
	pauses: Pick<PauseList, "reasonOf">;
	/** Receives what submitted swaps take and bring. Absent if no plan uses it. */
	demand?: Pick<DemandLog, "served"> | undefined;
	config: PolicyConfig;
	nowMs: () => Milliseconds;
};

/** The parts of a submit that differ by kind of origin. */
export type OriginSubmit<Op extends { quote: SealedQuote }, Given> = {
	path: string;
	doc: RouteDoc;
	purpose: SealPurpose;
	/** Returns the op token, and what the wallet signed, as sent by the caller. */
	parse: (body: unknown) => { geoOpToken: string; signed: Given };
	/** Checks all that needs no chain. Throws if the signature is malformed, or not the wallet's over the op. */
	check: (op: Op, order: Order, signed: Given) => Promise<CheckedOp>;
};

/** An op with a valid signature. */
type CheckedOp = {
	/** The op as stored. Together with the order it is all that is needed to send it. */
	stored: SignedOp | SignedSolanaOp;
	/** The deadline for a first submit. */
	expiresAtMs: Milliseconds;
	/** Reads whether the order was ever opened, by anyone, in a way that the op can continue from. */
	wasOpened: () => Promise<"opened" | "never" | "untold">;
	/** Reads whether an op that was submitted before a restore, and lost by it, may still open the order. */
	mayLand: () => Promise<boolean>;
	/** Reads the origin chain. */
	look: (unopened: readonly WalletUnopened[]) => Promise<OriginLook>;
};

type OriginLook = {
	/** True if the order is already open, regardless of who opened it. */
	isOpened: boolean;
	/** Throws if the op would not open the order now. */
	check: () => Promise<void>;
	/** Throws if the wallet has too little after its other orders take this amount. */
	checkBalance: (claimed: bigint) => void;
};

type FirstSubmit = {
	/**
	 * `existing` may have another order, because anyone who opens one with other terms under the quote's id can have
	 * that rebuilt.
	 */
	outcome: "created" | "existing";
	swap: SwapRecord;
	isOpened: boolean;
};

/** Creates a submit route. Everything common to all kinds of origins is here. */
export function submitRoute<Op extends { quote: SealedQuote }, Given>(
	origin: OriginSubmit<Op, Given>,
	{ solana, pool, sealKeys, desk, wantPrices, denyList, engine, pauses, demand, config, nowMs }: SubmitDeps,
): Route {
	const { limits } = config;
	// Submits of one account wait for each other's lock in the database. They queue here instead, so that a caller with
	// many concurrent submits does not hold all connections while waiting for itself.
	const inTurn = createKeyedLimiter({ atOnce: 8, waitMs: 15_000, upstream: "database" });
	// A caller that repeats a submit before it is answered shares that answer at no further cost.
	const underWay = new Map<string, Promise<SubmitResponse>>();
	const accountLimits = createAccountLimits({ pool, desk, limits, nowMs });
	return {
		method: "POST",
		path: origin.path,
		operation: "submit",
		doc: origin.doc,
		async handle({ body, account: { accountId, limits }, log, span }): Promise<SubmitResponse> {
			const submission = origin.parse(body);
			const same = JSON.stringify([accountId, submission.geoOpToken, submission.signed], (_, value) =>
				typeof value === "bigint" ? String(value) : value,
			);
			const first = underWay.get(same);
			if (first) return first;
			const { maxUsdPerDay } = limits;
			const answering = submit(submission, { accountId, maxUsdPerDay, log, span }).finally(() =>
				underWay.delete(same),
			);
			underWay.set(same, answering);
			return answering;
		},
	};

	async function submit(
		{ geoOpToken, signed }: { geoOpToken: string; signed: Given },
		{
			accountId,
			maxUsdPerDay,
			log,
			span,
		}: { accountId: string; maxUsdPerDay: number | undefined; log: Log; span: Span | undefined },
	): Promise<SubmitResponse> {
		const sealedFor = { purpose: origin.purpose, accountId };
		const { payload: op, isOld } = await openTokenWithAge<Op>(sealKeys, geoOpToken, sealedFor);
		const order = orderSchema.parse(op.quote.order);
		span?.set({
			swapId: toSwapId(op.quote.uuid),
			originChainId: String(order.originChainId),
			destinationChainId: String(order.destinationChainId),
		});
		const checked = await origin.check(op, order, signed);

		const before = await readBeforeSubmit(pool, { order, accountId, nowMs: nowMs() });
		const existing = await ofThisOrder(before.swap);
		if (existing) return answer(existing);
		try {
			const submitted = await submitFirst({
				accountId,
				maxUsdPerDay,
				quote: op.quote,
				checked,
				isOldToken: isOld,
				order,
				before,
				trace: span?.traceparent,
			});
			if (submitted.outcome === "created") {
				start(submitted.swap);
				return answer(submitted.swap);
			}
			const known = await readExisting();
			if (!known) throw idTaken(submitted);
			return answer(known);
		} catch (error) {
			if (!(error instanceof SwapError)) throw error;
			// A concurrent copy of this submit may have created the swap and changed what this one read.
			const twin = await readExisting();
			if (!twin) throw error;
			return answer(twin);
		}

		async function readExisting(): Promise<SwapRecord | undefined> {
			return ofThisOrder(await readSwap(pool, op.quote.uuid));
		}

		async function ofThisOrder(swap: SwapRecord | undefined): Promise<SwapRecord | undefined> {
			// Anyone may open an order with other terms under this id, and have it rebuilt.
			if (swap?.orderId !== orderId(order)) return undefined;
			if (swap.accountId === undefined) await adoptSwap(pool, { id: swap.id, accountId });
			return swap;
		}

		/** Starts the swap without waiting, because the next block finds the queued job, and the tick finds a due swap. */
		function start({ id }: { id: SwapUuid }): void {
			const swapId = toSwapId(id);
			log.info({ swapId }, "swap submitted");
			// The round pokes the lanes about an op that was just submitted.
			engine
				.poke(roundTarget)
				.catch((err: unknown) => log.warn({ swapId, err }, "the round could not be poked"));
		}
	}

	async function submitFirst({
		accountId,
		maxUsdPerDay,
		quote,
		checked: { stored, expiresAtMs, wasOpened, mayLand, look: lookAtOrigin },
		isOldToken,
		order,
		before: { refusals, unopened },
		trace,
	}: {
		accountId: string;
		/** The maximum value of the account's swaps in 24 hours, by the limits of the key of this request. */
		maxUsdPerDay: number | undefined;
		quote: SealedQuote;
		checked: CheckedOp;
		isOldToken: boolean;
		order: Order;
		before: BeforeSubmit;
		trace: string | undefined;
	}): Promise<FirstSubmit> {
		const isKnownOpen = await isLateOrderOpen(pool, {
			accountId,
			uuid: quote.uuid,
			order,
			isExpired: isOldToken || nowMs() > expiresAtMs,
			expiresAtMs,
			mayLand,
			wasOpened,
		});
		await accountLimits.expectWithinBudget(accountId);
		const recipient = readRecipient(solana, order);
		// Not awaited if the order is open.
		recipient.catch(() => {});
		// The quote may be minutes old, and from another process. In this one, no request may have needed these prices
		// since.
		const priced = wantPrices([Number(order.originChainId), Number(order.destinationChainId)]);
		const look = isKnownOpen ? alreadyOpened : await lookAtOrigin(unopened);
		const { isOpened } = look;
		const paused = pausedChain(order);
		// Anyone may have sent the op. In that case the wallet has paid its input, and its remaining balance does not
		// matter.
		if (!isOpened) {
			if (paused) throw paused;
			// If the order is open, only the lane that pays it out consults the deny list, and the swap is refunded.
			await expectServed(denyList, { parties: partiesOf(order), place: "submit" });
			checkContracts(order, (chainId) => evmContracts(config, chainId));
			await look.check();
			checkRecipient(await recipient, order);
		}
		const hasAccount = isOpened ? undefined : (await recipient).hasAccount;
		await priced;

		const { uuid, delivery, output, feeMillibps, skewCentibps, networkCost, nativeRecipient, mandate } =
			quote;
		const promised = { order, delivery, feeMillibps, skewCentibps, networkCost, nativeRecipient, mandate };
		const isDelegated = !("authorization" in stored);
		// The quoted value covers what was promised. The current value covers what is at risk if the price has risen.
		const valueUsdCents = greater(quote.valueUsdCents, desk.valueUsdCents(order) ?? 0n);
		const daily =
			maxUsdPerDay === undefined
				? undefined
				: { maxUsd: maxUsdPerDay, roomUsdCents: usdCents(maxUsdPerDay) - valueUsdCents };
		const isCrossChain = order.originChainId !== order.destinationChainId;
		const policy = swapPolicy(config, order);
		let reservation: Repriced | undefined;
		const submission: Parameters<typeof submitSwap>[1] = {
			swap: {
				id: uuid,
				accountId,
				order,
				output,
				valueUsdCents,
				feeMillibps,
				skewCentibps,
				networkCost: networkCostOf(order, networkCost),
				delivery,
				op: stored,
				trace,
			},
			pairs: desk.volumes({ order, delivery }),
			// A caller who opens an order himself buys nothing from or to a paused chain and gets his input back.
			reserve: (inFlight) => {
				reservation = paused ? undefined : desk.reprice({ ...promised, hasAccount, isDelegated }, inFlight);
				return reservation;
			},
			isOpened,
			expiresAtMs: isKnownOpen ? undefined : expiresAtMs,
			unfinalUpToUsdCents: policy && unfinalUpToUsdCents(policy.origin),
			roomUsdCents: daily?.roomUsdCents,
			admit: (standing) => {
				const risk = policy && isCrossChain ? { policy, valueUsdCents } : undefined;
				accountLimits.check({ accountId, isOpened, refusals, risk, daily }, standing);
				// Other swaps of the wallet may have been submitted since its balance was read.
				if (!isOpened) look.checkBalance(standing.unopened.claimed);
			},
			countedOrders: unopened.map((other) => other.orderId),
			limits: { ...unopenedLimits(config), reservationSeconds: limits.reservationSeconds },
			// An order without a price is refused for that reason.
			holdingLimit: desk.isPriceable(order) ? desk.holdingLimit(order) : undefined,
			attesters: isCrossChain ? attestersWanted(config, order) : undefined,
			nowMs,
		};
		const result = await inTurn(accountId, () => submitSwap(pool, submission));
		if (result.outcome === "created" && reservation) {
			const { originChainId, inputToken, inputAmount } = order;
			const token = addressOfWord(originChainId, inputToken);
			demand?.served({
				taken: reservation,
				brought: { chainId: toChainId(originChainId), token, amount: inputAmount },
			});
		}
		if (result.outcome === "created" || result.outcome === "existing") {
			return { outcome: result.outcome, swap: result.swap, isOpened };
		}
		if (result.outcome === "expired") throw expiredError(expiresAtMs, "never");
		throw refusalError(result.outcome, limits);
	}

	/** Returns the quoted network fee with its token, or undefined if the chain or the fee is unknown. */
	function networkCostOf({ destinationChainId }: Order, amount: Amount | undefined): NetworkCost | undefined {
		const chain = chainOf(config, destinationChainId);
		if (!chain || amount === undefined) return undefined;
		const { settlementToken } = chain.deployment;
		const token = parseAddress(chain.chainId, settlementToken);
		return token && { token, amount };
	}

	/** Returns the error if one of the order's chains is paused. */
	function pausedChain({ originChainId, destinationChainId }: Order): SwapError | undefined {
		for (const chainId of [originChainId, destinationChainId]) {
			const reason = pauses.reasonOf(toChainId(chainId));
			if (reason === undefined) continue;
			return new SwapError(
				"LIQUIDITY_CHANGED",
				{ reason: "paused" },
				{
					message: `Chain ${chainId} is paused: ${reason}. Nothing was executed. Request a quote for another chain, or later.`,
				},
			);
		}
		return undefined;
	}
}

const alreadyOpened: OriginLook = {
	isOpened: true,
	check: async () => {},
	checkBalance: () => {},
};

function evmContracts({ chains }: PolicyConfig, chainId: bigint) {
	const chain = chainOf({ chains }, chainId);
	return chain?.kind === "evm" ? chain.deployment.contracts : undefined;
}

function idTaken({ swap: { id }, isOpened }: FirstSubmit): Error {
	// The input has been taken, so an operator must investigate.
	if (isOpened) return new Error(`swap ${id} has another order, and the submitted order is open`);
	return new SwapError("SIMULATION_FAILED", { reason: "another order has the quote's id" });
}

function answer({ id, status }: SwapRecord): SubmitResponse {
	return { swapId: toSwapId(id), status };
}

/** Throws if the recipient could not be paid, so the swap could only be refunded, or go without its top-up. */
function checkRecipient({ payProblem, topUpProblem }: KnownRecipient, { topUp }: Order): void {
	const reason = payProblem ?? (topUp > 0n ? topUpProblem : undefined);
	if (!reason) return;
	throw new SwapError(
		"SIMULATION_FAILED",
		{ reason },
		{
			message:
				"The recipient cannot be paid on the destination chain, and nothing was sent. See details.reason, and request a quote for another recipient.",
		},
	);
}

/**
 * Reads whether the recipient can be paid the order's output and has an account for it. Only on Solana can this be
 * known beforehand.
 */
async function readRecipient(
	solana: SolanaChain | undefined,
	{ destinationChainId, outputToken, recipient }: Order,
): Promise<KnownRecipient> {
	if (!isSolana(destinationChainId)) return { hasAccount: true, payProblem: undefined };
	return readSolanaWallet(servedSolana(solana, outputToken), {
		wallet: fromSolanaWord(recipient),
		token: addressOfWord(destinationChainId, outputToken),
	});
}
