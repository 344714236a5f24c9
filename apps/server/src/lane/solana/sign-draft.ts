import type { SolanaDeployment } from "@geoswap/protocol";
import { signEnding } from "../../chain/solana/program/sign-ending.ts";
import { signFill } from "../../chain/solana/program/sign-fill.ts";
import { signVoid } from "../../chain/solana/program/sign-void.ts";
import type { SignedTransaction, SigningParts } from "../../chain/solana/send/sign-instructions.ts";
import type { SolanaKeys } from "../../chain/solana/send/solana-keys.ts";
import type { SolanaDraft } from "./plan-solana-jobs.ts";

/** Signs the transaction of a job in the program. */
export function signDraft(
	draft: Exclude<SolanaDraft, { kind: "open" }>,
	{ keys: { operator }, ...parts }: SigningParts & { deployment: SolanaDeployment; keys: SolanaKeys },
): Promise<SignedTransaction> {
	const { order } = draft.job;
	const common = { ...parts, operator, order };
	switch (draft.kind) {
		case "fill":
			return signFill({ ...common, amount: draft.amount, createsAccount: draft.createsAccount });
		case "void":
			return signVoid(common);
		case "release":
			return signEnding({ ...common, to: "vault", decision: draft.decision });
		case "refund":
			return signEnding({
				...common,
				to: "wallet",
				decision: draft.decision,
				createsAccount: draft.createsAccount,
			});
	}
}
