import { startTestChains, type TestChains } from "@geoswap/devnet";
import { vaultPath } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, concat, type Hex, parseAbi, slice } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectChain, type EvmChain } from "../../chain/evm/connect-chain.ts";
import { type BlockPrices, readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { interpolate, interpolateBest } from "./interpolate.ts";

const topUsd = 500_000;

// The ABI is declared again and the paths are built by hand. With the reader's own, an error would be in both places.
const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) view returns (uint256 amountOut, uint160[], uint32[], uint256)",
]);

let chains: TestChains;
let chain: EvmChain;
let prices: BlockPrices;
let usdt: Address | undefined;
beforeAll(async () => {
	chains = await startTestChains();
	chain = connectChain({
		chainId: chains.origin.chainId,
		rpcUrl: chains.origin.rpcUrl,
		deployment: chains.origin.deployment,
	});
	usdt = chain.deployment.assets.find(({ symbol }) => symbol === "USDT")?.address;
	prices = await readBlockPrices(chain, { block: await chain.client.getBlock(), topUsd });
});
afterAll(() => chains.stop());

test("between rungs, alone or after other volume, no price is above the pools' payout", async () => {
	const cases = [...prices.assets].flatMap(([asset, { buy, sell }]) =>
		(["buy", "sell"] as const).flatMap((direction) =>
			(direction === "buy" ? buy : sell).flatMap(({ fees, rungs }) =>
				fc
					.sample(sizes(rungs.at(-1)?.input ?? 0n), { numRuns: 60, seed: 7 })
					.map(({ before, input }) => ({ asset, direction, fees, rungs, before, input })),
			),
		),
	);
	expect(cases.length).toBe(5 * 2 * 60);
	const sums = await quote(cases.map((c) => ({ ...c, amount: c.before + c.input })));
	const befores = await quote(cases.map((c) => ({ ...c, amount: c.before })));
	const violations = cases.filter(({ rungs, before, input }, i) => {
		const promised = interpolate(rungs, input, before);
		return promised === undefined || promised > (sums[i] ?? 0n) - (befores[i] ?? 0n);
	});
	expect(violations).toEqual([]);
});

test("a price is close to the pools' payout", async () => {
	for (const [asset, { buy, sell }] of prices.assets) {
		for (const [direction, ladders] of [["buy", buy] as const, ["sell", sell] as const]) {
			for (const { fees, rungs } of ladders) {
				const amount = (rungs.at(-1)?.input ?? 0n) / 37n;
				const [paid = 0n] = await quote([{ asset, direction, fees, amount }]);
				expect(interpolate(rungs, amount)).toBeGreaterThan((paid * 9_995n) / 10_000n);
				expect(interpolate(rungs, amount, amount)).toBeGreaterThan((paid * 9_950n) / 10_000n);
			}
		}
	}
});

test("no amount above the top rung is priced, and the best ladder that reaches far enough is used", () => {
	const short = { fees: [1], rungs: [{ input: 100n, output: 1_000n }] };
	const long = { fees: [2], rungs: [{ input: 1_000n, output: 9_000n }] };
	expect(interpolate(short.rungs, 100n)).toBeGreaterThan(0n);
	expect(interpolate(short.rungs, 101n)).toBeUndefined();
	expect(interpolate(short.rungs, 60n, 41n)).toBeUndefined();
	expect(interpolateBest([long, short], 100n)?.fees).toEqual([1]);
	expect(interpolateBest([long, short], 101n)?.fees).toEqual([2]);
	expect(interpolateBest([long, short], 1_001n)).toBeUndefined();
});

test("a larger input never gives a smaller output", () => {
	for (const { rungs } of [...prices.assets.values()].flatMap(({ buy, sell }) => [...buy, ...sell])) {
		const top = rungs.at(-1)?.input ?? 0n;
		fc.assert(
			fc.property(fc.bigInt(1n, top), fc.bigInt(1n, top), (a, b) => {
				const [less, more] = a < b ? [a, b] : [b, a];
				expect(interpolate(rungs, more)).toBeGreaterThanOrEqual(interpolate(rungs, less) ?? 0n);
			}),
		);
	}
});

/** Generates sizes of all magnitudes up to the top, half of them with volume before them. */
function sizes(top: bigint): fc.Arbitrary<{ before: bigint; input: bigint }> {
	const magnitude = fc.integer({ min: 0, max: top.toString(2).length - 2 });
	const size = magnitude.chain((bits) => fc.bigInt(1n << BigInt(bits), (1n << BigInt(bits + 1)) - 1n));
	return fc
		.record({ before: fc.oneof(fc.constant(0n), size), input: size })
		.filter(({ before, input }) => before + input <= top);
}

async function quote(
	questions: { asset: Address; direction: "buy" | "sell"; fees: number[]; amount: bigint }[],
): Promise<bigint[]> {
	const answers = await chain.client.multicall({
		batchSize: 60 * 300,
		blockNumber: BigInt(prices.blockNumber),
		contracts: questions.map(
			({ asset, direction, fees, amount }) =>
				({
					address: chain.deployment.uniswap.quoterV2,
					abi: quoterAbi,
					functionName: "quoteExactInput",
					args: [pathOf(asset, direction, fees), amount],
				}) as const,
		),
	});
	return answers.map(({ result }, i) => {
		// An amount worth less than a unit of the output gets no quote. Any larger amount must get one.
		const { amount = 0n, asset, direction } = questions[i] ?? {};
		const dust = direction === "sell" && asset !== usdt ? 10n ** 13n : 10n;
		if (!result && amount > dust) throw new Error(`no quote for ${amount}`);
		return result?.[0] ?? 0n;
	});
}

function pathOf(asset: Address, direction: "buy" | "sell", fees: number[]): Hex {
	const path = vaultPath(chain.deployment, { asset, fees });
	if (direction === "buy") return path;
	const [from, firstFee, middle] = [slice(path, 0, 20), slice(path, 20, 23), slice(path, 23, 43)];
	return fees.length === 1
		? concat([middle, firstFee, from])
		: concat([slice(path, 46, 66), slice(path, 43, 46), middle, firstFee, from]);
}
