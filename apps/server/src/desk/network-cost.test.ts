import { mulDivUp } from "@geoswap/protocol";
import { parseUnits } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	one,
	type SolanaDeskScene,
	solana,
	startSolanaDeskScene,
	two,
} from "../../test/desk/solana-desk-scene.ts";
import { deskChains } from "./desk-chain.ts";
import { networkCost, solanaTransactions } from "./network-cost.ts";

let scene: SolanaDeskScene;
let config: SolanaDeskScene["config"];
let priceCache: SolanaDeskScene["priceCache"];
let priceCacheWith: SolanaDeskScene["priceCacheWith"];
let side: SolanaDeskScene["side"];
beforeAll(async () => {
	scene = await startSolanaDeskScene();
	({ config, priceCache, priceCacheWith, side } = scene);
});
afterAll(() => scene.stop());

test("the network cost includes every signature, compute unit and account left behind, and a share of refunds", () => {
	const cost = (from: [number, string], to: [number, string]) =>
		networkCost(priceCache, { origin: side(...from), destination: side(...to) });
	const inMicroUsd = (lamports: bigint) => mulDivUp(lamports, 150n, 1_000n);
	const account = 1_000n;
	const [open, release, fill] = [14_000n, 12_500n, 16_000n];
	// Two percent of a refund with the token account that may have to be created, and of a void.
	const [refunds, refundsOfSol, voids] = [41_116n, 330n, 240n];
	expect(cost([solana, "USDC"], [solana, "USDT"])).toBe(
		inMicroUsd(open + refunds) + inMicroUsd(fill + account + voids),
	);
	expect(cost([solana, "SOL"], [solana, "USDT"])).toBe(
		inMicroUsd(open + refundsOfSol) + inMicroUsd(fill + account + voids),
	);
	// The costs of the EVM sides cancel out.
	expect(
		cost([solana, "USDC"], [two, "USDC"]) -
			cost([one, "USDC"], [two, "USDC"]) +
			cost([one, "USDC"], [solana, "USDC"]),
	).toBe(inMicroUsd(open + release + account + refunds) + inMicroUsd(fill + account + voids));
});

test("a higher compute price or SOL price raises the cost on both sides", () => {
	const pair = { origin: side(solana, "USDC"), destination: side(solana, "USDT") };
	const cost = networkCost(priceCache, pair);
	expect(
		networkCost(priceCacheWith({ SOL: { usdE18: parseUnits("300", 18) } }), pair),
	).toBeGreaterThanOrEqual(2n * cost - 2n);
	const busy = config.chains.map((terms) =>
		terms.kind === "solana" ? { ...terms, computePriceMicroLamports: "1000000" } : terms,
	);
	const chain = deskChains({ chains: busy }).get(solana);
	if (!chain) throw new Error("no Solana");
	const dear = networkCost(priceCache, {
		origin: { ...pair.origin, chain },
		destination: { ...pair.destination, chain },
	});
	// The compute limits of open and fill, at one lamport per unit instead of a twentieth.
	const { open, fill } = solanaTransactions;
	expect(dear - cost).toBeGreaterThan(((open.units + fill.units) * 95n * 150n) / (100n * 1_000n));
});
