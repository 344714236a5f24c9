import { startTestSolana } from "@geoswap/devnet";
import { createDefaultRpcTransport, createKeyPairSignerFromBytes } from "@solana/kit";
import { solanaChainContract } from "./solana-chain-contract.ts";
import { subjectOptions } from "./solana-contract-scene.ts";

solanaChainContract("the devnet's Solana", async () => {
	const solana = await startTestSolana({ slotMs: 3_600_000, ...subjectOptions });
	const { admin, deployment } = solana;
	return {
		deployment,
		keys: {
			feePayers: await Promise.all(solana.keys.feePayers.map((key) => createKeyPairSignerFromBytes(key))),
			operator: await createKeyPairSignerFromBytes(solana.keys.operator),
		},
		transport: createDefaultRpcTransport({ url: solana.rpcUrl }),
		slots: (slots) => admin.warp({ slots }),
		give: async (gift) => {
			await admin.mintTo(gift);
		},
		passTime: (seconds) => admin.passTime({ seconds }),
		fork: admin.fork,
		stallFinality: (stallFinality) => admin.setFaults({ stallFinality }),
		stop: solana.stop,
	};
});
