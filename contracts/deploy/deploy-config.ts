import { readFileSync } from "node:fs";
import {
	assetDeploymentSchema,
	assetProblems,
	attesterSetSchema,
	cctpContractsSchema,
	chainIdKeySchema,
	chainKindSchema,
	evmAddressSchema,
	feeDiscountTokenSchema,
	uniswapDeploymentSchema,
} from "@geoswap/protocol";
import { getAddress, isAddress, zeroAddress } from "viem";
import * as z from "zod";
import { DeployError } from "./deploy-error.ts";
import { developmentChainIds } from "./development-keys.ts";
import { roleOverlaps } from "./role-overlaps.ts";

const maxUint96 = (1n << 96n) - 1n;

const amountSchema = z
	.string()
	.regex(/^(0|[1-9][0-9]{0,28})$/, "an amount is a string of digits, in the token's smallest unit")
	.transform((text) => BigInt(text))
	.refine((amount) => amount <= maxUint96, "an outflow cap is at most 2^96 - 1");

/**
 * An address that is given power. It is not called during a deployment, so its checksum is the only protection against
 * a wrong digit, which would hand the vault to an address without a key.
 */
const checksummedSchema = z
	.string()
	.refine(
		(text): boolean => isAddress(text) && getAddress(text) === text,
		"not an address with its checksum: copy it from the wallet with its upper and lower case letters",
	)
	.refine((text) => text !== zeroAddress, "is the zero address");
const memberSchema = checksummedSchema.pipe(evmAddressSchema);
const membersSchema = z.array(memberSchema).min(1);

/** The largest fee that a route may let a burn pay, well above what Circle takes. */
const maxRouteFeeBps = 100;

/** Circle's contracts, and the ways out of the vault that lead through them. */
const cctpConfigSchema = cctpContractsSchema.extend({
	/** By the chain id of the destination. */
	routes: z.record(
		chainIdKeySchema,
		z.strictObject({
			/** The destination, as Circle numbers it. */
			domain: cctpContractsSchema.shape.domain,
			/** The vault on the destination. The route can never mint to any other address. */
			vault: memberSchema,
			/** The maximum fee of a burn, in hundredths of a percent of its amount. */
			maxFeeBps: z.int().min(0).max(maxRouteFeeBps),
			/** Amount of the settlement token that may take the route immediately, and again each hour. */
			capPerHour: amountSchema,
		}),
	),
});

const daySeconds = 86_400;
/** The minimum delays of a chain with real money. The thief of a cold key has to wait while others can react. */
const minDelays = {
	treasurySeconds: daySeconds,
	configSeconds: 2 * daySeconds,
	adminSeconds: 2 * daySeconds,
};
const delaySchema = z
	.int()
	.nonnegative()
	.max(30 * daySeconds);

/** The input of a deployment. The RPC endpoint and the deployer's key are not in it, because they are secrets. */
const deployConfigSchema = z
	.strictObject({
		chainId: z.int().positive(),
		name: z.string().min(1),
		kind: chainKindSchema,
		uniswap: uniswapDeploymentSchema,
		wrappedNative: evmAddressSchema,
		settlementToken: evmAddressSchema,
		permit2: evmAddressSchema.optional(),
		sequencerUptimeFeed: evmAddressSchema.exactOptional(),
		assets: z.array(assetDeploymentSchema).min(1),
		feeDiscountToken: feeDiscountTokenSchema.optional(),
		attesterSet: z
			.strictObject({ threshold: z.int().positive(), attesters: z.array(checksummedSchema) })
			.pipe(attesterSetSchema),
		/** Delegates of earlier deployments that wallets may still have. */
		earlierDelegates: z.array(evmAddressSchema).default([]),
		roles: z.strictObject({
			/** Takes over from the deployer. */
			admin: memberSchema,
			/** A second admin. Each of the two cancels operations that the other has scheduled. */
			secondAdmin: memberSchema.exactOptional(),
			operators: membersSchema,
			guardians: membersSchema,
			treasuries: membersSchema,
			/** Keys that move inventory within the caps. */
			treasurers: z.array(memberSchema).default([]),
			/** Members of CONFIG, who set caps and feeds. */
			configurers: membersSchema,
			/** Members of RESUME, who unpause. */
			resumers: membersSchema,
		}),
		/** Seconds between the schedule of an operation and its execution, by role. */
		delays: z
			.strictObject({
				treasurySeconds: delaySchema.default(minDelays.treasurySeconds),
				configSeconds: delaySchema.default(minDelays.configSeconds),
				adminSeconds: delaySchema.default(minDelays.adminSeconds),
			})
			.prefault({}),
		/** Amount that may leave the vault immediately, and again each hour, by asset symbol, in its smallest unit. */
		outflowCaps: z.record(z.string(), amountSchema),
		cctp: cctpConfigSchema.exactOptional(),
		/** Needed only if the node cannot find the block in which the vault was deployed. */
		deployedAtBlock: z.int().nonnegative().optional(),
		/**
		 * Number of blocks, the transaction's own included, that confirm the last transaction before its result is
		 * recorded.
		 */
		confirmations: z.int().min(1).max(1_000).optional(),
	})
	.superRefine((config, context) => {
		for (const message of assetProblems(config)) {
			context.addIssue({ code: "custom", path: ["assets"], message });
		}
		for (const message of delayProblems(config)) {
			context.addIssue({ code: "custom", path: ["delays"], message });
		}
		for (const message of roleOverlaps(config)) {
			context.addIssue({ code: "custom", path: ["roles"], message });
		}
		for (const [chainId, { domain }] of Object.entries(config.cctp?.routes ?? {})) {
			if (chainId !== String(config.chainId) && domain !== config.cctp?.domain) continue;
			const message = "a route leads to another chain, which has a domain of its own";
			context.addIssue({ code: "custom", path: ["cctp", "routes", chainId], message });
		}
		const symbols = config.assets.map((asset) => asset.symbol);
		for (const symbol of Object.keys(config.outflowCaps)) {
			if (!symbols.includes(symbol)) {
				context.addIssue({
					code: "custom",
					path: ["outflowCaps", symbol],
					message: "is not an asset of this chain",
				});
			}
		}
		for (const symbol of symbols) {
			if (config.outflowCaps[symbol] === undefined) {
				context.addIssue({
					code: "custom",
					path: ["outflowCaps", symbol],
					message: "missing: without a cap nothing could leave",
				});
			}
		}
	});

function delayProblems({ chainId, delays }: { chainId: number; delays: typeof minDelays }): string[] {
	if (developmentChainIds.includes(chainId)) return [];
	return (Object.keys(minDelays) as (keyof typeof minDelays)[])
		.filter((name) => delays[name] < minDelays[name])
		.map((name) => `${name} is ${delays[name]}, and only a devnet may have less than ${minDelays[name]}`);
}

/** A config in the form of its file. */
export type DeployConfigInput = z.input<typeof deployConfigSchema>;
export type DeployConfig = z.output<typeof deployConfigSchema>;

export function readDeployConfig(path: string): DeployConfig {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		throw new DeployError(`${path} cannot be read as JSON: ${(error as Error).message}`, {
			next: "name a JSON file with --config",
			cause: error,
		});
	}
	return parseDeployConfig(json, path);
}

export function parseDeployConfig(json: unknown, source = "the config"): DeployConfig {
	const parsed = deployConfigSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	throw new DeployError(`${source} is not a deployment config:\n${z.prettifyError(parsed.error)}`, {
		next: "fix the entries above; contracts/deploy/README.md describes each",
	});
}
