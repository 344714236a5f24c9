import { foundryBinary } from "@geoswap/contracts";
import { type ChainProcess, startChainProcess } from "./chain-process.ts";

export type Anvil = Omit<ChainProcess, "address"> & { url: string };

/** Starts a chain of its own process on 127.0.0.1; without a port, on a free one. */
export async function startAnvil({
	chainId,
	port = 0,
	stateFile,
	slotsInAnEpoch = 2,
}: {
	chainId: number;
	port?: number;
	/** A state to begin with. */
	stateFile?: string;
	/** A block is final when two epochs of blocks are above it. */
	slotsInAnEpoch?: number;
}): Promise<Anvil> {
	const args = [
		["--host", "127.0.0.1"],
		["--port", String(port)],
		["--chain-id", String(chainId)],
		["--hardfork", "prague"],
		["--slots-in-an-epoch", String(slotsInAnEpoch)],
		// The accounts that everyone knows get nothing here: what works on the devnet works with keys of its own.
		["--accounts", "0"],
		...(stateFile ? [["--load-state", stateFile]] : []),
	].flat();
	const { address, ...anvil } = await startChainProcess({
		name: "anvil",
		port,
		command: [foundryBinary("anvil", import.meta.url), ...args],
	});
	const url = `http://${address}`;
	await silence(url);
	return { ...anvil, url };
}

/** It prints each request. A process too busy to read that would, once the pipe is full, stop the chain. */
async function silence(url: string): Promise<void> {
	await fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setLoggingEnabled", params: [false] }),
	});
}
