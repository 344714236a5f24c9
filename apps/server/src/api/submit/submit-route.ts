import {
	type Amount,
	greater,
	isSolana,
	type Milliseconds,
	type Order,
	orderId,
	orderSchema,
	parseAddress,
	type Seconds,
	type SubmitResponse,
	SwapError,
	type SwapUuid,
	swapUuidTimeMs,
	toChainId,
	toSwapId,
	type UsdCents,
	usdCents,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { chainOf } from "../../config/chain-config.ts";
import type { SealKeys, SealPurpose } from "../../config/seal-keys.ts";
import type { DatabasePool } from "../../database/database.ts";
import { ensurePartitions } from "../../database/ensure-partitions.ts";
import { wasRestoredSince } from "../../database/restores.ts";
import type { Desk } from "../../desk/desk.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import type { Engine } from "../../durable/engine.ts";
import { roundTarget } from "../../durable/poke-targets.ts";
import { readUnsettledGas } from "../../money/unsettled-gas.ts";
import { unfinalUpToUsdCents } from "../../swap/decide/deposit-policy.ts";
import {
	attestersWanted,
	exposureCaps,
	type PolicyConfig,
	type SwapPolicy,
	swapPolicy,
	unopenedLimits,
} from "../../swap/decide/swap-policy.ts";
import type { NetworkCost, SignedOp, SignedSolanaOp, SwapRecord } from "../../swap/facts/swap-record.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import type { AccountRefusals } from "../../swap/record/record-refusal.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Span } from "../../telemetry/tracer.ts";
import type { Route } from "../http/route.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkContracts } from "../origin/check-contracts.ts";
import type { WalletUnopened } from "../origin/wallet-unopened.ts";
import { openTokenWithAge } from "../seal/open-token.ts";
import { createKeyedLimiter } from "../status/keyed-limiter.ts";
import { adoptSwap } from "./adopt-swap.ts";
import { checkRecipient } from "./check-recipient.ts";
import { type BeforeSubmit, readBeforeSubmit } from "./read-before-submit.ts";
import { readRecipient } from "./read-recipient.ts";
import { type Standing, type SubmitOutcome, submitSwap, waitForSubmits } from "./submit-swap.ts";

/** The dependencies of every submit. */
export type SubmitDeps = {
	solana: SolanaChain | undefined;
	pool: DatabasePool;
	sealKeys: SealKeys;
	desk: Pick<
		Desk,
		"reprice" | "volumes" | "isPriceable" | "valueUsdCents" | "gasUsdCents" | "gasWei" | "holdingLimit"
	>;
	/** Says that prices of these chains are wanted, and waits a moment if they are old because nobody wanted them. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	engine: Engine;
	pauses: Pick<PauseList, "reasonOf">;
	config: PolicyConfig;
	nowMs: () => Milliseconds;
};

/** The parts of a submit that differ by kind of origin. Each step runs once those before it have passed. */
export type OriginSubmit<
	Op extends { quote: SealedQuote },
	Given = string,
	Signed extends { signature: Hex } = { signature: Hex },
> = {
	path: string;
	doc: RouteDoc;
	purpose: SealPurpose;
	/** Returns the op token, and what the wallet signed, as the caller wrote it. */
	parse: (body: unknown) => { geoOpToken: string; signed: Given };
	/**
	 * Returns the wallet's signature, and what else was made to check it. Throws if it is malformed, or not the wallet's
	 * over the op.
	 */
	checkSignature: (op: Op, order: Order, signed: Given) => Promise<Signed>;
	/** Returns the deadline for a first submit. */
	expiresAtMs: (op: Op) => number;
	/** Tells whether the order was ever opened, by anyone, in a way that the op can continue from. */
	wasOpened: (op: Op, order: Order, signed: Signed) => Promise<"opened" | "never" | "untold">;
	/** Returns true if an op that was submitted before a restore, and lost by it, may still open the order. */
	mayLand: (op: Op, order: Order) => Promise<boolean>;
	/** Reads the origin chain. */
	look: (op: Op, order: Order, signed: Signed, unopened: readonly WalletUnopened[]) => Promise<OriginLook>;
	/** Returns the op as stored: together with the order, all that is needed to send it. */
	signedOp: (op: Op, signed: Signed) => SignedOp | SignedSolanaOp;
};

type OriginLook = {
	/** True if the order is already open, whoever opened it. */
	isOpened: boolean;
	/** Throws if the op would not open the order now. */
	check: () => Promise<void>;
	/** Throws if the wallet has too little once its other orders have claimed this much. */
	checkBalance: (claimed: bigint) => void;
};

type FirstSubmit = {
	/**
	 * `existing` may be of another order: anyone who opens one with other terms under the quote's id can have it rebuilt.
	 */
	outcome: "created" | "existing";
	swap: SwapRecord;
	isOpened: boolean;
};

/** Creates a submit route. Everything common to all kinds of origins is here. */
export function submitRoute<Op extends { quote: SealedQuote }, Given, Signed extends { signature: Hex }>(
	origin: OriginSubmit<Op, Given, Signed>,
	{ solana, pool, sealKeys, desk, wantPrices, engine, pauses, config, nowMs }: SubmitDeps,
): Route {
	const { limits } = config;
	// Submits of one account wait for each other's lock in the database. They queue here instead, so that a caller who
	// sends many at once does not hold all connections while waiting for itself.
	const inTurn = createKeyedLimiter({ atOnce: 8, waitMs: 15_000, upstream: "database" });
	// A caller that repeats a submit before it has an answer shares that answer at no further cost.
	const underWay = new Map<string, Promise<SubmitResponse>>();
	/** Accounts whose last submit was refused because of the gas budget. */
	const overBudget = new Set<string>();
	return {
		method: "POST",
		path: origin.path,
		operation: "submit",
		doc: origin.doc,
		async handle({ body, account: { accountId }, log, span }): Promise<SubmitResponse> {
			const submission = origin.parse(body);
			const same = JSON.stringify([accountId, submission.geoOpToken, submission.signed], (_, value) =>
				typeof value === "bigint" ? String(value) : value,
			);
			const first = underWay.get(same);
			if (first) return first;
			const answering = submit(submission, { accountId, log, span }).finally(() => underWay.delete(same));
			underWay.set(same, answering);
			return answering;
		},
	};

	async function submit(
		{ geoOpToken, signed }: { geoOpToken: string; signed: Given },
		{ accountId, log, span }: { accountId: string; log: Log; span: Span | undefined },
	): Promise<SubmitResponse> {
		const sealedFor = { purpose: origin.purpose, accountId };
		const { payload: op, isOld } = await openTokenWithAge<Op>(sealKeys, geoOpToken, sealedFor);
		const order = orderSchema.parse(op.quote.order);
		span?.set({
			swapId: toSwapId(op.quote.uuid),
			originChainId: String(order.originChainId),
			destinationChainId: String(order.destinationChainId),
		});
		const checked = await origin.checkSignature(op, order, signed);

		const before = await readBeforeSubmit(pool, { order, accountId, nowMs: nowMs() });
		const existing = await ofThisOrder(before.swap);
		if (existing) return answer(existing);
		try {
			const submitted = await submitFirst({
				accountId,
				op,
				isOldToken: isOld,
				order,
				signed: checked,
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
			// The same submit, sent twice at once, may have created the swap and changed what this one read.
			const twin = await readExisting();
			if (!twin) throw error;
			return answer(twin);
		}

		async function readExisting(): Promise<SwapRecord | undefined> {
			return ofThisOrder(await readSwap(pool, op.quote.uuid));
		}

		async function ofThisOrder(swap: SwapRecord | undefined): Promise<SwapRecord | undefined> {
			// Anyone may open an order with other terms under this id, and have that rebuilt.
			if (swap?.orderId !== orderId(order)) return undefined;
			if (swap.accountId === undefined) await adoptSwap(pool, { id: swap.id, accountId });
			return swap;
		}

		/** Starts the swap without waiting: the next block finds the queued job, and the tick finds a due swap. */
		function start({ id }: { id: SwapUuid }): void {
			const swapId = toSwapId(id);
			log.info({ swapId }, "swap submitted");
			// The round tells the lanes about an op that was just submitted.
			engine
				.poke(roundTarget)
				.catch((err: unknown) => log.warn({ swapId, err }, "the round could not be poked"));
		}
	}

	async function submitFirst({
		accountId,
		op,
		isOldToken,
		order,
		signed,
		before: { refusals, unopened },
		trace,
	}: {
		accountId: string;
		op: Op;
		isOldToken: boolean;
		order: Order;
		signed: Signed;
		before: BeforeSubmit;
		trace: string | undefined;
	}): Promise<FirstSubmit> {
		const expiresAtMs = origin.expiresAtMs(op);
		const isExpired = isOldToken || nowMs() > expiresAtMs;
		const quotedAtMs = swapUuidTimeMs(op.quote.uuid);
		// On an EVM chain the same op opens the same order, and only once: only there may it be sent as if it were new.
		const isForgettable = isExpired || isSolana(order.originChainId);
		const mayBeForgotten = isForgettable && (await wasRestoredSince(pool, quotedAtMs));
		const isOld = isExpired || mayBeForgotten;
		// An open order was submitted before, to a database that has been restored since: no caller may be told that
		// nothing was executed, by this op or by another of the same quote.
		if (isOld) {
			// `mayLand` is asked first, so that `wasOpened` finds a transaction that lands in between.
			const isUndecided = mayBeForgotten && (await origin.mayLand(op, order));
			const found = await origin.wasOpened(op, order, signed);
			if (found === "never" && isUndecided) throw notToldYet(order);
			if (found !== "opened") {
				// A copy of this submit that came in time may be about to create the swap in another process.
				await waitForSubmits(pool, accountId);
				throw expired(expiresAtMs, found);
			}
			// The swap's day may be older than any partition of a database that was just restored.
			await ensurePartitions(pool, { nowMs: quotedAtMs, daysAhead: 0 });
		}
		// Checked again under the account's lock. This check saves the chain calls that an account over its budget causes.
		if (overBudget.has(accountId)) {
			checkGasBudget(accountId, await readUnsettledGas(pool, { accountId, nowMs: nowMs() }));
		}
		const recipient = readRecipient(solana, order);
		// Nobody awaits it if the order is open.
		recipient.catch(() => {});
		// The quote may be minutes old, and of another process: here, nobody may have wanted these prices since.
		const priced = wantPrices([Number(order.originChainId), Number(order.destinationChainId)]);
		const look = isOld ? alreadyOpened : await origin.look(op, order, signed, unopened);
		const { isOpened } = look;
		const paused = pausedChain(order);
		// Anyone may have sent the op: then the wallet has paid its input, and its remaining balance does not matter.
		if (!isOpened) {
			if (paused) throw paused;
			checkContracts(order, (chainId) => evmContracts(config, chainId));
			await look.check();
			checkRecipient(await recipient);
		}
		const hasAccount = isOpened ? undefined : (await recipient).hasAccount;
		await priced;

		const { uuid, delivery, output, feeMillibps, networkCost, nativeRecipient, mandate } = op.quote;
		const promised = { order, delivery, feeMillibps, networkCost, nativeRecipient, mandate };
		const stored = origin.signedOp(op, signed);
		const isDelegated = !("authorization" in stored);
		// The quoted value covers what was promised, and the current value what is at stake if the price has risen.
		const valueUsdCents = greater(op.quote.valueUsdCents, desk.valueUsdCents(order) ?? 0n);
		const isCrossChain = order.originChainId !== order.destinationChainId;
		const policy = swapPolicy(config, order);
		const submission: Parameters<typeof submitSwap>[1] = {
			swap: {
				id: uuid,
				accountId,
				order,
				output,
				valueUsdCents,
				feeMillibps,
				networkCost: networkCostOf(order, networkCost),
				delivery,
				op: stored,
				trace,
			},
			pairs: desk.volumes({ order, delivery }),
			// A caller who opens an order himself buys nothing from or to a paused chain: he gets his input back.
			reserve: (inFlight) =>
				paused ? undefined : desk.reprice({ ...promised, hasAccount, isDelegated }, inFlight),
			isOpened,
			isInTime: () => isOld || nowMs() <= expiresAtMs,
			unfinalUpToUsdCents: policy && unfinalUpToUsdCents(policy.origin),
			admit: ({ gas, atRisk, unopened }) => {
				checkGasBudget(accountId, gas);
				checkRefusals(refusals, { isOpened });
				if (isOpened) return;
				checkUnopened(unopened);
				if (policy && isCrossChain) checkShareOfCaps(atRisk, { policy, valueUsdCents });
				// Other swaps of the wallet may have been submitted since its balance was read.
				look.checkBalance(unopened.claimed);
			},
			countedOrders: unopened.map((other) => other.orderId),
			limits: { ...unopenedLimits(config), reservationSeconds: limits.reservationSeconds },
			// An order without a price is refused for that reason.
			holdingLimit: desk.isPriceable(order) ? desk.holdingLimit(order) : undefined,
			attesters: isCrossChain ? attestersWanted(config, order) : undefined,
			nowMs: nowMs(),
		};
		const result = await inTurn(accountId, () => submitSwap(pool, submission));
		if (result.outcome === "created" || result.outcome === "existing") {
			return { outcome: result.outcome, swap: result.swap, isOpened };
		}
		if (result.outcome === "expired") throw expired(expiresAtMs, "never");
		throw refusal(result.outcome, limits);
	}

	/** Returns the quote's charge for transactions with its token; undefined if one of them is not known. */
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

	/** Throws if the account's unsettled swaps have used up the day's budget, or may yet do so. */
	function checkGasBudget(accountId: string, { ended, undecided }: Standing["gas"]): void {
		const costOf = (spent: { chainId: number; wei: Wei }[]) =>
			spent.reduce((sum, gas) => sum + desk.gasUsdCents(gas), 0n);
		const inFlight = undecided.inFlight.map(({ chainId, gas }) => ({
			chainId,
			wei: desk.gasWei({ chainId, gas }),
		}));
		const budget = usdCents(limits.unsettledGasUsdPerDay);
		const endedUsdCents = costOf(ended.spent);
		overBudget.delete(accountId);
		if (endedUsdCents + costOf(undecided.spent) + costOf(inFlight) < budget) return;
		overBudget.add(accountId);
		const { retryAfterSeconds } = endedUsdCents < budget ? undecided : ended;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "gas_budget", retryAfterSeconds },
			{
				message:
					"Swaps of this account that did not settle have used up its daily gas budget, or may use it up. Send the request again later. An order that is already open and is not submitted in time is refunded after its deadline.",
			},
		);
	}

	function checkUnopened({ ofWallet, ofAccount }: Standing["unopened"]): void {
		const { perWallet, perAccount } = limits.unopenedSwaps;
		const whose = ofWallet >= perWallet ? "wallet" : ofAccount >= perAccount ? "account" : undefined;
		if (!whose) return;
		const most = whose === "wallet" ? perWallet : perAccount;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "unopened_swaps", retryAfterSeconds: openedSeconds },
			{
				message: `This ${whose} has ${most} swaps whose orders are not open yet, which is the maximum. Send the request again once one of them is open.`,
			},
		);
	}

	/** Throws if the swap would wait for other swaps of its account, although the chain's caps may have room. */
	function checkShareOfCaps(
		{ unreleasedUsdCents, unfinalUsdCents }: Standing["atRisk"],
		{ policy, valueUsdCents }: { policy: SwapPolicy; valueUsdCents: UsdCents },
	): void {
		if (limits.accountShareOfCaps === 1) return;
		const { ofAccount } = exposureCaps(policy);
		const { origin, destination } = policy;
		// The same exceptions as when the value is put at risk: an only swap, and a deposit that must become final.
		const isUnreleasedFull =
			unreleasedUsdCents > 0n && unreleasedUsdCents + valueUsdCents > ofAccount.unreleasedUsdCents;
		const isUnfinalFull =
			valueUsdCents <= unfinalUpToUsdCents(origin) &&
			valueUsdCents <= ofAccount.unfinalUsdCents &&
			unfinalUsdCents + valueUsdCents > ofAccount.unfinalUsdCents;
		if (!isUnreleasedFull && !isUnfinalFull) return;
		const until = isUnreleasedFull
			? "the inputs of some of them are released, after their deliveries are final"
			: "the deposits of some of them are final";
		throw new SwapError(
			"RATE_LIMITED",
			{
				reason: "cap_share",
				retryAfterSeconds: Math.max(1, (isUnreleasedFull ? destination : origin).finalitySeconds),
			},
			{
				message: `Swaps of this account use up its share of the value that may be in flight from this chain. Nothing was executed. Send the request again once ${until}.`,
			},
		);
	}

	function checkRefusals(
		{ count, retryAfterSeconds }: AccountRefusals,
		{ isOpened }: { isOpened: boolean },
	): void {
		if (count < limits.refusedRecipientsPerDay) return;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "recipients_refused", retryAfterSeconds },
			{ message: isOpened ? openedAfterRefusals : tooManyRefusals },
		);
	}
}

/** The approximate time until an order is open. */
const openedSeconds = 15;

const tooManyRefusals =
	"Too many swaps of this account were refunded in the last day because their recipients could not be paid. Send the request again later, for a recipient that accepts the output token.";
const openedAfterRefusals =
	"The order is open on its chain, but too many swaps of this account were refunded in the last day because their recipients could not be paid. Send the request again later. An order that is not submitted in time is refunded after its deadline.";

function expired(expiresAtMs: Milliseconds, found: "never" | "untold"): SwapError {
	const details = { expiredAt: new Date(expiresAtMs).toISOString() };
	if (found === "never") return new SwapError("OP_EXPIRED", details);
	return new SwapError("OP_EXPIRED", details, {
		next: "contact_operator",
		message:
			"The operation has expired, and the chain can no longer tell whether it was executed. Give the operator the wallet and the requestId.",
	});
}

function notToldYet({ originChainId }: Order): SwapError {
	return new SwapError(
		"UPSTREAM_UNAVAILABLE",
		{ upstream: `chain ${originChainId}` },
		{
			message:
				"The service was restored from a backup, and it is not known yet whether the transaction was executed before. Send the same request again in a moment; sign nothing else for this swap until then.",
		},
	);
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
	// The input has been taken, so a person has to look into it.
	if (isOpened) return new Error(`swap ${id} has another order, and the submitted order is open`);
	return new SwapError("SIMULATION_FAILED", { reason: "another order has the quote's id" });
}

function answer({ id, status }: SwapRecord): SubmitResponse {
	return { swapId: toSwapId(id), status };
}

/** Returns the caller's error for a submit that wrote nothing. */
function refusal(
	outcome: Exclude<SubmitOutcome["outcome"], "created" | "existing" | "expired">,
	{ reservationSeconds }: { reservationSeconds: Seconds },
): SwapError {
	switch (outcome) {
		case "price":
		case "inventory":
			return new SwapError("LIQUIDITY_CHANGED", { reason: outcome });
		case "share":
			return new SwapError(
				"LIQUIDITY_CHANGED",
				{ reason: "inventory" },
				{
					// A quote does not know the inventory: it would offer the same amount again.
					next: "fix_request",
					message:
						"The swap needs a larger share of the vault's inventory than one swap may take. Nothing was executed, and the same amount would be refused again. Request a quote for a smaller amount, or ask the operator for more inventory.",
				},
			);
		case "attesters":
			return new SwapError(
				"UPSTREAM_UNAVAILABLE",
				{ upstream: "attesters" },
				{
					message:
						"Too few attesters of this swap answer now, and nothing was executed. Send the same request again in a moment.",
				},
			);
		case "unopened":
			return new SwapError(
				"RATE_LIMITED",
				{ reason: "reserved_value", retryAfterSeconds: reservationSeconds },
				{
					message:
						"Too much is reserved for swaps of this account that are not open yet. Send the request again later.",
				},
			);
	}
}
