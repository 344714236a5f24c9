import type { Milliseconds } from "@geoswap/protocol";
import type { AuditedChain } from "../read/audited-chain.ts";
import { mapConcurrently } from "../read/map-concurrently.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";

const next = "a relayer's key was used outside of the service: pause the vault and revoke the key's role";

/** Returns an I6 finding for each of these deliveries, which only a third party with a relayer's key can have made. */
export async function findUnauthorizedFills(
	{ chainId, client }: AuditedChain,
	{
		fills,
		how,
		isForgiven,
	}: {
		fills: ChainEvents["filled"];
		/** The end of the message's sentence. */
		how: string;
		/** Returns true for a time of which a restored database may have lost the delivery. */
		isForgiven: ((atMs: Milliseconds) => boolean) | undefined;
	},
): Promise<Finding[]> {
	const findings = await mapConcurrently(fills, async ({ orderId, block, delivered }): Promise<Finding[]> => {
		if (isForgiven) {
			const { timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
			if (isForgiven(Number(timestamp) * 1_000)) return [];
		}
		const message = `${delivered} was delivered in block ${block} ${how}`;
		return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount: String(delivered), next }];
	});
	return findings.flat();
}
