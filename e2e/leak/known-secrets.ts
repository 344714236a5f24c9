import { readFileSync } from "node:fs";
import { isSolana } from "@geoswap/protocol";
import { getBase58Encoder } from "@solana/kit";
import { type Hex, hexToBytes, parseTransaction } from "viem";
import { connectDatabase } from "../environment/connect-database.ts";
import type { EnvironmentAddress } from "../environment/environment.ts";
import type { Secret } from "./secret-finder.ts";

/** Returns the secrets that an environment's processes were given. */
export function processSecrets({
	serverEnvironment: variables,
	keys,
}: Pick<EnvironmentAddress, "serverEnvironment" | "keys">): Secret[] {
	const entries = (name: string) =>
		(variables[name] ?? "")
			.split(",")
			.map((entry) => entry.split(/[:@]/)[1] ?? "")
			.filter(Boolean);
	const pepper = variables.GEOSWAP_API_KEY_PEPPER ?? "";
	return [
		...[...entries("GEOSWAP_SEAL_KEYS"), ...entries("GEOSWAP_WEBHOOK_KEYS")].flatMap((value): Secret[] => [
			{ kind: "seal key", value },
			{ kind: "seal key", value: new Uint8Array(Buffer.from(value, "base64url")) },
		]),
		{ kind: "pepper", value: pepper },
		...entries("GEOSWAP_RELAYER_KEYS").map((key) => ({
			kind: "relayer's key",
			value: hexToBytes(key as Hex),
		})),
		...entries("GEOSWAP_TREASURER_KEYS").map((key) => ({
			kind: "treasurer's key",
			value: hexToBytes(key as Hex),
		})),
		// Only the private half is secret, since the other half is an address.
		...solanaKeys(variables).flatMap((key): Secret[] => [
			{ kind: "Solana key", value: key.slice(0, 40) },
			{ kind: "Solana key", value: new Uint8Array(getBase58Encoder().encode(key)).subarray(0, 32) },
		]),
		...keys.attesters.map((key) => ({ kind: "attester's key", value: hexToBytes(key) })),
		{ kind: "receipt key", value: hexToBytes(keys.receipt) },
		...[
			"DATABASE_URL",
			"API_DATABASE_URL",
			"WORKER_DATABASE_URL",
			"AUDITOR_DATABASE_URL",
			"REDIS_URL",
		].flatMap((name): Secret[] => {
			const { password } = new URL(variables[name] ?? "redis://localhost");
			return password === "" ? [] : [{ kind: `password of ${name}`, value: decodeURIComponent(password) }];
		}),
		...nodeKeys(variables.GEOSWAP_CONFIG).map((value) => ({ kind: "key of a node", value })),
	];
}

function solanaKeys(variables: Record<string, string | undefined>): string[] {
	const names = ["FEE_PAYER_KEYS", "OPERATOR_KEY"];
	return names.flatMap((name) => (variables[`GEOSWAP_SOLANA_${name}`] ?? "").split(",").filter(Boolean));
}

/** Returns the keys that node providers put into their URLs. */
function nodeKeys(configFile: string | undefined): string[] {
	if (configFile === undefined) return [];
	type Chain = { nodes: { url: string }[] };
	type Config = { chains: Record<string, Chain>; solana?: Chain };
	const { chains, solana } = JSON.parse(readFileSync(configFile, "utf8")) as Config;
	return [...Object.values(chains), ...(solana ? [solana] : [])]
		.flatMap(({ nodes }) => nodes)
		.map(({ url }) => new URL(url).pathname.slice(1))
		.filter(Boolean);
}

type SignedOpJson = { signature?: Hex; authorization?: { r: Hex; s: Hex } };

/**
 * Returns the signatures of wallets, relayers and attesters. A chain may make them public, but no log should contain
 * them.
 */
export async function signedSecrets(databaseUrl: string): Promise<Secret[]> {
	const database = await connectDatabase(databaseUrl);
	try {
		const ops = await database.query<{ op: SignedOpJson }>("select op from swaps where op is not null");
		const sent = await database.query<{ chainId: string; raw: Buffer }>(
			'select chain_id as "chainId", raw from lane_transactions',
		);
		const attested = await database.query<{ signatures: Hex[] }>("select signatures from attestations");
		return [
			...ops.flatMap(({ op: { signature, authorization } }) => [
				...halves("signature of a wallet", signature),
				...(authorization ? [authorization.r, authorization.s] : []).map((half) => ({
					kind: "authorization",
					value: hexToBytes(half),
				})),
			]),
			...sent.flatMap(({ chainId, raw }) =>
				isSolana(BigInt(chainId)) ? solanaSignatures(raw) : evmSignature(raw),
			),
			...attested.flatMap(({ signatures }) =>
				signatures.flatMap((signature) => halves("attestation", signature)),
			),
		];
	} finally {
		await database.end();
	}
}

/** Splits the first 64 bytes in two, so that r and s are also found when printed apart. */
function halves(kind: string, signature: Hex | undefined): Secret[] {
	if (!signature) return [];
	const bytes = hexToBytes(signature);
	return [bytes.subarray(0, 32), bytes.subarray(32, 64)].map((value) => ({ kind, value }));
}

function evmSignature(raw: Buffer): Secret[] {
	const { r, s } = parseTransaction(`0x${raw.toString("hex")}`);
	return [r, s].flatMap((half) => (half ? [{ kind: "signed transaction", value: hexToBytes(half) }] : []));
}

/** Returns all signatures but the first, which is the transaction's id. */
function solanaSignatures(raw: Buffer): Secret[] {
	const count = raw[0] ?? 0;
	return Array.from({ length: count - 1 }, (_, i) => ({
		kind: "signed transaction",
		value: new Uint8Array(raw.subarray(1 + 64 * (i + 1), 1 + 64 * (i + 2))),
	}));
}
