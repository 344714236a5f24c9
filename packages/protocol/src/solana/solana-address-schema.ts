import * as z from "zod";
import { isSolanaAddress, type SolanaAddress } from "./solana-address.ts";

export const solanaAddressSchema = z
	.string()
	.refine((text) => isSolanaAddress(text), "not a Solana address")
	.transform((text) => text as SolanaAddress);
