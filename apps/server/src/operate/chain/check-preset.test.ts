import { createRequire } from "node:module";
import { join } from "node:path";
import { feedInitCodeFor, placeContract, uniswapInitCode } from "@geoswap/devnet";
import {
	type Address,
	createClient,
	custom,
	getAddress,
	type Hex,
	http,
	keccak256,
	numberToHex,
	pad,
	parseEther,
	toFunctionSelector,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DressedChain, startDressedChain } from "../../../test/chain/dressed-chain.ts";
import { checkPreset } from "./check-preset.ts";
import { codeHashes, hashWithoutAddresses, uniswapCodeHashes } from "./known-code.ts";
import { type EvmPreset, presetSchema } from "./preset-schema.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const isFull = Boolean(process.env.GEOSWAP_FULL);
const slugs = isFull ? ["base", "arbitrum", "bnb"] : ["base"];
const someone = privateKeyToAddress(generatePrivateKey());
const chains: DressedChain[] = [];
beforeAll(async () => {
	for (const slug of slugs) chains.push(await startDressedChain(slug));
	for (const { testClient } of chains) {
		await testClient.setBalance({ address: someone, value: parseEther("100") });
	}
});
afterAll(() => Promise.all(chains.map(({ stop }) => stop())));

/** Returns the parts that were refused, with the reasons. */
async function refusals({ rpcUrl }: DressedChain, preset: EvmPreset): Promise<string[]> {
	const client = createClient({ transport: http(rpcUrl, { batch: true }) });
	const findings = await checkPreset(client, preset);
	return findings.filter(({ result }) => result === "fail").map(({ part, message }) => `${part}: ${message}`);
}

/** Returns the preset with every occurrence of an address replaced. */
function withAddress(preset: EvmPreset, address: Address, other: Address): EvmPreset {
	const text = JSON.stringify(preset).replaceAll(`"${address}"`, `"${getAddress(other)}"`);
	return presetSchema.parse(JSON.parse(text)) as EvmPreset;
}

/** Returns the address with one digit changed. */
function withDigit(address: Address, at: number, by: number): Address {
	const digit = (Number.parseInt(address[at] ?? "", 16) + by) % 16;
	return getAddress(
		`0x${(address.slice(0, at) + digit.toString(16) + address.slice(at + 1)).slice(2).toLowerCase()}`,
	);
}

/** Returns each place where the preset has an address that the service would use. */
function placesOf(preset: EvmPreset): { path: string; withDigit: (at: number, by: number) => EvmPreset }[] {
	const { refused: _, ...used } = preset;
	const pathsIn = (value: unknown, path: string[]): string[][] => {
		if (typeof value === "string") return /^0x[0-9a-fA-F]{40}$/.test(value) ? [path] : [];
		if (typeof value !== "object" || value === null) return [];
		return Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]));
	};
	return pathsIn(used, []).map((path) => ({
		path: path.join("."),
		withDigit: (at, by) => {
			const copy = structuredClone(preset);
			const last = path.at(-1) ?? "";
			const holder = path.slice(0, -1).reduce((inner: unknown, name) => (inner as never)[name], copy);
			const fields = holder as Record<string, Address>;
			fields[last] = withDigit(fields[last] as Address, at, by);
			return presetSchema.parse(copy) as EvmPreset;
		},
	}));
}

function base(): DressedChain {
	const [chain] = chains;
	if (!chain) throw new Error("there is no chain");
	return chain;
}

test("a chain that matches its preset passes every check, and Uniswap's code is recognised", async () => {
	for (const chain of chains) {
		const findings = await checkPreset(chain.publicClient, chain.preset);
		expect(findings.filter(({ result }) => result !== "ok")).toEqual([]);
		expect(findings.map(({ message }) => message)).toContain(
			`has the code of ${uniswapCodeHashes.router.package}`,
		);
	}
});

test("a preset with one wrong digit in any address is refused, for each place where it has an address", {
	timeout: isFull ? 1_500_000 : 120_000,
}, async () => {
	let refused = 0;
	for (const chain of chains) {
		const places = placesOf(chain.preset);
		expect(places.length).toBeGreaterThan(15);
		for (const [i, place] of places.entries()) {
			const digits = isFull ? Array.from({ length: 40 }, (_, at) => at + 2) : [2 + ((i * 7) % 40)];
			const wrong = digits.map((at) => place.withDigit(at, 1 + ((i + at) % 15)));
			const found = await Promise.all(wrong.map((preset) => refusals(chain, preset)));
			expect(found.filter((reasons) => reasons.length === 0).length, `wrong digits in ${place.path}`).toBe(0);
			refused += found.length;
		}
	}
	console.log(`${refused} presets with one wrong digit, on ${chains.length} chains, all refused`);
});

test("an endpoint of another chain is refused before any other request", async () => {
	expect(await refusals(base(), { ...base().preset, chainId: 10 })).toEqual([
		"chainId: the endpoint is chain 8453",
	]);
});

/** Puts a contract at a new address and returns it. */
async function place(initCode: Hex): Promise<Address> {
	const address = privateKeyToAddress(generatePrivateKey());
	await placeContract(base(), someone, { address, initCode });
	return address;
}
const venue = () => {
	const found = base().preset.venues["uniswap-v3"];
	if (!found) throw new Error("the preset has no Uniswap");
	return found;
};
const feed = (pair: string) => {
	const found = base().preset.feeds.find((one) => one.pair === pair);
	if (!found) throw new Error(`the preset has no ${pair}`);
	return found.address.value;
};

test("Quoter V1 instead of QuoterV2, and the first SwapRouter instead of SwapRouter02, are refused", async () => {
	const { preset } = base();
	const { factory, quoterV2, router } = venue();
	const native = preset.wrappedNative.value;
	const quoterV1 = await place(uniswapInitCode.quoterV1(factory.value, native));
	expect(await refusals(base(), withAddress(preset, quoterV2.value, quoterV1))).toEqual([
		`venues.uniswap-v3.quoterV2: ${quoterV1} is not a QuoterV2: it lacks its quoteExactInputSingle`,
	]);
	const routerV1 = await place(uniswapInitCode.routerV1(factory.value, native));
	expect(await refusals(base(), withAddress(preset, router.value, routerV1))).toEqual([
		`venues.uniswap-v3.router: ${routerV1} is not a SwapRouter02: it lacks its exactInput without a deadline`,
	]);
});

test("a quoter or router of another factory, and one of another wrapped native token, are refused", async () => {
	const { preset } = base();
	const { factory, quoterV2 } = venue();
	const other = await place(uniswapInitCode.factory());
	const native = preset.wrappedNative.value;
	expect(await refusals(base(), withAddress(preset, factory.value, other))).toEqual([
		expect.stringContaining(`belongs to the factory ${factory.value}`),
	]);
	const ofOther = await place(uniswapInitCode.quoterV2(other, native));
	expect(await refusals(base(), withAddress(preset, quoterV2.value, ofOther))).toEqual([
		expect.stringContaining(`Uniswap's QuoterV2 at ${ofOther} belongs to the factory ${other}`),
	]);
	const ofToken = await place(uniswapInitCode.quoterV2(factory.value, other));
	expect(await refusals(base(), withAddress(preset, quoterV2.value, ofToken))).toEqual([
		expect.stringContaining(`has the wrapped native token ${other}`),
	]);
});

test("another pair's feed, a test feed and a feed with other decimals are refused", async () => {
	const { preset } = base();
	const swapped = withAddress(preset, feed("ETH/USD"), feed("USDC/USD"));
	expect(await refusals(base(), swapped)).toEqual([
		`feeds.ETH/USD: the feed at ${feed("USDC/USD")} is "USDC / USD", but the preset has ETH / USD`,
	]);
	const capped = await place(feedInitCodeFor({ description: "TEST CAPPED USDC / USD", usd: "1" }));
	expect(await refusals(base(), withAddress(preset, feed("USDC/USD"), capped))).toEqual([
		`feeds.USDC/USD: the feed at ${capped} is "TEST CAPPED USDC / USD", but the preset has USDC / USD`,
	]);
	const decimals = { ...preset, feeds: preset.feeds.map((one) => ({ ...one, decimals: 18 })) };
	expect(await refusals(base(), decimals)).toContain(
		`feeds.USDC/USD: the feed at ${feed("USDC/USD")} has 8 decimals, but the preset has 18`,
	);
});

test("a bounded feed, which stops at its bound while the price moves on, is refused", async () => {
	const { preset, publicClient } = base();
	const answers = new Map<Hex, Hex>([
		[toFunctionSelector("function aggregator()"), pad(feed("USDC/USD"))],
		[toFunctionSelector("function minAnswer()"), numberToHex(1, { size: 32 })],
		[toFunctionSelector("function maxAnswer()"), numberToHex(104_000_000, { size: 32 })],
	]);
	const client = createClient({
		transport: custom({
			request: async ({ method, params }) => {
				const [call] = params ?? [];
				const isAsked = method === "eth_call" && call.to.toLowerCase() === feed("USDC/USD").toLowerCase();
				return (isAsked && answers.get(call.data)) || publicClient.request({ method, params });
			},
		}),
	});
	const findings = await checkPreset(client, preset);
	expect(findings.filter(({ result }) => result === "fail").map(({ message }) => message)).toEqual([
		`the feed at ${feed("USDC/USD")} is bounded; it returns 100000000, and never less than 1 or more than 104000000`,
	]);
});

test("a token with another symbol or other decimals is refused", async () => {
	const { preset } = base();
	const change = (changed: Partial<EvmPreset["tokens"][number]>) => ({
		...preset,
		tokens: preset.tokens.map((token) => (token.symbol === "USDT" ? { ...token, ...changed } : token)),
	});
	const [refused = "", ...others] = await refusals(base(), change({ decimals: 18 }));
	expect([refused, others]).toEqual(["tokens.USDT: USDT has 6 decimals, the config says 18", []]);
	expect(await refusals(base(), change({ symbol: "USDT0" }))).toEqual([
		expect.stringContaining("is USDT, the config says USDT0"),
	]);
});

test("each address that is known to be a common mistake is refused, regardless of its code", async () => {
	const { preset } = base();
	expect(preset.refused.length).toBeGreaterThan(4);
	for (const { address, because } of preset.refused) {
		await placeContract(base(), someone, {
			address,
			initCode: feedInitCodeFor({ description: "ETH / USD", usd: "3000" }),
		});
		expect(await refusals(base(), withAddress(preset, feed("ETH/USD"), address))).toEqual([
			`feeds.ETH/USD: ${address}: ${because}`,
		]);
	}
});

test("the known code hashes match those of the packages and of anvil", async () => {
	const require = createRequire(join(import.meta.dirname, "../../../../../devnet/package.json"));
	const artifact = (path: string): Hex => require(path).deployedBytecode;
	const swapRouter = "@uniswap/swap-router-contracts/artifacts/contracts";
	expect({
		factory: hashWithoutAddresses(
			artifact("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"),
		),
		router: hashWithoutAddresses(artifact(`${swapRouter}/SwapRouter02.sol/SwapRouter02.json`)),
		quoterV2: hashWithoutAddresses(artifact(`${swapRouter}/lens/QuoterV2.sol/QuoterV2.json`)),
	}).toEqual({
		factory: uniswapCodeHashes.factory.hash,
		router: uniswapCodeHashes.router.hash,
		quoterV2: uniswapCodeHashes.quoterV2.hash,
	});
	for (const [address, hash] of Object.entries(codeHashes) as [Address, Hex][]) {
		const code = await base().publicClient.getCode({ address });
		expect(keccak256(code ?? "0x")).toBe(hash);
	}
});
