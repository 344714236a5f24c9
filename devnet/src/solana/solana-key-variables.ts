import { getBase58Decoder } from "@solana/kit";
import type { SolanaDevnetKeys } from "./development-solana-keys.ts";

/** Returns the keys as environment variables of the worker, one per role. */
export function solanaKeyVariables({
	feePayers,
	operator,
}: Pick<SolanaDevnetKeys, "feePayers" | "operator">) {
	const { decode } = getBase58Decoder();
	return {
		GEOSWAP_SOLANA_FEE_PAYER_KEYS: feePayers.map((key) => decode(key)).join(","),
		GEOSWAP_SOLANA_OPERATOR_KEY: decode(operator),
	};
}
