import { entryPoint09Address } from "viem/account-abstraction";
import { maximumMicroLamportsPerUnit } from "./chain/solana/co-sign-order.ts";
import type { ChainConfig, Config, SolanaConfig } from "./config.ts";

/** How long a quote lives: a build comes no later. */
const quoteSeconds = 30;
/** A quote lives half of it; an op ends the other half before the last moment to open. */
const minOpenSeconds = 60;
const maxOpenSeconds = 900;
/** In which a transaction that the deadline allows is sent. */
const sendSeconds = 5;
/** The escrow's limit, by the time of the block that opens; a chain's clock may be behind ours. */
const maxRefundSeconds = 3 * 24 * 3_600 - 600;

/** What no field shows alone: each sentence is one thing that would lose money or refuse every swap. */
export function configProblems({
	chains,
	solana,
	attesters,
	price,
	feeDiscount,
}: Omit<Config, "deployment">): string[] {
	const problems = chains.flatMap((chain) => chainProblems(chain));
	if (solana) problems.push(...solanaProblems(solana, { chains, price }));
	const all: AnyChain[] = [...chains, ...(solana ? [solana] : [])];
	for (const from of all) for (const to of all) problems.push(...deadlineProblems(from, to));
	// On one chain there is nothing to attest, nor where the input is on Solana.
	for (const { chainId, deployment } of all.length > 1 ? chains : []) {
		const { threshold } = deployment.attesterSet;
		if (attesters.length < threshold) {
			problems.push(`attesters: chain ${chainId} needs ${threshold}, and there are ${attesters.length}`);
		}
	}
	for (const chain of all) {
		if (chain.secondProvider && isSameEndpoint(chain.rpcUrl, chain.secondProvider.rpcUrl)) {
			problems.push(
				`${nameOf(chain)}.secondProvider.rpcUrl: is the endpoint of rpcUrl, which would only agree with itself`,
			);
		}
		if (chain.unreleasedCapUsd < price.maximumUsd) {
			problems.push(
				`${nameOf(chain)}.unreleasedCapUsd: is below price.maximumUsd, and such a swap is never filled`,
			);
		}
	}
	if (price.minimumUsd >= price.maximumUsd) problems.push("price.minimumUsd: is not below price.maximumUsd");
	if (feeDiscount) problems.push(...discountProblems(feeDiscount, { chains }));
	return problems;
}

type AnyChain = ChainConfig | SolanaConfig;

/** By where it is: two keys of one host are one provider's. */
function isSameEndpoint(one: string, other: string): boolean {
	return new URL(one).host === new URL(other).host;
}

/** Where its fields stand in the file. */
function nameOf(chain: AnyChain): string {
	return isSolana(chain) ? "solana" : `chains.${chain.chainId}`;
}

function isSolana(chain: AnyChain): chain is SolanaConfig {
	return "blockhashSeconds" in chain;
}

function chainProblems(chain: ChainConfig): string[] {
	const { chainId, deployment } = chain;
	const { entryPoint } = deployment.contracts;
	return [
		deployment.kind === "eip1559"
			? []
			: `chains.${chainId}: is of kind ${deployment.kind}, and the fees of the chain below it cannot be priced yet`,
		openProblems(chain),
		entryPoint === entryPoint09Address
			? []
			: `chains.${chainId}: its deployment names the EntryPoint ${entryPoint}; ops are made for ${entryPoint09Address}`,
	].flat();
}

function openProblems(chain: AnyChain): string[] {
	const { openSeconds } = chain;
	return [
		openSeconds <= maxOpenSeconds
			? []
			: `${nameOf(chain)}.openSeconds: must be at most ${maxOpenSeconds}: no wallet should sign for longer, and the SDK refuses`,
		openSeconds > minOpenSeconds
			? []
			: `${nameOf(chain)}.openSeconds: must be above ${minOpenSeconds}, for a quote to be built and submitted`,
	].flat();
}

function solanaProblems(solana: SolanaConfig, { chains, price }: Pick<Config, "chains" | "price">): string[] {
	const { deployment, openSeconds, markerSeconds, blockhashSeconds } = solana;
	const { least, most } = blockhashSeconds;
	const computePrice = BigInt(solana.computePriceMicroLamports);
	const symbols = deployment.assets.map(({ symbol }) => symbol);
	// The slower chain decides how long an order takes.
	const slowest = (seconds: (chain: AnyChain) => number) => Math.max(...[solana, ...chains].map(seconds));
	const orderSeconds =
		slowest((chain) => chain.openSeconds) +
		slowest((chain) => chain.fillSeconds) +
		slowest((chain) => chain.refundSeconds);
	return [
		openProblems(solana),
		least < most ? [] : `solana.blockhashSeconds: least, ${least}, is not below most, ${most}`,
		openSeconds >= quoteSeconds + most
			? []
			: `solana.openSeconds: must be at least ${quoteSeconds + most}: what is built when a quote ends can land for ${most} more`,
		computePrice <= maximumMicroLamportsPerUnit
			? []
			: `solana.computePriceMicroLamports: is above ${maximumMicroLamportsPerUnit}, and no fee payer signs for that`,
		markerSeconds > orderSeconds
			? []
			: `solana.markerSeconds: must be above ${orderSeconds}, in which an order is decided: what comes after could be paid twice`,
		Object.keys(solana.outflowCaps)
			.filter((symbol) => !symbols.includes(symbol))
			.map((symbol) => `solana.outflowCaps.${symbol}: the deployment has no such asset`),
		deployment.assets
			.filter(({ kind, symbol }) => kind === "volatile" && solana.outflowCaps[symbol] === undefined)
			.map(
				({ symbol }) =>
					`solana.outflowCaps: has no cap for ${symbol}, and a feed that is wrong would cost all of it`,
			),
		deployment.assets.flatMap(({ symbol, kind, feed: { deviationBps } }) => {
			const takenBps = (100 * solana.spreadBps[kind] + price.optionCentibps[kind]) / 100;
			return takenBps >= deviationBps
				? []
				: `solana.spreadBps.${kind}: with price.optionCentibps.${kind} it takes ${takenBps}, and the feed of ${symbol} may be wrong by ${deviationBps}: each swap could take the rest`;
		}),
		deployment.assets
			.filter(({ feed }) => !chains.some(({ chainId }) => chainId === feed.chainId))
			.map(
				({ symbol, feed }) =>
					`solana: the feed of ${symbol} is on chain ${feed.chainId}, which is not configured`,
			),
	].flat();
}

function discountProblems(
	{ chainId, tiers }: NonNullable<Config["feeDiscount"]>,
	{ chains }: Pick<Config, "chains">,
): string[] {
	const chain = chains.find((candidate) => candidate.chainId === chainId);
	const names = tiers.map(({ name }) => name);
	return [
		chain ? [] : `feeDiscount.chainId: chain ${chainId} is not configured, or not of the EVM kind`,
		!chain || chain.deployment.feeDiscountToken
			? []
			: `feeDiscount.chainId: the deployment of chain ${chainId} has no feeDiscountToken`,
		names
			.filter((name, i) => names.indexOf(name) !== i)
			.map((name) => `feeDiscount.tiers: two are named ${name}`),
		tiers.slice(1).flatMap((tier, i) => {
			const before = tiers[i];
			const isAbove =
				before &&
				BigInt(tier.minimum) > BigInt(before.minimum) &&
				tier.discountPercent > before.discountPercent;
			return isAbove
				? []
				: `feeDiscount.tiers: ${tier.name} must ask for more, and take more off, than ${before?.name}, which is before it`;
		}),
	].flat();
}

/** The deadlines of an order are those of the slower chain, as the desk takes them. */
function deadlineProblems(from: AnyChain, to: AnyChain): string[] {
	const way = `from chain ${from.chainId} to chain ${to.chainId}`;
	const fillSeconds = Math.max(from.fillSeconds, to.fillSeconds);
	const refundSeconds = Math.max(from.refundSeconds, to.refundSeconds);
	const bothFinal = from.finalitySeconds + to.finalitySeconds;
	// On Solana nothing is signed that could land after the deadline.
	const toFill = bothFinal + (isSolana(to) ? to.blockhashSeconds.most : 0);
	const allSeconds = from.openSeconds + fillSeconds + refundSeconds;
	return [
		fillSeconds > toFill
			? []
			: `fillSeconds: ${fillSeconds} ${way} is not above the ${toFill} in which ${isSolana(to) ? "both are final and a payment lands or dies" : "both are final"}`,
		refundSeconds > bothFinal + sendSeconds
			? []
			: `refundSeconds: ${refundSeconds} ${way} leaves no time to release what was filled last: fill and release are final after ${bothFinal}`,
		isSolana(from) || allSeconds <= maxRefundSeconds
			? []
			: `openSeconds, fillSeconds, refundSeconds: ${allSeconds} together ${way}, and an escrow takes ${maxRefundSeconds}`,
	].flat();
}
