import { seededRandom } from "../seeded-random.ts";
import { createSimSolanaChain } from "./create-sim-solana-chain.ts";
import { kitTransport } from "./kit-transport.ts";
import { solanaChainContract } from "./solana-chain-contract.ts";
import { subjectOptions } from "./solana-contract-scene.ts";

const startMs = 1_700_000_000_000;

solanaChainContract("the simulated Solana", async () => {
	const chain = await createSimSolanaChain({ startMs, random: seededRandom(1), ...subjectOptions });
	let atMs = startMs;
	return {
		deployment: chain.deployment,
		keys: chain.keys,
		transport: kitTransport(chain),
		slots: async (count) => {
			for (let i = 0; i < count; i++) {
				atMs += 400;
				chain.produce({ atMs });
			}
		},
		give: async ({ token, owner, amount }) => chain.give(token, owner, amount),
		fork: async ({ depth, keep }) => chain.reorg({ depth, keep: (signature) => keep.includes(signature) }),
		passTime: async (seconds) => {
			atMs += seconds * 1_000;
		},
		stallFinality: async (isStalled) => chain.stallFinality(isStalled),
		stop: async () => chain.close(),
	};
});
