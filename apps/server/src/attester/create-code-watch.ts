import type { Milliseconds } from "@geoswap/protocol";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { type EarlierImmutables, findCodeProblems } from "../chain/evm/read/find-code-problems.ts";
import type { Log } from "../telemetry/log.ts";

/** Nothing is signed for a chain unless its contracts were compared with the published code and are the same. */
type CodeState = "unchecked" | "checked" | "differs";

export type CodeWatch = {
	/** Returns what is known of an EVM chain's contracts. */
	stateOf: (chainId: number) => CodeState;
	/** Returns the state of all chains, for the operator. */
	report: () => { chainId: number; code: CodeState; problems: readonly string[] }[];
	/** Compares the chains that are due: those not known to have the right code, and all others once a day. */
	check: () => Promise<void>;
};

const dayMs = 24 * 60 * 60 * 1_000;

/** Compares deployed code with published code. The deployment file names addresses, and is not trusted about code. */
export function createCodeWatch({
	chains,
	earlierRouters,
	earlierSettlementTokens,
	nowMs,
	log,
}: EarlierImmutables & {
	chains: readonly EvmChain[];
	nowMs: () => Milliseconds;
	log: Log;
}): CodeWatch {
	type Seen = { code: CodeState; problems: readonly string[]; comparedAtMs?: Milliseconds };
	const seen = new Map<number, Seen>();
	const seenOf = (chainId: number): Seen => seen.get(chainId) ?? { code: "unchecked", problems: [] };
	const isDue = ({ code, comparedAtMs }: Seen) =>
		code !== "checked" || comparedAtMs === undefined || nowMs() - comparedAtMs >= dayMs;

	async function compare(chain: EvmChain): Promise<void> {
		const { chainId } = chain;
		const before = seenOf(chainId);
		try {
			const problems = await findCodeProblems(chain, { earlierRouters, earlierSettlementTokens });
			const code = problems.length === 0 ? "checked" : "differs";
			seen.set(chainId, { code, problems, comparedAtMs: nowMs() });
			if (code === before.code) return;
			if (code === "checked") log.info({ chainId }, "vaults and escrows have the published code");
			else log.error({ chainId, problems }, "the deployed code is not the published one; nothing is signed");
		} catch (error) {
			// A chain that does not answer was not found to differ. It keeps its state, and is read again.
			log.warn({ err: error, chainId }, "the deployed code cannot be read");
		}
	}

	return {
		stateOf: (chainId) => seenOf(chainId).code,
		report: () =>
			chains.map(({ chainId }) => {
				const { code, problems } = seenOf(chainId);
				return { chainId, code, problems };
			}),
		check: async () => {
			await Promise.all(chains.filter(({ chainId }) => isDue(seenOf(chainId))).map(compare));
		},
	};
}
