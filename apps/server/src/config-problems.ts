import { entryPoint09Address } from "viem/account-abstraction";
import type { ChainConfig, Config } from "./config.ts";

/** A quote lives half of it; an op ends the other half before the last moment to open. */
const minOpenSeconds = 60;
const maxOpenSeconds = 900;
/** In which a transaction that the deadline allows is sent. */
const sendSeconds = 5;
/** The escrow's limit, by the time of the block that opens; a chain's clock may be behind ours. */
const maxRefundSeconds = 3 * 24 * 3_600 - 600;

/** What no field shows alone: each sentence is one thing that would lose money or refuse every swap. */
export function configProblems({ chains, attesters, price }: Omit<Config, "deployment">): string[] {
	const problems = chains.flatMap((chain) => chainProblems(chain));
	for (const from of chains) for (const to of chains) problems.push(...deadlineProblems(from, to));
	// On one chain there is nothing to attest.
	for (const { chainId, deployment } of chains.length > 1 ? chains : []) {
		const { threshold } = deployment.attesterSet;
		if (attesters.length < threshold) {
			problems.push(`attesters: chain ${chainId} needs ${threshold}, and there are ${attesters.length}`);
		}
	}
	for (const { chainId, unreleasedCapUsd } of chains) {
		if (unreleasedCapUsd < price.maximumUsd) {
			problems.push(
				`chains.${chainId}.unreleasedCapUsd: is below price.maximumUsd, and such a swap is never filled`,
			);
		}
	}
	if (price.minimumUsd >= price.maximumUsd) problems.push("price.minimumUsd: is not below price.maximumUsd");
	return problems;
}

function chainProblems({ chainId, openSeconds, deployment }: ChainConfig): string[] {
	const { entryPoint } = deployment.contracts;
	return [
		deployment.kind === "eip1559"
			? []
			: `chains.${chainId}: is of kind ${deployment.kind}, and the fees of the chain below it cannot be priced yet`,
		openSeconds <= maxOpenSeconds
			? []
			: `chains.${chainId}.openSeconds: must be at most ${maxOpenSeconds}: no wallet should sign for longer, and the SDK refuses`,
		openSeconds > minOpenSeconds
			? []
			: `chains.${chainId}.openSeconds: must be above ${minOpenSeconds}, for a quote to be built and submitted`,
		entryPoint === entryPoint09Address
			? []
			: `chains.${chainId}: its deployment names the EntryPoint ${entryPoint}; ops are made for ${entryPoint09Address}`,
	].flat();
}

/** The deadlines of an order are those of the slower chain, as the desk takes them. */
function deadlineProblems(from: ChainConfig, to: ChainConfig): string[] {
	const way = `from chain ${from.chainId} to chain ${to.chainId}`;
	const fillSeconds = Math.max(from.fillSeconds, to.fillSeconds);
	const refundSeconds = Math.max(from.refundSeconds, to.refundSeconds);
	const bothFinal = from.finalitySeconds + to.finalitySeconds;
	const allSeconds = from.openSeconds + fillSeconds + refundSeconds;
	return [
		fillSeconds > bothFinal
			? []
			: `fillSeconds: ${fillSeconds} ${way} is not above the ${bothFinal} in which both are final`,
		refundSeconds > bothFinal + sendSeconds
			? []
			: `refundSeconds: ${refundSeconds} ${way} leaves no time to release what was filled last: fill and release are final after ${bothFinal}`,
		allSeconds <= maxRefundSeconds
			? []
			: `openSeconds, fillSeconds, refundSeconds: ${allSeconds} together ${way}, and an escrow takes ${maxRefundSeconds}`,
	].flat();
}
