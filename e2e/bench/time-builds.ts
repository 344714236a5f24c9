import { createClient, getQuote } from "@geoswap/sdk";
import { askOnce, countAnswer, type Tally } from "../caller/keyed-load.ts";
import { joinEnvironment } from "../environment/environment.ts";
import type { BuildsLoad } from "./load.ts";
import { swapWallets } from "./swap-wallets.ts";
import { usdcIntent } from "./usdc-intent.ts";

/** Number of answers per status, and the duration of each. */
export type BuildsResult = { statuses: Tally; tookMs: number[] };

/** Sends one build for each of `count` wallets, all at the same moment, with quotes fetched before. */
export async function timeBuilds({ environment: address, count, amount }: BuildsLoad): Promise<BuildsResult> {
	const environment = joinEnvironment(address);
	const { origin, baseUrl, apiKey } = environment;
	const client = createClient({ baseUrl, apiKey });
	const accounts = await swapWallets(origin, { count, amount: BigInt(amount) });
	const quotes = await Promise.all(
		accounts.map((account) => getQuote(client, usdcIntent(environment, { account, amount: BigInt(amount) }))),
	);
	const statuses: Tally = {};
	const tookMs = await Promise.all(
		quotes.map(async ({ geoQuoteToken }) => {
			const answer = await askOnce(baseUrl, {
				apiKey,
				path: "/swap/build-geo-op",
				body: { geoQuoteToken },
			});
			countAnswer(statuses, answer);
			return answer.answeredAtMs - answer.sentAtMs;
		}),
	);
	return { statuses, tookMs };
}
