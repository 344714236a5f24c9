import { rescaleDown } from "@geoswap/protocol";
import { type Hex, isHex, size } from "viem";
import { type EvmChainConfig, evmChains } from "../../config/chain-config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import type { DatabasePool } from "../../database/database.ts";
import { adoptMove, type RouteEnd } from "../../money/move/adopt-move.ts";
import { cancelMove, type DecidedMove, retryMove, writeOffMove } from "../../money/move/decide-move.ts";
import { checkName } from "../check-name.ts";
import { withDatabase } from "../with-database.ts";
import { isSame } from "./describe-flow.ts";
import { expectMoveId } from "./expect-move-id.ts";

type Reasons = { by: string; reason: string; json?: boolean };
type DecideOptions = Reasons & { id: string };

/** A move that a person has decided about is late after this time. */
const dueInMs = 3_600_000;

/** Returns the exit code: 0 if the declaration or the move is cancelled, 1 if it is not. */
export function cancelCommand(options: DecideOptions): Promise<number> {
	return decide(options, (pool, decision) => cancelMove(pool, decision), "is cancelled");
}

/** Returns the exit code: 0 if the service reads the bridge again from its burn on, 1 if not. */
export function retryCommand(options: DecideOptions): Promise<number> {
	const dueAt = new Date(Date.now() + dueInMs);
	return decide(
		options,
		(pool, decision) => retryMove(pool, { ...decision, dueAt }),
		"is looked at again, from its burn on",
	);
}

/** Returns the exit code: 0 if the bridge is booked as lost, 1 if not. */
export function writeOffCommand(options: DecideOptions): Promise<number> {
	return decide(
		options,
		(pool, decision) => writeOffMove(pool, decision),
		"is written off. What arrives of it nevertheless is booked as unattributed",
	);
}

async function decide(
	{ id, by, reason, json }: DecideOptions,
	run: (
		pool: DatabasePool,
		decision: { id: string; by: string; reason: string },
	) => Promise<DecidedMove | undefined>,
	done: string,
): Promise<number> {
	const decision = { id: expectMoveId(id), by: checkName("--by", by), reason };
	const decided = await withDatabase((pool) => run(pool, decision));
	const { state = null, refusal = null } = decided ?? {};
	const isDone = state !== null && refusal === null;
	if (json) console.log(JSON.stringify({ id, state, refusal }));
	else if (isDone) console.log(`${id} ${done}`);
	if (refusal) console.error(`error: ${id} is ${state}: ${refusal}`);
	if (state === null) {
		console.error(`error: no declaration or move has the id ${id}; list them with: geoswapd treasury moves`);
	}
	return isDone ? 0 : 1;
}

/** Returns the exit code: 0 if the move has a row now, 1 if not. */
export async function adoptCommand({
	moveId,
	chain: chainText,
	by,
	reason,
	config: path,
	json,
}: Reasons & { moveId: string; chain: string; config: string }): Promise<number> {
	if (!isHex(moveId) || size(moveId) !== 32) {
		throw new ConfigError(
			"<moveId>",
			`${moveId} is not the id of a move of a vault, which has 32 bytes in hex`,
		);
	}
	const config = readConfig(path);
	const chains = evmChains(config);
	const chain = chains.find(({ chainId }) => String(chainId) === chainText);
	if (!chain) {
		const ids = chains.map(({ chainId }) => chainId).join(", ");
		throw new ConfigError("--chain", `${chainText} is not a configured EVM chain; these are ${ids}`);
	}
	const adoption = {
		chainId: chain.chainId,
		moveId,
		by: checkName("--by", by),
		reason,
		dueAt: new Date(Date.now() + dueInMs),
		endOf: (route: Hex) => endOfRoute(chain, route, chains),
	};
	const adopted = await withDatabase((pool) => adoptMove(pool, adoption));
	const isAdopted = "id" in adopted;
	if (json) console.log(JSON.stringify(adopted));
	else if (isAdopted) {
		console.log(
			`${adopted.id}\nIt is followed from here on. See it with: geoswapd treasury show ${adopted.id}`,
		);
	}
	if (!isAdopted) console.error(`error: the move ${moveId} is not adopted: ${adopted.refusal}`);
	return isAdopted ? 0 : 1;
}

/** Returns where a route of a chain leads. Only settlement tokens are bridged. */
function endOfRoute(
	from: EvmChainConfig,
	route: Hex,
	chains: readonly EvmChainConfig[],
): RouteEnd | undefined {
	const routes = Object.entries(from.deployment.cctp?.routes ?? {});
	const [toChainId] = routes.find(([, address]) => isSame(address, route)) ?? [];
	const to = chains.find(({ chainId }) => String(chainId) === toChainId);
	if (!to) return undefined;
	const [burned, minted] = [decimalsOf(from), decimalsOf(to)];
	return {
		chainId: to.chainId,
		token: to.deployment.settlementToken,
		rescale: (amount) => rescaleDown(amount, burned, minted),
	};
}

function decimalsOf({ chainId, deployment: { assets, settlementToken } }: EvmChainConfig): number {
	const asset = assets.find(({ address }) => isSame(address, settlementToken));
	if (!asset) throw new ConfigError(`chain ${chainId}`, "does not list its settlement token");
	return asset.decimals;
}
