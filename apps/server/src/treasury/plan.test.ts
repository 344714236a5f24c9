import { rescaleDown } from "@geoswap/protocol";
import fc from "fast-check";
import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import type { Rung } from "../chain/evm/read/read-block-prices.ts";
import { defaultTreasuryPolicy } from "../config/treasury-policy.ts";
import { moveId, moveKeyText } from "./move-id.ts";
import { plan } from "./plan.ts";
import type { ChainState, RouteState, TreasuryState } from "./treasury-state.ts";

const usdc = 1_000_000n;
const ether = 10n ** 18n;
const usd = ether;
const minute = 30_000_000;
const ethPrice = 2_500n * usd;
const address = (last: number) => `0x${last.toString(16).padStart(40, "0")}` as const;

/** Rungs of a pool whose price falls by a basis point for each 1,000 USD. */
function rungs(outputPerUsd: (input: bigint) => bigint, unitsPerUsd: bigint): Rung[] {
	return [100n, 1_000n, 5_000n, 20_000n, 100_000n].map((dollars) => {
		const input = dollars * unitsPerUsd;
		return { input, output: (outputPerUsd(input) * (10_000_000n - dollars)) / 10_000_000n };
	});
}
const sell = [{ fees: [500], rungs: rungs((wei) => (wei * 2_500n * usdc) / ether, ether / 2_500n) }];
const buy = [{ fees: [500], rungs: rungs((units) => (units * ether) / (2_500n * usdc), usdc) }];

function chain(
	chainId: number,
	fields: { free?: bigint; eth?: bigint; status?: ChainState["status"] } = {},
): ChainState {
	const { free = 10_000n * usdc, eth = 0n, status = "open" } = fields;
	return {
		chainId,
		name: `Chain ${chainId}`,
		status,
		vault: address(chainId),
		settlement: {
			chainId,
			token: address(1_000 + chainId),
			symbol: "USDC",
			decimals: 6,
			tradeCapLeft: 5_000n * usdc,
			target: 10_000n * usdc,
			free,
			arriving: 0n,
			demand: [],
		},
		assets: [
			{
				token: zeroAddress,
				symbol: "ETH",
				decimals: 18,
				isNative: true,
				usdE18: ethPrice,
				free: eth,
				maxHeld: 0n,
				volatilityPercentPerYear: 60,
				tradeCapLeft: 2n * ether,
				sell,
				buy,
			},
		],
		relayers: [
			{ address: address(2_000 + chainId), balance: ether, spentPerHour: ether / 100n, sendCapLeft: ether },
		],
		tradeGasE18: usd / 10n,
		sendGasE18: usd / 100n,
	};
}

function route(chainId: number, toChainId: number, fields: Partial<RouteState> = {}): RouteState {
	return {
		name: "CCTP",
		kind: "bridge",
		chainId,
		toChainId,
		status: "open",
		capLeft: 5_000n * usdc,
		gasE18: usd / 20n,
		standard: { seconds: 1_140, feeCentibps: 0 },
		fast: { seconds: 20, feeCentibps: 100 },
		...fields,
	};
}

function state(fields: Partial<TreasuryState> = {}): TreasuryState {
	return {
		minute,
		chains: [chain(1), chain(2)],
		routes: [route(1, 2), route(2, 1)],
		history: [],
		inTransitE18: 0n,
		...fields,
	};
}

test("nothing is planned where every chain has what it needs", () => {
	expect(plan(state())).toMatchObject({ moves: [], reasons: [] });
});

test("a chain below its need receives what it lacks, with the numbers that decided in the reason", () => {
	const { moves } = plan(state({ chains: [chain(1), chain(2, { free: 500n * usdc })] }));
	expect(moves).toMatchObject([
		{
			kind: "bridge",
			chainId: 1,
			toChainId: 2,
			amount: 2_000n * usdc,
			address: address(2),
			route: { isFast: false },
		},
	]);
	expect(moves[0]?.reason).toBe(
		"Chain 2 needs 2,500 USDC and has 500 USDC, while Chain 1 can spare 7,500 USDC: " +
			"2,000 USDC by CCTP earns about 2.50 USD and costs 0.05 USD.",
	);
});

test("a move that earns less than twice its cost waits, and the reason is stated", () => {
	const routes = [route(1, 2, { gasE18: 2n * usd })];
	const { moves, reasons } = plan(state({ routes, chains: [chain(1), chain(2, { free: 500n * usdc })] }));
	expect(moves).toEqual([]);
	expect(reasons).toEqual(["Chain 2 stays short of 2,000 USDC: no move to it earns enough for its cost."]);
});

test("a move is fast if the swaps refused until a slow one arrives would earn more than its fee", () => {
	const busy = chain(2, { free: 500n * usdc });
	const demand = Array.from({ length: 600 }, (_, age) => ({
		minute: minute - age,
		outflow: 100n * usdc,
		inflow: 0n,
	}));
	const chains = [chain(1), { ...busy, settlement: { ...busy.settlement, demand } }];
	const [move] = plan(state({ chains })).moves;
	expect(move?.route).toMatchObject({ isFast: true, seconds: 20, fee: (move?.amount ?? 0n) / 10_000n });
});

test("a route that is stuck, paused or cannot be read starts nothing", () => {
	for (const status of ["stuck", "paused", "unreadable"] as const) {
		const chains = [chain(1), chain(2, { free: 500n * usdc })];
		const { moves, reasons } = plan(state({ chains, routes: [route(1, 2, { status })] }));
		expect(moves).toEqual([]);
		expect(reasons.join()).toContain(`the route CCTP from chain 1 is ${status}`);
	}
});

test("an asset that is not kept is sold up to its cap, for no less than the ladder's price without the slippage", () => {
	const { moves } = plan(state({ chains: [chain(1, { eth: 5n * ether }), chain(2)] }));
	expect(moves).toMatchObject([
		{ kind: "trade", token: zeroAddress, amount: 2n * ether, toToken: address(1_001) },
	]);
	// Two ether are the rung of 5,000 USD, which pays five basis points less.
	const output = 5_000n * usdc - (5_000n * usdc * 5n) / 10_000n;
	expect(moves[0]?.trade?.poolFees).toEqual([500]);
	expect(Number(moves[0]?.trade?.minOut)).toBeCloseTo(Number((output * 9_990n) / 10_000n), -2);
});

test("a sale goes through two pools in the order from the asset to the settlement token", () => {
	const one = chain(1, { eth: 5n * ether });
	const ladders = sell.map((ladder) => ({ ...ladder, fees: [500, 3_000] }));
	const assets = one.assets.map((asset) => ({ ...asset, sell: ladders }));
	const { moves } = plan(state({ chains: [{ ...one, assets }, chain(2)] }));
	expect(moves[0]?.trade?.poolFees).toEqual([3_000, 500]);
});

test("an asset whose risk is less than twice the cost of its sale is kept for now", () => {
	const { moves, reasons } = plan(state({ chains: [chain(1, { eth: ether / 100n }), chain(2)] }));
	expect(moves).toEqual([]);
	expect(reasons[0]).toContain("so it waits");
});

test("a relayer that runs out gets native tokens of the vault, and the vault does not sell them", () => {
	const poor = { ...chain(1, { eth: 5n * ether }), relayers: [{ ...relayerOf(1), balance: ether / 50n }] };
	const { moves } = plan(state({ chains: [poor, chain(2)] }));
	expect(moves).toMatchObject([
		{ kind: "send", amount: (72n * ether) / 100n - ether / 50n, address: address(2_001) },
	]);
});

test("native tokens are bought first where the vault has too few", () => {
	const poor = { ...chain(1), relayers: [{ ...relayerOf(1), balance: ether / 50n }] };
	const [first, ...others] = plan(state({ chains: [poor, chain(2)] })).moves;
	expect(first).toMatchObject({ kind: "trade", token: address(1_001), toToken: zeroAddress });
	expect(Number(first?.trade?.minOut) / 1e18).toBeGreaterThan(0.69);
	expect(others).toEqual([]);
});

test("a plan made again from the same rows repeats its ids, and a further move of the key has another", () => {
	const chains = [chain(1), chain(2, { free: 500n * usdc })];
	const [first] = plan(state({ chains })).moves;
	expect(plan(state({ chains })).moves[0]?.moveId).toBe(first?.moveId);
	if (!first) throw new Error("there is a move");
	const history = [{ ...first, moves: 1, isOpen: false }];
	expect(plan(state({ chains, history })).moves[0]?.moveId).toBe(moveId(first, 1));
});

function relayerOf(chainId: number) {
	const [relayer] = chain(chainId).relayers;
	if (!relayer) throw new Error("there is a relayer");
	return relayer;
}

const dollars = (max: number) => fc.integer({ min: 0, max }).map((whole) => BigInt(whole) * usdc);
const anyChain = (chainId: number) =>
	fc
		.record({
			free: dollars(30_000),
			arriving: dollars(5_000),
			eth: fc.integer({ min: 0, max: 10_000 }).map((thousandths) => (BigInt(thousandths) * ether) / 1_000n),
			status: fc.constantFrom("open", "open", "open", "paused", "unreadable" as const),
			tradeCapLeft: dollars(5_000),
			balance: fc.integer({ min: 0, max: 200 }).map((hundredths) => (BigInt(hundredths) * ether) / 1_000n),
			demand: fc.array(
				fc.record({
					minute: fc.integer({ min: minute - 600, max: minute }),
					outflow: dollars(3_000),
					inflow: dollars(1_000),
				}),
				{ maxLength: 40 },
			),
		})
		.map(({ free, eth, status, arriving, tradeCapLeft, balance, demand }): ChainState => {
			const base = chain(chainId, { free, eth, status });
			const relayers = base.relayers.map((relayer) => ({ ...relayer, balance }));
			return { ...base, relayers, settlement: { ...base.settlement, arriving, tradeCapLeft, demand } };
		});
const ids = [1, 2, 3, 4];
const pairs = ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to] as const));
const anyRoute = ([from, to]: readonly [number, number]) =>
	fc
		.record({
			status: fc.constantFrom("open", "open", "open", "paused", "stuck", "unreadable" as const),
			capLeft: dollars(10_000),
			kind: fc.constantFrom("bridge", "manual" as const),
			cents: fc.integer({ min: 0, max: 500 }),
		})
		.map(({ status, capLeft, kind, cents }) =>
			route(from, to, { status, capLeft, kind, gasE18: (BigInt(cents) * usd) / 100n }),
		);
const anyState = fc
	.record({
		chains: fc.tuple(...ids.map(anyChain)),
		routes: fc.tuple(...pairs.map(anyRoute)),
		inTransitE18: dollars(12_000).map((amount) => amount * 10n ** 12n),
		open: fc.array(fc.nat(pairs.length - 1), { maxLength: 4 }),
	})
	.map(({ chains, routes, inTransitE18, open }): TreasuryState => {
		const history = [...new Set(open)].flatMap((i) => {
			const one = routes[i];
			if (!one) return [];
			const { kind, chainId, toChainId } = one;
			const key = { kind, chainId, toChainId, token: address(1_000 + chainId), address: address(toChainId) };
			return [{ ...key, moves: i, isOpen: true }];
		});
		return state({ chains, routes, inTransitE18, history });
	});

test("no plan moves more than is free, above the need, or allowed by a cap, a share or the limit of transit", () => {
	fc.assert(
		fc.property(anyState, (one) => {
			const { moves, needs } = plan(one);
			const inventory = one.chains.reduce((sum, { settlement }) => sum + settlement.target, 0n);
			for (const { chainId, settlement, assets, relayers } of one.chains) {
				const out = moves.filter((move) => move.chainId === chainId && move.token === settlement.token);
				const total = out.reduce((sum, { amount }) => sum + amount, 0n);
				const bridged = out.filter(({ route }) => route).reduce((sum, { amount }) => sum + amount, 0n);
				expect(total).toBeLessThanOrEqual(settlement.free);
				if (bridged > 0n)
					expect(settlement.free - total).toBeGreaterThanOrEqual(needs.get(chainId)?.amount ?? 0n);
				expect(total - bridged).toBeLessThanOrEqual(settlement.tradeCapLeft);
				for (const { token, free, tradeCapLeft } of assets) {
					const ofAsset = moves.filter((move) => move.chainId === chainId && move.token === token);
					expect(ofAsset.reduce((sum, { amount }) => sum + amount, 0n)).toBeLessThanOrEqual(free);
					for (const { kind, amount } of ofAsset) {
						expect(amount).toBeLessThanOrEqual(
							kind === "trade" ? tradeCapLeft : (relayers[0]?.sendCapLeft ?? 0n),
						);
					}
				}
				const arriving = moves.filter((move) => move.route && move.toChainId === chainId);
				const received = arriving.reduce((sum, { amount, route }) => sum + amount - (route?.fee ?? 0n), 0n);
				const short = (needs.get(chainId)?.amount ?? 0n) - settlement.free - settlement.arriving;
				const boughtGas = total - bridged;
				if (received > 0n) expect(received).toBeLessThanOrEqual(short + boughtGas);
			}
			for (const { route: used, chainId, toChainId, amount } of moves) {
				expect(amount).toBeGreaterThan(0n);
				if (!used) continue;
				const capLeft =
					one.routes.find((r) => r.chainId === chainId && r.toChainId === toChainId)?.capLeft ?? 0n;
				expect(amount).toBeLessThanOrEqual(capLeft);
				expect(amount).toBeLessThanOrEqual((inventory * 30n) / 100n);
			}
			const started = moves.reduce((sum, { route, amount }) => (route ? sum + amount : sum), 0n);
			const limit = inventory / 4n - rescaleDown(one.inTransitE18, 18, 6);
			if (started > 0n) expect(started).toBeLessThanOrEqual(limit);
			expect(moves.filter(({ route }) => route).length).toBeLessThanOrEqual(defaultTreasuryPolicy.maxBridges);
		}),
		{ numRuns: 300 },
	);
});

test("no plan has two open moves of one key, or one id twice", () => {
	fc.assert(
		fc.property(anyState, (one) => {
			const { moves } = plan(one);
			const open = [...one.history.filter(({ isOpen }) => isOpen), ...moves].map(moveKeyText);
			expect(new Set(open).size).toBe(open.length);
			expect(new Set(moves.map(({ moveId: id }) => id)).size).toBe(moves.length);
		}),
		{ numRuns: 300 },
	);
});

test("no plan moves anything on a chain or a route that is not open", () => {
	fc.assert(
		fc.property(anyState, (one) => {
			for (const { chainId, toChainId, route: used } of plan(one).moves) {
				for (const id of [chainId, toChainId]) {
					expect(one.chains.find((candidate) => candidate.chainId === id)?.status).toBe("open");
				}
				const found = one.routes.find((r) => r.chainId === chainId && r.toChainId === toChainId);
				if (used) expect(found?.status).toBe("open");
			}
		}),
		{ numRuns: 300 },
	);
});

test("the same state has the same plan, and planning changes nothing in it", () => {
	fc.assert(
		fc.property(anyState, (one) => {
			const before = structuredClone(one);
			const first = plan(one);
			expect(one).toEqual(before);
			expect(plan(structuredClone(one))).toEqual(first);
		}),
	);
});
