import { attesterSetSchema } from "@geoswap/protocol";
import * as z from "zod";

/**
 * The persons and machines that own a chain's contracts, the same on every chain. The deployment checks that the
 * addresses have their checksums, and that no key has two powers that must be separate.
 */
export const ownersSchema = z.strictObject({
	/** Takes over from the deployer; a multisig. */
	admin: z.string(),
	/** The relayers. */
	operators: z.array(z.string()).min(1),
	guardians: z.array(z.string()).min(1),
	treasuries: z.array(z.string()).min(1),
	/** A second admin, also a multisig. */
	secondAdmin: z.string().exactOptional(),
	/** Keys that move inventory within the caps. */
	treasurers: z.array(z.string()).exactOptional(),
	/** The account that sets caps and feeds. It should be a multisig. */
	configurers: z.array(z.string()).min(1),
	/** The account that unpauses a vault. */
	resumers: z.array(z.string()).min(1),
	/** Shorter than usual only on a devnet. */
	delays: z
		.strictObject({
			treasurySeconds: z.int().exactOptional(),
			configSeconds: z.int().exactOptional(),
			adminSeconds: z.int().exactOptional(),
		})
		.exactOptional(),
	attesterSet: attesterSetSchema,
	/** Blocks that confirm the deployment before it is recorded. */
	confirmations: z.int().min(1).exactOptional(),
});
