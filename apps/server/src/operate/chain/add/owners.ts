import { attesterSetSchema } from "@geoswap/protocol";
import * as z from "zod";

/**
 * The people and machines that own a chain's contracts, the same on every chain. The deployment checks the addresses:
 * they must have their checksums, and no key may have two powers that must be apart.
 */
export const ownersSchema = z.strictObject({
	/** Takes over from the deployer; a multisig. */
	admin: z.string(),
	/** The relayers. */
	operators: z.array(z.string()).min(1),
	guardians: z.array(z.string()).min(1),
	treasuries: z.array(z.string()).min(1),
	attesterSet: attesterSetSchema,
	/** Blocks that confirm the deployment before it is recorded. */
	confirmations: z.int().min(1).exactOptional(),
});
