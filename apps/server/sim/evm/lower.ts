import type { Address } from "viem";

export function lower(address: string): Address {
	return address.toLowerCase() as Address;
}
