import { isDevelopmentCluster } from "@geoswap/keys/development/is-development-chain";
import { kitSignerOf } from "@geoswap/keys/kit-signer-of";
import { parseSolanaKey } from "@geoswap/keys/parse-keys";
import { refusePlainKeys } from "@geoswap/keys/refuse-plain-keys";
import type { SolanaSigner } from "@geoswap/keys/signer";
import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import type { SolanaKeys } from "../chain/solana/send/sign-instructions.ts";
import { ConfigError } from "../config/config-error.ts";
import type { WorkerKeys } from "../config/role-keys.ts";
import { readSecret } from "../config/secrets.ts";
import type { Signers } from "./open-signers.ts";

/** The roles of the service's keys, each with the variable that has its keys if the configuration names none. */
const solanaRoles = {
	feePayers: "GEOSWAP_SOLANA_FEE_PAYER_KEYS",
	operator: "GEOSWAP_SOLANA_OPERATOR_KEY",
} as const;
export type SolanaRole = keyof typeof solanaRoles;
export const solanaRoleNames = Object.keys(solanaRoles) as SolanaRole[];

type Opening = {
	keys: WorkerKeys;
	signers: Signers;
	deployment: SolanaDeployment;
	environment?: NodeJS.ProcessEnv;
};

/** Returns where the operator names the keys of a role. */
export function solanaField(role: SolanaRole, { solana }: Pick<WorkerKeys, "solana">): string {
	return solana ? `keys.solana.${role}` : solanaRoles[role];
}

/** Opens all keys of the service on Solana. Only the worker signs there. */
export async function openSolanaKeys(opening: Opening): Promise<SolanaKeys & { signers: SolanaSigner[] }> {
	const [payers, [operator]] = await Promise.all([
		openSolanaRole("feePayers", opening),
		openSolanaRole("operator", opening),
	]);
	if (!operator) throw new Error("there is a key for each address");
	return {
		feePayers: payers.map(kitSignerOf),
		operator: kitSignerOf(operator),
		signers: [...payers, operator],
	};
}

/**
 * Opens the keys of one role. They must be exactly those that the deployment names, and are returned in the
 * deployment's order.
 */
export async function openSolanaRole(
	role: SolanaRole,
	{ keys, signers, deployment, environment = process.env }: Opening,
): Promise<SolanaSigner[]> {
	const field = solanaField(role, keys);
	const opened = keys.solana
		? await Promise.all([keys.solana[role]].flat().map((reference) => signers.openSolana(reference)))
		: readSecret(solanaRoles[role], environment)
				.split(",")
				.map((text) => parseSolanaKey(field, text.trim()))
				.map((seed) => signers.solanaOf({ reference: `env:${field}`, backend: "env" }, seed));
	const named = addressesOf[role](deployment).map((address) => {
		const signer = opened.find((one) => one.address === address);
		if (!signer) throw new ConfigError(field, `has no key for ${address}, which the deployment names`);
		return signer;
	});
	if (opened.length !== named.length) {
		throw new ConfigError(field, "has a key twice, or a key that the deployment does not name");
	}
	refusePlainKeys(named, { keys, signers, isDevelopment: isDevelopmentCluster(deployment) });
	return named;
}

const addressesOf: Record<SolanaRole, (deployment: SolanaDeployment) => readonly SolanaAddress[]> = {
	feePayers: ({ feePayers }) => feePayers,
	operator: ({ program }) => [program.operator],
};
