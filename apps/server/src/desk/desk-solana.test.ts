import {
	emptyAccountRentLamports,
	mulDivDown,
	mulDivUp,
	tokenAccountRentLamports,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	evmWallet,
	inward,
	one,
	outward,
	refusal,
	type SolanaDeskScene,
	solana,
	startSolanaDeskScene,
	two,
	type Way,
	within,
} from "../../test/desk/solana-desk-scene.ts";
import { createDesk } from "./create-desk.ts";
import type { DeskQuote } from "./desk.ts";
import { isSettlement } from "./desk-chain.ts";
import { networkCost } from "./network-cost.ts";
import { priceDelivery } from "./price-swap.ts";

let scene: SolanaDeskScene;
let chains: SolanaDeskScene["chains"];
let deployment: SolanaDeskScene["deployment"];
let nowMs: SolanaDeskScene["nowMs"];
let priceCache: SolanaDeskScene["priceCache"];
let desk: SolanaDeskScene["desk"];
let wallet: SolanaDeskScene["wallet"];
let deskWith: SolanaDeskScene["deskWith"];
let priceCacheWith: SolanaDeskScene["priceCacheWith"];
let side: SolanaDeskScene["side"];
let worth: SolanaDeskScene["worth"];
let request: SolanaDeskScene["request"];
beforeAll(async () => {
	scene = await startSolanaDeskScene();
	({ chains, deployment, nowMs, priceCache, desk, wallet, deskWith, priceCacheWith, side, worth, request } =
		scene);
});
afterAll(() => scene.stop());

const symbolsOn = { [one]: ["ETH", "USDC", "ORB"], [solana]: ["USDC", "USDT", "SOL"] };
const none = { sell: 0n, buy: 0n };

function payout({ delivery }: Pick<DeskQuote, "delivery">): { amount: bigint; unusedRent: bigint } {
	if (delivery.kind !== "payout") throw new Error(`is a ${delivery.kind}`);
	return delivery;
}

describe("a quote fixes every term of its order", () => {
	const seconds = () => BigInt(Math.floor(nowMs / 1_000));

	test("to Solana", () => {
		const quote = desk.quote(request(outward));
		const { contracts, attesterSet } = chains.origin.deployment;
		const { amount } = payout(quote);
		expect(quote).toMatchObject({ originKind: "evm", recipient: wallet, output: amount, slippageBps: 50 });
		// Two blocks on the origin, and on Solana a slot and ten seconds to finality.
		expect(quote.etaSeconds).toBe(13);
		expect(quote.order).toMatchObject({
			originChainId: 31337n,
			destinationChainId: BigInt(solana),
			escrow: toWord(contracts.escrow),
			originVault: toWord(contracts.vault),
			destinationVault: toSolanaWord(deployment.program.vault),
			attesterSet: attesterSet.hash,
			wallet: toWord(evmWallet),
			outputToken: toSolanaWord(deployment.settlementToken),
			minOutput: mulDivDown(amount, 9_950n, 10_000n),
			recipient: toSolanaWord(wallet),
		});
		expect(quote.summary).toMatch(
			/^10 USDC on Devnet One -> about 9\.\d{1,5} USDC on Solana Test, after about 0\.305892 USDC for the recipient's token account$/,
		);
	});

	test("from Solana, where the program holds the input and its attesters decide", () => {
		const quote = desk.quote(request(inward));
		expect(quote).toMatchObject({
			originKind: "solana",
			recipient: evmWallet,
			delivery: { kind: "inventory", amount: quote.output },
			valueUsdCents: 1_000n,
			opExpiresAtMs: Number(seconds()) * 1_000 + 45_000,
		});
		expect(quote.order).toMatchObject({
			originChainId: BigInt(solana),
			escrow: toSolanaWord(deployment.program.address),
			originVault: toSolanaWord(deployment.program.vault),
			destinationVault: toWord(chains.destination.deployment.contracts.vault),
			attesterSet: deployment.program.attesterSet.hash,
			wallet: toSolanaWord(wallet),
			inputToken: toSolanaWord(deployment.settlementToken),
			recipient: toWord(evmWallet),
		});
		// The slower of the two chains decides.
		expect(unpackDeadlines(quote.order.deadlines)).toEqual({
			openDeadline: seconds() + 75n,
			fillDeadline: seconds() + 120n,
			refundAfter: seconds() + 180n,
		});
	});

	test("within Solana, where the estimated time is that of the configured depth on both sides", () => {
		const { config } = scene;
		const depths = [{ upToUsd: 1_000_000, blocks: 0 }];
		const own = createDesk({
			config: {
				...config,
				chains: config.chains.map((chain) => (chain.kind === "solana" ? { ...chain, depths } : chain)),
			},
			priceCache,
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size),
		});
		expect(own.quote(request(within)).etaSeconds).toBe(1);
		expect(own.quote(request(inward)).etaSeconds).toBe(3);
	});

	test("within Solana, with the wallet as the default recipient", () => {
		const quote = desk.quote(request(within));
		expect(quote).toMatchObject({ originKind: "solana", recipient: wallet });
		expect(payout(quote).unusedRent).toBe(0n);
		expect(quote.order).toMatchObject({
			escrow: toSolanaWord(deployment.program.address),
			originVault: toSolanaWord(deployment.program.vault),
			destinationVault: toSolanaWord(deployment.program.vault),
			outputToken: zeroHash,
			recipient: toSolanaWord(wallet),
		});
	});
});

const sides = [one, solana].flatMap((chainId) =>
	(symbolsOn[chainId] ?? []).map((symbol): [number, string] => [chainId, symbol]),
);
const ways = sides.flatMap((from) =>
	sides
		.filter((to) => [from[0], to[0]].includes(solana) && String(from) !== String(to))
		.map((to): Way => ({ from, to })),
);

test("for every pair and size, the payout is worth at most the input less fee and spreads, within the EVM feeds' margin", () => {
	fc.assert(
		fc.property(fc.constantFrom(...ways), fc.integer({ min: 4, max: 249_000 }), (way, usd) => {
			const quote = desk.quote(request({ ...way, amount: worth(way.from, usd) }));
			const [origin, destination] = [side(...way.from), side(...way.to)];
			let [most, of] = [quote.order.inputAmount * (1_000_000n - 1_250n), 1_000_000n];
			for (const { chain, asset } of [origin, destination].filter((end) => !isSettlement(end))) {
				const kept = chain.kind === "evm" ? 10_010n : asset.kind === "stable" ? 9_995n : 9_970n;
				[most, of] = [most * kept, of * 10_000n];
			}
			const paid = quote.delivery.kind === "payout" ? quote.output + quote.delivery.unusedRent : quote.output;
			const [input, output] = [origin, destination].map(({ chain, asset }) =>
				priceCache.reference({ chainId: chain.chainId, asset: asset.address }),
			);
			if (!input || !output) throw new Error("no reference");
			expect(paid * output.usdE18 * 10n ** BigInt(input.decimals) * of).toBeLessThanOrEqual(
				most * input.usdE18 * 10n ** BigInt(output.decimals),
			);
			expect(quote.output).toBeGreaterThanOrEqual(quote.minOutput);
			expect(desk.reprice(quote, none)).toMatchObject({ delivery: quote.delivery, output: quote.output });
		}),
		{ numRuns: 400 },
	);
});

test("a swap there and back loses at least both spreads and both fees", () => {
	fc.assert(
		fc.property(fc.integer({ min: 10, max: 249_000 }), (usd) => {
			const amount = worth([one, "USDC"], usd);
			const bought = desk.quote(request({ from: [one, "USDC"], to: [solana, "SOL"], amount }));
			const back = desk.quote(
				request({ from: [solana, "SOL"], to: [one, "USDC"], amount: bought.output }),
			).output;
			const kept = 9_970n * (1_000_000n - 1_250n);
			expect(back * (10_000n * 1_000_000n) ** 2n).toBeLessThanOrEqual(amount * kept ** 2n);
		}),
		{ numRuns: 50 },
	);
});

test("between settlement tokens, output, fee, option, network cost and rent add up to the input", () => {
	const { networkMarginBps: marginBps } = scene.config.price;
	const network = {
		outward: networkCost(
			priceCache,
			{ origin: side(one, "USDC"), destination: side(solana, "USDC") },
			{ marginBps },
		),
		inward: networkCost(
			priceCache,
			{ origin: side(solana, "USDC"), destination: side(two, "USDC") },
			{ marginBps },
		),
	};
	const rent = mulDivUp(tokenAccountRentLamports * 150n, 1n, 1_000n);
	fc.assert(
		fc.property(fc.bigInt(5_000_000n, 250_000_000_000n), (amount) => {
			const taken = mulDivUp(amount, 1_250n, 1_000_000n) + mulDivUp(amount, 100n, 1_000_000n);
			const out = desk.quote(request({ ...outward, amount }));
			expect(out.output + taken + network.outward + rent).toBe(amount);
			expect(desk.quote(request({ ...inward, amount })).output + taken + network.inward).toBe(amount);
		}),
	);
});

describe("the rent of a recipient's account", () => {
	const usdE18 = fc.bigInt(10n ** 15n, 10n ** 22n);

	test("is charged at its full value at any price, so that closing the account gains nothing", () => {
		fc.assert(
			fc.property(usdE18, usdE18, fc.bigInt(10n ** 12n, 10n ** 15n), (sol, usdt, budget) => {
				const own = priceCacheWith({ SOL: { usdE18: sol }, USDT: { usdE18: usdt } });
				const destination = side(solana, "USDT");
				const priced = priceDelivery(own, {
					destination,
					budget,
					hasAccount: false,
					supply: "inventory",
					inFlight: 0n,
				});
				const whole = own.buy({ chainId: solana, asset: destination.asset.address, budget })?.output ?? 0n;
				if (typeof priced === "string") {
					expect(priced).toBe("too-small");
					return;
				}
				const { amount, unusedRent } = payout(priced);
				const charged = whole - amount;
				// In units of 10^-18 dollars, for 10^9 lamports per SOL and 10^6 units per token.
				expect(charged * usdt * 10n ** 3n).toBeGreaterThanOrEqual(tokenAccountRentLamports * sol);
				expect(unusedRent * usdt * 10n ** 3n).toBeLessThanOrEqual(tokenAccountRentLamports * sol);
				expect(charged - unusedRent).toBeLessThanOrEqual(1n);
				expect(priced.output).toBe(amount);
			}),
		);
	});

	const hasAccount = { recipient: { hasAccount: true, payProblem: undefined } };

	test("is not charged if the recipient is known to have an account, so output and minimum are higher by it, and the cost is omitted", () => {
		for (const symbol of ["USDC", "USDT"]) {
			const way: Way = { from: [one, "USDC"], to: [solana, symbol] };
			const without = desk.quote(request(way));
			const quote = desk.quote(request(way), hasAccount);
			// Both quotes have the same terms of delivery, which apply with and without an account.
			expect(quote.delivery).toEqual(without.delivery);
			const { amount, unusedRent } = payout(quote);
			expect(quote.output).toBe(amount + unusedRent);
			expect(quote.minOutput).toBe(mulDivDown(quote.output, 9_950n, 10_000n));
			expect(quote.recipientAccountCost).toBe(0n);
			expect(quote.summary).toMatch(new RegExp(`${symbol} on Solana Test$`));
			expect(without.recipientAccountCost - unusedRent).toBeLessThanOrEqual(1n);
		}
	});

	test("neither warns about a small swap nor refuses it as too small if the recipient has an account", () => {
		const small = request({ ...outward, amount: 1_300_000n });
		expect(desk.quote(small).warnings).toMatchObject([{ code: "HIGH_PRICE_IMPACT" }]);
		expect(desk.quote(small, hasAccount)).toMatchObject({ warnings: [] });
		const floor = (options = {}) => {
			const { details } = refusal(() => cheapDesk.quote(request({ ...outward, amount: 1n }), options));
			return BigInt((details as { minimumAmount: string }).minimumAmount);
		};
		const { config } = scene;
		const cheapDesk = createDesk({
			config: { ...config, price: { ...config.price, minimumUsd: 0.01 } },
			priceCache,
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size),
		});
		expect(floor(hasAccount)).toBeLessThan(floor());
		// The output is worth less than an account. It goes to an existing account, and leaves nothing if one must be
		// created.
		const quote = cheapDesk.quote(request({ ...outward, amount: floor(hasAccount) }), hasAccount);
		expect(payout(quote)).toMatchObject({ amount: 0n, unusedRent: quote.output });
	});

	test("is charged at submit by the recipient's accounts at that time, and later by the quote's assumption", () => {
		const none = { sell: 0n, buy: 0n };
		const small = request({ ...outward, amount: 5_000_000n });
		const counted = desk.quote(small, hasAccount);
		expect(payout(counted).amount).toBeLessThan(counted.minOutput);
		expect(desk.reprice({ ...counted, hasAccount: true }, none)?.output).toBe(counted.output);
		expect(desk.reprice(counted, none)?.output).toBe(counted.output);
		expect(desk.reprice({ ...counted, hasAccount: false }, none)).toBeUndefined();
		const charged = desk.quote(small);
		expect(desk.reprice(charged, none)?.output).toBe(charged.output);
		expect(desk.reprice({ ...charged, hasAccount: true }, none)?.output).toBe(counted.output);
	});

	test("a recipient that is known not to be payable is refused with the quote", () => {
		const recipient = { hasAccount: false, payProblem: "it is frozen" };
		expect(refusal(() => desk.quote(request(outward), { recipient }))).toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "recipient", message: "it is frozen" }] },
		});
	});

	test("is charged only for tokens, not for SOL", () => {
		for (const symbol of ["USDC", "USDT"]) {
			const quote = desk.quote(request({ from: [one, "USDC"], to: [solana, symbol] }));
			expect(payout(quote).unusedRent).toBe(mulDivDown(tokenAccountRentLamports * 150n, 1n, 1_000n));
		}
		expect(payout(desk.quote(request({ from: [one, "USDC"], to: [solana, "SOL"] }))).unusedRent).toBe(0n);
	});
});

describe("sizes", () => {
	test.each(ways)("$from to $to: the refusal of a size includes a size that is accepted", (way) => {
		const small = refusal(() => desk.quote(request({ ...way, amount: 1n })));
		expect(small.code).toBe("NEEDS_LARGER_SIZE");
		const minimum = BigInt((small.details as { minimumAmount: string }).minimumAmount);
		expect(desk.quote(request({ ...way, amount: minimum })).output).toBeGreaterThan(0n);

		const large = refusal(() => desk.quote(request({ ...way, amount: 2n ** 256n - 1n })));
		expect(large.details).toMatchObject({ reason: "capacity" });
		const maximum = BigInt((large.details as { maximumAmount: string }).maximumAmount);
		expect(desk.quote(request({ ...way, amount: maximum })).output).toBeGreaterThan(0n);
		expect(maximum).toBeGreaterThan(worth(way.from, 200_000));
	});

	const dear = { SOL: { usdE18: 20_000n * 10n ** 18n } };
	const natives: Way[] = [
		{ from: [one, "USDC"], to: [solana, "SOL"] },
		{ from: [solana, "SOL"], to: [one, "USDC"] },
		within,
	];

	test.each(natives)(
		"$from to $to: no SOL amount below an empty account's rent is paid or refunded",
		(way) => {
			const own = priceCacheWith(dear);
			const dearDesk = deskWith(own);
			const slippageBps = 5_000;
			const amount = worth(way.from, 8, own);
			const small = refusal(() => dearDesk.quote(request({ ...way, amount, slippageBps })));
			expect(small.code).toBe("NEEDS_LARGER_SIZE");
			const minimum = BigInt((small.details as { minimumAmount: string }).minimumAmount);
			const quote = dearDesk.quote(request({ ...way, amount: minimum, slippageBps }));
			const lamports = way.to[1] === "SOL" ? quote.order.minOutput : quote.order.inputAmount;
			expect(lamports).toBeGreaterThanOrEqual(emptyAccountRentLamports);
			expect(lamports).toBeLessThan((emptyAccountRentLamports * 103n) / 100n);
		},
	);

	test("an amount above what a token account can hold is refused, regardless of its value", () => {
		// A dollar is 10^18 of the token's smallest units.
		const cheap = priceCacheWith({ USDT: { usdE18: 10n ** 6n } });
		const most = 2n ** 64n - 1n;
		const way: Way = { from: [solana, "USDT"], to: [one, "USDC"] };
		const error = refusal(() => deskWith(cheap).quote(request({ ...way, amount: most + 1n })));
		expect(error).toMatchObject({ code: "NO_ROUTE", details: { reason: "capacity" } });
		const { maximumAmount } = error.details as { maximumAmount: string };
		expect(BigInt(maximumAmount)).toBeLessThanOrEqual(most);
		expect(BigInt(maximumAmount)).toBeGreaterThan((most * 98n) / 100n);
		const supply = "inventory" as const;
		const delivery = { destination: side(solana, "USDT"), hasAccount: false, supply, inFlight: 0n };
		expect(priceDelivery(cheap, { ...delivery, budget: 10_000_000n })).not.toBe("too-large");
		expect(priceDelivery(cheap, { ...delivery, budget: 20_000_000n })).toBe("too-large");
	});
});

describe("a pair is paused", () => {
	const old = () => ({ updatedAtUnixSeconds: Math.floor(nowMs / 1_000) - 26 * 3_600 });
	const evmOnly: Way = { from: [one, "USDC"], to: [two, "USDC"] };

	test.each(["SOL", "USDC", "USDT"])("while the feed of %s that it needs is stale", (symbol) => {
		const late = deskWith(priceCacheWith({ [symbol]: old() }));
		// Fees are paid in SOL, and every price goes through the settlement token.
		const way: Way = symbol === "USDT" ? { from: [solana, "USDT"], to: [one, "USDC"] } : outward;
		expect(refusal(() => late.quote(request(way)))).toMatchObject({
			code: "NO_ROUTE",
			details: { reason: "paused" },
		});
		expect(late.quote(request(evmOnly)).originKind).toBe("evm");
		const quote = desk.quote(request(way));
		expect(late.reprice(quote, none)).toBeUndefined();
		expect(late.isPriceable(quote.order)).toBe(false);
		expect(desk.isPriceable(quote.order)).toBe(true);
	});
});

describe("after the quote", () => {
	test("inventory of the output token is reserved, including the rent in case no account is created", () => {
		const quote = desk.quote(request({ from: [one, "ETH"], to: [solana, "USDT"] }));
		const { amount, unusedRent } = payout(quote);
		expect(desk.reprice(quote, none)).toEqual({
			delivery: quote.delivery,
			output: amount,
			chainId: solana,
			token: side(solana, "USDT").asset.address,
			amount: amount + unusedRent,
			volumes: desk.volumes(quote),
		});
		expect(desk.freshMinimum(quote)).toBe(quote.minOutput);
	});

	test("the price at submit is never above the quoted one, with or without an account", () => {
		const quote = desk.quote(request({ ...outward, slippageBps: 5_000 }));
		const before = payout(quote);
		fc.assert(
			fc.property(fc.bigInt(10n ** 18n, 3_000n * 10n ** 18n), (sol) => {
				const own = priceCacheWith({ SOL: { usdE18: sol } });
				const now = deskWith(own).reprice(quote, none);
				if (!now) {
					expect(sol).toBeGreaterThan(1_000n * 10n ** 18n);
					return;
				}
				const { amount, unusedRent } = payout(now);
				expect(amount).toBeLessThanOrEqual(before.amount);
				expect(amount).toBeGreaterThanOrEqual(quote.minOutput);
				expect(unusedRent).toBeLessThanOrEqual(before.unusedRent);
				expect(now.amount).toBe(amount + unusedRent);
				expect(unusedRent * 10n ** 3n * 10n ** 18n).toBeLessThanOrEqual(tokenAccountRentLamports * sol);
			}),
		);
		const tight = desk.quote(request({ ...outward, slippageBps: 1 }));
		expect(
			deskWith(priceCacheWith({ SOL: { usdE18: 160n * 10n ** 18n } })).reprice(tight, none),
		).toBeUndefined();
	});

	test("tokens sold to the vault on Solana count toward its exposure; deliveries on Solana move no ladder", () => {
		const [sol, usdt] = ["SOL", "USDT"].map((symbol) => side(solana, symbol).asset.address) as [Hex, Hex];
		const amount = worth([solana, "SOL"], 100);
		const quote = desk.quote(request({ from: [solana, "SOL"], to: [one, "ORB"], amount }));
		expect(desk.volumes(quote)[0]).toEqual({ chainId: solana, token: sol, direction: "sell", amount });
		expect(
			desk
				.volumes(quote)
				.slice(1)
				.every(({ direction }) => direction === "buy"),
		).toBe(true);
		expect(desk.volumes(desk.quote(request(outward)))).toEqual([]);
		expect(desk.volumes(desk.quote(request({ from: [one, "ETH"], to: [solana, "SOL"] })))).toMatchObject([
			{ chainId: one, direction: "sell" },
		]);
		expect(desk.holdingLimit(quote.order)).toEqual({
			chainId: solana,
			token: sol,
			amount: worth([solana, "SOL"], 10_000_000),
		});
		const stable = desk.quote(request({ from: [solana, "USDT"], to: [one, "USDC"] }));
		expect(desk.holdingLimit(stable.order)).toMatchObject({ chainId: solana, token: usdt });
		expect(desk.holdingLimit(desk.quote(request(inward)).order)).toMatchObject({ chainId: solana });
	});

	test("fees are valued at the price of SOL", () => {
		expect(desk.gasUsdCents({ chainId: solana, wei: 10n ** 9n })).toBe(15_000n);
		expect(desk.gasUsdCents({ chainId: solana, wei: 1n })).toBe(1n);
	});

	test("a delivery of a kind other than the quoted one has no price", () => {
		const quote = desk.quote(request(outward));
		expect(desk.reprice({ ...quote, delivery: { kind: "inventory", amount: 1n } }, none)).toBeUndefined();
	});
});
