import { fileURLToPath } from "node:url";
import { type ChainProcess, startChainProcess } from "../chain-process.ts";

export type SolanaOptions = {
	slotMs?: number;
	/** Slots until a block is confirmed, and until it is final. */
	confirmedSlots?: number;
	finalitySlots?: number;
	/** Every `skipEvery`th slot has no block. */
	skipEvery?: number;
};

export type SolanaProcess = Omit<ChainProcess, "address"> & { rpcUrl: string; wsUrl: string };

/** Starts a Solana chain in its own process on 127.0.0.1, on a free port if none is given. */
export async function startSolana({
	port = 0,
	slotMs = 200,
	confirmedSlots = 2,
	finalitySlots = 32,
	skipEvery,
}: SolanaOptions & { port?: number } = {}): Promise<SolanaProcess> {
	const args = [
		["--port", String(port)],
		["--slot-ms", String(slotMs)],
		["--confirmed-slots", String(confirmedSlots)],
		["--finality-slots", String(finalitySlots)],
		...(skipEvery ? [["--skip-every", String(skipEvery)]] : []),
	].flat();
	const main = fileURLToPath(new URL("main.ts", import.meta.url));
	const { address, ...solana } = await startChainProcess({
		name: "the Solana chain",
		port,
		command: [process.execPath, main, ...args],
	});
	return { ...solana, rpcUrl: `http://${address}`, wsUrl: `ws://${address}` };
}
