import { solanaChainId, solanaNativeToken } from "@geoswap/protocol";
import { type Address, zeroAddress } from "viem";
import type { DeskQuote } from "../../src/desk/desk.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { exchangeOption } from "./exchange-option.ts";
import { blockSeconds, createMovingDesk, type Market, type MovingDesk, market } from "./moving-desk.ts";

const yearSeconds = 365.25 * 86_400;
const wallet: Address = "0x1111111111111111111111111111111111111111";
const solanaRecipient = "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB";
/** The earlier fixed charge for the option. Nothing was taken off at the fill then. */
const optionBefore = { stable: 100, volatile: 1_500 };
const inputUsd = 100_000;

type Token = "ETH" | "USDC" | "USDT" | "SOL";

export type Pair = {
	from: Exclude<Token, "SOL">;
	to: Token;
	/**
	 * Maximum number of seconds that a signed fill waits for its block, and whether its recipient can refuse it meanwhile.
	 */
	landSeconds: number;
	canRefuse: boolean;
};

/** One pair of each kind: from inventory, bought as a token that can be refused, paid on Solana, stable. */
export const pairs: readonly Pair[] = [
	{ from: "ETH", to: "USDC", landSeconds: 2 * blockSeconds, canRefuse: false },
	{ from: "ETH", to: "ETH", landSeconds: 2 * blockSeconds, canRefuse: true },
	{ from: "USDC", to: "ETH", landSeconds: 2 * blockSeconds, canRefuse: true },
	{ from: "USDC", to: "SOL", landSeconds: 5, canRefuse: true },
	{ from: "ETH", to: "SOL", landSeconds: 5, canRefuse: true },
	{ from: "USDC", to: "USDT", landSeconds: 2 * blockSeconds, canRefuse: false },
];

export type ChooserResult = {
	/**
	 * Mean gain of a caller who always chooses best, in basis points of the input, by the earlier rules and by the current
	 * ones.
	 */
	gainBeforeBps: number;
	gainBps: number;
	/** The extra cost of a caller who never refuses, in its quote and on top of that at the fill. */
	addedInQuoteBps: number;
	medianLoweredBps: number;
	meanLoweredBps: number;
	/** Share of its swaps that get less than was promised. */
	loweredShare: number;
};

/**
 * Simulates a caller who knows how prices move until its fill is in a block, and refuses whenever the input has become
 * worth more than the output. Prices move without drift until the fill is signed. After that the mean over all further
 * moves is exact, since gains after the signature are too rare to be found by sampling. A caller that can refuse
 * nothing after the signature may still choose until then.
 */
export function simulateChooser({
	pair,
	volatilityPercent,
	assumedPercent = volatilityPercent,
	waitSeconds,
	paths,
	random,
}: {
	pair: Pair;
	/** Real volatility of prices per year. */
	volatilityPercent: number;
	/** Volatility that the desk is configured to assume. */
	assumedPercent?: number;
	/** Seconds from the submit until the fill is signed. */
	waitSeconds: number;
	paths: number;
	random: SeededRandom;
}): ChooserResult {
	const before = createMovingDesk({
		optionCentibps: optionBefore,
		volatilityPercent: { stable: 0, volatile: 0, bySymbol: {} },
	});
	const now = createMovingDesk({
		volatilityPercent: { stable: 1, volatile: assumedPercent, bySymbol: {} },
	});
	const [honestBefore, honest] = [quote(before, pair), quote(now, pair)];
	// A caller whose discount is the whole fee has the most to choose from.
	const [chosenBefore, chosen] = [quote(before, pair, 0), quote(now, pair, 0)];
	const perSecond = volatilityPercent / 100 / Math.sqrt(yearSeconds);
	const deviation = perSecond * Math.sqrt(waitSeconds);
	const relative = Math.hypot(movesOf(pair.from), pair.to === "SOL" ? 1 : 0) * perSecond;
	const landing = pair.canRefuse ? relative * Math.sqrt(pair.landSeconds) : 0;
	const landingBefore = relative * Math.sqrt(pair.landSeconds);

	let [gainBefore, gain] = [0, 0];
	const lowered: number[] = [];
	for (let path = 0; path < paths; path++) {
		const at: Market = { ETH: moved(market.ETH), SOL: moved(market.SOL) };
		now.move(at);
		const input = (inputUsd * priceOf(pair.from, at)) / priceOf(pair.from, market);
		gainBefore += exchangeOption({
			delivered: worth(chosenBefore.delivery, pair, at),
			input,
			deviation: landingBefore,
		});
		gain += exchangeOption({ delivered: worth(signed(chosen), pair, at), input, deviation: landing });
		const promised = worth(honest.delivery, pair, at);
		lowered.push((1e4 * (promised - worth(signed(honest), pair, at))) / promised);
	}
	lowered.sort((a, b) => a - b);
	const [atSubmitBefore, atSubmit] = [honestBefore, honest].map(({ delivery }) =>
		worth(delivery, pair, market),
	);
	return {
		gainBeforeBps: (1e4 * gainBefore) / paths / inputUsd,
		gainBps: (1e4 * gain) / paths / inputUsd,
		addedInQuoteBps: (1e4 * ((atSubmitBefore ?? 0) - (atSubmit ?? 0))) / inputUsd,
		medianLoweredBps: lowered[paths >> 1] ?? 0,
		meanLoweredBps: lowered.reduce((sum, bps) => sum + bps, 0) / paths,
		loweredShare: lowered.filter((bps) => bps > 0.001).length / paths,
	};

	function signed(quoted: DeskQuote): Delivery {
		const delivery = now.desk.deliveryNow(quoted);
		if (typeof delivery === "string") throw new Error(`${pair.from} to ${pair.to}: ${delivery}`);
		return delivery;
	}

	function moved(usd: number): number {
		return usd * Math.exp(deviation * normal(random) - deviation ** 2 / 2);
	}
}

function quote(
	{ desk, chains: { east, west } }: MovingDesk,
	{ from, to }: Pair,
	feeMillibps: number = desk.baseFeeMillibps,
): DeskQuote {
	const tokenOf = (symbol: Token) =>
		east.assets.find((asset) => asset.symbol === symbol)?.address ?? zeroAddress;
	const outputToken = west.assets.find((asset) => asset.symbol === to)?.address ?? zeroAddress;
	const amount =
		from === "ETH" ? (BigInt(inputUsd) * 10n ** 18n) / BigInt(market.ETH) : BigInt(inputUsd) * 10n ** 6n;
	const request = {
		originChain: east.chainId,
		destinationChain: to === "SOL" ? solanaChainId : west.chainId,
		inputToken: tokenOf(from),
		outputToken: to === "SOL" ? solanaNativeToken : outputToken,
		amount,
		walletAddress: wallet,
		recipient: to === "SOL" ? solanaRecipient : wallet,
		// This slippage gives the desk the most room.
		slippageBps: 5_000,
	};
	return desk.quote(request, { feeMillibps });
}

/** Returns the USD value of a delivery. An output that the router buys costs the market price and the pool's fee. */
function worth(delivery: Delivery, { to }: Pair, at: Market): number {
	switch (delivery.kind) {
		case "inventory":
			return Number(delivery.amount) / 1e6;
		case "router":
			return (Number(delivery.budget) / 1e6) * 0.9995;
		case "payout":
			return (Number(delivery.amount + delivery.unusedRent) / 1e9) * priceOf(to, at);
	}
}

function priceOf(token: Token, { ETH, SOL }: Market): number {
	return token === "ETH" ? ETH : token === "SOL" ? SOL : 1;
}

function movesOf(token: Token): 0 | 1 {
	return token === "ETH" || token === "SOL" ? 1 : 0;
}

/** Returns a normally distributed number (Box-Muller). */
function normal(random: SeededRandom): number {
	return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
