import {
	type AssetDeployment,
	attesterSetHash,
	type ChainDeployment,
	chainDeploymentSchema,
	fromSolanaWord,
	type Milliseconds,
	type SolanaDeployment,
	solanaChainId,
	solanaDeploymentSchema,
	solanaNativeToken,
} from "@geoswap/protocol";
import { type Address, getAddress, keccak256, numberToHex, stringToHex, zeroAddress } from "viem";
import type { FeedAnswer } from "../../src/chain/evm/read/light-call.ts";
import type { BlockPrices, Ladder } from "../../src/chain/evm/read/read-block-prices.ts";
import { type Config, configSchema } from "../../src/config/config.ts";
import { joinDeployment } from "../../src/config/read-config.ts";
import { type HashedRandom, hashedRandom } from "../../src/operate/shadow/generate-requests.ts";
import { testProgram } from "../order/test-program.ts";

// An invented day. Prices follow a random walk with a yearly volatility near that of recent years, feeds follow them
// with Chainlink's deviations and heartbeats, pools have a fee and a depth, and base fees move by at most an eighth per
// reading. Only the randomness of the addresses and the walks comes from the seed.

type Symbol = "ETH" | "WETH" | "BTC" | "USDC" | "USDT" | "SOL";
type Market = Record<Symbol, number>;

const startPrices: Market = { ETH: 3_000, WETH: 3_000, BTC: 90_000, USDC: 1, USDT: 1, SOL: 150 };
/** Standard deviation of the logarithm over a year. Stable tokens return to one instead. */
const volatility = { ETH: 0.7, BTC: 0.5, SOL: 0.9 } as const;
const yearSeconds = 365.25 * 86_400;
const stableWobble = 0.0004;

/** Deviation at which a feed is updated before its heartbeat. */
const deviation = { stable: 0.0025, volatile: 0.005 } as const;

type GeneratedAsset = Pick<AssetDeployment, "kind" | "paths"> & {
	decimals: 6 | 8 | 18;
	symbol: Symbol;
	heartbeatSeconds: number;
	/** Value that moves the pool's price by half. */
	depthUsd: number;
};

const stable = { kind: "stable", decimals: 6, heartbeatSeconds: 86_400, depthUsd: 500_000_000 } as const;
const ether = {
	kind: "volatile",
	decimals: 18,
	heartbeatSeconds: 3_600,
	paths: [[500]],
	depthUsd: 80_000_000,
} as const;
const assets: readonly GeneratedAsset[] = [
	{ symbol: "USDC", ...stable, paths: [] },
	{ symbol: "USDT", ...stable, paths: [[100]] },
	{ symbol: "ETH", ...ether, paths: [[500]] },
	{ symbol: "WETH", ...ether, paths: [[500]] },
	{ symbol: "BTC", ...ether, decimals: 8, paths: [[500], [500, 500]], depthUsd: 40_000_000 },
];

const chains = [
	{ chainId: 8_453, name: "Base", kind: "op-stack", baseFeeWei: 10_000_000 },
	{ chainId: 42_161, name: "Arbitrum", kind: "arbitrum", baseFeeWei: 20_000_000 },
] as const;

/** Rungs of a ladder in USD. */
const rungsUsd = [100, 5_000, 50_000, 500_000];

const made = new Map<string, Address>();

/** Returns an address that follows from a text. */
function seedOf(text: string): Address {
	const address = made.get(text) ?? getAddress(`0x${keccak256(stringToHex(text)).slice(-40)}`);
	made.set(text, address);
	return address;
}

/** Returns the configuration of the generated day, with two EVM chains, and Solana, which their feeds price. */
export function generatedConfig({ price = {} }: { price?: Partial<Config["price"]> } = {}): Config {
	const deployments = chains.map(deploymentOf);
	const [first] = deployments;
	if (!first) throw new Error("there are chains");
	const nodes = [{ url: "http://node.invalid" }];
	const terms = {
		nodes,
		depths: [
			{ upToUsd: 1_000, blocks: 1 },
			{ upToUsd: 20_000, blocks: 10 },
		],
		finalitySeconds: 900,
		fillSeconds: 3_600,
		refundSeconds: 7_200,
	};
	const file = configSchema.parse({
		deployment: "",
		chains: Object.fromEntries(chains.map(({ chainId }) => [chainId, terms])),
		solana: {
			nodes,
			fillSeconds: 3_600,
			refundSeconds: 7_200,
			depths: [{ upToUsd: 1_000, blocks: 1 }],
		},
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://engine.invalid", adminUrl: "http://engine.invalid" },
		price,
	});
	return joinDeployment("the generated day", file, { chains: deployments, solana: solanaOf(first) });
}

function deploymentOf({ chainId, name, kind }: (typeof chains)[number]): ChainDeployment {
	const at = (what: string) => seedOf(`${chainId}/${what}`);
	const attesters = [seedOf("attester")];
	return chainDeploymentSchema.parse({
		chainId,
		name,
		kind,
		contracts: {
			delegate: at("delegate"),
			typedDelegate: at("typed delegate"),
			earlierDelegates: [],
			escrow: at("escrow"),
			earlierEscrows: [],
			vault: at("vault"),
			earlierVaults: [],
			accessManager: at("manager"),
		},
		attesterSet: { threshold: 1, attesters, hash: attesterSetHash({ threshold: 1, attesters }) },
		uniswap: { factory: at("factory"), router: at("router"), quoterV2: at("quoter") },
		wrappedNative: at("WETH"),
		settlementToken: at("USDC"),
		assets: assets.map(({ symbol, decimals, kind, paths, heartbeatSeconds }) => ({
			symbol,
			address: symbol === "ETH" ? zeroAddress : at(symbol),
			decimals,
			kind,
			feed: { address: at(`${symbol === "WETH" ? "ETH" : symbol} feed`), heartbeatSeconds, deviationBps: 50 },
			paths,
		})),
		deployedAtBlock: 0,
	});
}

function solanaOf({ chainId }: ChainDeployment): SolanaDeployment {
	const made = (n: number) => fromSolanaWord(numberToHex((BigInt(n) << 240n) + 7n, { size: 32 }));
	const feed = (symbol: Symbol, heartbeatSeconds: number, deviationBps: number) => ({
		chainId,
		address: seedOf(`${chainId}/${symbol} feed`),
		heartbeatSeconds,
		deviationBps,
	});
	return solanaDeploymentSchema.parse({
		chainId: solanaChainId,
		name: "Solana",
		genesisHash: made(1),
		feePayers: [made(2)],
		program: testProgram({ address: made(4), vault: made(5), operator: made(7) }),
		settlementToken: made(6),
		assets: [
			{ symbol: "USDC", address: made(6), decimals: 6, kind: "stable", feed: feed("USDC", 86_400, 25) },
			{
				symbol: "SOL",
				address: solanaNativeToken,
				decimals: 9,
				kind: "volatile",
				feed: feed("SOL", 3_600, 50),
			},
		],
	});
}

/** Returns readings of both EVM chains, in the order of their times. */
export function* generatedPrices({
	seed,
	startMs,
	hours,
	everySeconds,
	crash,
}: {
	seed: string;
	startMs: Milliseconds;
	hours: number;
	/** The block time of both chains. Each block is read. */
	everySeconds: number;
	/** If set, all volatile prices are multiplied by this at that time. */
	crash?: { atMs: Milliseconds; factor: number };
}): Generator<{ kind: "prices"; atMs: Milliseconds; prices: BlockPrices }> {
	const random = hashedRandom(`${seed}/prices`);
	const market = { ...startPrices };
	const state = chains.map((chain) => ({
		deployment: deploymentOf(chain),
		baseFee: chain.baseFeeWei as number,
		usualBaseFee: chain.baseFeeWei,
		feeds: new Map<Address, FeedAnswer & { usd: number }>(),
	}));
	const readings = Math.floor((hours * 3_600) / everySeconds);
	for (let i = 0; i < readings; i++) {
		const atMs = startMs + i * everySeconds * 1_000;
		if (i > 0) moveMarket(market, everySeconds, random);
		if (crash && atMs >= crash.atMs && atMs < crash.atMs + everySeconds * 1_000) {
			for (const symbol of ["ETH", "WETH", "BTC", "SOL"] as const) market[symbol] *= crash.factor;
		}
		for (const [n, chain] of state.entries()) {
			// At most an eighth per reading, and pulled back to the chain's usual fee.
			const pull = Math.log(chain.usualBaseFee / chain.baseFee) / 200;
			const step = Math.min(Math.max(pull + 0.05 * random.normal(), -0.117), 0.117);
			chain.baseFee *= Math.exp(step);
			updateFeeds(chain, market, atMs / 1_000);
			// Nodes answer a little after the block's time, and never at the same moment.
			const prices = reading(chain, { market, atMs, blockNumber: i + 1 });
			yield { kind: "prices", atMs: atMs + 300 + 40 * n, prices };
		}
	}
}

function moveMarket(market: Market, seconds: number, random: HashedRandom): void {
	for (const symbol of ["ETH", "BTC", "SOL"] as const) {
		market[symbol] *= Math.exp(volatility[symbol] * Math.sqrt(seconds / yearSeconds) * random.normal());
	}
	market.WETH = market.ETH;
	for (const symbol of ["USDC", "USDT"] as const) {
		market[symbol] += (1 - market[symbol]) / 100 + (stableWobble / 10) * random.normal();
	}
}

type ChainState = {
	deployment: ChainDeployment;
	baseFee: number;
	feeds: Map<Address, FeedAnswer & { usd: number }>;
};

/** Updates each feed whose answer differs from the market by its deviation, or whose heartbeat is over. */
function updateFeeds({ deployment, feeds }: ChainState, market: Market, unixSeconds: number): void {
	const sol = { symbol: "SOL" as const, kind: "volatile" as const, heartbeatSeconds: 3_600 };
	for (const { symbol, kind, heartbeatSeconds } of [...assets, sol]) {
		const address = seedOf(`${deployment.chainId}/${symbol === "WETH" ? "ETH" : symbol} feed`);
		const feed = feeds.get(address);
		const usd = market[symbol];
		const isDue =
			!feed ||
			unixSeconds - feed.updatedAtUnixSeconds >= heartbeatSeconds ||
			Math.abs(usd / feed.usd - 1) >= deviation[kind];
		if (isDue) feeds.set(address, { usd, usdE18: e18Of(usd), updatedAtUnixSeconds: Math.floor(unixSeconds) });
	}
}

function reading(
	{ deployment, baseFee, feeds }: ChainState,
	{ market, atMs, blockNumber }: { market: Market; atMs: Milliseconds; blockNumber: number },
): BlockPrices {
	const answers = new Map<Address, FeedAnswer>(
		[...feeds].map(([address, { usdE18, updatedAtUnixSeconds }]) => [
			address,
			{ usdE18, updatedAtUnixSeconds },
		]),
	);
	const settlement: Priced = { usd: market.USDC, decimals: 6 };
	return {
		chainId: deployment.chainId,
		blockHash: numberToHex(blockNumber, { size: 32 }),
		blockNumber,
		timestampUnixSeconds: Math.floor(atMs / 1_000),
		fees: {
			baseFee: BigInt(Math.round(baseFee)),
			tip: 1_000_000n,
			// The base fee of the chain below follows the same walk, so its data costs about as much as the gas does.
			l1: {
				picoWeiPerDataUnit:
					BigInt(Math.round(baseFee * 1_000)) * (deployment.kind === "arbitrum" ? 100_000_000n : 100n),
				operatorWeiPerMillionGas: deployment.kind === "op-stack" ? 7n : 0n,
				operatorWei: 0n,
			},
		},
		tipReadAtUnixSeconds: Math.floor(atMs / 1_000),
		assets: new Map(
			assets.map(({ symbol, decimals, paths, depthUsd }, i) => {
				const asset = deployment.assets[i];
				const feed = asset?.feed && answers.get(asset.feed.address);
				if (!asset || !feed) throw new Error(`${symbol} has a feed`);
				const own: Priced = { usd: market[symbol], decimals };
				const ladders = (from: Priced, to: Priced): Ladder[] =>
					paths.map((fees) => ({ fees: [...fees], rungs: rungsOf(from, to, { fees, depthUsd }) }));
				return [asset.address, { feed, buy: ladders(settlement, own), sell: ladders(own, settlement) }];
			}),
		),
		feeds: answers,
	};
}

type Priced = { usd: number; decimals: 6 | 8 | 18 };

/**
 * Returns the rungs of a pool, which are the market's price less the fees, and less the part of the depth that is used.
 */
function rungsOf(
	from: Priced,
	to: Priced,
	{ fees, depthUsd }: { fees: readonly number[]; depthUsd: number },
): Ladder["rungs"] {
	return rungsUsd.map((usd) => {
		const input = scaled(usd / from.usd, from.decimals);
		const paid = fees.reduce((left, fee) => left * (1 - fee / 1_000_000), usd);
		return { input, output: scaled((paid * depthUsd) / (depthUsd + usd) / to.usd, to.decimals) };
	});
}

const nano = 1_000_000_000n;

/** Converts to the token's smallest unit, exact to nine decimals. */
function scaled(amount: number, decimals: 6 | 8 | 18): bigint {
	const nanos = BigInt(Math.round(amount * 1e9));
	return decimals === 18 ? nanos * nano : nanos / (decimals === 6 ? 1_000n : 10n);
}

function e18Of(usd: number): bigint {
	return scaled(usd, 18);
}
