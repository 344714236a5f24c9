import { foundryBinary } from "@geoswap/contracts";
import { type ChainProcess, startChainProcess } from "./chain-process.ts";

export type Anvil = Omit<ChainProcess, "address"> & { url: string };

/** Starts a chain in its own process on 127.0.0.1, on a free port if none is given. */
export async function startAnvil({
	chainId,
	port = 0,
	stateFile,
	slotsInAnEpoch = 2,
	startsAtUnixSeconds,
}: {
	chainId: number;
	port?: number;
	/** The initial state. */
	stateFile?: string;
	/** A block is final when two epochs of blocks are above it. */
	slotsInAnEpoch?: number;
	/** The time of the first block; now if absent. */
	startsAtUnixSeconds?: number;
}): Promise<Anvil> {
	const args = [
		["--host", "127.0.0.1"],
		["--port", String(port)],
		["--chain-id", String(chainId)],
		["--hardfork", "prague"],
		["--slots-in-an-epoch", String(slotsInAnEpoch)],
		// The well-known accounts get nothing here, so that everything works with the devnet's own keys.
		["--accounts", "0"],
		...(stateFile ? [["--load-state", stateFile]] : []),
		...(startsAtUnixSeconds === undefined ? [] : [["--timestamp", String(startsAtUnixSeconds)]]),
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

/** Turns off the log of requests. If this process is too busy to read it, a full pipe would stop the chain. */
async function silence(url: string): Promise<void> {
	await fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setLoggingEnabled", params: [false] }),
	});
}
