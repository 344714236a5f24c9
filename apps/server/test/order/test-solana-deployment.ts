import { solanaFeeds } from "@geoswap/devnet";
import {
	type ChainDeployment,
	fromSolanaWord,
	type SolanaDeployment,
	solanaChainId,
	solanaDeploymentSchema,
	solanaNativeToken,
} from "@geoswap/protocol";
import { numberToHex } from "viem";
import { testProgram } from "./test-program.ts";

/**
 * Returns Solana's assets as priced by this chain's feeds, at addresses without a key, for tests that need no chain.
 */
export function testSolanaDeployment(chain: ChainDeployment): SolanaDeployment {
	const feeds = solanaFeeds(chain);
	const made = (n: number) => fromSolanaWord(numberToHex((BigInt(n) << 240n) + 7n, { size: 32 }));
	return solanaDeploymentSchema.parse({
		chainId: solanaChainId,
		name: "Solana Test",
		genesisHash: made(1),
		feePayers: [made(2), made(3)],
		program: testProgram({ address: made(4), vault: made(5), operator: made(8) }),
		settlementToken: made(6),
		assets: [
			{ symbol: "USDC", address: made(6), decimals: 6, kind: "stable", feed: feeds.USDC },
			{ symbol: "USDT", address: made(7), decimals: 6, kind: "stable", feed: feeds.USDT },
			{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed: feeds.SOL },
		],
	});
}
