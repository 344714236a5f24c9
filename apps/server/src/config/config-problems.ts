import { isIP } from "node:net";
import type { Hash } from "viem";
import { maximumMicroLamportsPerUnit } from "../chain/solana/wallet/co-sign-order.ts";
import {
	attesterSetOfChain,
	type ChainConfig,
	type EvmChainConfig,
	evmChains,
	hostsThatAgree,
	nodesFor,
	type SolanaChainConfig,
} from "./chain-config.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

/** Lifetime of a quote, after which no build is accepted. */
const quoteSeconds = 30;
/** Half of it is the lifetime of a quote. An op expires the other half before the open deadline. */
const minOpenSeconds = 60;
const maxOpenSeconds = 900;
/** Time to send a transaction before its deadline. */
const sendSeconds = 5;
/**
 * The escrow's limit, by the time of the opening block, less a margin, because a chain's clock may be behind this
 * host's.
 */
const maxRefundSeconds = 3 * 24 * 3_600 - 600;

/** Returns problems that no single field shows. Each would lose money or refuse every swap. */
export function configProblems({
	chains: all,
	attesters,
	price,
	feeDiscount,
	treasury,
	worker,
	console: pages,
	restate,
}: Omit<Config, "deployment">): string[] {
	const problems = all.flatMap((chain) =>
		chain.kind === "evm" ? evmProblems(chain) : solanaProblems(chain, { chains: all, price }),
	);
	for (const from of all) for (const to of all) problems.push(...deadlineProblems(from, to));
	problems.push(
		...settlementProblems(all, price),
		...volatilityProblems(all, price),
		...all.flatMap(assetTermsProblems),
		...pythProblems(all, price),
	);
	// Nothing is attested if there is only one chain.
	for (const chain of all.length > 1 ? all : []) {
		const { chainId } = chain;
		const { threshold } = attesterSetOfChain(chain);
		if (attesters.length < threshold) {
			problems.push(
				`attesters: chain ${chainId} needs ${threshold}, but only ${attesters.length} are listed`,
			);
		}
	}
	for (const chain of all) {
		problems.push(...nodeProblems(chain));
		if (chain.unreleasedCapUsd < price.maximumUsd) {
			problems.push(
				`${nameOf(chain)}.unreleasedCapUsd: must be at least price.maximumUsd, or the largest swaps are never filled`,
			);
		}
	}
	if (price.minimumUsd >= price.maximumUsd) problems.push("price.minimumUsd: must be below price.maximumUsd");
	const isReachable = !isLoopback(worker.host) || (worker.publicUrl && !isLoopback(hostOf(worker.publicUrl)));
	if (isReachable && restate.identityKeys.length === 0) {
		problems.push(
			"restate.identityKeys: must not be empty, since the worker can be reached from other machines, and any caller could make the vault pay. Give Restate a key (request-identity-private-key-pem-file) and put the public key that it logs at its start here",
		);
	}
	if (pages?.publicUrl !== undefined) problems.push(...consoleProblems(pages.publicUrl));
	if (feeDiscount) problems.push(...discountProblems(feeDiscount, { chains: all }));
	if (treasury.policy.refillRelayerHours <= treasury.policy.minRelayerHours) {
		problems.push(
			"treasury.policy.refillRelayerHours: must be above minRelayerHours, or each refill is due for the next at once",
		);
	}
	for (const [i, { from, to }] of treasury.manualRoutes.entries()) {
		const isKnown = [from, to].every((id) => all.some(({ chainId }) => chainId === id));
		if (isKnown && from !== to) continue;
		problems.push(`treasury.manualRoutes.${i}: must lead from one configured chain to another`);
	}
	return problems;
}

/**
 * Returns the problems of the console's address. Browsers create passkeys only for a name, and only over HTTPS or on
 * the same machine.
 */
function consoleProblems(publicUrl: string): string[] {
	const { protocol } = new URL(publicUrl);
	const host = hostOf(publicUrl);
	return unmet([
		isIP(host) === 0 || "console.publicUrl: must have a name, since browsers make no passkeys for an address",
		protocol === "https:" ||
			host === "localhost" ||
			"console.publicUrl: must begin with https: unless its host is localhost",
	]);
}

function hostOf(url: string): string {
	return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}

function isLoopback(host: string): boolean {
	return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function nodeProblems(chain: ChainConfig): string[] {
	const { agreeAboveUsd } = chain;
	return unmet([
		(["read", "send"] as const).map(
			(role) =>
				nodesFor(role, chain).length > 0 ||
				`${nameOf(chain)}.nodes: no node has the role ${role}; give it to one`,
		),
		agreeAboveUsd === undefined ||
			hostsThatAgree(chain).length >= 2 ||
			`${nameOf(chain)}.agreeAboveUsd: needs nodes of two hosts with the role agree; one provider would only agree with itself`,
	]);
}

/** Returns the path of the chain's fields in the file. */
function nameOf(chain: ChainConfig): string {
	return chain.kind === "solana" ? "solana" : `chains.${chain.chainId}`;
}

/** Returns the conditions that are not true, as messages. */
function unmet(conditions: readonly (true | string | readonly (true | string)[])[]): string[] {
	return conditions.flat().filter((condition) => condition !== true);
}

function evmProblems(chain: EvmChainConfig): string[] {
	const { chainId, minimumTipWei, maximumTipWei } = chain;
	return unmet([
		BigInt(minimumTipWei) <= BigInt(maximumTipWei) ||
			`chains.${chainId}.minimumTipWei: must not be above maximumTipWei, ${maximumTipWei}`,
		openProblems(chain),
	]);
}

function openProblems(chain: ChainConfig): string[] {
	const { openSeconds } = chain;
	return unmet([
		openSeconds <= maxOpenSeconds ||
			`${nameOf(chain)}.openSeconds: must be at most ${maxOpenSeconds}, because the SDK refuses to sign for longer`,
		openSeconds > minOpenSeconds ||
			`${nameOf(chain)}.openSeconds: must be above ${minOpenSeconds}, so that there is time to build and submit a quote`,
	]);
}

function solanaProblems(
	solana: SolanaChainConfig,
	{ chains, price }: Pick<Config, "chains" | "price">,
): string[] {
	const { deployment, openSeconds, blockhashSeconds } = solana;
	const { least, most } = blockhashSeconds;
	const computePrice = BigInt(solana.computePriceMicroLamports);
	return unmet([
		openProblems(solana),
		least < most || `solana.blockhashSeconds: least, ${least}, must be below most, ${most}`,
		openSeconds >= quoteSeconds + most ||
			`solana.openSeconds: must be at least ${quoteSeconds + most}, because a transaction that is built when its quote expires can land for ${most} seconds more`,
		computePrice <= maximumMicroLamportsPerUnit ||
			`solana.computePriceMicroLamports: must be at most ${maximumMicroLamportsPerUnit}, because fee payers refuse to sign for more`,
		deployment.assets.map(({ symbol, kind, feed: { deviationBps } }) => {
			const takenBps = (100 * solana.spreadBps[kind] + price.optionCentibps[kind]) / 100;
			return (
				takenBps >= deviationBps ||
				`solana.spreadBps.${kind}: with price.optionCentibps.${kind} it charges ${takenBps} bps, but the feed of ${symbol} may be wrong by ${deviationBps} bps, so that each swap could gain the difference`
			);
		}),
		quoterProblems(solana, price),
		deployment.assets
			.filter(({ feed }) => !evmChains({ chains }).some(({ chainId }) => chainId === feed.chainId))
			.map(
				({ symbol, feed }) =>
					`solana: the feed of ${symbol} is on chain ${feed.chainId}, which is not configured`,
			),
	]);
}

/**
 * A quoter's price may be as old as `maxAgeSeconds`. A trader who reads the market first gains what it has moved
 * since. Margin and option must cover four standard deviations of that, as the option does of the time until a fill
 * lands.
 */
function quoterProblems({ quoter, deployment }: SolanaChainConfig, price: Config["price"]): string[] {
	if (!quoter) return [];
	const years = quoter.maxAgeSeconds / (365.25 * 86_400);
	return deployment.assets.flatMap(({ symbol, address, kind, feed: { deviationBps } }) => {
		if (address === deployment.settlementToken) return [];
		const takenBps = (100 * quoter.marginBps[kind] + price.optionCentibps[kind]) / 100;
		const volatility = (price.volatilityPercent.bySymbol[symbol] ?? price.volatilityPercent[kind]) / 100;
		const movedBps = 4 * volatility * Math.sqrt(years) * 10_000;
		return unmet([
			takenBps >= movedBps ||
				`solana.quoter.marginBps.${kind}: with price.optionCentibps.${kind} it charges ${takenBps} bps, but ${symbol} may move by ${movedBps.toFixed(1)} bps in the ${quoter.maxAgeSeconds} s of maxAgeSeconds: raise the one or lower the other`,
			quoter.deviationBps > deviationBps ||
				`solana.quoter.deviationBps: must be above ${deviationBps}, by which the feed of ${symbol} may lag the market`,
		]);
	});
}

/**
 * A feed keeps its price until the market has moved by the feed's deviation. So a trader who reads the market first
 * could give the token that fell and take another at par. Between two chains that settle in the same token there is
 * nothing to gain.
 */
function settlementProblems(
	chains: readonly ChainConfig[],
	{ settlementSpreadBps, optionCentibps }: Config["price"],
): string[] {
	const settlements = chains.map((chain) => {
		const { assets, settlementToken } = chain.deployment;
		const { symbol, feed } = assets.find(({ address }) => address === settlementToken) ?? {};
		return { name: nameOf(chain), symbol, deviationBps: feed?.deviationBps };
	});
	const takenBps = (100 * settlementSpreadBps + optionCentibps.stable) / 100;
	return settlements.flatMap((one, i) =>
		settlements.slice(i + 1).flatMap((other) => {
			if (one.symbol === other.symbol) return [];
			const unknown = [one, other].filter(({ deviationBps }) => deviationBps === undefined);
			if (unknown.length > 0) {
				return unknown.map(
					({ name, symbol }) =>
						`${name}: the deployment must give the deviationBps of the feed of ${symbol}, since another chain settles in another token`,
				);
			}
			const wrongBps = (one.deviationBps ?? 0) + (other.deviationBps ?? 0);
			return takenBps >= wrongBps
				? []
				: `price.settlementSpreadBps: with price.optionCentibps.stable it charges ${takenBps} bps, but the feeds of ${one.symbol} and ${other.symbol} may be wrong by ${wrongBps} bps, so that each swap between them could gain the difference`;
		}),
	);
}

/**
 * Returns problems with Pyth. An asset without a feed needs it, and two correct references may differ by the feed's
 * deviation.
 */
function pythProblems(chains: readonly ChainConfig[], { pyth }: Config["price"]): string[] {
	return chains.flatMap((chain) => {
		const assets: { symbol: string; pythId?: Hash; feed?: { deviationBps?: number } }[] =
			chain.deployment.assets;
		return assets.flatMap(({ symbol, pythId, feed }) => {
			if (!pyth)
				return feed ? [] : `price.pyth: is missing, but ${symbol} of ${nameOf(chain)} has no other price`;
			const deviationBps = feed?.deviationBps ?? 0;
			return pythId === undefined || pyth.deviationBps > deviationBps
				? []
				: `price.pyth.deviationBps: must be above ${deviationBps}, by which the feed of ${symbol} of ${nameOf(chain)} may lag the market`;
		});
	});
}

/** Returns unknown symbols, because the terms of a misspelt one would apply to no asset, and wrong amounts. */
function assetTermsProblems(chain: ChainConfig): string[] {
	const { assets, settlementToken } = chain.deployment;
	return Object.entries(chain.assets).flatMap(([symbol, { maxHeld }]) => {
		const name = `${nameOf(chain)}.assets.${symbol}`;
		const asset = [...assets].find((one) => one.symbol === symbol);
		if (!asset) return `${name}: the chain's deployment has no such asset`;
		const fraction = maxHeld?.split(".")[1] ?? "";
		return unmet([
			fraction.length <= asset.decimals ||
				`${name}.maxHeld: must have at most ${asset.decimals} decimals, as ${symbol} has`,
			maxHeld === undefined ||
				asset.address !== settlementToken ||
				`${name}.maxHeld: is for assets that are sold; for the settlement token set inventoryTargetUsd`,
		]);
	});
}

/** Returns unknown symbols, because a misspelt symbol would leave its asset at the volatility of its kind. */
function volatilityProblems(
	chains: readonly ChainConfig[],
	{ volatilityPercent }: Config["price"],
): string[] {
	const symbols = chains.flatMap(({ deployment }): string[] => deployment.assets.map(({ symbol }) => symbol));
	return Object.keys(volatilityPercent.bySymbol)
		.filter((symbol) => !symbols.includes(symbol))
		.map((symbol) => `price.volatilityPercent.bySymbol.${symbol}: no chain's deployment has such an asset`);
}

function discountProblems(
	{ chainId, tiers }: NonNullable<Config["feeDiscount"]>,
	config: Pick<Config, "chains">,
): string[] {
	const chain = evmChains(config).find((candidate) => candidate.chainId === chainId);
	const names = tiers.map(({ name }) => name);
	return unmet([
		chain !== undefined || `feeDiscount.chainId: chain ${chainId} is not configured, or is not an EVM chain`,
		!chain ||
			chain.deployment.feeDiscountToken !== undefined ||
			`feeDiscount.chainId: the deployment of chain ${chainId} has no feeDiscountToken`,
		names
			.filter((name, i) => names.indexOf(name) !== i)
			.map((name) => `feeDiscount.tiers: two tiers have the name ${name}`),
		tiers.slice(1).map((tier, i) => {
			const before = tiers[i];
			const isAbove =
				before !== undefined &&
				BigInt(tier.minimum) > BigInt(before.minimum) &&
				tier.discountPercent > before.discountPercent;
			return (
				isAbove ||
				`feeDiscount.tiers: ${tier.name} must have a higher minimum and a higher discountPercent than ${before?.name} before it`
			);
		}),
	]);
}

/** The deadlines of an order are those of the slower chain, as at the desk. */
function deadlineProblems(from: ChainConfig, to: ChainConfig): string[] {
	const way = `from chain ${from.chainId} to chain ${to.chainId}`;
	const fillSeconds = Math.max(from.fillSeconds, to.fillSeconds);
	const refundSeconds = Math.max(from.refundSeconds, to.refundSeconds);
	const bothFinal = from.finalitySeconds + to.finalitySeconds;
	// The service signs nothing that could land after the deadline.
	const toFill = bothFinal + to.deadAfterSeconds;
	const allSeconds = from.openSeconds + fillSeconds + refundSeconds;
	return unmet([
		fillSeconds > toFill ||
			`fillSeconds: ${fillSeconds} ${way} must be above ${toFill}, the seconds until ${to.deadAfterSeconds > 0 ? "both chains are final and a payment has landed or expired" : "both chains are final"}`,
		refundSeconds > bothFinal + sendSeconds ||
			`refundSeconds: ${refundSeconds} ${way} leaves no time to release an order that is filled late, because fill and release are final after ${bothFinal}`,
		allSeconds <= maxRefundSeconds ||
			`openSeconds, fillSeconds, refundSeconds: are ${allSeconds} together ${way}, but the escrow allows at most ${maxRefundSeconds}`,
	]);
}

/** The configuration of a service that has a console. */
export type ConsoleConfig = Omit<Config, "console"> & { console: NonNullable<Config["console"]> };

/** Throws if the configuration has no section for the console. */
export function expectConsole(config: Config, path: string): ConsoleConfig {
	const { console: section } = config;
	if (!section) {
		throw new ConfigError(
			path,
			'console: is missing. Add "console": { "port": 9090 }, as in docs/console.md',
		);
	}
	return { ...config, console: section };
}

/** Returns the address that operators type into the browser. */
export function publicUrlOf({ console: { publicUrl, port } }: ConsoleConfig): string {
	return publicUrl ?? `http://localhost:${port}`;
}

/** Returns the addresses of the workers' and the audit's metrics. */
export function metricsUrlsOf({
	console: { workerMetricsUrls },
	worker,
	audit,
}: Pick<ConsoleConfig, "console" | "worker" | "audit">): string[] {
	if (workerMetricsUrls) return workerMetricsUrls;
	return [worker.metrics, audit.metrics].flatMap((metrics) =>
		metrics ? [`http://${metrics.host}:${metrics.port}/metrics`] : [],
	);
}
