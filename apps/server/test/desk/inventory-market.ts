import { randomBytes, randomUUID } from "node:crypto";
import { type QuoteRequest, SwapError } from "@geoswap/protocol";
import { hexToBytes, zeroAddress } from "viem";
import { submitSwap } from "../../src/api/submit/submit-swap.ts";
import type { BlockPrices } from "../../src/chain/evm/read/read-block-prices.ts";
import type { Config } from "../../src/config/config.ts";
import { createDesk } from "../../src/desk/create-desk.ts";
import type { DeskQuote } from "../../src/desk/desk.ts";
import { deskChains, type Side } from "../../src/desk/desk-chain.ts";
import { amountWorthDown, toUsdE18 } from "../../src/desk/price/usd-value.ts";
import { keepFreeInventory } from "../../src/money/inventory/keep-free-inventory.ts";
import { markReservationsOpened, unreserveAll } from "../../src/money/inventory/reservations.ts";
import { unopenedLimits } from "../../src/swap/decide/swap-policy.ts";
import type { Reservation } from "../../src/swap/facts/reservation.ts";
import type { TestDatabase } from "../service/test-database.ts";
import { sequence } from "../swap/sequence.ts";
import { testPriceCache } from "./test-prices.ts";

export type MarketResult = {
	quotes: number;
	issued: number;
	/** Refused at the quote for lack of inventory. */
	refusedAtQuote: number;
	/** Issued quotes whose volatile output comes from inventory. */
	fromInventory: number;
	/** Outcomes of the submits. */
	outcomes: Record<string, number>;
};

const replenishSeconds = 3_600;
const wallet = "0x1111111111111111111111111111111111111111";

/**
 * Runs a seeded market: mixed quotes of a real desk arrive, each is submitted to a real database some seconds later,
 * and is opened, paid and released after that, as followers would write it. The desk reads the inventory once a second
 * of the market's time.
 */
export async function runInventoryMarket({
	config,
	prices,
	nowMs,
	database,
	inventoryUsd,
	quotes,
	quotesPerHour,
	seed,
}: {
	config: Config;
	prices: readonly BlockPrices[];
	nowMs: number;
	database: TestDatabase;
	/** The value of the inventory of each vault's settlement token, and of its native token. */
	inventoryUsd: { settlement: number; native: number };
	quotes: number;
	quotesPerHour: number;
	seed: number;
}): Promise<MarketResult> {
	const random = sequence(seed);
	const between = (low: number, high: number) => low + random() * (high - low);
	const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
	const priceCache = testPriceCache(config, prices, { nowMs });
	const chains = [...deskChains(config).values()];
	const sides = chains.flatMap((chain) => chain.assets.map((asset): Side => ({ chain, asset })));
	const accounts = Array.from({ length: 40 }, () => randomUUID());
	const unitsWorth = ({ chain: { chainId }, asset }: Side, usd: number) =>
		amountWorthDown(toUsdE18(usd), priceCache.reference({ chainId, asset: asset.address }));
	await database.owner.query("truncate swaps, swap_events, waits, reservations, inventory, pair_volume");
	for (const side of sides) await change(side, startOf(side));
	const inventory = await keepFreeInventory({ db: database.pool, everyMs: 2 ** 30, nowMs: () => nowMs });
	const desk = createDesk({ config, priceCache, inventory, nowMs: () => nowMs, random: randomBytes });

	const result: MarketResult = { quotes: 0, issued: 0, refusedAtQuote: 0, fromInventory: 0, outcomes: {} };
	const due: { at: number; run: () => Promise<void> }[] = [];
	const later = (at: number, run: () => Promise<void>) => {
		const i = due.findLastIndex((other) => other.at <= at);
		due.splice(i + 1, 0, { at, run });
	};
	let readAt = 0;
	let clock = 0;
	later(0, quoteNext);
	later(replenishSeconds, replenish);
	for (let next = due.shift(); next; next = due.shift()) {
		clock = next.at;
		if (Math.floor(clock) > readAt) {
			readAt = Math.floor(clock);
			await inventory.refresh();
		}
		await next.run();
	}
	await inventory.close();
	return result;

	async function quoteNext(): Promise<void> {
		if (++result.quotes < quotes) later(clock + (-Math.log(1 - random()) * 3_600) / quotesPerHour, quoteNext);
		// The flow leans one way for a while, then the other.
		const isForward = random() < (Math.floor(clock / 7_200) % 2 === 0 ? 0.8 : 0.2);
		const [from, to] = isForward ? chains : chains.toReversed();
		const origin = pick(sides.filter(({ chain }) => chain === from));
		const destination = pick(sides.filter(({ chain }) => chain === to));
		const accountId = pick(accounts);
		const usd = Math.exp(between(Math.log(5), Math.log(20_000)));
		const request: QuoteRequest = {
			originChain: origin.chain.chainId,
			destinationChain: destination.chain.chainId,
			inputToken: origin.asset.address,
			outputToken: destination.asset.address,
			amount: unitsWorth(origin, usd),
			walletAddress: wallet,
			recipient: undefined,
			slippageBps: undefined,
			...(random() < 0.1 && { topUpUsd: "1.00" }),
		};
		let quote: DeskQuote;
		try {
			quote = desk.quote(request, { accountId });
		} catch (error) {
			if (!(error instanceof SwapError) || error.code !== "NO_ROUTE") throw error;
			result.refusedAtQuote++;
			return;
		}
		result.issued++;
		if (quote.delivery.kind === "inventory" && destination.asset.kind === "volatile") result.fromInventory++;
		later(clock + between(0.5, 15), () => submit({ quote, origin, destination, accountId }));
	}

	function startOf(side: Side): bigint {
		const { settlement, native } = inventoryUsd;
		if (side.asset.address === side.chain.settlementToken) return unitsWorth(side, settlement);
		return unitsWorth(side, side.asset.address === zeroAddress ? native : 0);
	}

	/** Moves inventory as an operator would, until each vault has again what it had at the start. */
	async function replenish(): Promise<void> {
		if (due.length > 0) later(clock + replenishSeconds, replenish);
		for (const { chain, asset } of sides) {
			await database.owner.query(
				`update inventory set balance = greatest($3, reserved), outflow_available = greatest($3, reserved)
				where chain_id = $1 and token = $2`,
				[chain.chainId, hexToBytes(asset.address), startOf({ chain, asset })],
			);
		}
	}

	async function submit({
		quote,
		origin,
		destination,
		accountId,
	}: {
		quote: DeskQuote;
		origin: Side;
		destination: Side;
		accountId: string;
	}): Promise<void> {
		const { uuid: id, order, output, delivery, feeMillibps, skewCentibps, valueUsdCents } = quote;
		let reservation: Reservation | undefined;
		const { outcome } = await submitSwap(database.pool, {
			swap: {
				id,
				accountId,
				order,
				output,
				valueUsdCents,
				feeMillibps,
				skewCentibps,
				delivery,
				op: { delegate: wallet, gas: 1n, signatureKind: "personal", signature: "0x00" },
			},
			pairs: desk.volumes({ order, delivery }),
			reserve: (inFlight) => {
				reservation = desk.reprice(quote, inFlight);
				return reservation;
			},
			isOpened: false,
			admit: () => {},
			countedOrders: [],
			limits: { ...unopenedLimits(config), reservationSeconds: 60 },
			holdingLimit: desk.holdingLimit(order),
			nowMs: () => nowMs,
		});
		result.outcomes[outcome] = (result.outcomes[outcome] ?? 0) + 1;
		if (outcome !== "created" || !reservation) return;
		const { token, amount } = reservation;
		const paid: Side = { ...destination, asset: { ...destination.asset, address: token } };
		later(clock + 4, async () => markReservationsOpened(database.pools.worker, [id]));
		later(clock + between(6, 30), async () => {
			await unreserveAll(database.pools.worker, [id]);
			await change(paid, -amount);
			if (order.topUp > 0n)
				await change({ ...paid, asset: { ...paid.asset, address: zeroAddress } }, -order.topUp);
		});
		later(clock + between(60, 1_200), async () => change(origin, order.inputAmount));
	}

	/** Changes what a vault holds, as a follower would write it. */
	async function change({ chain: { chainId }, asset }: Side, by: bigint): Promise<void> {
		await database.owner.query(
			`insert into inventory (chain_id, token, balance, outflow_available, block_number) values ($1, $2, $3, $3, 1)
			on conflict (chain_id, token) do update set balance = inventory.balance + $3,
				outflow_available = inventory.outflow_available + $3`,
			[chainId, hexToBytes(asset.address), by],
		);
	}
}
