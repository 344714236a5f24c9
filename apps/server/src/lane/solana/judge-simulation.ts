import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { isPassingFailure } from "../../chain/solana/send/send-raw.ts";
import type { TransactionSimulation } from "../../chain/solana/send/simulate-transaction.ts";
import type { Job } from "../../swap/facts/job.ts";
import { type Verdict, verdictOnFailure } from "../verdict.ts";

/** Errors of an order that was decided a moment ago: its record exists, or the transaction itself has landed. */
const decided = /already in use|AlreadyProcessed/i;
const tooLittle = /insufficient (funds|lamports)/i;
const frozen = /frozen/i;

type OwnAddresses = Pick<SolanaDeployment, "feePayers"> & {
	program: Pick<SolanaDeployment["program"], "address" | "vault">;
};

/** The number of slots that take about as long as a block of other chains. */
const slotsPerBlock = 5;
/** Slots after which the follower, or a node that is behind, has read more of the chain. */
const laterSlots = 10;

/** The verdict on a job that cannot be signed at the moment, but may be later. */
export const later: Extract<Verdict, { do: "postpone" }> = { do: "postpone", blocks: laterSlots };

/** Returns the verdict on a job whose transaction would fail. */
export function judgeSimulation(
	job: Job,
	{ reason, logs, poorAccount }: Extract<TransactionSimulation, { ok: false }>,
	{ isPayerPoor, deployment }: { isPayerPoor: boolean; deployment: OwnAddresses },
): Verdict {
	const told = [reason, ...logs].join("\n");
	const error = programError(logs, deployment.program.address);
	if (error) return judgeProgramError(job, error);
	if (poorAccount && deployment.feePayers.includes(poorAccount)) return { do: "leave" };
	if (isPassingFailure({ reason }, deployment) || decided.test(told)) return later;
	if (tooLittle.test(told) && isPayerPoor) return { do: "leave" };
	// We must fund our own account. Only the recipient's own account is the recipient's fault.
	if (poorAccount === deployment.program.vault) return later;
	if (job.kind === "fill") {
		if (poorAccount) return { do: "refuse", reason: "recipient" };
		// No payout is signed to a frozen account. So it is the vault's account that the issuer of the token has frozen,
		// which is not the recipient's fault.
		if (frozen.test(told) || tooLittle.test(told)) return { do: "refuse", reason: "liquidity" };
	}
	return verdictOnFailureInSlots(job);
}

/** Errors of the program, by its own numbers. */
const programErrors = new Map([
	[10, "decided"],
	[11, "decided"],
	[12, "too-early"],
	[19, "paused"],
	[20, "decided"],
	[21, "expired"],
	[23, "above-cap"],
	[27, "no-inventory"],
	[28, "decided"],
	[29, "decided"],
] as const);
type ProgramError = NonNullable<ReturnType<typeof programErrors.get>> | "other";

/** The first failure in the logs is the innermost one, which made the others fail. */
const failed = /^Program (\S+) failed: custom program error: 0x([0-9a-f]+)$/m;

/** Returns why the program refused; undefined if another program did. */
function programError(logs: readonly string[], program: SolanaAddress): ProgramError | undefined {
	const [, failing, code] = failed.exec(logs.join("\n")) ?? [];
	if (failing !== program || code === undefined) return undefined;
	return programErrors.get(Number.parseInt(code, 16) as 10) ?? "other";
}

function judgeProgramError(job: Job, error: ProgramError): Verdict {
	switch (error) {
		case "decided":
		case "too-early":
			return later;
		case "expired":
			return job.kind === "fill" ? { do: "refuse", reason: "too_late" } : later;
		case "paused":
		case "above-cap":
		case "no-inventory":
			return job.kind === "fill" ? { do: "refuse", reason: "liquidity" } : later;
		case "other":
			return verdictOnFailureInSlots(job);
	}
}

/** Returns the verdict of `verdictOnFailure`, with its wait in slots. */
export function verdictOnFailureInSlots(job: Job): ReturnType<typeof verdictOnFailure> {
	const verdict = verdictOnFailure(job);
	return verdict.do === "postpone" ? { ...verdict, blocks: verdict.blocks * slotsPerBlock } : verdict;
}
