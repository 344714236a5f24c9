import { getBase58Decoder } from "@solana/kit";
import type { SolanaDevnetKeys } from "./development-solana-keys.ts";

/** The keys as the worker takes them from its environment. */
export function solanaKeysVariable({
	feePayers,
	escrow,
	vault,
}: Pick<SolanaDevnetKeys, "feePayers" | "escrow" | "vault">): string {
	return [
		...feePayers.map((key) => ["feePayer", key] as const),
		["escrow", escrow] as const,
		["vault", vault] as const,
	]
		.map(([name, key]) => `${name}:${getBase58Decoder().decode(key)}`)
		.join(",");
}
