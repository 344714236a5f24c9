import type { Job } from "../store/job.ts";
import { later } from "./later.ts";
import { strike } from "./strike.ts";
import type { Verdict } from "./verdict.ts";

/** The node, or the payer, is the cause: another try or another lane may do it. */
const passing =
	/Blockhash ?NotFound|AccountInUse|AlreadyProcessed|ClusterMaintenance|InsufficientFundsForFee|AccountNotFound|WouldExceed/i;
/** Decided a moment ago: the marker is there. */
const decided = /already in use/i;
const tooLittle = /insufficient (funds|lamports)/i;
const refusedByRecipient = /frozen|InsufficientFundsForRent/i;

/** Slots that are about as long as a block of other chains. */
const slotsPerBlock = 5;

/** What becomes of a job whose transaction would fail. */
export function judgeSimulation(
	job: Job,
	{ reason, logs }: { reason: string; logs: readonly string[] },
	{ isPayerPoor }: { isPayerPoor: boolean },
): Verdict {
	const told = [reason, ...logs].join("\n");
	if (passing.test(reason) || decided.test(told)) return later;
	if (tooLittle.test(told) && isPayerPoor) return { do: "leave" };
	if (job.kind === "fill") {
		if (refusedByRecipient.test(told)) return { do: "refuse", reason: "recipient" };
		if (tooLittle.test(told)) return { do: "refuse", reason: "liquidity" };
	}
	return strikeInSlots(job);
}

/** As on other chains, by slots. */
export function strikeInSlots(job: Job): Verdict {
	const struck = strike(job);
	return struck.do === "postpone" ? { ...struck, blocks: struck.blocks * slotsPerBlock } : struck;
}
