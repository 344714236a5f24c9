import { type Address, getAddress, isAddress } from "viem";
import * as z from "zod";

/** An EVM address in lower or upper case, or in mixed case with the right checksum. The result has its checksum. */
export const anyCaseAddressSchema = z
	.string()
	.refine(
		(text) => isAddress(text) || (/^0x[0-9A-F]{40}$/.test(text) && isAddress(text, { strict: false })),
		"not an address, or its checksum is wrong",
	)
	.transform((text): Address => getAddress(text.toLowerCase()));
