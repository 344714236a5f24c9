import { isDevelopmentChain } from "@geoswap/keys/development/is-development-chain";
import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import type { Signers } from "@geoswap/keys/open-signers";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { EvmSigner, SolanaSigner } from "@geoswap/keys/signer";
import type { KeyOpener } from "./open-signing-keys.ts";
import type { SignerConfig } from "./signer-config.ts";

/** Opens the remote signer's keys. Refuses publicly known keys, and keys in the environment, on chains that are not devnets. */
export function createKeyOpener(
	{ deployment, backends }: Pick<SignerConfig, "deployment" | "backends">,
	signers: Signers,
): KeyOpener {
	const chainIds = deployment.chains.map(({ chainId }) => chainId);
	const isDevelopment = chainIds.every(isDevelopmentChain);
	const expectHidden = <Signer extends EvmSigner | SolanaSigner>(signer: Signer): Signer => {
		refusePlainKeys([signer], { keys: backends, signers, isDevelopment });
		return signer;
	};
	return {
		openEvm: async (reference) => {
			const opened = expectHidden(await signers.openEvm(reference));
			refuseDevelopmentKeys([opened.address], chainIds);
			return opened;
		},
		openSolana: async (reference) => expectHidden(await signers.openSolana(reference)),
	};
}
