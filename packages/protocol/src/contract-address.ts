import { type Address, getAddress, isAddress, zeroAddress } from "viem";
import * as z from "zod";

/** An EVM address, parsed to its checksummed form. A mixed-case address with a wrong checksum is refused. */
export const evmAddressSchema = z
	.string()
	.refine((text) => isAddress(text), "not an address, or its checksum is wrong")
	.transform((text): Address => getAddress(text));

/** A contract's address. Refuses the zero address, which means that none was set. Anything sent there is lost. */
export const contractAddressSchema = evmAddressSchema.refine(
	(address) => address !== zeroAddress,
	"must not be the zero address",
);
