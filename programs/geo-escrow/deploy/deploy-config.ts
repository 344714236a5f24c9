import { readFileSync } from "node:fs";
import {
	attesterSetSchema,
	maxVaultOperators,
	type PlannedSolana,
	type SolanaAddress,
	solanaAddressSchema,
} from "@geoswap/protocol";
import { parseUnits } from "viem";
import * as z from "zod";
import { DeployError } from "./deploy-error.ts";

const amountSchema = z.string().regex(/^\d+(\.\d+)?$/, "not an amount such as 25000 or 0.5");

/** The roles and limits of a deployment. Everything else follows from the deployment file and the built program. */
const deployConfigSchema = z.strictObject({
	/** The key that may replace the program. It should be a multisig with a delay. null makes the program final. */
	upgradeAuthority: solanaAddressSchema.nullable(),
	vault: z.strictObject({
		/** The owner that the vault is offered to. It should be a multisig with a delay. */
		owner: solanaAddressSchema,
		guardian: solanaAddressSchema,
		operators: z.array(solanaAddressSchema).min(1).max(maxVaultOperators),
		/** How much of each asset may leave in an hour, by its symbol, in whole tokens. */
		capsPerHour: z.record(z.string(), amountSchema),
	}),
	attesterSet: attesterSetSchema,
});
export type DeployConfig = z.infer<typeof deployConfigSchema>;

export function readDeployConfig(path: string): DeployConfig {
	try {
		return deployConfigSchema.parse(JSON.parse(readFileSync(path, "utf8")));
	} catch (cause) {
		const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
		throw new DeployError(`${path} is not a configuration: ${why}`, {
			next: "write it as programs/geo-escrow/deploy/README.md describes",
			cause,
		});
	}
}

/** Returns the caps in the smallest units. Every asset needs one, as without a cap nothing of a token can leave. */
export function capsOf(
	{ vault: { capsPerHour } }: DeployConfig,
	{ assets }: Pick<PlannedSolana, "assets">,
): { symbol: string; token: SolanaAddress; perHour: bigint }[] {
	const unknown = Object.keys(capsPerHour).find((symbol) => !assets.some((asset) => asset.symbol === symbol));
	if (unknown !== undefined) {
		throw new DeployError(`${unknown} has a cap, and is no asset of the deployment`, {
			next: "correct vault.capsPerHour, or add the asset to the deployment file",
		});
	}
	return assets.map(({ symbol, address, decimals }) => {
		const cap = capsPerHour[symbol];
		if (cap === undefined) {
			throw new DeployError(`${symbol} has no cap, so that the vault could not pay any of it`, {
				next: `add vault.capsPerHour.${symbol}, as an amount in whole tokens`,
			});
		}
		return { symbol, token: address, perHour: parseUnits(cap, decimals) };
	});
}
