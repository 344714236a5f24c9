import { solanaKeyVariables, startTestSolana } from "@geoswap/devnet";
import { createDefaultRpcTransport } from "@solana/kit";
import { solanaKeysOf } from "../../test/signer/solana-keys-of.ts";
import { solanaChainContract } from "./solana-chain-contract.ts";
import { subjectOptions } from "./solana-contract-scene.ts";

solanaChainContract("the devnet's Solana", async () => {
	const solana = await startTestSolana({ slotMs: 3_600_000, ...subjectOptions });
	const { admin, deployment } = solana;
	return {
		deployment,
		keys: await solanaKeysOf(solanaKeyVariables(solana.keys), deployment),
		transport: createDefaultRpcTransport({ url: solana.rpcUrl }),
		slots: (slots) => admin.warp({ slots }),
		give: async (gift) => {
			await admin.mintTo(gift);
		},
		fork: admin.fork,
		stallFinality: (stallFinality) => admin.setFaults({ stallFinality }),
		stop: solana.stop,
	};
});
