import {
	isSolana,
	type Order,
	orderId,
	orderSchema,
	type SubmitResponse,
	SwapError,
	type SwapUuid,
	swapUuidTimeMs,
	toChainId,
	toSwapId,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import type { Engine } from "../durable/durable.ts";
import type { Route } from "../http/route.ts";
import type { Log } from "../log.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { openToken } from "../seal/open-token.ts";
import type { SealKeys, SealPurpose } from "../seal/seal-keys.ts";
import { adoptSwap } from "../store/adopt-swap.ts";
import type { DatabasePool } from "../store/database.ts";
import { ensurePartitions } from "../store/ensure-partitions.ts";
import type { PauseList } from "../store/pause-list.ts";
import { readSwap } from "../store/read-swap.ts";
import { startAnew } from "../store/restart-swaps.ts";
import { wasRestoredSince } from "../store/restores.ts";
import { type SubmitOutcome, submitSwap, waitForSubmits } from "../store/submit-swap.ts";
import type { SignedOp, SignedSolanaOp, SwapRecord } from "../store/swap-record.ts";
import { readUnsettledGas, type UnsettledGas } from "../store/unsettled-gas.ts";
import { attestersWanted, type PolicyConfig } from "../swap/swap-policy.ts";
import type { Span } from "../telemetry/tracer.ts";
import type { SealedQuote } from "../venue/sealed-quote.ts";
import type { Desk } from "../venue/venue.ts";
import { checkRecipient } from "./check-recipient.ts";
import { readRecipient } from "./read-recipient.ts";

/** What every submit needs. */
export type SubmitDeps = {
	solana: SolanaChain | undefined;
	pool: DatabasePool;
	sealKeys: SealKeys;
	desk: Pick<Desk, "reprice" | "volumes" | "isPriceable" | "gasUsdCents" | "exposureLimit">;
	engine: Pick<Engine, "startSwap">;
	pauses: Pick<PauseList, "reasonOf">;
	config: PolicyConfig;
	nowMs: () => number;
};

/** How the submit of one kind of origin differs from the others. Each step comes once those before it have passed. */
export type OriginSubmit<Op extends { quote: SealedQuote }> = {
	path: string;
	doc: RouteDoc;
	purpose: SealPurpose;
	/** The op's token, and what the wallet signed as the caller spells it. */
	parse: (body: unknown) => { geoOpToken: string; signed: string };
	/** The wallet's signature. Throws where it is malformed, or not the wallet's over the op. */
	checkSignature: (op: Op, order: Order, signed: string) => Promise<Hex>;
	/** The last moment for a first submit. */
	expiresAtMs: (op: Op) => number;
	/** Whether the order was ever opened, by whomever, in a way that the op can go on from. */
	wasOpened: (op: Op, order: Order, signature: Hex) => Promise<"opened" | "never" | "untold">;
	/** Whether what was submitted before a restore, and forgotten by it, may still open the order. */
	mayLand: (op: Op, order: Order) => Promise<boolean>;
	/** Reads the origin chain. */
	look: (op: Op, order: Order, signature: Hex) => Promise<OriginLook>;
	/** As it is stored: with the order, all that is needed to send it. */
	signedOp: (op: Op, signature: Hex) => SignedOp | SignedSolanaOp;
};

type OriginLook = {
	/** Whether the order is open already, by whomever. */
	isOpened: boolean;
	/** Throws where the op would not open the order now. */
	check: () => Promise<void>;
};

type FirstSubmit = {
	/** `existing` may be of another order: whoever opens one of other terms under the quote's id can have it rebuilt. */
	outcome: "created" | "existing";
	swap: SwapRecord;
	execution: number;
	isOpened: boolean;
};

/** A submit call. What is the same for every kind of origin is here. */
export function submitRoute<Op extends { quote: SealedQuote }>(
	origin: OriginSubmit<Op>,
	{ solana, pool, sealKeys, desk, engine, pauses, config, nowMs }: SubmitDeps,
): Route {
	const { limits } = config;
	// A caller that sends the same again before it has an answer shares that answer, and costs nothing more.
	const underWay = new Map<string, Promise<SubmitResponse>>();
	return {
		method: "POST",
		path: origin.path,
		operation: "submit",
		doc: origin.doc,
		async handle({ body, account: { accountId }, log, span }): Promise<SubmitResponse> {
			const submission = origin.parse(body);
			const same = JSON.stringify([accountId, submission.geoOpToken, submission.signed]);
			const first = underWay.get(same);
			if (first) return first;
			const answering = submit(submission, { accountId, log, span }).finally(() => underWay.delete(same));
			underWay.set(same, answering);
			return answering;
		},
	};

	async function submit(
		{ geoOpToken, signed }: { geoOpToken: string; signed: string },
		{ accountId, log, span }: { accountId: string; log: Log; span: Span | undefined },
	): Promise<SubmitResponse> {
		const op = await openToken<Op>(sealKeys, geoOpToken, { purpose: origin.purpose, accountId });
		const order = orderSchema.parse(op.quote.order);
		span?.set({
			swapId: toSwapId(op.quote.uuid),
			originChainId: String(order.originChainId),
			destinationChainId: String(order.destinationChainId),
		});
		const signature = await origin.checkSignature(op, order, signed);

		const existing = await readExisting();
		if (existing) return answer(existing);
		try {
			const submitted = await submitFirst({ accountId, op, order, signature, trace: span?.traceparent });
			if (submitted.outcome === "created") {
				start(submitted.swap, submitted.execution);
				return answer(submitted.swap);
			}
			const known = await readExisting();
			if (!known) throw idTaken(submitted);
			return answer(known);
		} catch (error) {
			if (!(error instanceof SwapError)) throw error;
			// The same submit, sent twice at once, may have made the swap and changed what this one read.
			const twin = await readExisting();
			if (!twin) throw error;
			return answer(twin);
		}

		async function readExisting(): Promise<SwapRecord | undefined> {
			const swap = await readSwap(pool, op.quote.uuid);
			// Anyone may open an order of other terms under this id, and have that rebuilt.
			if (swap?.orderId !== orderId(order)) return undefined;
			if (swap.accountId === undefined) await adoptSwap(pool, { id: swap.id, accountId });
			return swap;
		}

		/** Nobody waits for it: a swap that is not started now is found and started later. */
		function start({ id }: { id: SwapUuid }, execution: number): void {
			const swapId = toSwapId(id);
			log.info({ swapId }, "swap submitted");
			engine
				.startSwap(id, execution)
				.catch((err: unknown) => log.warn({ swapId, err }, "swap not started yet"));
		}
	}

	async function submitFirst({
		accountId,
		op,
		order,
		signature,
		trace,
	}: {
		accountId: string;
		op: Op;
		order: Order;
		signature: Hex;
		trace: string | undefined;
	}): Promise<FirstSubmit> {
		const expiresAtMs = origin.expiresAtMs(op);
		const isExpired = nowMs() > expiresAtMs;
		const quotedAtMs = swapUuidTimeMs(op.quote.uuid);
		// On an EVM chain the same op opens the same order, once: only there may it be sent as if it were new.
		const isForgettable = isExpired || isSolana(order.originChainId);
		const mayBeForgotten = isForgettable && (await wasRestoredSince(pool, quotedAtMs));
		const isOld = isExpired || mayBeForgotten;
		// What is open had been submitted before, to a database that was restored since: nobody may be told that nothing was
		// executed, nor by something else of the same quote.
		if (isOld) {
			// Asked first: what has landed by then is found.
			const isUndecided = mayBeForgotten && (await origin.mayLand(op, order));
			const found = isForgottenOnSolana(op, order) ? "untold" : await origin.wasOpened(op, order, signature);
			if (found === "never" && isUndecided) throw notToldYet(order);
			if (found !== "opened") {
				// A copy that came in time may be about to make the swap, in another process.
				await waitForSubmits(pool, accountId);
				throw expired(expiresAtMs, found);
			}
			// Its day may be older than any of a database that was just restored.
			await ensurePartitions(pool, { nowMs: quotedAtMs, daysAhead: 0 });
		}
		const recipient = readRecipient(solana, order);
		// Nobody asks for it where the order is open.
		recipient.catch(() => {});
		const [{ isOpened, check }, gas] = await Promise.all([
			isOld ? alreadyOpened : origin.look(op, order, signature),
			readUnsettledGas(pool, { accountId, nowMs: nowMs() }),
		]);
		const paused = pausedChain(order);
		// Anyone may have sent the op: then the wallet has given its input, and what it is left with does not matter.
		if (!isOpened) {
			if (paused) throw paused;
			checkGasBudget(gas);
			await check();
			checkRecipient(await recipient);
		}

		const { uuid, delivery, output, feeCentibps, valueUsdCents } = op.quote;
		const isAttested = order.originChainId !== order.destinationChainId && !isSolana(order.originChainId);
		const result = await submitSwap(pool, {
			swap: {
				id: uuid,
				accountId,
				order,
				output,
				valueUsdCents,
				feeCentibps,
				delivery,
				op: origin.signedOp(op, signature),
				trace,
			},
			pairs: desk.volumes({ order, delivery }),
			// Whoever opens an order himself buys nothing from or to a chain that sells nothing: he has his input back.
			reserve: (inFlight) => (paused ? undefined : desk.reprice({ order, delivery, feeCentibps }, inFlight)),
			isOpened,
			isInTime: () => isOld || nowMs() <= expiresAtMs,
			limits: {
				unopenedUsdCents: BigInt(Math.floor(limits.unopenedUsdPerAccount * 100)),
				reservationSeconds: limits.reservationSeconds,
			},
			// Without a price it is refused for that.
			exposure: desk.isPriceable(order) ? desk.exposureLimit(order) : undefined,
			attesters: isAttested ? attestersWanted(config, order) : undefined,
			nowMs: nowMs(),
		});
		if (result.outcome === "created" || result.outcome === "existing") {
			const { outcome, swap } = result;
			const isForgotten = isOld && outcome === "created";
			const execution = isForgotten ? await startAnew(pool, { swap, nowMs: nowMs() }) : 0;
			return { outcome, swap, execution, isOpened };
		}
		if (result.outcome === "expired") throw expired(expiresAtMs, "never");
		throw refusal(result.outcome, limits);
	}

	/**
	 * Whether an order's markers may be closed before all about it is decided once more: without them nothing on Solana
	 * stands against a second payment.
	 */
	function isForgottenOnSolana(
		{ quote: { uuid } }: Op,
		{ originChainId, destinationChainId }: Order,
	): boolean {
		const { solana: served } = config;
		if (!served || ![originChainId, destinationChainId].some(isSolana)) return false;
		return nowMs() - swapUuidTimeMs(uuid) > served.markerSeconds * 1_000 * markerShare;
	}

	/** Why nothing is sold from or to one of its chains. */
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

	function checkGasBudget({ ended, undecided }: Awaited<ReturnType<typeof readUnsettledGas>>): void {
		const usdCents = ({ spent }: UnsettledGas) => spent.reduce((sum, gas) => sum + desk.gasUsdCents(gas), 0n);
		const budget = BigInt(Math.floor(limits.unsettledGasUsdPerDay * 100));
		const endedUsdCents = usdCents(ended);
		if (endedUsdCents + usdCents(undecided) < budget) return;
		const { retryAfterSeconds } = endedUsdCents < budget ? undecided : ended;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "gas_budget", retryAfterSeconds },
			{
				message:
					"Swaps of this account that were not settled, or may not be, have used up the day's budget of gas. Send it again later.",
			},
		);
	}
}

/** Of the time that a marker stands: in the rest of it an order that is submitted again is decided. */
const markerShare = 0.9;

function expired(expiresAtMs: number, found: "never" | "untold"): SwapError {
	const details = { expiredAt: new Date(expiresAtMs).toISOString() };
	if (found === "never") return new SwapError("OP_EXPIRED", details);
	return new SwapError("OP_EXPIRED", details, {
		next: "contact_operator",
		message:
			"The operation has expired, and the chain cannot be asked any more whether it was executed. Give the operator the wallet and the requestId.",
	});
}

function notToldYet({ originChainId }: Order): SwapError {
	return new SwapError(
		"UPSTREAM_UNAVAILABLE",
		{ upstream: `chain ${originChainId}` },
		{
			message:
				"The service was set back to a backup, and it cannot be told yet whether the transaction was executed before. Send the same request again in a moment; sign nothing else for this swap until then.",
		},
	);
}

const alreadyOpened: OriginLook = { isOpened: true, check: async () => {} };

function idTaken({ swap: { id }, isOpened }: FirstSubmit): Error {
	// The input is taken, and a person has to see to it.
	if (isOpened) return new Error(`swap ${id} is of another order, and the one that was submitted is open`);
	return new SwapError("SIMULATION_FAILED", { reason: "another order has the quote's id" });
}

function answer({ id, status }: SwapRecord): SubmitResponse {
	return { swapId: toSwapId(id), status };
}

/** Why nothing was written, as the caller is told. */
function refusal(
	outcome: Exclude<SubmitOutcome["outcome"], "created" | "existing" | "expired">,
	{ reservationSeconds }: { reservationSeconds: number },
): SwapError {
	switch (outcome) {
		case "price":
		case "stock":
			return new SwapError("LIQUIDITY_CHANGED", { reason: outcome });
		case "attesters":
			return new SwapError(
				"UPSTREAM_UNAVAILABLE",
				{ upstream: "attesters" },
				{
					message:
						"Too few of those who would attest this swap answer now, and nothing was executed. Send the same request again in a moment.",
				},
			);
		case "unopened":
			return new SwapError(
				"RATE_LIMITED",
				{ reason: "reserved_value", retryAfterSeconds: reservationSeconds },
				{
					message:
						"Too much is reserved for swaps of this account that are not open yet. Send it again later.",
				},
			);
	}
}
