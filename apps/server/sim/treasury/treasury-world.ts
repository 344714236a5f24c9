import { defaultTreasuryPolicy, type TreasuryPolicy } from "../../src/config/treasury-policy.ts";
import { seededRandom } from "../seeded-random.ts";
import { bookedBalance, createBooks, type TokenBook } from "./books.ts";
import { checkBooks, type Explained, explainValue, nothingYet } from "./check-books.ts";
import { createFlow, type FlowName } from "./flow.ts";
import { createMarket } from "./market.ts";
import { readState } from "./read-state.ts";
import { createSwapService } from "./swap-service.ts";
import { createTreasurer, type TreasurerCounts } from "./treasurer.ts";
import { createWorldBridge } from "./world-bridge.ts";
import { createWorldChain } from "./world-chain.ts";
import { createWorldClock } from "./world-clock.ts";
import { transfer, type WorldEvent } from "./world-event.ts";
import { chains as allTerms, daySeconds, native, netFeeCentibps, targetUsdc } from "./world-terms.ts";

/** How a world differs from another of the same seed. */
export type WorldMode = "act" | "plan" | "slow";

export type WorldRequest = {
	seed: number;
	flow: FlowName;
	mode: WorldMode;
	/** At most 7. */
	days?: number;
};

export type WorldResult = {
	seed: number;
	flow: FlowName;
	mode: WorldMode;
	days: number;
	/** Shares of the volume, and of the planner's rounds. */
	servedShare: number;
	/** The same share on the days without the tenfold gas. */
	servedShareAtUsualGas: number;
	inBandShare: number;
	/** USD a day. */
	turnover: number;
	fees: number;
	movingCosts: number;
	stalledMinutes: number;
	counts: TreasurerCounts;
	/** Result of the week by its explanation, in USD. */
	explained: Record<keyof Explained, number>;
	violations: string[];
};

const planSeconds = 300;
const readBalancesSeconds = 3_600;
const slowness: Record<WorldMode, number> = { act: 1, plan: 1, slow: 7 };
const checks = 10;
const giftsAWeek = 12;

/** Runs one week on four chains, with the real planner and the real entries, and compares books and chains. */
export function runTreasuryWorld({
	seed,
	flow,
	mode,
	days = 7,
	policy = defaultTreasuryPolicy,
}: WorldRequest & { policy?: TreasuryPolicy }): WorldResult {
	const endSecond = days * daySeconds;
	const random = seededRandom(`treasury ${seed}`);
	const clock = createWorldClock();
	const { now } = clock;
	const market = createMarket(random.fork("market"));
	const books = createBooks(allTerms);
	const emit = (event: WorldEvent) => {
		books.record(event);
		if (event.name === "Minted" && event.cause.startsWith("move "))
			treasurer.arrived(event.cause.slice(5) as `0x${string}`);
	};
	const chains = allTerms.map((terms) => createWorldChain({ terms, market, now, emit }));
	const bridge = createWorldBridge({ random: random.fork("bridge"), now, slowness: slowness[mode] });
	const swaps = createSwapService({ clock, chains, market, books });
	const treasurer = createTreasurer({
		clock,
		chains,
		bridge,
		swaps,
		random: random.fork("treasurer"),
		mode: mode === "plan" ? "plan" : "act",
		policy,
	});
	const gifts = new Map<TokenBook, bigint>();
	const explained: Explained = {
		swap: 0n,
		move: 0n,
		opening: 0n,
		unattributed: 0n,
		declared: 0n,
		positions: 0n,
	};
	const violations: string[] = [];
	let snapshot = nothingYet;

	openBalances();
	for (const book of books.all) keepMarks(book);
	for (const swap of createFlow(flow, random.fork("flow"))) clock.at(swap.second, () => swaps.request(swap));
	const chance = random.fork("strangers and checks");
	for (let i = 0; i < giftsAWeek; i++) clock.at(chance.between(0, endSecond), gift);
	for (let second = planSeconds; second < endSecond; second += planSeconds) clock.at(second + 7, round);
	for (let second = readBalancesSeconds; second < endSecond; second += readBalancesSeconds) {
		clock.at(second + 11, bookUnattributed);
	}
	// No price changes in these seconds.
	for (let i = 0; i < checks; i++) clock.at(60 * chance.between(1, endSecond / 60 - 1) + 30, check);
	const restoreSecond = chance.between(endSecond / 4, (3 * endSecond) / 4);
	const backupSecond = restoreSecond - chance.between(600, 7_200);
	clock.at(restoreSecond, () => treasurer.restore(backupSecond));
	clock.runUntil(endSecond - 30);
	check();
	return result();

	function openBalances(): void {
		for (const chain of chains) {
			const { terms } = chain;
			const posting = { chainId: terms.chainId, second: 0, cause: "opening" as const };
			chain.receive("vault", terms.usdc, targetUsdc);
			chain.receive("relayer", native, terms.relayerWei);
			books.post({
				...posting,
				entries: transfer(terms.usdc, targetUsdc, { from: "opening", to: "inventory" }),
			});
			books.post({
				...posting,
				entries: transfer(native, terms.relayerWei, { from: "opening", to: "relayer" }),
			});
		}
	}

	function keepMarks(book: TokenBook): void {
		const symbol = book.token === native ? "ETH" : "USDC";
		for (const second of market.feedChanges(symbol)) {
			clock.at(second, () => book.marks.push({ second, usdE18: market.feedE18(symbol, second) }));
		}
	}

	function round(): void {
		if (mode === "plan") refillByHand();
		const { table } = treasurer;
		treasurer.round(readState({ second: now(), chains, market, swaps, table }));
	}

	/** Where nothing is moved, a person still gives relayers gas: as a declared flow. */
	function refillByHand(): void {
		for (const [i, chain] of chains.entries()) {
			const { terms } = chain;
			const amount = 24n * swaps.spentPerHour(i);
			if (chain.relayerWei() > amount / 4n) continue;
			chain.receive("relayer", native, amount);
			books.post({
				chainId: terms.chainId,
				second: now(),
				cause: "declared",
				entries: transfer(native, amount, { from: "treasury", to: "relayer" }),
			});
		}
	}

	function gift(): void {
		const chain = chance.pick(chains);
		const isEth = chance.chance(0.5);
		const to = isEth && chance.chance(0.5) ? "relayer" : "vault";
		const token = isEth ? native : chain.terms.usdc;
		const isDust = chance.chance(0.5);
		const amount = BigInt(chance.between(1, 1_000)) * (isDust ? 1n : isEth ? 10n ** 14n : 10n ** 5n);
		chain.receive(to, token, amount);
		const book = books.of(chain.terms.chainId, token);
		gifts.set(book, (gifts.get(book) ?? 0n) + amount);
	}

	/** Books what vaults and relayers hold more than the books know. */
	function bookUnattributed(): void {
		for (const book of books.all) {
			const chain = chains.find(({ terms }) => terms === book.chain);
			if (!chain) continue;
			const found = [
				{ to: "inventory" as const, amount: chain.vault(book.token) - bookedBalance(book, "inventory") },
				...(book.token === native
					? [{ to: "relayer" as const, amount: chain.relayerWei() - bookedBalance(book, "relayer") }]
					: []),
			];
			for (const { to, amount } of found) {
				if (amount <= 0n) continue;
				books.post({
					chainId: book.chain.chainId,
					second: now(),
					cause: "unattributed",
					entries: transfer(book.token, amount, { from: "unattributed", to }),
				});
			}
		}
	}

	function check(): void {
		bookUnattributed();
		const truth = { second: now(), books, chains, market, rows: treasurer.table.rows(), gifts };
		violations.push(...checkBooks(truth, { isReading: treasurer.isReading() }));
		const value = explainValue(truth, { since: snapshot, explained });
		violations.push(...value.violations);
		snapshot = value.snapshot;
	}

	function result(): WorldResult {
		const volumeOf = (kind: "requested" | "served", withTenfold: boolean) =>
			swaps.volumes.reduce(
				(sum, volume, day) => (withTenfold || day !== market.tenfoldDay ? sum + Number(volume[kind]) : sum),
				0,
			);
		const served = volumeOf("served", true);
		const turnover = served / 1e6 / days;
		const usd = (value36: bigint) => Number(value36 / 10n ** 30n) / 1e6;
		const inTransit = treasurer.table
			.rows()
			.reduce((sum, { move, state }) => (state === "moved" ? sum + Number(move.amount) / 1e6 : sum), 0);
		const { counts } = treasurer;
		return {
			seed,
			flow,
			mode,
			days,
			servedShare: served / volumeOf("requested", true),
			servedShareAtUsualGas: volumeOf("served", false) / volumeOf("requested", false),
			inBandShare: counts.inBand / counts.rounds,
			turnover,
			fees: (turnover * netFeeCentibps) / 1e6,
			movingCosts: -(usd(explained.move) + inTransit) / days,
			stalledMinutes: swaps.stalledMinutes(),
			counts,
			explained: {
				swap: usd(explained.swap),
				move: usd(explained.move),
				opening: usd(explained.opening),
				unattributed: usd(explained.unattributed),
				declared: usd(explained.declared),
				positions: usd(explained.positions),
			},
			violations: [...treasurer.violations, ...violations],
		};
	}
}
