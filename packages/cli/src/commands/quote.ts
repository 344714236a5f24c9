import { getQuote, stableFloor } from "@geoswap/sdk";
import { type Call, openContext } from "../context.ts";
import { acceptanceLines, assetJson, costLines, getLines, giveLines, quoteJson } from "../cost-lines.ts";
import { belowMinOutput } from "../price-not-accepted.ts";
import {
	amountsOf,
	expectWithinMaxSpend,
	readAmount,
	readRecipient,
	readTerms,
	type TermOptions,
} from "../read-terms.ts";
import { refusalInTokens } from "../refusal-in-tokens.ts";
import { readWallet } from "../wallet.ts";

type AssetJson = ReturnType<typeof assetJson>;
/** The document of a quote. Amounts are in smallest units. */
export type QuoteDocument = {
	from: AssetJson & { amount: bigint; wallet: string };
	to: AssetJson;
	quote: ReturnType<typeof quoteJson>;
};

export async function quoteCommand(call: Call, options: TermOptions & { wallet?: string }): Promise<void> {
	const { config, client, keys, output } = await openContext(call);
	const terms = readTerms(config.pins, options, { isUnlimited: true });
	const { from, to, slippageBps, minOutput, receive } = terms;
	const wallet = await readWallet(keys, from.chain, options.wallet);
	const recipient = await readRecipient(keys, terms);
	const limit = await readAmount(config, terms, wallet);
	expectWithinMaxSpend(terms, limit);
	const intent = {
		originChain: from.chain.chainId,
		destinationChain: to.chain.chainId,
		inputToken: from.address,
		outputToken: to.address,
		...amountsOf(limit, receive),
		walletAddress: wallet,
		...(recipient !== undefined && { recipient }),
		...(slippageBps !== undefined && { slippageBps }),
		...terms.topUp,
	};
	const quote = await getQuote(client, intent).catch((error: unknown) => {
		throw refusalInTokens(error, from, receive === undefined ? from : to);
	});
	const amount = receive === undefined ? limit : quote.amount;
	expectWithinMaxSpend({ from, maxSpend: limit }, amount);
	if (minOutput !== undefined && quote.minOutput < minOutput) {
		throw belowMinOutput(to, { quoted: String(quote.minOutput), minOutput: String(minOutput) });
	}
	const document: QuoteDocument = {
		from: { ...assetJson(from), amount, wallet },
		to: assetJson(to),
		quote: quoteJson(quote),
	};
	await output.result(document, [
		...giveLines({ from, amount, wallet }),
		...getLines({ to, quote }),
		...costLines(quote),
		...acceptanceLines({
			to,
			quote,
			floor: stableFloor(config.pins, { ...intent, amount }),
			minOutput: minOutput ?? receive,
		}),
	]);
}
