import { SwapError } from "@geoswap/protocol";
import type { KnownRecipient } from "../../desk/desk.ts";

/** Throws if the swap could only be refunded. */
export function checkRecipient({ payProblem }: Pick<KnownRecipient, "payProblem">): void {
	if (!payProblem) return;
	throw new SwapError(
		"SIMULATION_FAILED",
		{ reason: payProblem },
		{
			message:
				"The recipient cannot be paid on the destination chain, and nothing was sent. See details.reason, and request a quote for another recipient.",
		},
	);
}
