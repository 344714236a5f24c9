import type { Milliseconds, Seconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Database } from "../../database/database.ts";
import type { Desk } from "../../desk/desk.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { describeStop } from "../../desk/price/price-stop.ts";
import { requestEngine } from "../../durable/engine-admin.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import type { PromptRedis } from "../key/prompt-redis.ts";
import type { ReadyCheck } from "./get-ready.ts";

/** A live worker processes a block soon after it is produced. */
export const followedWithinSeconds = 30;
const followedWithinBlocks = 10;

type WatchedChain = { chainId: number; name: string; assets: { symbol: string; token: Hex }[] };

/**
 * Returns the checks of everything that answering requests depends on. A process without the database, or that cannot
 * quote any chain yet, cannot serve requests. No check's text names an endpoint.
 */
export function readyChecks({
	config,
	db,
	redis,
	priceCache,
	desk,
	pauses,
	nowMs,
}: {
	config: Pick<Config, "chains" | "restate">;
	db: Database;
	redis: Pick<PromptRedis, "run">;
	priceCache: Pick<PriceCache, "ageMs" | "isReady" | "blockSeconds">;
	desk: Pick<Desk, "isLive" | "stopOf">;
	pauses: Pick<PauseList, "reasonOf">;
	nowMs: () => Milliseconds;
}): ReadyCheck[] {
	return [
		{
			name: "database",
			neededAtStart: "database",
			check: async () => {
				await db.query("select 1");
				return undefined;
			},
		},
		{
			name: "redis",
			check: async () => {
				const answer = await redis.run({ name: "geoswapReady", lua: "return 1" }, [], []);
				return answer === undefined
					? "it does not answer; each process counts its own requests for the rate limits"
					: undefined;
			},
		},
		{
			name: "engine",
			check: async () => {
				await requestEngine(config.restate);
				return undefined;
			},
		},
		...watchedChains(config).flatMap((chain) => chainChecks(chain)),
	];

	function chainChecks(chain: WatchedChain): ReadyCheck[] {
		const named = `${chain.name} (${chain.chainId})`;
		return [
			{ name: `prices of ${named}`, neededAtStart: "prices", check: async () => priceProblem(chain) },
			{ name: `assets of ${named}`, check: async () => assetProblem(chain) },
			{ name: `pause of ${named}`, check: async () => pauseProblem(chain) },
			{ name: `worker on ${named}`, check: () => followProblem(chain) },
		];
	}

	function priceProblem(chain: WatchedChain): string | undefined {
		const { chainId, assets } = chain;
		const ageMs = priceCache.ageMs(chainId, { nowMs: nowMs() });
		if (ageMs === undefined) return "no prices were read yet";
		if (!priceCache.isReady(chainId, { nowMs: nowMs() })) {
			return `the newest prices are ${Math.round(ageMs / 1_000)} s old`;
		}
		const isAnyLive = assets.some(({ token }) => desk.isLive({ chainId, token }));
		return isAnyLive ? undefined : assetProblem(chain);
	}

	function assetProblem({ chainId, assets }: WatchedChain): string | undefined {
		const symbols = new Map<string, string[]>();
		for (const { token, symbol } of assets) {
			const stop = desk.stopOf({ chainId, token });
			if (!stop) continue;
			const because = describeStop(stop);
			symbols.set(because, [...(symbols.get(because) ?? []), symbol]);
		}
		if (symbols.size === 0) return undefined;
		const stopped = [...symbols].map(([because, of]) => `${of.join(", ")}, because ${because}`);
		return `not quoted: ${stopped.join("; ")}`;
	}

	function pauseProblem({ chainId }: WatchedChain): string | undefined {
		const reason = pauses.reasonOf(chainId);
		return reason === undefined ? undefined : `paused: ${reason}`;
	}

	async function followProblem({ chainId }: WatchedChain): Promise<string | undefined> {
		const following = await readFollowing(db, chainId);
		if (!following) return "no worker has followed the chain yet";
		if (!following.hasInventory) return "no worker has seen the vault yet";
		const limit = Math.max(followedWithinSeconds, followedWithinBlocks * priceCache.blockSeconds(chainId));
		return following.ageSeconds > limit
			? `no worker has followed the chain for ${Math.round(following.ageSeconds)} s`
			: undefined;
	}
}

function watchedChains(config: Pick<Config, "chains">): WatchedChain[] {
	const assets = configuredAssets(config);
	return config.chains.map(({ chainId, deployment: { name } }) => ({
		chainId,
		name,
		assets: assets.filter((asset) => asset.chainId === chainId),
	}));
}

/**
 * Reads how long ago, by the database's clock, a worker last processed data of the chain, and whether it read the
 * vault.
 */
async function readFollowing(
	db: Database,
	chainId: number,
): Promise<{ ageSeconds: Seconds; hasInventory: boolean } | undefined> {
	const { rows } = await db.query<{ ageSeconds: Seconds; hasInventory: boolean }>(
		`select extract(epoch from clock_timestamp() - updated_at)::float8 as "ageSeconds",
			exists (select from inventory where chain_id = $1) as "hasInventory"
		from chain_heads where chain_id = $1`,
		[chainId],
	);
	return rows[0];
}
