import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import type { Address, Hash } from "viem";
import { type Flooder, type FloodKind, floodKinds } from "./flooder.ts";

const everyBlocks = 10n;
const lookMs = 50;

type HostileBlock = {
	kind: FloodKind;
	number: bigint;
	gasUsed: bigint;
	/** True if a relayer of the service has a transaction in the same block. */
	isShared: boolean;
};

type HostileBlocks = {
	/** Stops, and returns the hostile blocks that were made. */
	stop: () => Promise<HostileBlock[]>;
};

/**
 * Makes every tenth block of a chain hostile, or the next one after it for which a relayer of the service has a
 * transaction. The kinds take turns.
 */
export function makeHostileBlocks(
	chain: TestChain,
	{ flooder, relayers }: { flooder: Flooder; relayers: readonly Address[] },
): HostileBlocks {
	const { publicClient } = chain;
	const sent: { kind: FloodKind; hashes: Hash[] }[] = [];
	let isOver = false;
	const flooding = run();
	return {
		stop: async () => {
			isOver = true;
			await flooding;
			return Promise.all(sent.map(readBlock));
		},
	};

	async function run(): Promise<void> {
		let next = await publicClient.getBlockNumber();
		while (!isOver) {
			const head = await publicClient.getBlockNumber();
			if (head >= next && (await isRelayerWaiting(chain, relayers))) {
				const kind = floodKinds[sent.length % floodKinds.length] ?? "empty logs";
				sent.push({ kind, hashes: await flooder.flood(kind) });
				next = head + everyBlocks;
			}
			await sleep(lookMs);
		}
	}

	async function readBlock({ kind, hashes }: { kind: FloodKind; hashes: Hash[] }): Promise<HostileBlock> {
		const [hash = "0x"] = hashes;
		let number: bigint | null = null;
		while (number === null) {
			({ blockNumber: number } = await publicClient.getTransaction({ hash }));
			if (number === null) await sleep(lookMs);
		}
		const { gasUsed, transactions } = await publicClient.getBlock({
			blockNumber: number,
			includeTransactions: true,
		});
		return { kind, number, gasUsed, isShared: transactions.some(({ from }) => isOneOf(relayers, from)) };
	}
}

/** Returns whether a transaction of a relayer waits for its block. */
export async function isRelayerWaiting(
	{ testClient }: TestChain,
	relayers: readonly Address[],
): Promise<boolean> {
	const { pending } = await testClient.getTxpoolContent();
	return Object.keys(pending).some((sender) => isOneOf(relayers, sender as Address));
}

function isOneOf(relayers: readonly Address[], address: Address): boolean {
	return relayers.some((relayer) => relayer.toLowerCase() === address.toLowerCase());
}
