import type { ownEnvironment } from "./own-environment.ts";

type Options = NonNullable<Parameters<typeof ownEnvironment>[0]>;
type Configure = NonNullable<Options["configure"]>;

/** Two epochs of 32 blocks. */
export const finalityBlocks = 64;

/** Times that fit half a minute to finality. */
const slowPace = {
	depths: [
		{ upToUsd: 60, blocks: 1 },
		{ upToUsd: 150, blocks: 3 },
	],
	finalitySeconds: 40,
	openSeconds: 120,
	fillSeconds: 110,
	refundSeconds: 110,
};

/** Returns the options of an environment whose EVM chains can drop many blocks, as real ones can. */
export function deepFinality({
	blockMs,
	perChain = [],
}: {
	blockMs: number;
	/** Settings that differ for the first chain, and for the second. */
	perChain?: readonly Record<string, unknown>[];
}): Options {
	const configure: Configure = (config) => ({
		...config,
		// One account sends all requests concurrently.
		api: {
			...(config.api as object),
			rates: { quote: 1_000, build: 1_000, submit: 1_000, delegation: 1_000, status: 1_000 },
			heldStatusCalls: 500,
		},
		limits: { ...(config.limits as object), accountShareOfCaps: 1, refusedRecipientsPerDay: 1_000 },
		chains: Object.fromEntries(
			Object.entries(config.chains).map(([id, chain], i) => [id, { ...chain, ...slowPace, ...perChain[i] }]),
		),
	});
	return { rhythm: { slotsInAnEpoch: finalityBlocks / 2, blockMs }, configure };
}
