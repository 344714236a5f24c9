import type { SolanaAddress } from "@geoswap/protocol";
import type { SolanaFaults } from "./faults.ts";

/** The calls that only the local Solana test chain has, not a real cluster such as Solana's public devnet. */
export type SolanaAdmin = {
	/**
	 * Adds tokens to the owner's token account, and creates the account if it is missing. Returns its address. Visible at
	 * processed, confirmed and finalized immediately.
	 */
	mintTo: (gift: { owner: SolanaAddress; token: SolanaAddress; amount: bigint }) => Promise<SolanaAddress>;
	/** Adds lamports. Visible at processed, confirmed and finalized immediately. */
	airdrop: (gift: { address: SolanaAddress; lamports: bigint }) => Promise<void>;
	/** Produces this many slots immediately, with pending transactions, without advancing the clock. */
	warp: (by: { slots: number }) => Promise<void>;
	/** Moves the chain's clock, and produces a slot that has the new time. */
	passTime: (by: { seconds: number }) => Promise<void>;
	/** Replaces all faults. A fault that is left out ends. */
	setFaults: (faults: SolanaFaults) => Promise<void>;
	/** Removes a transaction that is not final, as if a fork without it had won. */
	dropTransaction: (dropped: { signature: string }) => Promise<void>;
	/**
	 * Replaces the newest blocks, at most `depth` and none that is final, with empty ones. Of their transactions, those in
	 * `keep` are pending again, and the others are lost.
	 */
	fork: (fork: { depth: number; keep?: readonly string[] }) => Promise<void>;
};

/** Returns the admin calls of the test chain at this URL. */
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
		passTime: async (by) => {
			await call("passTime", by);
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
