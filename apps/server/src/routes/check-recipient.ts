import { SwapError } from "@geoswap/protocol";

/** Throws where the swap could only be refunded. */
export function checkRecipient({ isPayable }: { isPayable: boolean }): void {
	if (isPayable) return;
	throw new SwapError(
		"SIMULATION_FAILED",
		{ reason: "the recipient's token account belongs to another owner, or is frozen" },
		{
			message:
				"The recipient cannot be paid on the destination chain, and nothing was sent. See details.reason, and request a quote for another recipient.",
		},
	);
}
