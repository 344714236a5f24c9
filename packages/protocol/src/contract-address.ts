import { type Address, getAddress, isAddress, zeroAddress } from "viem";
import * as z from "zod";

/** An EVM address, given back with its checksum. A mixed-case one with a wrong checksum is refused. */
export const evmAddressSchema = z
	.string()
	.refine((text) => isAddress(text), "not an address, or its checksum is wrong")
	.transform((text): Address => getAddress(text));

/** Where a contract is. The zero address is one that was left out: whatever is sent there is gone. */
export const contractAddressSchema = evmAddressSchema.refine(
	(address) => address !== zeroAddress,
	"is the zero address, where no contract can be",
);
