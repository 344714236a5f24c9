import { randomBytes } from "node:crypto";
import type { Route } from "../api/http/route.ts";
import { type ApiParts, apiRoutes } from "../api/route/api-routes.ts";
import { createRecipientAccounts } from "../api/route/recipient-accounts.ts";
import type { Config } from "../config/config.ts";
import { type FinalitySeconds, finalitySecondsOf } from "../config/finality-seconds.ts";
import { createDesk } from "../desk/desk.ts";
import { chainFeeDiscounts } from "../desk/discount/chain-fee-discounts.ts";
import { keepPrices } from "../desk/price/keep-prices.ts";
import type { PriceBook } from "../desk/price/price-book.ts";
import type { Desk } from "../desk/venue.ts";
import type { Log } from "../telemetry/log.ts";
import type { ApiChains } from "./connect-api-chains.ts";
import { tellSimulators } from "./tell-simulators.ts";

/** The parts of the API that live as long as its process, whatever the configuration says about chains and prices. */
export type ProcessParts = Omit<
	ApiParts,
	| "config"
	| "chains"
	| "solana"
	| "finalitySeconds"
	| "book"
	| "wantPrices"
	| "desk"
	| "feeDiscounts"
	| "recipients"
>;

/** All that belongs to one reading of the configuration: its chains, its prices, and the routes that answer by them. */
export type Generation = {
	config: Config;
	/** The finality of its chains and of those of earlier generations: swaps may be under way on a removed chain. */
	finalitySeconds: FinalitySeconds;
	book: PriceBook;
	desk: Desk;
	routes: readonly Route[];
	/** Ends its loops. Resolves when they have ended. */
	end: () => Promise<void>;
};

/** Starts to read the prices of the configured chains, and returns the routes that quote them. */
export function startGeneration({
	config,
	chains: { chains, solana, end: endSubscriptions },
	before,
	parts,
	log,
}: {
	config: Config;
	chains: ApiChains;
	/** The generation that this one is to replace. */
	before?: Pick<Generation, "finalitySeconds">;
	parts: ProcessParts;
	log: Log;
}): Generation {
	const { pauses, nowMs } = parts;
	const ending = new AbortController();
	const { book, want, kept } = keepPrices({
		config,
		chains: [...chains.values()],
		nowMs,
		signal: ending.signal,
		log,
	});
	tellSimulators(chains.values(), log);
	const desk = createDesk({ config, book, pauses, nowMs, random: randomBytes });
	const feeDiscounts = chainFeeDiscounts({ config, chains, nowMs, log });
	const finalitySeconds = new Map([...(before?.finalitySeconds ?? []), ...finalitySecondsOf(config)]);
	const recipients = createRecipientAccounts({ solana, chains, nowMs, log });
	return {
		config,
		finalitySeconds,
		book,
		desk,
		routes: apiRoutes({
			...parts,
			config,
			chains,
			solana,
			finalitySeconds,
			book,
			wantPrices: want,
			desk,
			feeDiscounts,
			recipients,
		}),
		async end() {
			ending.abort();
			endSubscriptions();
			await kept;
		},
	};
}
