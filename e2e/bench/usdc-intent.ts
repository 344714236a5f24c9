import type { TestChain } from "@geoswap/devnet";
import { swapIntent } from "../caller/do-swap.ts";

/** Returns the bench's intent: USDC to USDC, from the origin to the destination. */
export function usdcIntent(
	{ origin, destination }: { origin: TestChain; destination: TestChain },
	{ account, amount }: { account: { address: string }; amount: bigint },
): ReturnType<typeof swapIntent> {
	const token = "USDC";
	return swapIntent({ from: { chain: origin, token, amount }, to: { chain: destination, token }, account });
}
