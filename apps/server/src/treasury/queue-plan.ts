import { fastThreshold, finalizedThreshold } from "../chain/evm/cctp/decode-message.ts";
import { evmChains } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { type NewMove, queueMove } from "../money/move/treasury-moves.ts";
import type { PlannedMove } from "./planned-move.ts";
import { maxLateness } from "./route/cctp.ts";

/** A trade or a send that is in no final block after this time is late. */
const onChainMs = 30 * 60_000;

/**
 * Queues the moves of a plan for the treasurers' lanes, in the plan's order. Moves that a person makes are left out, and
 * so are those whose amount a submit has taken meanwhile. Returns the ids of the rows.
 */
export async function queuePlan(
	pool: DatabasePool,
	{ moves, config, nowMs }: { moves: readonly PlannedMove[]; config: Pick<Config, "chains">; nowMs: number },
): Promise<string[]> {
	const queued: string[] = [];
	for (const move of moves) {
		const row = newMove(move, { config, nowMs });
		const id = row && (await queueMove(pool, row));
		if (id) queued.push(id);
	}
	return queued;
}

function newMove(
	move: PlannedMove,
	{ config, nowMs }: { config: Pick<Config, "chains">; nowMs: number },
): NewMove | undefined {
	const { kind, chainId, token, amount, address, toChainId, toToken, moveId, nth, reason, trade, route } =
		move;
	const chain = evmChains(config).find((one) => one.chainId === chainId);
	if (!chain || kind === "manual") return undefined;
	const { contracts, cctp } = chain.deployment;
	const common = { kind, chainId, holder: contracts.vault, token, amount, moveId, nth, reason };
	if (kind === "send") return { ...common, address, data: {}, dueAtMs: nowMs + onChainMs };
	if (kind === "trade") {
		if (!trade) throw new TypeError("a planned trade has no minimum");
		const { minOut: minReceived, poolFees } = trade;
		return { ...common, toToken, minReceived, data: { poolFees }, dueAtMs: nowMs + onChainMs };
	}
	const via = cctp?.routes[toChainId];
	if (!route || !via) throw new TypeError(`there is no route from chain ${chainId} to ${toChainId}`);
	return {
		...common,
		address: via,
		toChainId,
		toToken,
		minReceived: amount - route.fee,
		data: {
			maxFee: String(route.fee),
			minFinalityThreshold: route.isFast ? fastThreshold : finalizedThreshold,
		},
		dueAtMs: nowMs + maxLateness * 1_000 * route.seconds + onChainMs,
	};
}
