import type { CallTraits, NodeCall, ShownHeights } from "./node-call.ts";

/** Calls whose answer does not depend on the newest blocks. */
const constants = new Set(["getGenesisHash", "getVersion", "getMinimumBalanceForRentExemption"]);

/** Returns the traits of a call to a Solana node. */
export function solanaCallTraits({ method, params }: NodeCall): CallTraits {
	const commitment = params.reduce<string>(
		(found, param) =>
			typeof param === "object" && param !== null && "commitment" in param ? String(param.commitment) : found,
		"finalized",
	);
	const isHeadPoll = method === "getEpochInfo" || method === "getSlot";
	return {
		isSend: method === "sendTransaction",
		isHeadPoll: isHeadPoll && commitment !== "finalized",
		needs: constants.has(method) ? "any" : "head",
		shows: (result): ShownHeights => {
			const slot = slotOf(method, result);
			if (slot === undefined) return {};
			// The context of statuses has the newest slot that the node has processed, which may not be confirmed.
			if (method === "getSignatureStatuses") return { processed: slot };
			return commitment === "finalized" ? { final: slot } : { head: slot };
		},
		isLacking: () => false,
	};
}

/** Returns the slot of an answer, which is the answer itself, or a part of it or of its context. */
function slotOf(method: string, result: unknown): number | undefined {
	if (method === "getSlot") return Number(result);
	if (typeof result !== "object" || result === null) return undefined;
	const { absoluteSlot, context } = result as { absoluteSlot?: bigint; context?: { slot?: bigint } };
	const slot = absoluteSlot ?? context?.slot;
	return slot === undefined ? undefined : Number(slot);
}
