import * as z from "zod";
import type { AttesterSet } from "../../attester-set.ts";
import { hashedAttesterSetSchema } from "../../attester-set-schema.ts";
import { hashSchema } from "../../hash-schema.ts";
import { solanaAddressSchema } from "../solana-address-schema.ts";

/** The maximum size of a transaction on Solana, in bytes. */
export const maxTransactionBytes = 1_232;

/** The bytes of a transaction that decides and pays one order, without the attesters and their signatures. */
const bytesBesideAttesters = 365;
/** The program's own limit. */
const maxAttesters = 16;

/** The service's program on a cluster, and its vault there. */
export const programDeploymentSchema = z.strictObject({
	/** The program, which is also the escrow of orders that begin on Solana. */
	address: solanaAddressSchema,
	/** The account of the vault that pays orders, not a key. */
	vault: solanaAddressSchema,
	/** The key with which the service pays orders from the vault. It is one of the vault's operators. */
	operator: solanaAddressSchema,
	/** The key that may replace the program; null if none may. Attesters sign nothing while the chain names another. */
	upgradeAuthority: solanaAddressSchema.nullable(),
	/**
	 * The slot in which the program was deployed, replaced or lengthened last. It is not compared if the program is
	 * final, because anyone can still lengthen its account, which changes the slot and not the code.
	 */
	deployedAtSlot: z.int().nonnegative(),
	/** The program's published bytes. The deployed program must begin with them, and have only zeros behind them. */
	code: z.strictObject({ bytes: z.int().positive(), sha256: hashSchema }),
	attesterSet: hashedAttesterSetSchema.superRefine((set, context) => {
		const problem = attesterSetProblem(set);
		if (problem) context.addIssue(problem);
	}),
});
export type ProgramDeployment = z.infer<typeof programDeploymentSchema>;

/** Returns why orders with these attesters could not be decided on Solana; undefined if they can be. */
function attesterSetProblem({ threshold, attesters }: AttesterSet): string | undefined {
	if (attesters.length > maxAttesters) {
		return `Solana's program takes at most ${maxAttesters} attesters, and the set has ${attesters.length}`;
	}
	const bytes = bytesBesideAttesters + 20 * attesters.length + 65 * threshold;
	if (bytes <= maxTransactionBytes) return undefined;
	return `a decision by ${threshold} of ${attesters.length} attesters takes ${bytes} bytes, and a transaction on Solana has at most ${maxTransactionBytes}`;
}
