import { isDevelopmentChain } from "../chain/is-development-chain.ts";
import type { Signers } from "../signer/open-signers.ts";
import { refusePlainKeys } from "../signer/refuse-plain-keys.ts";
import type { KeyOpener } from "../signer/remote/open-signing-keys.ts";
import type { SignerConfig } from "../signer/remote/signer-config.ts";
import type { EvmSigner, SolanaSigner } from "../signer/signer.ts";
import { refuseDevelopmentKeys } from "./refuse-development-keys.ts";

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
