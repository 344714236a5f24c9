import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { isPassingFailure } from "../../chain/solana/send/is-passing-failure.ts";
import type { TransactionSimulation } from "../../chain/solana/send/simulate-transaction.ts";
import type { Job } from "../../swap/facts/job.ts";
import { strike } from "../strike.ts";
import type { Verdict } from "../verdict.ts";
import { later } from "./later.ts";

/** Errors of an order that was decided a moment ago: the marker exists, or the transaction itself has landed. */
const decided = /already in use|AlreadyProcessed/i;
const tooLittle = /insufficient (funds|lamports)/i;
const frozen = /frozen/i;

type OwnAddresses = Pick<SolanaDeployment, "feePayers" | "escrow" | "vault">;

/** The number of slots that take about as long as a block of other chains. */
const slotsPerBlock = 5;

/** Returns the verdict on a job whose transaction would fail. */
export function judgeSimulation(
	job: Job,
	{ reason, logs, poorAccount }: Extract<TransactionSimulation, { ok: false }>,
	{ isPayerPoor, deployment }: { isPayerPoor: boolean; deployment: OwnAddresses },
): Verdict {
	const told = [reason, ...logs].join("\n");
	if (poorAccount && deployment.feePayers.includes(poorAccount)) return { do: "leave" };
	if (isPassingFailure({ reason }, deployment) || decided.test(told)) return later;
	if (tooLittle.test(told) && isPayerPoor) return { do: "leave" };
	// We must fund our own account. Only the recipient's own account is the recipient's fault.
	if (poorAccount && isOwnAccount(poorAccount, deployment)) return later;
	if (job.kind === "fill") {
		if (poorAccount) return { do: "refuse", reason: "recipient" };
		// No payout is signed to a frozen account. So the vault's account is frozen, or the escrow's: the issuer of the
		// token has stopped us, and not the recipient.
		if (frozen.test(told) || tooLittle.test(told)) return { do: "refuse", reason: "liquidity" };
	}
	return strikeInSlots(job);
}

/** Returns whether the account is the escrow or the vault, which hold the users' inputs and outputs. */
export function isOwnAccount(
	account: SolanaAddress | undefined,
	{ escrow, vault }: Pick<OwnAddresses, "escrow" | "vault">,
): boolean {
	return account === escrow || account === vault;
}

/** Returns the verdict of `strike`, with its wait in slots. */
export function strikeInSlots(job: Job): Verdict {
	const struck = strike(job);
	return struck.do === "postpone" ? { ...struck, blocks: struck.blocks * slotsPerBlock } : struck;
}
