import {
	type Authorization,
	fromWord,
	type Order,
	orderSchema,
	orderUserOp,
	type SubmitResponse,
	SwapError,
	submitRequestSchema,
	toSwapId,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../chain/evm/chain-client.ts";
import { checkOpSignature } from "../chain/evm/check-op-signature.ts";
import { normalizeSignature } from "../chain/evm/normalize-signature.ts";
import { simulateOp } from "../chain/evm/simulate-open.ts";
import type { Engine } from "../durable/durable.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import type { Log } from "../log.ts";
import { openToken } from "../seal/open-token.ts";
import type { SealKeys } from "../seal/seal-keys.ts";
import { adoptSwap } from "../store/adopt-swap.ts";
import type { DatabasePool } from "../store/database.ts";
import { readSwap } from "../store/read-swap.ts";
import { submitSwap } from "../store/submit-swap.ts";
import type { SignedAuthorization, SwapRecord } from "../store/swap-record.ts";
import { readUnsettledGas } from "../store/unsettled-gas.ts";
import { attestersWanted, type PolicyConfig } from "../swap/swap-policy.ts";
import type { Desk } from "../venue/venue.ts";
import { checkOrigin } from "./check-origin.ts";
import { originChain, readOrigin } from "./read-origin.ts";
import type { SealedOp } from "./sealed-op.ts";

/** POST /swap/submit. */
export function postSubmit({
	chains,
	pool,
	sealKeys,
	desk,
	engine,
	config,
	nowMs,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	pool: DatabasePool;
	sealKeys: SealKeys;
	desk: Pick<Desk, "reprice" | "volumes" | "isPriceable" | "gasUsdCents" | "exposureLimit">;
	engine: Pick<Engine, "startSwap">;
	config: PolicyConfig;
	nowMs: () => number;
}): Route {
	const { limits } = config;
	// A caller that sends the same again before it has an answer shares that answer, and costs nothing more.
	const underWay = new Map<string, Promise<SubmitResponse>>();
	return {
		method: "POST",
		path: "/swap/submit",
		operation: "submit",
		async handle({ body, account: { accountId }, log }): Promise<SubmitResponse> {
			const submission = parseRequest(submitRequestSchema, body);
			const same = JSON.stringify([accountId, submission.geoOpToken, submission.signature]);
			const first = underWay.get(same);
			if (first) return first;
			const answering = submit(submission, { accountId, log }).finally(() => underWay.delete(same));
			underWay.set(same, answering);
			return answering;
		},
	};

	async function submit(
		{ geoOpToken, signature: given }: { geoOpToken: string; signature: string },
		{ accountId, log }: { accountId: string; log: Log },
	): Promise<SubmitResponse> {
		const op = await openToken<SealedOp>(sealKeys, geoOpToken, { purpose: "op:evm", accountId });
		const order = orderSchema.parse(op.quote.order);
		const wallet = fromWord(order.wallet);
		const signature = normalizeSignature(given, { wallet });
		await checkOpSignature({ opHash: orderUserOp({ order, ...op }).hash, signature, wallet });

		const existing = await readExisting();
		if (existing) return answer(existing);
		try {
			const submitted = await submitFirst({ accountId, op, order, signature });
			if (submitted.outcome === "created") start(submitted.swap);
			return answer(submitted.swap);
		} catch (error) {
			if (!(error instanceof SwapError)) throw error;
			// The same submit, sent twice at once, may have made the swap and changed what this one read.
			const twin = await readExisting();
			if (!twin) throw error;
			return answer(twin);
		}

		async function readExisting(): Promise<SwapRecord | undefined> {
			const swap = await readSwap(pool, op.quote.uuid);
			if (swap && swap.accountId === undefined) await adoptSwap(pool, { id: swap.id, accountId });
			return swap;
		}

		/** Nobody waits for it: a swap that is not started now is found and started later. */
		function start({ id }: SwapRecord): void {
			const swapId = toSwapId(id);
			log.info({ swapId }, "swap submitted");
			engine.startSwap(id).catch((err: unknown) => log.warn({ swapId, err }, "swap not started yet"));
		}
	}

	async function submitFirst({
		accountId,
		op: { quote, ...op },
		order,
		signature,
	}: {
		accountId: string;
		op: SealedOp;
		order: Order;
		signature: Hex;
	}): Promise<{ outcome: "created" | "existing"; swap: SwapRecord }> {
		if (nowMs() > quote.opExpiresAtMs) {
			throw new SwapError("OP_EXPIRED", { expiredAt: new Date(quote.opExpiresAtMs).toISOString() });
		}
		const chain = originChain(chains, order);
		const [origin, simulation, gas] = await Promise.all([
			readOrigin({ chain, db: pool, order, authorization: op.authorization, nowMs: nowMs() }),
			simulateOp({ chain, order, op: { ...op, signature } }),
			readUnsettledGas(pool, { accountId, nowMs: nowMs() }),
		]);
		const { isOpened } = origin.reading;
		// Anyone may have sent the op: then the wallet has given its input, and what it is left with does not matter.
		if (!isOpened) {
			checkGasBudget(gas);
			await checkOrigin(origin, { target: op.delegate });
			if (!simulation.opens) throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
		}

		const { delivery, output, feeCentibps, valueUsdCents } = quote;
		const { authorization, ...unauthorized } = op;
		const result = await submitSwap(pool, {
			swap: {
				id: quote.uuid,
				accountId,
				order,
				output,
				valueUsdCents,
				feeCentibps,
				delivery,
				op: {
					...unauthorized,
					signature,
					...(authorization && { authorization: toSignedAuthorization(authorization) }),
				},
			},
			pairs: desk.volumes({ order, delivery }),
			reserve: (inFlight) => desk.reprice({ order, delivery, feeCentibps }, inFlight),
			isOpened,
			limits: {
				unopenedUsdCents: BigInt(Math.floor(limits.unopenedUsdPerAccount * 100)),
				reservationSeconds: limits.reservationSeconds,
			},
			// Without a price it is refused for that.
			exposure: desk.isPriceable(order) ? desk.exposureLimit(order) : undefined,
			attesters:
				order.originChainId === order.destinationChainId ? undefined : attestersWanted(config, order),
			nowMs: nowMs(),
		});
		switch (result.outcome) {
			case "created":
			case "existing":
				return { outcome: result.outcome, swap: result.swap };
			case "price":
			case "stock":
				throw new SwapError("LIQUIDITY_CHANGED", { reason: result.outcome });
			case "attesters":
				throw new SwapError(
					"UPSTREAM_UNAVAILABLE",
					{ upstream: "attesters" },
					{
						message:
							"Too few of those who would attest this swap answer now, and nothing was executed. Send the same request again in a moment.",
					},
				);
			case "unopened":
				throw new SwapError(
					"RATE_LIMITED",
					{ reason: "reserved_value", retryAfterSeconds: limits.reservationSeconds },
					{
						message:
							"Too much is reserved for swaps of this account that are not open yet. Send it again later.",
					},
				);
		}
	}

	function checkGasBudget({ spent, retryAfterSeconds }: Awaited<ReturnType<typeof readUnsettledGas>>): void {
		const usdCents = spent.reduce((sum, gas) => sum + desk.gasUsdCents(gas), 0n);
		if (usdCents < BigInt(Math.floor(limits.unsettledGasUsdPerDay * 100))) return;
		throw new SwapError(
			"RATE_LIMITED",
			{ reason: "gas_budget", retryAfterSeconds },
			{
				message:
					"Swaps of this account that were not settled have used up the day's budget of gas. Send it again later.",
			},
		);
	}
}

function answer({ id, status }: SwapRecord): SubmitResponse {
	return { swapId: toSwapId(id), status };
}

function toSignedAuthorization(authorization: Authorization): SignedAuthorization {
	return {
		...authorization,
		chainId: Number(authorization.chainId),
		nonce: Number(authorization.nonce),
		yParity: Number(authorization.yParity),
	};
}
