import type { Deployment, SwapStage } from "@geoswap/protocol";
import type { Swap } from "@geoswap/sdk";
import { showNative } from "./cost-lines.ts";
import { wholeTokens } from "./format-amount.ts";
import type { Line, Output } from "./output.ts";
import { assetAt, pinnedChains } from "./pinned-assets.ts";

const stageTexts: Partial<Record<string, string>> = {
	opening: "opening: the input is not in escrow yet",
	deposited: "deposited: the input is in escrow",
	delivering: "delivering: the output is on its way",
	delivered: "delivered: the recipient has the output",
	refunding: "refunding: the input is on its way back",
} satisfies Record<SwapStage, string>;
const hashes = [
	["originTxHash", "input taken by"],
	["deliveryTxHash", "output delivered by"],
	["refundTxHash", "input given back by"],
] as const;

/** The transaction that a stage waits for. What it does is not done yet. */
const awaited: Partial<Record<string, (typeof hashes)[number][0]>> = {
	opening: "originTxHash",
	delivering: "deliveryTxHash",
	refunding: "refundTxHash",
} as const satisfies { [Stage in SwapStage]?: string };

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
	const sayHash = (text: string, hash: string | undefined) => {
		if (hash === undefined || told.has(hash)) return;
		say(`${text} ${hash}`);
		told.add(hash);
	};
	return {
		say,
		/** Reports that it still waits if nothing new arrives for a while, after each `heard` and until `stop`. */
		watchSilence: (baseUrl: string): { heard: () => void; stop: () => void } => {
			const timer = setTimeout(() => say(`still waiting for news from ${baseUrl}`), silenceMs);
			return { heard: () => timer.refresh(), stop: () => clearTimeout(timer) };
		},
		sayStatus: (swap: Pick<Swap, "status" | "stage" | (typeof hashes)[number][0]>) => {
			const isPending = swap.status === "pending";
			const last = isPending ? awaited[swap.stage] : undefined;
			for (const [field, text] of hashes) if (field !== last) sayHash(text, swap[field]);
			if (!isPending) say(swap.status, swap.status === "settled" ? "green" : "yellow");
			else sayOnce(stageTexts[swap.stage] ?? swap.stage);
			if (last) sayHash("in transaction", swap[last]);
		},
	};
}

/** Returns the swap's state, for users. */
export function swapLines(pins: Deployment, swap: Swap): Line[] {
	const { status, stage, failure, decidedBy, funds } = swap;
	return [
		["swap", swap.swapId],
		["status", status === "pending" ? `pending, ${stageTexts[stage] ?? stage}` : status],
		...(failure ? [["why", `${failure.code}: ${failure.message}`] satisfies Line] : []),
		...(decidedBy ? [["decided", `by ${decidedBy}`] satisfies Line] : []),
		["funds", describeFunds(pins, funds)],
		...termLines(pins, swap),
		...timeLines(swap),
		...linkLines(swap),
	];
}

/** An older service leaves these out, and so does a record of an older version. */
type Told = Pick<Swap, "deliveredAmount"> & Partial<Pick<Swap, "terms" | "links">>;

/** Returns the agreed terms and the result. */
function termLines(pins: Deployment, { terms, deliveredAmount }: Told): Line[] {
	if (!terms) return [];
	const { originChain, destinationChain, inputToken, outputToken, networkCost } = terms;
	const output = (amount: bigint) =>
		describeAmount(pins, { chainId: destinationChain, token: outputToken, amount });
	const destination = pinnedChains(pins).find(({ chainId }) => chainId === destinationChain);
	const topUp = terms.topUp && destination && showNative(destination, terms.topUp);
	const charged =
		networkCost &&
		describeAmount(pins, { chainId: destinationChain, token: networkCost.token, amount: networkCost.amount });
	return [
		["give", describeAmount(pins, { chainId: originChain, token: inputToken, amount: terms.amount })],
		["", `wallet ${terms.walletAddress}`],
		["get", `${output(terms.output)} as quoted, at least ${output(terms.minOutput)}`],
		...(topUp ? [["", `and ${topUp} for gas`] satisfies Line] : []),
		["", `recipient ${terms.recipient}`],
		...(deliveredAmount === undefined ? [] : [["delivered", output(deliveredAmount)] satisfies Line]),
		[
			"fee",
			`${terms.feeBps} bps${charged ? `, and ${charged} for network costs${topUp ? " and the top-up" : ""}` : ""}`,
		],
	];
}

const times = [
	["quoted", "quotedAt"],
	["submitted", "createdAt"],
	["opened", "openedAt"],
	["delivered", "deliveredAt"],
	["ended", "endedAt"],
] as const;

function timeLines(swap: Swap): Line[] {
	const known = times.flatMap(([text, field]) => (swap[field] ? [`${text} ${swap[field]}`] : []));
	return known.map((text, i): Line => [i === 0 ? "times" : "", text]);
}

function linkLines({ links = {} }: Told): Line[] {
	const known = [links.origin, links.delivery, links.refund].filter((link) => link !== undefined);
	return known.map((link, i): Line => [i === 0 ? "links" : "", link]);
}

/** Returns what is swapped for what, on one line; undefined if the service did not return the terms. */
export function describeSwap(pins: Deployment, { terms, deliveredAmount }: Told): string | undefined {
	if (!terms) return undefined;
	const { originChain, destinationChain, inputToken, outputToken, amount, minOutput } = terms;
	const given = describeAmount(pins, { chainId: originChain, token: inputToken, amount });
	const got = describeAmount(pins, {
		chainId: destinationChain,
		token: outputToken,
		amount: deliveredAmount ?? minOutput,
	});
	return `${given} -> ${deliveredAmount === undefined ? "at least " : ""}${got}`;
}

/** Returns where the money is. A proxy may respond instead of the service, and omit it. */
export function describeFunds(pins: Deployment, funds: Swap["funds"] | undefined): string {
	if (!funds) return "the service gave no reason";
	return `${describeAmount(pins, funds)}, with the ${funds.holder}`;
}

function describeAmount(
	pins: Deployment,
	{ chainId, token, amount }: { chainId: number; token: string; amount: bigint },
): string {
	const asset = assetAt(pins, { chainId, token });
	return asset
		? `${wholeTokens(amount, asset)} on ${asset.chain.name}`
		: `${amount} smallest units of ${token} on chain ${chainId}`;
}
