import { type Adding, endsOf, hasCanaryReturned, type Outcome, readConfigured } from "./adding.ts";
import { runCanary } from "./run-canary.ts";

/** Swaps about a dollar to the chain and back. */
export async function sendCanary(adding: Adding): Promise<Outcome> {
	const { apiUrl, apiKey, walletKey, isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found || isDryRun) {
		return { state: "would do", lines: ["swap about one dollar to the chain and back"] };
	}
	if (hasCanaryReturned(adding)) return { state: "done already", lines: ["the chain is offered to all"] };
	if (!apiUrl || !apiKey || !walletKey) {
		return {
			state: "waiting",
			lines: ["set GEOSWAP_CANARY_PRIVATE_KEY, a wallet with a few dollars; then run again"],
		};
	}
	const lines: string[] = [];
	const legs = await runCanary({
		...endsOf(adding, found),
		apiUrl,
		apiKey,
		walletKey,
		pins: found.deployment,
		minimumUsd: found.file.price?.minimumUsd ?? 1,
		folder: adding.chainFile(".canary"),
		onProgress: (line) => void lines.push(line),
	});
	for (const { from, to, swap } of legs) {
		lines.push(
			`settled: ${from.symbol} on ${from.chainId} to ${swap.funds.amount} ${to.symbol} on ${to.chainId}, ${swap.swapId}`,
		);
	}
	return { state: legs.every(({ wasDone }) => wasDone) ? "done already" : "done", lines };
}
