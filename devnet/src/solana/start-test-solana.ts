import type { SolanaDeployment } from "@geoswap/protocol";
import { createSolanaRpc } from "@solana/kit";
import { describeSolana, type SolanaFeeds } from "./describe-solana.ts";
import { deriveSolanaDevnetKeys, type SolanaDevnetKeys } from "./development-solana-keys.ts";
import { connectSolanaAdmin, type SolanaAdmin } from "./solana-admin.ts";
import { type SolanaOptions, startSolana } from "./start-solana.ts";

export type TestSolana = {
	rpcUrl: string;
	wsUrl: string;
	/** Of the chain's process. */
	pid: number;
	deployment: SolanaDeployment;
	/** Development private keys. */
	keys: SolanaDevnetKeys;
	admin: SolanaAdmin;
	/** Settles when the chain's process is gone, whoever ended it. */
	exited: Promise<void>;
	stop: () => Promise<void>;
};

/**
 * A Solana chain of the caller's own, without a port on a free one. It ends with `stop`, or with the process. Its assets' prices are
 * on an EVM chain: who wants them gives the feeds.
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
