import { dirname, resolve } from "node:path";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { secondsSchema } from "@geoswap/keys/config/duration-schemas";
import { keyReferenceSchema, parseKeyReference } from "@geoswap/keys/config/key-reference";
import { keySettingsSchema } from "@geoswap/keys/config/key-settings";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { urlSchema } from "@geoswap/keys/config/url-schema";
import {
	attesterSetHash,
	attesterSetSchema,
	type Deployment,
	deploymentSchema,
	evmAddressSchema,
	solanaAddressSchema,
	solanaChainId,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import * as z from "zod";
import { feeMeter, moveMeter, outflowMeter, signatureMeter, unprovenMeter } from "./policy/meters.ts";
import type { Cap } from "./state/cap.ts";

/** The maximum gas of one transaction on Ethereum (EIP-7825). */
const maxTransactionGas = 2n ** 24n;

const amountSchema = z
	.string()
	.regex(/^(0|[1-9]\d*)$/, "must be a whole number as a string")
	.transform((text) => BigInt(text));
const capSchema = z.strictObject({ perHour: amountSchema, perDay: amountSchema });
/** The cap of a token's payouts, and the cap of those among them that no deposit proves. */
const outflowSchema = capSchema.extend({
	unproven: capSchema.default({ perHour: 0n, perDay: 0n }),
});

const chainSchema = z.strictObject({
	/**
	 * The signer's own node, from which it reads deposits and prices. Without it, no payout of a deposit there is proven.
	 */
	rpcUrl: urlSchema.exactOptional(),
	/**
	 * Caps by token, for what leaves the chain's vaults by all relayers together. A token without a cap is never paid.
	 */
	outflow: z.record(evmAddressSchema, outflowSchema).default({}),
	/** The relayers and the treasurer, which a treasurer's key may send the vault's native token to. */
	gasAccounts: z.array(evmAddressSchema).default([]),
	/** An upper bound on the time until a block is final, as in the service's configuration. */
	finalitySeconds: secondsSchema,
	maxFeePerGasWei: amountSchema,
	maxTransactionFeeWei: amountSchema,
	maxGas: amountSchema.default(maxTransactionGas),
});

const solanaSchema = z.strictObject({
	rpcUrl: urlSchema.exactOptional(),
	/** Caps by mint, for what leaves the vault. That of SOL also counts the rent of records. */
	outflow: z.record(solanaAddressSchema, outflowSchema).default({}),
	finalitySeconds: secondsSchema.default(20),
	maxUnits: z.int().positive().default(200_000),
	maxMicroLamportsPerUnit: amountSchema.default(5_000_000n),
});

const keyFields = {
	/** The place of the key. Any form except `remote:`. */
	reference: keyReferenceSchema.refine(
		(reference) => parseKeyReference(reference).backend !== "remote",
		"must not be a key of another remote signer",
	),
	/** The names in the certificates of the clients that may use the key. */
	clients: z.array(z.string().min(1)).min(1),
	signaturesPerHour: z.int().positive(),
};

/** Fields of a key that sends transactions on an EVM chain. */
const senderFields = {
	...keyFields,
	chainId: z.int().positive(),
	/** The maximum that all its transactions may cost, at their highest fees. */
	feesWei: capSchema,
	firstNonce: z.int().nonnegative().default(0),
};

const keySchema = z.discriminatedUnion("use", [
	z.strictObject({ use: z.literal("relayer"), ...senderFields }),
	z.strictObject({
		use: z.literal("treasurer"),
		...senderFields,
		/** Caps by token, for what the key trades, sends and bridges. A token without a cap is never moved. */
		moves: z.record(evmAddressSchema, capSchema),
	}),
	z.strictObject({ use: z.literal("attester"), ...keyFields }),
	z.strictObject({ use: z.literal("receipts"), ...keyFields }),
	z.strictObject({ use: z.literal("solana-fee-payer"), ...keyFields, feesLamports: capSchema }),
	z.strictObject({ use: z.literal("solana-operator"), ...keyFields }),
]);

const signerConfigSchema = z.strictObject({
	/** Path of the signer's own copy of the deployment file, relative to this one. */
	deployment: z.string(),
	/** The file with everything that was counted, relative to this one. */
	state: z.string(),
	host: z.string().default("127.0.0.1"),
	port: z.int().min(0).max(65_535),
	metrics: z
		.strictObject({ host: z.string().default("127.0.0.1"), port: z.int().min(0).max(65_535) })
		.exactOptional(),
	tls: z.strictObject({
		certificateFile: z.string(),
		keyFile: z.string(),
		/** Certificate of the authority that signs the clients' certificates. */
		clientCaFile: z.string(),
		/** List of revoked client certificates. */
		crlFile: z.string().exactOptional(),
	}),
	/** Retired attester sets that open orders still reference. */
	earlierAttesterSets: z.array(attesterSetSchema).default([]),
	/** How much more than its deposit a payout may be worth, because prices move until the payout is signed. */
	payoutMarginBps: z.int().nonnegative().max(10_000).default(500),
	chains: z.record(z.string().regex(/^[1-9]\d*$/), chainSchema).default({}),
	solana: solanaSchema.exactOptional(),
	keys: z.record(z.string().regex(/^[\w.-]+$/), keySchema),
	/** How to reach the places that hold the keys. */
	backends: keySettingsSchema.omit({ remote: true }).prefault({}),
	logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

type SignerFile = z.output<typeof signerConfigSchema>;
export type KeyConfig = SignerFile["keys"][string];
export type SignerConfig = Omit<SignerFile, "deployment" | "earlierAttesterSets"> & {
	deployment: Deployment;
	/** Hashes of all attester sets that the service's orders may name. */
	attesterSets: ReadonlySet<Hex>;
	/** How long each chain takes to be final, by its id. */
	finalitySeconds: ReadonlyMap<number, number>;
	/** The cap of each meter. */
	caps: ReadonlyMap<string, Cap>;
};

/** Reads the remote signer's file and its deployment file. Throws a message that an operator can act on. */
export function readSignerConfig(path: string): SignerConfig {
	const file = parseJsonFile(signerConfigSchema, path);
	const from = (name: string) => resolve(dirname(path), name);
	const deployment = parseJsonFile(deploymentSchema, from(file.deployment));
	const problem = problemOf(file, deployment);
	if (problem !== undefined) throw new ConfigError(path, problem);
	const { earlierAttesterSets, ...rest } = file;
	const tls = {
		certificateFile: from(file.tls.certificateFile),
		keyFile: from(file.tls.keyFile),
		clientCaFile: from(file.tls.clientCaFile),
		...(file.tls.crlFile !== undefined && { crlFile: from(file.tls.crlFile) }),
	};
	return {
		...rest,
		tls,
		state: from(file.state),
		deployment,
		attesterSets: new Set([
			...deployment.chains.map(({ attesterSet }) => attesterSet.hash.toLowerCase() as Hex),
			...(deployment.solana?.program ? [deployment.solana.program.attesterSet.hash] : []),
			...earlierAttesterSets.map(attesterSetHash),
		]),
		finalitySeconds: new Map([
			...Object.entries(file.chains).map(([id, chain]) => [Number(id), chain.finalitySeconds] as const),
			...(file.solana ? [[solanaChainId, file.solana.finalitySeconds] as const] : []),
		]),
		caps: capsOf(file),
	};
}

/** Returns the environment's variables that hold keys of the signer. */
export function plainVariables({ keys }: Pick<SignerConfig, "keys">): string[] {
	return Object.values(keys).flatMap(({ reference }) => {
		const { backend, rest } = parseKeyReference(reference);
		return backend === "env" ? [rest, `${rest}_FILE`] : [];
	});
}

function problemOf({ chains, solana, keys }: SignerFile, deployment: Deployment): string | undefined {
	for (const id of Object.keys(chains)) {
		if (!deployment.chains.some(({ chainId }) => chainId === Number(id)))
			return `chains.${id}: the deployment file has no such chain`;
	}
	if (solana && !deployment.solana) return "solana: the deployment file has no such chain";
	for (const [name, key] of Object.entries(keys)) {
		if ("chainId" in key && !chains[key.chainId])
			return `keys.${name}.chainId: add chains.${key.chainId} with its caps`;
		if (key.use.startsWith("solana-") && !solana) return `keys.${name}: add solana with its caps`;
	}
	return undefined;
}

function capsOf({ chains, solana, keys }: SignerFile): ReadonlyMap<string, Cap> {
	const caps = new Map<string, Cap>();
	const putOutflow = (meter: string, { unproven, ...cap }: z.output<typeof outflowSchema>) => {
		caps.set(meter, cap);
		caps.set(unprovenMeter(meter), unproven);
	};
	for (const [id, { outflow }] of Object.entries(chains)) {
		for (const [token, cap] of Object.entries(outflow)) putOutflow(outflowMeter(Number(id), token), cap);
	}
	for (const [mint, cap] of Object.entries(solana?.outflow ?? {}))
		putOutflow(outflowMeter(solanaChainId, mint), cap);
	for (const [name, key] of Object.entries(keys)) {
		const perHour = BigInt(key.signaturesPerHour);
		caps.set(signatureMeter(name), { perHour, perDay: 24n * perHour });
		if ("feesWei" in key) caps.set(feeMeter(name), key.feesWei);
		if (key.use === "treasurer") {
			for (const [token, cap] of Object.entries(key.moves)) caps.set(moveMeter(name, token), cap);
		}
		if (key.use === "solana-fee-payer") caps.set(feeMeter(name), key.feesLamports);
	}
	return caps;
}
