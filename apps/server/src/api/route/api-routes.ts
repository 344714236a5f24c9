import { randomBytes, randomUUID } from "node:crypto";
import type { Milliseconds } from "@geoswap/protocol";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { chainOf, evmChains } from "../../config/chain-config.ts";
import { createChainNames } from "../../config/chain-names.ts";
import type { Config } from "../../config/config.ts";
import { createExplorerPages } from "../../config/explorer-pages.ts";
import type { FinalitySeconds } from "../../config/finality-seconds.ts";
import { isDevnet } from "../../config/is-devnet.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database, DatabasePool } from "../../database/database.ts";
import type { DenyList } from "../../deny/deny-list.ts";
import type { Desk } from "../../desk/desk.ts";
import type { FeeDiscounts } from "../../desk/discount/fee-discounts.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import type { Engine } from "../../durable/engine.ts";
import type { DemandLog } from "../../swap/facts/demand-log.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import { chainPaces } from "../../swap/record/stuck-swaps.ts";
import type { EventFeed } from "../event/create-event-feed.ts";
import type { Route } from "../http/route.ts";
import type { HeldCalls } from "../key/held-calls.ts";
import type { PromptRedis } from "../key/prompt-redis.ts";
import type { RateLimits } from "../key/rate-limits.ts";
import { figuresSection } from "../openapi/page/figures-section.ts";
import type { OwnExample } from "../openapi/page/own-examples.ts";
import { createDelegatedWallets } from "../origin/delegated-wallets.ts";
import { createReceipts, type ReceiptSigner } from "../status/create-receipts.ts";
import { createRouteStats } from "../status/route-stats.ts";
import type { SwapListener } from "../status/swap-listener.ts";
import { docsRoutes } from "./docs-routes.ts";
import { getEvents, getSwapEvents } from "./events.ts";
import { getChains } from "./get-chains.ts";
import { getDelegation } from "./get-delegation.ts";
import { getHealth, getReady, type Startup } from "./get-ready.ts";
import { getReceipt } from "./get-receipt.ts";
import { getStats } from "./get-stats.ts";
import { getStatus } from "./get-status.ts";
import { getSwaps } from "./get-swaps.ts";
import { getTokens } from "./get-tokens.ts";
import { postBuildGeoOp } from "./post-build-geo-op.ts";
import { postBuildSolanaTx } from "./post-build-solana-tx.ts";
import { postQuote } from "./post-quote.ts";
import { postRemoveDelegation } from "./post-remove-delegation.ts";
import { postSubmit } from "./post-submit.ts";
import { postSubmitSolana } from "./post-submit-solana.ts";
import { readyChecks } from "./ready-checks.ts";
import type { RecipientAccounts } from "./recipient-accounts.ts";
import { deleteShare, getShareEvents, getSharePage, getShareReceipt, postShare } from "./shares.ts";
import { deleteWebhook, getWebhooks, postWebhook, postWebhookRotate } from "./webhooks.ts";

/** The dependencies of all routes. None of them is used before the first request. */
export type ApiParts = {
	config: Config;
	chains: ReadonlyMap<number, EvmChain>;
	/** Absent if Solana is not offered. */
	solana: SolanaChain | undefined;
	pool: DatabasePool;
	listener: SwapListener;
	finalitySeconds: FinalitySeconds;
	priceCache: PriceCache;
	/** Requests prices of these chains. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	desk: Desk;
	pauses: Pick<PauseList, "reasonOf">;
	/** Absent if no plan uses what swaps take and bring. */
	demand?: Pick<DemandLog, "served"> | undefined;
	/** Absent if there are no fee discounts. */
	feeDiscounts: FeeDiscounts | undefined;
	recipients: RecipientAccounts;
	/** Absent if no address is denied. */
	denyList?: DenyList | undefined;
	redis: Pick<PromptRedis, "run">;
	heldCalls: HeldCalls;
	/** Counts streams of events as `heldCalls` counts held calls. */
	heldStreams: HeldCalls;
	feed: EventFeed;
	/**
	 * The database and the streams of public pages of swaps. They are separate, so that a flood of them takes no
	 * connection of callers with keys.
	 */
	shares: { db: Database; feed: EventFeed };
	rateLimits: Pick<RateLimits, "takeUnheld">;
	engine: Engine;
	sealKeys: SealKeys;
	/** The keys that seal the webhooks' secrets. Undefined if the service has no webhooks. */
	webhookKeys: SealKeys | undefined;
	/** Absent if the service signs no receipts. */
	receiptSigner: ReceiptSigner | undefined;
	nowMs: () => Milliseconds;
	startup: Startup;
	/** Aborted when the process is stopping. */
	stopping: AbortSignal;
};

/** Returns every endpoint of the service. */
export function apiRoutes(parts: ApiParts): Route[] {
	const { config, chains, solana, pool, listener, priceCache, desk, pauses, engine, sealKeys, nowMs } = parts;
	const {
		finalitySeconds,
		wantPrices,
		feeDiscounts,
		recipients,
		denyList,
		redis,
		heldCalls,
		heldStreams,
		feed,
		shares,
		rateLimits,
		receiptSigner,
		startup,
		stopping,
	} = parts;
	const submitDeps = {
		solana,
		pool,
		sealKeys,
		desk,
		wantPrices,
		denyList,
		pauses,
		demand: parts.demand,
		engine,
		config,
		nowMs,
	};
	const delegated = createDelegatedWallets();
	const explorers = createExplorerPages(config);
	const webhooks = {
		db: pool,
		webhookKeys: parts.webhookKeys,
		newId: randomUUID,
		isDevnet: isDevnet(config),
	};
	const streams = { feed, heldStreams, limits: config.api.eventStreams, random: Math.random };
	const shareStreams = {
		...streams,
		feed: shares.feed,
		limits: { perKey: config.api.eventStreams.perKey, perProcess: config.api.sharePages.streams },
	};
	const receipts = createReceipts(receiptSigner);
	const stats = createRouteStats({ db: pool, config, nowMs });
	const routes = [
		postQuote({ desk, wantPrices, feeDiscounts, recipients, delegated, denyList, sealKeys }),
		getDelegation({ chains, solana }),
		postRemoveDelegation({ chains, db: pool, limits: config.limits, nowMs }),
		postBuildGeoOp({ chains, delegated, db: pool, sealKeys, nowMs }),
		postBuildSolanaTx({ solana, config, db: pool, sealKeys, nowMs }),
		postSubmit({ chains, ...submitDeps }),
		postSubmitSolana(submitDeps),
		getStatus({ db: pool, listener, heldCalls, rateLimits, finalitySeconds, explorers }),
		getChains({ config, desk, pauses }),
		getTokens({ config, desk, pauses }),
		getSwaps({ db: pool, sealKeys, finalitySeconds, explorers, nowMs }),
		getEvents(streams),
		getSwapEvents({ db: pool, ...streams }),
		postWebhook(webhooks),
		getWebhooks(webhooks),
		deleteWebhook(webhooks),
		postWebhookRotate({ ...webhooks, nowMs }),
		getReceipt({ db: pool, receipts }),
		postShare({ db: pool, publicUrl: config.api.publicUrl, random: randomBytes }),
		deleteShare({ db: pool }),
		getSharePage({
			db: shares.db,
			chainNames: createChainNames(config),
			paces: chainPaces(config),
			hasReceipts: receipts.isOffered,
			finalitySeconds,
			explorers,
			nowMs,
		}),
		getShareEvents({ db: shares.db, ...shareStreams }),
		getShareReceipt({ db: shares.db, receipts }),
		getStats({ stats }),
		getHealth(),
		getReady({
			checks: readyChecks({ config, db: pool, redis, priceCache, desk, pauses, nowMs }),
			startup,
			stopping,
			nowMs,
		}),
	];
	const nameOf = (chainId: number) => chainOf(config, BigInt(chainId))?.deployment.name ?? `chain ${chainId}`;
	const figures = () => figuresSection(stats.known(), { nameOf });
	return [...routes, ...docsRoutes(routes, { example: exampleOf(config), figures })];
}

/** Returns an example from the first EVM chain to the second, with their settlement tokens. */
function exampleOf(config: Config): OwnExample | undefined {
	const [from, to] = evmChains(config);
	if (!from || !to) return undefined;
	return {
		origin: { chainId: from.chainId, token: from.deployment.settlementToken },
		destination: { chainId: to.chainId, token: to.deployment.settlementToken },
	};
}
