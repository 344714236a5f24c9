import { GeoswapErrorOf } from "./geoswap-error.ts";

/** Thrown if a chain could not be read, so that nothing was confirmed or contradicted. */
export class RpcError extends GeoswapErrorOf<"RPC_UNAVAILABLE"> {
	override name = "RpcError";

	constructor(chainId: number, problem: string, { next }: { next: "retry" | "fix_request" }) {
		super(`The endpoint for chain ${chainId} ${problem}. Pass another one, or try again.`, {
			code: "RPC_UNAVAILABLE",
			next,
			retryable: next === "retry",
			docs: "/docs/receipts.md",
			details: { chainId },
		});
	}
}
