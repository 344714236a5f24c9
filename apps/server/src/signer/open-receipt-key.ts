import { isDevelopmentChain } from "@geoswap/keys/development/is-development-chain";
import { parseEvmKey } from "@geoswap/keys/parse-keys";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { EvmSigner } from "@geoswap/keys/signer";
import type { Address } from "viem";
import { ConfigError } from "../config/config-error.ts";
import type { ReceiptKeys } from "../config/role-keys.ts";
import { readOptionalSecret } from "../config/secrets.ts";
import type { Signers } from "./open-signers.ts";

/** Returns where the operator names the receipt key. */
export function receiptField({ key }: Pick<ReceiptKeys, "key">): string {
	return key ? "api.receipts.key" : "GEOSWAP_RECEIPT_KEY";
}

/**
 * Opens the key that receipts are signed with; undefined if none is configured. Throws a message that an operator can
 * act on, also if the deployment file does not name the key, because its receipts could then not be verified.
 */
export async function openReceiptKey({
	keys,
	signers,
	deployment,
	environment = process.env,
}: {
	keys: ReceiptKeys;
	signers: Signers;
	deployment: { chains: readonly { chainId: number }[]; receiptSigners?: readonly Address[] };
	environment?: NodeJS.ProcessEnv;
}): Promise<EvmSigner | undefined> {
	const field = receiptField(keys);
	const plain = keys.key ? undefined : readOptionalSecret("GEOSWAP_RECEIPT_KEY", environment);
	if (!keys.key && !plain) return undefined;
	const signer = keys.key
		? await signers.openEvm(keys.key)
		: signers.evmOf({ reference: `env:${field}`, backend: "env" }, parseEvmKey(field, plain ?? ""));
	const isDevelopment = deployment.chains.every(({ chainId }) => isDevelopmentChain(chainId));
	refusePlainKeys([signer], { keys, signers, isDevelopment });
	if (!deployment.receiptSigners?.includes(signer.address)) {
		throw new ConfigError(
			field,
			`is the key of ${signer.address}, which receiptSigners of the deployment file does not list. Add it there and publish the file: docs/receipts.md`,
		);
	}
	return signer;
}
