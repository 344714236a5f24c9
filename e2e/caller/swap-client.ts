import { readFileSync } from "node:fs";
import type { Deployment } from "@geoswap/protocol";
import { createClient, GeoswapError, type SwapRequest, swap } from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import { solanaSigner } from "@geoswap/sdk/solana";
import { type Hex, hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** An agent's intent, with the key that signs it. */
export type ClientIntent = Pick<
	SwapRequest,
	"originChain" | "destinationChain" | "inputToken" | "outputToken" | "recipient"
> & { id: string; amount: string; minOutput: string; key: Hex; keyKind: "evm" | "solana" };
export type ClientTask = {
	baseUrl: string;
	apiKey: string;
	pins: Deployment;
	storeDir: string;
	intents: ClientIntent[];
};
/** A line on stdout for each intent whose `swap` call has ended. */
export type ClientReport = { id: string; swapId?: string; status: string; mayExecute?: boolean };

// An agent that starts all of its intents concurrently, and reports how each ended. It can be killed at any moment, and
// started again with the same task.
const task = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ClientTask;
const client = createClient(task);
const store = fileStore(task.storeDir);
await Promise.all(
	task.intents.map(async ({ id, amount, minOutput, key, keyKind, ...intent }) => {
		const signer = keyKind === "evm" ? privateKeyToAccount(key) : await solanaSigner(hexToBytes(key));
		const tell = (report: ClientReport) => console.log(JSON.stringify(report));
		try {
			const { swapId, status } = await swap(client, {
				...intent,
				id,
				store,
				signer,
				pins: task.pins,
				amount: BigInt(amount),
				minOutput: BigInt(minOutput),
			});
			tell({ id, swapId, status });
		} catch (error) {
			if (!(error instanceof GeoswapError)) throw error;
			tell({
				id,
				status: error.code,
				...(error.mayExecute !== undefined && { mayExecute: error.mayExecute }),
			});
		}
	}),
);
