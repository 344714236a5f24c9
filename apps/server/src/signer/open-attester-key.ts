import { isDevelopmentChain } from "@geoswap/keys/development/is-development-chain";
import { parseEvmKey } from "@geoswap/keys/parse-keys";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { EvmSigner } from "@geoswap/keys/signer";
import type { AttesterKeys } from "../config/role-keys.ts";
import { readSecret } from "../config/secrets.ts";
import type { Signers } from "./open-signers.ts";

/** Returns where the operator names the attester's key. */
export function attesterField({ attester }: Pick<AttesterKeys, "attester">): string {
	return attester ? "keys.attester" : "GEOSWAP_ATTESTER_KEY";
}

/** Opens the key that an attester signs with, for these chains. Throws a message that an operator can act on. */
export async function openAttesterKey(
	chainIds: readonly number[],
	{ keys, signers }: { keys: AttesterKeys; signers: Signers },
): Promise<EvmSigner> {
	const field = attesterField(keys);
	const signer = keys.attester
		? await signers.openEvm(keys.attester)
		: signers.evmOf(
				{ reference: `env:${field}`, backend: "env" },
				parseEvmKey(field, readSecret("GEOSWAP_ATTESTER_KEY")),
			);
	refusePlainKeys([signer], { keys, signers, isDevelopment: chainIds.every(isDevelopmentChain) });
	return signer;
}
