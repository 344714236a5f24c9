import { setTimeout as sleep } from "node:timers/promises";
import type { SolanaFaults } from "@geoswap/devnet";
import type { SolanaTestChain } from "../solana/solana-chain.ts";

const faultMs = 1_000;
const calmMs = 1_000;

/** Faults of nodes on a bad day, which are all except lies. */
const faults: readonly SolanaFaults[] = [
	{ dropSends: { next: 6 } },
	{ dropAnswers: { methods: ["sendTransaction"], next: 6 } },
	{ dropAnswers: { next: 30 } },
	{ delaySendMs: { ms: 3_000, next: 4 } },
	{ dropAnswers: { methods: ["getSignatureStatuses", "getTransaction"], next: 10 } },
	{ stallFinality: true },
	{ dropSends: true, dropAnswers: true },
];

/** Injects one fault after the other into Solana until `isOver` returns true, then clears them. */
export async function troubleSolana(
	{ admin }: SolanaTestChain,
	{ isOver }: { isOver: () => boolean },
): Promise<void> {
	try {
		for (let n = 0; !isOver(); n++) {
			await admin.setFaults(faults[n % faults.length] ?? {});
			await sleep(faultMs);
			await admin.setFaults({});
			await sleep(calmMs);
		}
	} finally {
		await admin.setFaults({});
	}
}
