import type { SolanaAddress } from "@geoswap/protocol";
import type { SolanaFaults } from "./faults.ts";

/** The calls of a devnet's Solana that a cluster does not have. */
export type SolanaAdmin = {
	/** Gives tokens, and creates the token account if it is missing. All commitments see them at once. */
	mintTo: (gift: { owner: SolanaAddress; token: SolanaAddress; amount: bigint }) => Promise<SolanaAddress>;
	airdrop: (gift: { address: SolanaAddress; lamports: bigint }) => Promise<void>;
	/** Lets slots pass at once. The clock does not move. */
	warp: (by: { slots: number }) => Promise<void>;
	/** Replaces all faults. */
	setFaults: (faults: SolanaFaults) => Promise<void>;
	/** Takes back a transaction that is not final, as if another fork had won. */
	dropTransaction: (dropped: { signature: string }) => Promise<void>;
	/**
	 * Replaces the newest blocks that are not final, at most `depth`, by empty ones. Their transactions in `keep` wait
	 * for a slot again.
	 */
	fork: (fork: { depth: number; keep?: readonly string[] }) => Promise<void>;
};

export function connectSolanaAdmin(rpcUrl: string): SolanaAdmin {
	const call = async (method: string, params: object): Promise<unknown> => {
		const response = await fetch(rpcUrl, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: `devnet_${method}`, params: [params] }),
		});
		const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
		if (error) throw new Error(`${method}: ${error.message}`);
		return result;
	};
	return {
		mintTo: async ({ owner, token, amount }) =>
			(await call("mintTo", { owner, token, amount: String(amount) })) as SolanaAddress,
		airdrop: async ({ address, lamports }) => {
			await call("airdrop", { address, lamports: String(lamports) });
		},
		warp: async (by) => {
			await call("warp", by);
		},
		setFaults: async (faults) => {
			await call("setFaults", faults);
		},
		dropTransaction: async ({ signature }) => {
			await call("dropTransaction", { signature });
		},
		fork: async (fork) => {
			await call("fork", fork);
		},
	};
}
