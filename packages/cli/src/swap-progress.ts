import type { Deployment, StatusResponse, SwapStage } from "@geoswap/protocol";
import { formatAmount } from "./format-amount.ts";
import type { Line, Output } from "./output.ts";
import { isSameAddress, pinnedChains } from "./pinned-assets.ts";

const stageTexts: Record<SwapStage, string> = {
	opening: "opening: the input is not in escrow yet",
	deposited: "deposited: the input is in escrow",
	delivering: "delivering: the output is on its way",
	delivered: "delivered: the recipient has the output",
	refunding: "refunding: the input is on its way back",
};
const hashes = [
	["originTxHash", "input taken by"],
	["deliveryTxHash", "output delivered by"],
	["refundTxHash", "input given back by"],
] as const;

const silenceMs = 5_000;

/** Reports each event once, with the time since the start. */
export function createProgress(output: Output, nowMs: () => number = () => performance.now()) {
	const startedMs = nowMs();
	const told = new Set<string>();
	const say = (text: string, style?: Parameters<Output["say"]>[1]) => {
		const elapsed = `${((nowMs() - startedMs) / 1000).toFixed(1)} s`;
		output.say([elapsed.padStart(8), text], style);
	};
	const sayOnce = (text: string) => {
		if (!told.has(text)) say(text);
		told.add(text);
	};
	return {
		say,
		/** Says that it still waits if the service reports nothing new for a while, after each `heard` and until `stop`. */
		watchSilence: (baseUrl: string): { heard: () => void; stop: () => void } => {
			const timer = setTimeout(() => say(`still waiting for news from ${baseUrl}`), silenceMs);
			return { heard: () => timer.refresh(), stop: () => clearTimeout(timer) };
		},
		sayStatus: (swap: StatusResponse) => {
			for (const [field, text] of hashes) if (swap[field]) sayOnce(`${text} ${swap[field]}`);
			if (swap.status !== "pending") say(swap.status, swap.status === "settled" ? "green" : "yellow");
			else sayOnce(stageTexts[swap.stage] ?? swap.stage);
		},
	};
}

/** Returns the swap's state, for a person. */
export function swapLines(pins: Deployment, swap: StatusResponse): Line[] {
	const { status, stage, failure, decidedBy, funds } = swap;
	return [
		["swap", swap.swapId],
		["status", status === "pending" ? `pending, ${stageTexts[stage] ?? stage}` : status],
		...(failure ? [["why", `${failure.code}: ${failure.message}`] satisfies Line] : []),
		...(decidedBy ? [["decided", `by ${decidedBy}`] satisfies Line] : []),
		["funds", describeFunds(pins, funds)],
	];
}

/** Returns where the money is. A proxy may answer in the service's place, and leave it out. */
export function describeFunds(pins: Deployment, funds: StatusResponse["funds"] | undefined): string {
	if (!funds) return "the service did not say";
	const { chainId, token, amount, holder } = funds;
	const chain = pinnedChains(pins).find((candidate) => candidate.chainId === chainId);
	const asset = chain?.assets.find(({ address }) => isSameAddress(chainId, address, String(token)));
	return asset && chain
		? `${formatAmount(amount, asset.decimals)} ${asset.symbol} on ${chain.name}, with the ${holder}`
		: `${amount} smallest units of ${token} on chain ${chainId}, with the ${holder}`;
}
