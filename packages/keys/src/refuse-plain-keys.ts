import { ConfigError } from "./config/config-error.ts";
import type { KeySettings } from "./config/key-settings.ts";
import type { Signers } from "./open-signers.ts";
import type { EvmSigner, SolanaSigner } from "./signer.ts";

/** Throws if a key of a chain that is not a devnet is in the environment, unless the operator allows that. */
export function refusePlainKeys(
	opened: readonly (EvmSigner | SolanaSigner)[],
	{
		keys: { allowPlain },
		signers: { plainOnRealChains },
		isDevelopment,
	}: {
		keys: Pick<KeySettings, "allowPlain">;
		signers: Pick<Signers, "plainOnRealChains">;
		isDevelopment: boolean;
	},
): void {
	const plain = opened.find(({ name }) => name.backend === "env");
	if (!plain || isDevelopment) return;
	const variable = plain.name.reference.replace(/^env:/, "");
	plainOnRealChains.add(variable);
	if (allowPlain) return;
	throw new ConfigError(
		variable,
		`the key of ${plain.address} is in the environment, readable by whoever reads the process. Move it to a keystore or a signer (docs/signers.md); or set keys.allowPlain to true if you accept that`,
	);
}
