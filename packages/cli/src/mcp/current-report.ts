import { swapStatuses } from "@geoswap/protocol";
import { type Client, GeoswapError, getStatus } from "@geoswap/sdk";
import type { SwapReport } from "./swap-runner.ts";

export type CurrentReport = SwapReport & { stage?: string; failure?: string };

/** Returns the state of a swap at the service, which may report its end before this process has confirmed it. */
export async function currentReport(
	client: Client,
	swapId: string,
	{ waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
): Promise<CurrentReport> {
	const swap = await getStatus(client, swapId, { waitSeconds, signal });
	if (swap.swapId !== swapId || !swapStatuses.includes(swap.status)) throw notItsAnswer();
	const { status, stage, funds, failure } = swap;
	return {
		swapId,
		stage,
		funds,
		...(failure !== undefined && { failure: failure.code }),
		// An end that the SDK has not confirmed is unverified. It is reported, and the budget does not rely on it.
		status: status === "pending" ? ("submitted" as const) : status,
	};
}

function notItsAnswer(): GeoswapError {
	return new GeoswapError(
		"The service did not answer with the status of that swap. Send the request again.",
		{
			code: "UNEXPECTED_RESPONSE",
			next: "retry",
			retryable: true,
			docs: "/docs/mcp.md",
		},
	);
}
