import type { SolanaDeployment } from "@geoswap/protocol";
import { createSolanaRpc } from "@solana/kit";
import { describeSolana, type SolanaFeeds } from "./describe-solana.ts";
import { deriveSolanaDevnetKeys, type SolanaDevnetKeys } from "./development-solana-keys.ts";
import { connectSolanaAdmin, type SolanaAdmin } from "./solana-admin.ts";
import { type SolanaOptions, startSolana } from "./start-solana.ts";

export type TestSolana = {
	rpcUrl: string;
	wsUrl: string;
	/** Process id of the chain. */
	pid: number;
	deployment: SolanaDeployment;
	/** Development private keys. */
	keys: SolanaDevnetKeys;
	admin: SolanaAdmin;
	/** Settles when the chain's process is gone, for any reason. */
	exited: Promise<void>;
	stop: () => Promise<void>;
};

/**
 * Starts a Solana chain for the caller alone, on a free port if none is given. It ends with `stop`, or with the
 * process. The prices of its assets are on an EVM chain, so a caller that needs them passes the feeds.
 */
export async function startTestSolana({
	feeds = {},
	...options
}: SolanaOptions & { port?: number; feeds?: SolanaFeeds } = {}): Promise<TestSolana> {
	const { rpcUrl, wsUrl, pid, exited, stop } = await startSolana(options);
	try {
		const genesisHash = await createSolanaRpc(rpcUrl).getGenesisHash().send();
		const { actors: _, ...keys } = deriveSolanaDevnetKeys();
		const deployment = describeSolana({ genesisHash, feeds });
		return { rpcUrl, wsUrl, pid, deployment, keys, admin: connectSolanaAdmin(rpcUrl), exited, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}
